//! Inverse hyperbolic functions, by `log1p` of what is exact where the result is small.

use super::emit::Emit;
use super::log;
use crate::uop::UOp;
use evoxc_core::DType;

/// log1p of `near`, or where `x` is so large that its square would overflow and 1 does not count, log 2x.
fn of_two(e: &mut Emit, x: UOp, near: UOp) -> UOp {
    let limit = if e.dtype(x) == DType::F32 { 268435456.0 } else { 1e18 };
    let (limit, ln2, zero) = (e.f(x, limit), e.f(x, std::f64::consts::LN_2), e.f(x, 0.0));
    let large = e.lt(limit, x);
    let argument = e.select(large, x, near);
    let more = e.select(large, ln2, zero);
    let value = log::log1p(e, argument);
    e.add(value, more)
}

/// log(|x| + √(x² + 1)), as log(1 + |x| + x² / (1 + √(x² + 1))).
pub(super) fn asinh(e: &mut Emit, x: UOp) -> UOp {
    let (size, one) = (e.abs(x), e.f(x, 1.0));
    let square = e.mul(x, x);
    let more = e.fma(x, x, one);
    let root = e.sqrt(more);
    let divisor = e.add(root, one);
    let quotient = e.div(square, divisor);
    let near = e.add(size, quotient);
    let value = of_two(e, size, near);
    e.with_sign(value, x)
}

/// log(x + √(x² - 1)), as log(1 + t + √(t (t + 2))) for t = x - 1; NaN below 1.
pub(super) fn acosh(e: &mut Emit, x: UOp) -> UOp {
    let (one, two, nan) = (e.f(x, 1.0), e.f(x, 2.0), e.f(x, f64::NAN));
    let t = e.sub(x, one);
    let next = e.add(t, two);
    let square = e.mul(t, next);
    let root = e.sqrt(square);
    let near = e.add(t, root);
    let value = of_two(e, x, near);
    let below = e.lt(x, one);
    e.select(below, nan, value)
}

/// log((1 + x) / (1 - x)) / 2, as log(1 + 2x / (1 - x)) / 2; NaN beyond 1.
pub(super) fn atanh(e: &mut Emit, x: UOp) -> UOp {
    let (size, one, half) = (e.abs(x), e.f(x, 1.0), e.f(x, 0.5));
    let (twice, rest) = (e.add(size, size), e.sub(one, size));
    let near = e.div(twice, rest);
    let value = log::log1p(e, near);
    let value = e.mul(value, half);
    e.with_sign(value, x)
}
