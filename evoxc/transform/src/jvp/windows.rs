//! Tangents of sliding windows.

use super::Site;
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::{Reducer, SelectOp, Window};
use evoxc_trace::Sym;

/// By the combiner.
pub(super) fn reduce_window(site: &Site, op: Reducer, window: &Window) -> Result<Option<Sym>, OpError> {
    let _ = (op, window);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Linear in the source.
pub(super) fn select_and_scatter(site: &Site, select: SelectOp, window: &Window) -> Result<Option<Sym>, OpError> {
    let _ = (select, window);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}
