//! Transposes of sums.

use super::{Cotangents, Site};
use evoxc_core::OpError;
use evoxc_ir::{CumOp, Prim};
use evoxc_trace::emitter;
use smallvec::smallvec;

/// Broadcast back.
pub(super) fn sum(site: &Site, axes: &[usize]) -> Result<Cotangents, OpError> {
    let Some(ty) = site.x[0].ty() else { return Ok(smallvec![None]) };
    let dims = (0..ty.rank()).filter(|a| !axes.contains(a)).collect();
    Ok(smallvec![site.ct[0].map(|c| emitter::emit(Prim::BroadcastInDim { shape: ty.shape, dims }, &[c]))])
}

/// A running sum the other way.
pub(super) fn cumulative_sum(site: &Site, axis: usize, reverse: bool) -> Result<Cotangents, OpError> {
    let back = Prim::Cumulative { op: CumOp::Sum, axis, reverse: !reverse };
    Ok(smallvec![site.ct[0].map(|c| emitter::emit(back, &[c]))])
}
