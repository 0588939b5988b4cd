//! Integer arithmetic whose edge cases machines leave open, and counts of bits. Operands have 32 or 64 bits and hold a
//! number of `width` bits, extended by its sign or by zeros; what is above the width in a result is dropped by the cast.

use super::emit::Emit;
use crate::uop::UOp;
use evoxc_core::DType;

/// The truncated quotient of two integers of at most 32 bits as one of floats, which machines have for vectors. The float has so
/// many digits more than the integers that no quotient is rounded up to the next integer. By 0 it is some number.
fn float_quotient(e: &mut Emit, a: UOp, b: UOp, width: u32) -> UOp {
    let (ints, floats) = (e.dtype(a), if width < 32 { DType::F32 } else { DType::F64 });
    let (x, y) = (e.cast(a, floats), e.cast(b, floats));
    let q = e.div(x, y);
    e.cast(q, ints)
}

/// Truncated; by 0 it is -1, and the least integer by -1 is itself.
pub(super) fn divide(e: &mut Emit, a: UOp, b: UOp, width: u32) -> UOp {
    let (zero, one, ones) = (e.i(b, 0), e.i(b, 1), e.i(b, -1));
    let by_zero = e.eq(b, zero);
    // Of narrow integers -1 is no special divisor: there is room for the quotient.
    let by_minus = (e.dtype(a).is_signed_int() && width >= 32).then(|| e.eq(b, ones));
    let mut q = if width <= 32 {
        float_quotient(e, a, b, width)
    } else {
        let special = by_minus.map_or(by_zero, |m| e.or(by_zero, m));
        let safe = e.select(special, one, b);
        e.int_div(a, safe)
    };
    if let Some(by_minus) = by_minus {
        let negated = e.neg(a);
        q = e.select(by_minus, negated, q);
    }
    e.select(by_zero, ones, q)
}

/// With the sign of `a`; by 0 it is `a`, by -1 it is 0.
pub(super) fn remainder(e: &mut Emit, a: UOp, b: UOp, width: u32) -> UOp {
    let (zero, one) = (e.i(b, 0), e.i(b, 1));
    let by_zero = e.eq(b, zero);
    if width <= 32 {
        let q = float_quotient(e, a, b, width);
        let whole = e.mul(q, b);
        let r = e.sub(a, whole);
        let r = if e.dtype(a) == DType::I32 && width == 32 {
            // The least integer by -1 has no quotient.
            let ones = e.i(b, -1);
            let by_minus = e.eq(b, ones);
            e.select(by_minus, zero, r)
        } else {
            r
        };
        return e.select(by_zero, a, r);
    }
    let mut special = by_zero;
    if e.dtype(a).is_signed_int() {
        let ones = e.i(b, -1);
        let by_minus = e.eq(b, ones);
        special = e.or(by_zero, by_minus);
    }
    let safe = e.select(special, one, b);
    let r = e.int_rem(a, safe);
    e.select(by_zero, a, r)
}

/// By squaring, a step for every bit that an exponent may have.
pub(super) fn power(e: &mut Emit, a: UOp, b: UOp, width: u32) -> UOp {
    let signed = e.dtype(a).is_signed_int();
    let (zero, one, ones) = (e.i(a, 0), e.i(a, 1), e.i(a, -1));
    let (mut square, mut out) = (a, one);
    for bit in 0..width - u32::from(signed) {
        // A known exponent has no steps beyond its last bit.
        if e.known(b).is_some_and(|b| (b as i64) >= 0 && b >> bit == 0) {
            break;
        }
        let set = e.and_bits(b, 1 << bit);
        let set = e.ne(set, zero);
        let factor = e.select(set, square, one);
        out = if out == one {
            factor
        } else if factor == one {
            out
        } else {
            e.mul(out, factor)
        };
        square = e.mul(square, square);
    }
    if !signed {
        return out;
    }
    // Of a negative power only 1 and -1 have an integer.
    let odd = e.and_bits(b, 1);
    let odd = e.ne(odd, zero);
    let (is_one, is_minus) = (e.eq(a, one), e.eq(a, ones));
    let of_minus = e.select(odd, ones, one);
    let inverse = e.select(is_minus, of_minus, zero);
    let inverse = e.select(is_one, one, inverse);
    let negative = e.lt(b, zero);
    e.select(negative, inverse, out)
}

/// Is the count one that the width has? And the count, cut to such ones.
fn count(e: &mut Emit, by: UOp, width: u32) -> (UOp, UOp) {
    let low = i64::from(width - 1);
    let (above, zero) = (e.and_bits(by, !low), e.i(by, 0));
    (e.eq(above, zero), e.and_bits(by, low))
}
/// The number with zeros above its width.
fn zero_extended(e: &mut Emit, x: UOp, width: u32) -> UOp {
    if width < 32 { e.and_bits(x, (1 << width) - 1) } else { x }
}

/// 0 for counts beyond the width.
pub(super) fn shift_left(e: &mut Emit, a: UOp, by: UOp, width: u32) -> UOp {
    let ((within, by), zero) = (count(e, by, width), e.i(a, 0));
    let shifted = e.shl(a, by);
    e.select(within, shifted, zero)
}
/// 0 for counts beyond the width.
pub(super) fn shift_right_logical(e: &mut Emit, a: UOp, by: UOp, width: u32) -> UOp {
    let ((within, by), zero) = (count(e, by, width), e.i(a, 0));
    let a = zero_extended(e, a, width);
    let shifted = e.shr(a, by);
    e.select(within, shifted, zero)
}
/// The top bit is the sign, of unsigned dtypes too; it is all that is left for counts beyond the width.
pub(super) fn shift_right_arithmetic(e: &mut Emit, a: UOp, by: UOp, width: u32) -> UOp {
    let ((within, by), last) = (count(e, by, width), e.i(by, (width - 1).into()));
    let by = e.select(within, by, last);
    let mut a = a;
    if width < 32 && e.dtype(a) == DType::U32 {
        a = e.shl_by(a, 32 - width);
        a = e.sar_by(a, 32 - width);
    }
    e.sar(a, by)
}

/// The high half of the double-width product.
pub(super) fn high_product(e: &mut Emit, a: UOp, b: UOp, width: u32) -> UOp {
    if width >= 32 {
        return e.mul_high(a, b);
    }
    // Both halves of a narrow product fit.
    let product = e.mul(a, b);
    e.sar_by(product, width)
}

/// The number of ones, by sums of ever wider fields.
pub(super) fn popcount(e: &mut Emit, x: UOp, width: u32) -> UOp {
    let x = zero_extended(e, x, width);
    let pairs = e.shr_by(x, 1);
    let pairs = e.and_bits(pairs, 0x5555_5555_5555_5555);
    let mut sum = e.sub(x, pairs);
    let (low, high) = (e.and_bits(sum, 0x3333_3333_3333_3333), e.shr_by(sum, 2));
    let high = e.and_bits(high, 0x3333_3333_3333_3333);
    sum = e.add(low, high);
    let high = e.shr_by(sum, 4);
    sum = e.add(sum, high);
    sum = e.and_bits(sum, 0x0f0f_0f0f_0f0f_0f0f);
    let mut field = 8;
    while field < width {
        let high = e.shr_by(sum, field);
        sum = e.add(sum, high);
        field *= 2;
    }
    e.and_bits(sum, 0x7f)
}

/// The number of zeros above the highest one.
pub(super) fn leading_zeros(e: &mut Emit, x: UOp, width: u32) -> UOp {
    let dtype = e.dtype(x);
    let x = zero_extended(e, x, width);
    if width == 64 {
        // Every bit below the highest one becomes a one, and the rest is counted.
        let mut filled = x;
        for n in [1, 2, 4, 8, 16, 32] {
            let shifted = e.shr_by(filled, n);
            filled = e.or(filled, shifted);
        }
        let zeros = e.not(filled);
        return popcount(e, zeros, width);
    }
    // The exponent of the number as a float, with every second bit cleared so that rounding cannot carry into it.
    let x = e.bits(x, DType::I32);
    let shifted = e.shr_by(x, 1);
    let above = e.not(shifted);
    let top = e.and(x, above);
    let float = e.cast(top, DType::F32);
    let bits = e.bits(float, DType::I32);
    let exponent = e.shr_by(bits, 23);
    let (from, most, zero) = (e.i(x, 126 + i64::from(width)), e.i(x, width.into()), e.i(x, 0));
    let zeros = e.sub(from, exponent);
    let zeros = e.min(zeros, most);
    let result = if width == 32 {
        let negative = e.lt(x, zero);
        e.select(negative, zero, zeros)
    } else {
        zeros
    };
    e.bits(result, dtype)
}
