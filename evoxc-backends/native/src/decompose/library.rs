//! What is left to functions of the host's libraries.

use super::emit::Emit;
use crate::uop::{LibFn, UOp};
use evoxc_core::DType;
use evoxc_ir::Unary;

/// `op` of an `f32` or `f64`.
pub(super) fn unary(e: &mut Emit, op: Unary, x: UOp) -> UOp {
    let single = e.dtype(x) == DType::F32;
    e.call(LibFn::Unary(op, single), &[x])
}
