//! Roots.

use super::emit::Emit;
use super::library;
use crate::uop::UOp;
use evoxc_core::DType;
use evoxc_ir::Unary;

/// 1 over the square root.
pub(super) fn rsqrt(e: &mut Emit, x: UOp) -> UOp {
    let (root, one) = (e.sqrt(x), e.f(x, 1.0));
    e.div(one, root)
}

/// Cube root: a third of the exponent as a first guess, two steps of Halley's method, and one of Newton's with the residue in
/// full.
pub(super) fn cbrt(e: &mut Emit, x: UOp) -> UOp {
    if e.dtype(x) != DType::F32 {
        return library::unary(e, Unary::Cbrt, x);
    }
    let size = e.abs(x);
    // Very small and large numbers have a scale of which the cube root is exact.
    let (least, most) = (e.f(x, 1e-30), e.f(x, 1e30));
    let (small, large) = (e.lt(size, least), e.lt(most, size));
    let choose = |e: &mut Emit, of_small: f64, of_large: f64| {
        let (of_small, of_large, one) = (e.f(x, of_small), e.f(x, of_large), e.f(x, 1.0));
        let rest = e.select(large, of_large, one);
        e.select(small, of_small, rest)
    };
    let (factor, scale) = (choose(e, 16777216.0, 1.0 / 16777216.0), choose(e, 1.0 / 256.0, 256.0));
    let a = e.mul(size, factor);
    let bits = e.bits(a, DType::U32);
    // A third of the bits, and two thirds of the exponent's bias less what a line takes off the logarithm.
    let (third, bias) = (e.i(bits, 0x5555_5556), e.i(bits, 709958130));
    let guess = e.mul_high(bits, third);
    let guess = e.add(guess, bias);
    let mut y = e.bits(guess, DType::F32);
    let two = e.f(x, 2.0);
    for _ in 0..2 {
        let square = e.mul(y, y);
        let cube = e.mul(square, y);
        let (above, below) = (e.fma(a, two, cube), e.fma(cube, two, a));
        let factor = e.div(above, below);
        y = e.mul(y, factor);
    }
    let square = e.mul(y, y);
    let (minus_square, minus_a) = (e.neg(square), e.neg(a));
    let low = e.fma(y, y, minus_square);
    let residue = e.fma(square, y, minus_a);
    let residue = e.fma(low, y, residue);
    let minus_three = e.f(x, -3.0);
    let slope = e.mul(square, minus_three);
    let step = e.div(residue, slope);
    let y = e.add(y, step);
    let y = e.mul(y, scale);
    let y = e.with_sign(y, x);
    // 0, infinities and NaN are their own.
    let (zero, infinity) = (e.f(x, 0.0), e.f(x, f64::INFINITY));
    let (positive, finite) = (e.lt(zero, size), e.lt(size, infinity));
    let other = e.and(positive, finite);
    e.select(other, y, x)
}
