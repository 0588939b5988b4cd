//! Control flow, ops with bodies, and calls for all rows.

use super::Vmap;
use crate::{depend, no_rule};
use evoxc_core::OpError;
use evoxc_ir::Op;
use evoxc_trace::emitter;

/// Writes one op with regions, or a call.
pub(super) fn op(walk: &mut Vmap, op: &Op) -> Result<(), OpError> {
    let mut set = walk.batched.clone();
    depend::op(depend::Follow::Every, op, &mut set);
    if !op.results.iter().any(|r| set.contains(r)) {
        return emitter::replay(op, &mut walk.written);
    }
    Err(no_rule(&op.prim, "it is not written yet", "use another op"))
}
