//! Ops of one operand.

use super::emit::{Emit, none};
use super::{erf, exp, float, hyperbolic, integer, inverse, library, log, root, trig};
use crate::uop::{Alu, UOp};
use evoxc_core::{DType, OpError};
use evoxc_ir::Unary;

/// `op` of `x`.
pub(super) fn unary(e: &mut Emit, op: Unary, x: UOp) -> Result<UOp, OpError> {
    let dtype = e.dtype(x);
    if dtype.is_complex() {
        return Err(none(op.name(), dtype));
    }
    match op {
        Unary::Real | Unary::Conj => return Ok(x),
        Unary::Imag if !dtype.is_bool() => return Ok(e.arena.constant(dtype, 0)),
        Unary::IsFinite if dtype.is_float() => {
            let wide = e.cast(x, Emit::wide(dtype));
            return Ok(float::is_finite(e, wide));
        }
        _ => {}
    }
    let wide = e.widen(x);
    let result = if dtype.is_float() {
        float_unary(e, op, wide)
    } else if dtype.is_bool() {
        (op == Unary::Not).then(|| e.not(x))
    } else {
        integer_unary(e, op, wide, 8 * dtype.size() as u32)
    };
    let result = result.ok_or_else(|| none(op.name(), dtype))?;
    Ok(e.cast(result, dtype))
}

/// Of an `f32` or `f64`.
fn float_unary(e: &mut Emit, op: Unary, x: UOp) -> Option<UOp> {
    Some(match op {
        Unary::Exp => exp::exp(e, x),
        Unary::Exp2 => exp::exp2(e, x),
        Unary::Expm1 => exp::expm1(e, x),
        Unary::Tanh => exp::tanh(e, x),
        Unary::Logistic => exp::logistic(e, x),
        Unary::Sinh => exp::sinh(e, x),
        Unary::Cosh => exp::cosh(e, x),
        Unary::Log => log::log(e, x),
        Unary::Log2 => log::log2(e, x),
        Unary::Log1p => log::log1p(e, x),
        Unary::Sin => trig::sin(e, x),
        Unary::Cos => trig::cos(e, x),
        Unary::Tan => trig::tan(e, x),
        Unary::Cbrt => root::cbrt(e, x),
        Unary::Asin => inverse::asin(e, x),
        Unary::Acos => inverse::acos(e, x),
        Unary::Atan => inverse::atan(e, x),
        Unary::Asinh => hyperbolic::asinh(e, x),
        Unary::Acosh => hyperbolic::acosh(e, x),
        Unary::Atanh => hyperbolic::atanh(e, x),
        Unary::Erf if e.dtype(x) == DType::F32 => erf::erf(e, x),
        Unary::Erf | Unary::Erfc | Unary::ErfInv | Unary::Lgamma | Unary::Digamma => library::unary(e, op, x),
        Unary::Sqrt => e.sqrt(x),
        Unary::Rsqrt => root::rsqrt(e, x),
        Unary::Floor => e.floor(x),
        Unary::Ceil => e.ceil(x),
        Unary::RoundEven => e.round_even(x),
        Unary::RoundAway => float::round_away(e, x),
        Unary::Trunc => e.trunc(x),
        Unary::Neg => e.neg(x),
        Unary::Abs => e.abs(x),
        Unary::Sign => float::sign(e, x),
        Unary::Not | Unary::Popcount | Unary::CountLeadingZeros => return None,
        Unary::IsFinite => float::is_finite(e, x),
        Unary::Real | Unary::Conj => x,
        Unary::Imag => e.f(x, 0.0),
    })
}

/// Of an integer of 32 or 64 bits that holds one of `width` bits.
fn integer_unary(e: &mut Emit, op: Unary, x: UOp, width: u32) -> Option<UOp> {
    let signed = e.dtype(x).is_signed_int();
    Some(match op {
        Unary::Neg => e.alu(Alu::Neg, &[x]),
        Unary::Abs => match e.dtype(x) {
            DType::I32 => {
                let n = e.neg(x);
                e.max(x, n)
            }
            DType::I64 => {
                let (n, zero) = (e.neg(x), e.i(x, 0));
                let negative = e.lt(x, zero);
                e.select(negative, n, x)
            }
            _ => x,
        },
        Unary::Sign => {
            let one = e.i(x, 1);
            let below = e.min(x, one);
            if signed {
                let minus = e.i(x, -1);
                e.max(below, minus)
            } else {
                below
            }
        }
        Unary::Not => e.not(x),
        Unary::Popcount => integer::popcount(e, x, width),
        Unary::CountLeadingZeros => integer::leading_zeros(e, x, width),
        Unary::Real | Unary::Conj => x,
        Unary::Imag => e.i(x, 0),
        Unary::Exp
        | Unary::Exp2
        | Unary::Expm1
        | Unary::Log
        | Unary::Log2
        | Unary::Log1p
        | Unary::Sqrt
        | Unary::Rsqrt
        | Unary::Cbrt
        | Unary::Sin
        | Unary::Cos
        | Unary::Tan
        | Unary::Asin
        | Unary::Acos
        | Unary::Atan
        | Unary::Sinh
        | Unary::Cosh
        | Unary::Tanh
        | Unary::Asinh
        | Unary::Acosh
        | Unary::Atanh
        | Unary::Logistic
        | Unary::Erf
        | Unary::Erfc
        | Unary::ErfInv
        | Unary::Lgamma
        | Unary::Digamma
        | Unary::Floor
        | Unary::Ceil
        | Unary::RoundEven
        | Unary::RoundAway
        | Unary::Trunc
        | Unary::IsFinite => return None,
    })
}
