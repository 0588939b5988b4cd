//! Transposes of sliding windows.

use super::{Cotangents, Site};
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::{SelectOp, Window};

/// Each window's cotangent goes to its elements.
pub(super) fn sum(site: &Site, window: &Window) -> Result<Cotangents, OpError> {
    let _ = (window,);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Taken from where it was scattered to.
pub(super) fn select_and_scatter(site: &Site, select: SelectOp, window: &Window) -> Result<Cotangents, OpError> {
    let _ = (select, window);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}
