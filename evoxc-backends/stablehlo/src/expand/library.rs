//! Functions that StableHLO has, for consumers without a mathematical library that is exact enough: of f64 log1p and
//! expm1, of both real types atan2 and cbrt,
//! moduli that do not overflow, and powers of numbers below 0.

use super::parts::{horner, with_sign_of};
use evoxc_core::F32;
use evoxc_trace::Sym;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// x log(u)/(u - 1) with u the rounded 1 + x: both factors are off by the same rounding, which cancels (W. Kahan; N. J.
/// Higham, "Accuracy and stability of numerical algorithms", 1.14.1).
pub(super) fn log1p(x: Sym) -> Sym {
    let u = x + 1.0;
    let rounded = u - 1.0;
    let plain = rounded.eq(0.0) | u.eq(f64::INFINITY);
    let ratio = u.log() / plain.select(1.0, rounded);
    // Of an infinity and of what is lost against 1 it is x itself.
    plain.select(x, x * ratio)
}

/// x (u - 1)/log(u) with u the rounded exp(x) (the same).
pub(super) fn expm1(x: Sym) -> Sym {
    let u = x.exp();
    let rounded = u - 1.0;
    // Where exp(x) rounds to 1, and beyond where it is lost against 1 or infinite.
    let (tiny, far) = (u.eq(1.0), x.abs().gt(36.0));
    let logarithm = (tiny | far).select(u.full_like(2.0), u).log();
    tiny.select(x, far.select(rounded, rounded * (x / logarithm)))
}

/// expm1(2|x|) over itself and 2, with the sign of x; from 20 on it rounds to 1.
pub(super) fn tanh(x: Sym) -> Sym {
    let e = expm1(x.abs().minimum(20.0) * 2.0);
    with_sign_of(e / (e + 2.0), x)
}

/// e to a third of the logarithm, and one step of Newton's method, which doubles its digits.
pub(super) fn cbrt(x: Sym) -> Sym {
    let a = x.abs();
    let plain = a.eq(0.0) | !a.is_finite();
    let safe = plain.select(1.0, a);
    let y = (safe.log() * (1.0 / 3.0)).exp();
    // 0 where the logarithm took a subnormal number for 0.
    let y = y - (y - safe / y.eq(0.0).select(1.0, y * y)) * (1.0 / 3.0);
    plain.select(x, with_sign_of(y, x))
}

/// Of the absolute value, with the sign that an odd exponent gives; NaN for a negative number to a fraction (IEEE 754,
/// 9.2.1).
pub(super) fn pow(x: Sym, y: Sym) -> Sym {
    let a = x.abs();
    let p = a.pow(y);
    let whole = y.eq(y.floor());
    let half = y * 0.5;
    let odd = whole & half.ne(half.floor());
    // The sign bit of -0 counts: it is that of 1 with the sign of x.
    let negative = with_sign_of(x.ones_like(), x).lt(0.0);
    let p = (negative & odd).select(-p, p);
    let p = (x.lt(0.0) & x.is_finite() & !whole | y.ne(y)).select(f64::NAN, p);
    let one = y.eq(0.0) | x.eq(1.0) | (x.eq(-1.0) & y.abs().eq(f64::INFINITY));
    one.select(1.0, p)
}

/// The angle of (x, y): of the smaller part over the larger an angle up to π/4, of which more than π/8 is taken off by
/// the rotation (r - 1)/(r + 1), so that a polynomial in r² remains.
pub(super) fn atan2(y: Sym, x: Sym) -> Sym {
    let (a, b) = (x.abs(), y.abs());
    let (high, low) = (a.maximum(b), a.minimum(b));
    // Of two zeros or two infinities the ratio is that of their angles: 0 and 1.
    let same = high.eq(f64::INFINITY) & low.eq(high);
    let ratio = same.select(1.0, low / high.eq(0.0).select(1.0, high));
    let turned = ratio.gt(std::f64::consts::SQRT_2 - 1.0);
    let r = turned.select((ratio - 1.0) / (ratio + 1.0), ratio);
    let series = if x.dtype() == F32 { horner(r * r, &ATAN_F32) } else { horner(r * r, &ATAN_F64) };
    let angle = turned.select(r * series + FRAC_PI_4, r * series);
    let angle = b.gt(a).select(FRAC_PI_2 - angle, angle);
    // The sign bit of -0 counts: it is that of 1 with the sign of x.
    let left = with_sign_of(x.ones_like(), x).lt(0.0);
    // NaN has come through the larger part.
    with_sign_of(left.select(PI - angle, angle), y)
}

/// atan(r)/r in r² on [0, tan² π/8], interpolated at Chebyshev nodes; computed with mpmath in 60 digits. The highest first.
#[rustfmt::skip]
const ATAN_F64: [f64; 12] = [
    -0.017798151096066916, 0.03795871749813738, -0.050348481035096364, 0.05846822524219197, -0.06662944239279986,
    0.07692044671999662, -0.09090896772370441, 0.11111110743650286, -0.14285714279224732, 0.1999999999994063,
    -0.3333333333333312, 1.0,
];
#[rustfmt::skip]
const ATAN_F32: [f64; 6] = [
    -0.06025174104676797, 0.10569390378967941, -0.1423947386911592, 0.19998179868087892, -0.33333306834218274,
    0.9999999993695254,
];
