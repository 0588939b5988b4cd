//! Ops of two operands.

use super::emit::{Emit, none};
use super::{float, integer, inverse, power};
use crate::uop::UOp;
use evoxc_core::{DType, OpError};
use evoxc_ir::Binary;

/// `op` of `a` and `b`.
pub(super) fn binary(e: &mut Emit, op: Binary, a: UOp, b: UOp) -> Result<UOp, OpError> {
    let dtype = e.dtype(a);
    let result = if dtype.is_complex() {
        None
    } else if dtype.is_bool() {
        bool_binary(e, op, a, b)
    } else if op == Binary::Nextafter {
        dtype.is_float().then(|| float::next_after(e, a, b))
    } else {
        let (wa, wb) = (e.widen(a), e.widen(b));
        let wide = if dtype.is_float() { float_binary(e, op, wa, wb) } else { integer_binary(e, op, wa, wb, dtype) };
        wide.map(|w| e.cast(w, dtype))
    };
    result.ok_or_else(|| none(op.name(), dtype))
}

fn bool_binary(e: &mut Emit, op: Binary, a: UOp, b: UOp) -> Option<UOp> {
    Some(match op {
        Binary::Add | Binary::Max | Binary::Or => e.or(a, b),
        Binary::Mul | Binary::Min | Binary::And => e.and(a, b),
        Binary::Xor => e.xor(a, b),
        Binary::Sub | Binary::Div | Binary::Rem | Binary::Pow | Binary::Atan2 | Binary::Nextafter => return None,
        Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => return None,
        Binary::Complex | Binary::Mulhi => return None,
    })
}

/// Of two `f32` or two `f64`.
fn float_binary(e: &mut Emit, op: Binary, a: UOp, b: UOp) -> Option<UOp> {
    Some(match op {
        Binary::Add => float::add(e, a, b),
        Binary::Sub => float::sub(e, a, b),
        Binary::Mul => e.mul(a, b),
        Binary::Div => e.div(a, b),
        Binary::Rem => float::rem(e, a, b),
        Binary::Pow => power::power(e, a, b),
        Binary::Atan2 => inverse::atan2(e, a, b),
        Binary::Max => float::max(e, a, b),
        Binary::Min => float::min(e, a, b),
        Binary::Nextafter => float::next_after(e, a, b),
        Binary::And | Binary::Or | Binary::Xor | Binary::Mulhi | Binary::Complex => return None,
        Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => return None,
    })
}

/// Of two integers of 32 or 64 bits that hold some of `dtype`.
fn integer_binary(e: &mut Emit, op: Binary, a: UOp, b: UOp, dtype: DType) -> Option<UOp> {
    let width = 8 * dtype.size() as u32;
    Some(match op {
        Binary::Add => e.add(a, b),
        Binary::Sub => e.sub(a, b),
        Binary::Mul => e.mul(a, b),
        Binary::Div => integer::divide(e, a, b, width),
        Binary::Rem => integer::remainder(e, a, b, width),
        Binary::Pow => integer::power(e, a, b, width),
        Binary::Max => e.max(a, b),
        Binary::Min => e.min(a, b),
        Binary::And => e.and(a, b),
        Binary::Or => e.or(a, b),
        Binary::Xor => e.xor(a, b),
        Binary::ShiftLeft => integer::shift_left(e, a, b, width),
        Binary::ShiftRightLogical => integer::shift_right_logical(e, a, b, width),
        Binary::ShiftRightArithmetic => integer::shift_right_arithmetic(e, a, b, width),
        Binary::Mulhi => integer::high_product(e, a, b, width),
        Binary::Atan2 | Binary::Nextafter | Binary::Complex => return None,
    })
}
