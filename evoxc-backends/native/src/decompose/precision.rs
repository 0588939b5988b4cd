//! `reduce_precision`: floats rounded to fewer bits, by integer arithmetic on theirs.

use super::emit::{Emit, none};
use crate::uop::UOp;
use evoxc_core::{DType, OpError};

/// `x` rounded to so many exponent and mantissa bits: to nearest even; beyond the range infinite, below the normal range 0;
/// NaN stays.
pub(super) fn reduce(e: &mut Emit, x: UOp, exponent: u32, mantissa: u32) -> Result<UOp, OpError> {
    let dtype = e.dtype(x);
    let (own_exponent, own_mantissa) = match dtype {
        DType::F16 => (5, 10),
        DType::BF16 => (8, 7),
        DType::F32 => (8, 23),
        DType::F64 => (11, 52),
        d => return Err(none("reduce_precision", d)),
    };
    let ints = Emit::of_bits(dtype);
    let all = e.bits(x, ints);
    let all = e.cast(all, Emit::wide(ints));
    let top = own_exponent + own_mantissa;
    let magnitude = e.and_bits(all, i64::MAX >> (63 - top));
    let sign = e.xor(all, magnitude);
    let infinity = ((1i64 << own_exponent) - 1) << own_mantissa;
    let mut bits = magnitude;
    if mantissa < own_mantissa {
        let last = 1i64 << (own_mantissa - mantissa);
        let odd = e.shr_by(bits, own_mantissa - mantissa);
        let odd = e.and_bits(odd, 1);
        let half = e.i(bits, (last >> 1) - 1);
        // A carry out of the mantissa counts up the exponent, which is what rounding up means.
        bits = e.add(bits, half);
        bits = e.add(bits, odd);
        bits = e.and_bits(bits, !(last - 1));
    }
    if exponent < own_exponent {
        let bias = (1i64 << (own_exponent - 1)) - 1;
        let reduced = (1i64 << (exponent.max(1) - 1)) - 1;
        let (least, most) =
            (e.i(bits, (bias - reduced + 1) << own_mantissa), e.i(bits, (bias + reduced + 1) << own_mantissa));
        let (zero, infinite) = (e.i(bits, 0), e.i(bits, infinity));
        let (below, within) = (e.lt(bits, least), e.lt(bits, most));
        let finite = e.select(below, zero, bits);
        bits = e.select(within, finite, infinite);
    }
    let infinite = e.i(magnitude, infinity);
    let nan = e.lt(infinite, magnitude);
    bits = e.or(bits, sign);
    bits = e.select(nan, all, bits);
    let bits = e.cast(bits, ints);
    Ok(e.bits(bits, dtype))
}
