//! Float arithmetic beyond what machines define: the edge cases of `max` and `min`, signs, rounding halves away,
//! remainders, neighbours. Operands are `f32` or `f64` but where it says so.

use super::emit::Emit;
use crate::uop::{Alu, LibFn, Op, UOp};
use evoxc_core::DType;
use evoxc_ir::Binary;

/// The factors, where fast arithmetic may fuse the product `x` into a sum.
fn product(e: &Emit, x: UOp) -> Option<(UOp, UOp)> {
    match (e.fast && e.arena.op(x) == Op::Alu(Alu::Mul), e.arena.src(x)) {
        (true, &[a, b]) => Some((a, b)),
        _ => None,
    }
}
/// Sum.
pub(super) fn add(e: &mut Emit, a: UOp, b: UOp) -> UOp {
    match (product(e, a), product(e, b)) {
        (Some((x, y)), _) => e.fma(x, y, b),
        (None, Some((x, y))) => e.fma(x, y, a),
        (None, None) => e.add(a, b),
    }
}
/// Difference.
pub(super) fn sub(e: &mut Emit, a: UOp, b: UOp) -> UOp {
    match (product(e, a), product(e, b)) {
        (_, Some((x, y))) => {
            let x = e.neg(x);
            e.fma(x, y, a)
        }
        (Some((x, y)), None) => {
            let b = e.neg(b);
            e.fma(x, y, b)
        }
        (None, None) => e.sub(a, b),
    }
}

/// Neither infinite nor NaN.
pub(super) fn is_finite(e: &mut Emit, x: UOp) -> UOp {
    let (abs, infinity) = (e.abs(x), e.f(x, f64::INFINITY));
    e.lt(abs, infinity)
}

/// -1, 0, 1; zeros and NaN stay.
pub(super) fn sign(e: &mut Emit, x: UOp) -> UOp {
    let (abs, zero, one) = (e.abs(x), e.f(x, 0.0), e.f(x, 1.0));
    let other = e.lt(zero, abs);
    let unit = e.with_sign(one, x);
    e.select(other, unit, x)
}

/// Halves away from 0: the greatest float below a half is added, so that nothing below a half reaches the next integer.
pub(super) fn round_away(e: &mut Emit, x: UOp) -> UOp {
    let half = if e.dtype(x) == DType::F32 { f64::from(0.5f32.next_down()) } else { 0.5f64.next_down() };
    let half = e.f(x, half);
    let half = e.with_sign(half, x);
    let sum = e.add(x, half);
    e.trunc(sum)
}

/// The larger: NaN propagates, +0 is over -0.
pub(super) fn max(e: &mut Emit, a: UOp, b: UOp) -> UOp {
    extremum(e, a, b, true)
}
/// The smaller: NaN propagates, -0 is under +0.
pub(super) fn min(e: &mut Emit, a: UOp, b: UOp) -> UOp {
    extremum(e, a, b, false)
}

fn extremum(e: &mut Emit, a: UOp, b: UOp, max: bool) -> UOp {
    let (op, join) = if max { (Alu::Max, Alu::And) } else { (Alu::Min, Alu::Or) };
    let dtype = e.dtype(a);
    if a == b {
        return a;
    }
    for (x, known) in [(a, e.known(b)), (b, e.known(a))] {
        let Some(bits) = known else { continue };
        let value = if dtype == DType::F32 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) };
        if value.is_nan() {
            continue;
        }
        // Machines give the second operand where one is NaN or both are zeros. With the constant first this is right, but
        // where the constant is the zero that wins.
        let constant = e.arena.constant(dtype, bits);
        let chosen = e.alu(op, &[constant, x]);
        if value != 0.0 || value.is_sign_positive() != max {
            return chosen;
        }
        if max {
            return e.add(chosen, constant);
        }
    }
    let (chosen, ints) = (e.alu(op, &[a, b]), Emit::of_bits(dtype));
    let (ba, bb) = (e.bits(a, ints), e.bits(b, ints));
    // Equal floats have equal bits but for the sign of zeros, which `and` takes away and `or` keeps.
    let joined = e.alu(join, &[ba, bb]);
    let joined = e.bits(joined, dtype);
    let equal = e.eq(a, b);
    let chosen = e.select(equal, joined, chosen);
    let nan = e.ne(a, a);
    e.select(nan, a, chosen)
}

/// `fmod`: exact, with the sign of `a`. Where the quotient has few bits it is a division and a correction, else a call.
pub(super) fn rem(e: &mut Emit, a: UOp, b: UOp) -> UOp {
    let single = e.dtype(a) == DType::F32;
    let limit = if single { 4194304.0 } else { 1125899906842624.0 };
    let quotient = e.div(a, b);
    let size = e.abs(quotient);
    // The quotient may have been rounded up to the next integer, never more: the remainder is then of the other sign.
    let whole = e.trunc(quotient);
    let minus = e.neg(whole);
    let r = e.fma(minus, b, a);
    let (zero, abs_b) = (e.f(a, 0.0), e.abs(b));
    let step = e.with_sign(abs_b, a);
    let again = e.add(r, step);
    let abs_a = e.abs(a);
    // The remainder as if `a` were positive.
    let (ra, sa) = (e.bits(r, Emit::of_bits(e.dtype(a))), e.sign_bit(a));
    let turned = e.xor(ra, sa);
    let turned = e.bits(turned, e.dtype(a));
    let over = e.lt(turned, zero);
    let r = e.select(over, again, r);
    let size_r = e.abs(r);
    let r = e.with_sign(size_r, a);
    // Infinite divisors leave `a`; what is left is NaN, as of infinite dividends and divisors that are 0.
    let smaller = e.lt(abs_a, abs_b);
    let r = e.select(smaller, a, r);
    let limit = e.f(a, limit);
    let small = e.lt(size, limit);
    let large = e.not(small);
    e.call(LibFn::Binary(Binary::Rem, single), &[a, b, large, r])
}

/// The float next to `a` in the direction of `b`, also of halves: by counting the bits up or down.
pub(super) fn next_after(e: &mut Emit, a: UOp, b: UOp) -> UOp {
    let dtype = e.dtype(a);
    let ints = Emit::of_bits(dtype);
    let (ba, bb) = (e.bits(a, ints), e.bits(b, ints));
    let (ba, bb) = (e.cast(ba, Emit::wide(ints)), e.cast(bb, Emit::wide(ints)));
    let (wa, wb) = (e.cast(a, Emit::wide(dtype)), e.cast(b, Emit::wide(dtype)));
    // The bits of halves are held with their sign extended, so that the sign is that of the integer.
    let (zero, one, minus) = (e.i(ba, 0), e.i(ba, 1), e.i(ba, -1));
    let least = match ints {
        DType::I16 => e.i(ba, i64::from(i16::MIN)),
        DType::I32 => e.i(ba, i64::from(i32::MIN)),
        _ => e.i(ba, i64::MIN),
    };
    let sign_of_b = e.and(bb, least);
    let from_zero = e.or(sign_of_b, one);
    let (up, negative) = (e.lt(wa, wb), e.lt(ba, zero));
    let away = e.xor(up, negative);
    let step = e.select(away, one, minus);
    let next = e.add(ba, step);
    let float_zero = e.f(wa, 0.0);
    let is_zero = e.eq(wa, float_zero);
    let next = e.select(is_zero, from_zero, next);
    let equal = e.eq(wa, wb);
    let next = e.select(equal, bb, next);
    let nan = match dtype {
        DType::F16 => 0x7e00,
        DType::BF16 => 0x7fc0,
        DType::F32 => 0x7fc0_0000,
        _ => 0x7ff8_0000_0000_0000,
    };
    let nan = e.i(ba, nan);
    let (a_nan, b_nan) = (e.ne(wa, wa), e.ne(wb, wb));
    let any = e.or(a_nan, b_nan);
    let next = e.select(any, nan, next);
    let next = e.cast(next, ints);
    e.bits(next, dtype)
}
