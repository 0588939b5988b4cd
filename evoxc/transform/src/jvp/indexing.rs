//! Tangents of gather, scatter and dynamic slices.

use super::Site;
use crate::{instantiate, no_rule};
use evoxc_core::OpError;
use evoxc_ir::{ScatterDims, ScatterOp};
use evoxc_trace::Sym;

/// Gathered alike.
pub(super) fn gather(site: &Site) -> Option<Sym> {
    site.t[0].map(|t| site.same(&[t, site.x[1]]))
}

/// By the kind of scatter.
pub(super) fn scatter(site: &Site, op: ScatterOp, dims: &ScatterDims) -> Result<Option<Sym>, OpError> {
    let _ = (op, dims);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Sliced alike.
pub(super) fn dynamic_slice(site: &Site) -> Option<Sym> {
    let starts = &site.x[1..];
    site.t[0].map(|t| site.same(&[&[t], starts].concat()))
}

/// Updated alike.
pub(super) fn dynamic_update_slice(site: &Site) -> Option<Sym> {
    let (t, u) = (instantiate(site.t[0], site.x[0]), instantiate(site.t[1], site.x[1]));
    Some(site.same(&[&[t, u], &site.x[2..]].concat()))
}
