//! Tangents of reductions and running combinations.

use super::Site;
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::{CumOp, Reducer};
use evoxc_trace::Sym;

/// By the combiner.
pub(super) fn reduce(site: &Site, op: Reducer, axes: &[usize]) -> Result<Option<Sym>, OpError> {
    let _ = axes;
    match op {
        Reducer::Sum => Ok(site.t[0].map(|t| site.same(&[t]))),
        _ => Err(no_rule(&site.op.prim, "it is not written yet", "use another op")),
    }
}

/// By the combiner.
pub(super) fn cumulative(site: &Site, op: CumOp, axis: usize, reverse: bool) -> Result<Option<Sym>, OpError> {
    let _ = (axis, reverse);
    match op {
        CumOp::Sum => Ok(site.t[0].map(|t| site.same(&[t]))),
        _ => Err(no_rule(&site.op.prim, "it is not written yet", "use another op")),
    }
}
