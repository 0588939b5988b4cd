//! Tangents of ops with regions, and of calls.

use super::Jvp;
use crate::{depend, no_rule};
use evoxc_core::OpError;
use evoxc_ir::Op;
use evoxc_trace::emitter;
use rustc_hash::FxHashSet;

/// Writes one op with regions, or a call.
pub(super) fn op(walk: &mut Jvp, op: &Op) -> Result<(), OpError> {
    let mut set: FxHashSet<_> = walk.tangent.keys().copied().collect();
    depend::op(depend::Follow::Tangent, op, &mut set);
    if !op.results.iter().any(|r| set.contains(r)) {
        return emitter::replay(op, &mut walk.primal);
    }
    Err(no_rule(&op.prim, "it is not written yet", "use another op"))
}
