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
    let count = |r: &UOp| e.arena.src(*r).first().and_then(|&n| e.arena.as_index(n));
    // Of nothing: what it would combine may not even be in memory.
    let reduced = if ranges.iter().any(|r| count(r).is_some_and(|n| n <= 0)) {
        e.arena.constant(ty.dtype, identity(op, ty.dtype))
    } else {
        e.arena.node(Op::Reduce(op), ty, &src)
    };
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

/// The bits of what a reduction of nothing gives, of the dtypes that it accumulates in.
fn identity(op: Reducer, dtype: DType) -> u64 {
    let float = |v: f64| if dtype == DType::F64 { v.to_bits() } else { u64::from((v as f32).to_bits()) };
    let width = 8 * dtype.size() as u32;
    let ones = if dtype.is_bool() { 1 } else { u64::MAX >> (64 - width) };
    match op {
        Reducer::Sum | Reducer::Or => 0,
        Reducer::Prod if dtype.is_float() => float(1.0),
        Reducer::Prod => 1,
        Reducer::And => ones,
        Reducer::Max if dtype.is_float() => float(f64::NEG_INFINITY),
        Reducer::Min if dtype.is_float() => float(f64::INFINITY),
        Reducer::Max => {
            if dtype.is_signed_int() {
                1 << (width - 1)
            } else {
                0
            }
        }
        Reducer::Min => {
            if dtype.is_signed_int() {
                ones >> 1
            } else {
                ones
            }
        }
    }
}
