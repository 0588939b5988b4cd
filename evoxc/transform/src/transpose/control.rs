//! Transposes of ops with regions, and of calls.

use super::Transpose;
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::Op;
use evoxc_trace::Sym;

/// Writes the transpose of one op with regions, or of a call, whose results have these cotangents.
pub(super) fn op(walk: &mut Transpose, op: &Op, ct: &[Option<Sym>]) -> Result<(), OpError> {
    let _ = (walk, ct);
    Err(no_rule(&op.prim, "it is not written yet", "use another op"))
}
