//! Reductions and running combinations for all rows.

use super::{Rows, Site};
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::Reducer;

pub(super) fn reduce(site: &Site, op: Reducer, axes: &[usize]) -> Result<Rows, OpError> {
    let _ = (op, axes);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn arg(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn cumulative(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}
