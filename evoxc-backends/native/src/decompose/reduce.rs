//! Reductions accumulate in dtypes that machines have.

use super::emit::{Emit, none};
use crate::uop::{Op, Ty, UOp};
use evoxc_core::{DType, OpError};
use evoxc_ir::Reducer;

/// The reduction of `x` over `ranges`. Of bools, `and` and `or` are left; halves accumulate in `f32` and round once.
pub(super) fn reduce(e: &mut Emit, op: Reducer, x: UOp, ranges: &[UOp]) -> Result<UOp, OpError> {
    let dtype = e.dtype(x);
    if dtype.is_complex() || (dtype.is_float() && matches!(op, Reducer::And | Reducer::Or)) {
        return Err(none("reduce", dtype));
    }
    let op = match (dtype, op) {
        (DType::BOOL, Reducer::Sum | Reducer::Max | Reducer::Or) => Reducer::Or,
        (DType::BOOL, Reducer::Prod | Reducer::Min | Reducer::And) => Reducer::And,
        (_, op) => op,
    };
    let wide = e.widen(x);
    let mut src = vec![wide];
    src.extend_from_slice(ranges);
    let ty = Ty::scalar(e.dtype(wide));
    let reduced = e.arena.node(Op::Reduce(op), ty, &src);
    if ty.dtype == dtype || dtype.is_float() {
        return Ok(e.cast(reduced, dtype));
    }
    // What an empty reduction gives is the least (greatest) of the narrow integers, not of the wide ones.
    let width = 8 * dtype.size();
    let (least, greatest) =
        if dtype.is_signed_int() { (-(1i64 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) };
    let bounded = match op {
        Reducer::Max => {
            let least = e.i(reduced, least);
            e.max(reduced, least)
        }
        Reducer::Min => {
            let greatest = e.i(reduced, greatest);
            e.min(reduced, greatest)
        }
        Reducer::Sum | Reducer::Prod | Reducer::And | Reducer::Or => reduced,
    };
    Ok(e.cast(bounded, dtype))
}
