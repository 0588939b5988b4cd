//! Comparisons to a bool.

use super::emit::{Emit, none};
use crate::uop::UOp;
use evoxc_core::{DType, OpError};
use evoxc_ir::{Direction, SortOrder};

/// `a` compared with `b`.
pub(super) fn compare(e: &mut Emit, direction: Direction, order: SortOrder, a: UOp, b: UOp) -> Result<UOp, OpError> {
    let dtype = e.dtype(a);
    if dtype.is_complex() {
        return Err(none("compare", dtype));
    }
    let (a, b) = match order {
        SortOrder::Total if dtype.is_float() => (total_key(e, a), total_key(e, b)),
        // A half that was kept in f32 is rounded first: equality is no place for extra digits.
        SortOrder::Total | SortOrder::Ieee => (e.cast(a, Emit::wide(dtype)), e.cast(b, Emit::wide(dtype))),
    };
    // Less and not greater are the two orders that machines have; those of bools are of two bits.
    let less = |e: &mut Emit, a: UOp, b: UOp| {
        if dtype.is_bool() {
            let not = e.not(a);
            e.and(not, b)
        } else {
            e.lt(a, b)
        }
    };
    let not_greater = |e: &mut Emit, a: UOp, b: UOp| {
        if dtype.is_bool() {
            let not = e.not(a);
            e.or(not, b)
        } else {
            e.le(a, b)
        }
    };
    Ok(match direction {
        Direction::Lt => less(e, a, b),
        Direction::Le => not_greater(e, a, b),
        Direction::Gt => less(e, b, a),
        Direction::Ge => not_greater(e, b, a),
        Direction::Eq => e.eq(a, b),
        Direction::Ne => e.ne(a, b),
    })
}

/// A signed integer that is ordered as IEEE 754's totalOrder: the bits, but of negative floats all below the sign turned.
fn total_key(e: &mut Emit, x: UOp) -> UOp {
    let ints = Emit::of_bits(e.dtype(x));
    let bits = e.bits(x, ints);
    let bits = e.cast(bits, Emit::wide(ints));
    let (shift, below) = match ints {
        DType::I16 => (31, 0x7fff),
        DType::I32 => (31, i64::from(i32::MAX)),
        _ => (63, i64::MAX),
    };
    let negative = e.sar_by(bits, shift);
    let turn = e.and_bits(negative, below);
    e.xor(bits, turn)
}
