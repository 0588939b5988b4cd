//! Elementary functions of complex numbers in double precision, under the names that the reals use. Branch cuts, signs of
//! zeros, and infinities are those of the C standard's annex G, but for exp of two infinite parts, which is NaN.
//!
//! Both parts of a result are good to a few units in the last place of their own, however small one is beside the other:
//! where formulas cancel, they are worked out in double-double arithmetic. Single precision computes in double and rounds.

mod double;
mod inverse;
mod logarithm;

pub(crate) use inverse::{acos, acosh, asin, asinh, atan, atanh};
pub(crate) use logarithm::{log, log1p, log2};

use double::{Double, product, sum};
use num_complex::Complex64 as C;

const ONE: C = C::new(1.0, 0.0);

// Exact products that keep the signs of zeros.
fn times_i(z: C) -> C {
    C::new(-z.im, z.re)
}
fn over_i(z: C) -> C {
    C::new(z.im, -z.re)
}

/// Single to double precision.
pub(crate) fn widen(z: num_complex::Complex32) -> C {
    C::new(z.re.into(), z.im.into())
}
/// Rounded to single precision.
pub(crate) fn narrow(z: C) -> num_complex::Complex32 {
    num_complex::Complex32::new(z.re as f32, z.im as f32)
}

/// e to the x, times a and b: also where e to the x overflows, and the products do not.
fn exp_times(x: f64, a: f64, b: f64) -> C {
    if x > 700.0 && x < 1500.0 {
        // Of x, 1024 ln(2) is taken off, in two parts of which the first has few enough bits for the product to be exact.
        const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
        let r = sum(x - 1024.0 * LN_2[0], -1024.0 * LN_2[1]);
        let e = r.hi.exp();
        let (e, half) = (e + e * r.lo, 2f64.powi(512));
        return C::new(e * a * half * half, e * b * half * half);
    }
    let e = x.exp();
    C::new(e * a, e * b)
}

pub(crate) fn exp(z: C) -> C {
    if z.im == 0.0 {
        // The plain formula would turn inf * 0 into NaN on the real axis.
        C::new(z.re.exp(), z.im)
    } else {
        exp_times(z.re, z.im.cos(), z.im.sin())
    }
}
pub(crate) fn exp2(z: C) -> C {
    exp(z * std::f64::consts::LN_2)
}
pub(crate) fn expm1(z: C) -> C {
    if !z.re.is_finite() || !z.im.is_finite() {
        let e = exp(z);
        return C::new(e.re - 1.0, e.im);
    }
    let s = (z.im / 2.0).sin();
    // e^x cos(y) - 1, as two terms that are small where it is.
    let re = if z.re.abs() < 1.0 {
        product(z.re.exp_m1(), z.im.cos()).minus(product(2.0 * s, s)).value()
    } else {
        exp_times(z.re, z.im.cos(), 0.0).re - 1.0
    };
    C::new(re, if z.im == 0.0 { z.im } else { exp_times(z.re, z.im.sin(), 0.0).re })
}
/// The principal square root: W. Kahan's formula, with powers of four taken out where squares would not fit.
pub(crate) fn sqrt(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    if y == f64::INFINITY {
        return C::new(y, z.im);
    }
    if x == f64::INFINITY {
        let other = if z.im.is_nan() { f64::NAN } else { 0.0 };
        return if z.re > 0.0 { C::new(x, other.copysign(z.im)) } else { C::new(other, x.copysign(z.im)) };
    }
    if x.max(y) == 0.0 {
        return C::new(0.0, z.im);
    }
    let (up, root) = if x.max(y) > 1e150 {
        (2f64.powi(-600), 2f64.powi(300))
    } else if x.max(y) < 1e-150 {
        (2f64.powi(600), 2f64.powi(-300))
    } else {
        (1.0, 1.0)
    };
    let (x, y) = (x * up, y * up);
    let half = Double::from(x).plus(product(x, x).plus(product(y, y)).sqrt()).scaled(0.5).sqrt();
    let large = half.value() * root;
    // Where the smaller part was lost in scaling, it is far below the larger one.
    let small =
        if y > 1e-200 { Double::from(y).over(half.scaled(2.0)).value() * root } else { z.im.abs() / (2.0 * large) };
    if z.re >= 0.0 || z.re.is_nan() { C::new(large, small.copysign(z.im)) } else { C::new(small, large.copysign(z.im)) }
}
pub(crate) fn rsqrt(z: C) -> C {
    divide(ONE, sqrt(z))
}
pub(crate) fn sin(z: C) -> C {
    // sin(z) = -i sinh(iz), without its cost: the factors are real.
    over_i(sinh(times_i(z)))
}
pub(crate) fn cos(z: C) -> C {
    cosh(times_i(z))
}
pub(crate) fn tan(z: C) -> C {
    over_i(tanh(times_i(z)))
}
pub(crate) fn sinh(z: C) -> C {
    if z.im == 0.0 {
        return C::new(z.re.sinh(), z.im);
    }
    if z.re.is_finite() && z.re.abs() > 700.0 {
        let e = exp_times(z.re.abs(), z.im.cos() / 2.0, z.im.sin() / 2.0);
        return C::new(e.re.copysign(e.re * z.re), e.im);
    }
    let re = if z.re == 0.0 { z.re } else { z.re.sinh() * z.im.cos() };
    C::new(re, z.re.cosh() * z.im.sin())
}
pub(crate) fn cosh(z: C) -> C {
    if z.im == 0.0 || z.re == 0.0 {
        let im = (z.re * z.im).clamp(-0.0, 0.0);
        return C::new(if z.re == 0.0 { z.im.cos() } else { z.re.cosh() }, if im.is_nan() { z.im } else { im });
    }
    if z.re.is_finite() && z.re.abs() > 700.0 {
        let e = exp_times(z.re.abs(), z.im.cos() / 2.0, z.im.sin() / 2.0);
        return C::new(e.re, if z.re < 0.0 { -e.im } else { e.im });
    }
    C::new(z.re.cosh() * z.im.cos(), z.re.sinh() * z.im.sin())
}
pub(crate) fn tanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    // Beyond 20 the real part is 1 to the last bit, and the formula would overflow further on.
    if x.abs() > 20.0 {
        let im = if y.is_finite() { 4.0 * y.sin() * y.cos() * (-2.0 * x.abs()).exp() } else { 0f64.copysign(y) };
        return C::new(1f64.copysign(x), im);
    }
    if y == 0.0 {
        return C::new(x.tanh(), y);
    }
    if x == 0.0 {
        return C::new(x, y.tan());
    }
    // (sinh(x) cosh(x) + i sin(y) cos(y)) / (sinh(x)^2 + cos(y)^2): nothing cancels.
    let (sinh, cos) = (x.sinh(), y.cos());
    let below = product(sinh, sinh).plus(product(cos, cos));
    C::new(product(sinh, x.cosh()).over(below).value(), product(y.sin(), cos).over(below).value())
}
pub(crate) fn cbrt(z: C) -> C {
    C::from_polar(z.re.hypot(z.im).cbrt(), z.im.atan2(z.re) / 3.0)
}
pub(crate) fn logistic(z: C) -> C {
    if z.re < 0.0 {
        let e = exp(z);
        divide(e, ONE + e)
    } else {
        divide(ONE, ONE + exp(-z))
    }
}
pub(crate) fn sign(z: C) -> C {
    let n = z.re.hypot(z.im);
    if n == 0.0 { z } else { C::new(z.re / n, z.im / n) }
}

/// a b + c d in one rounding.
fn dot(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let plain = a * b + c * d;
    if plain.is_finite() {
        let (p, q) = (product(a, b), product(c, d));
        let s = sum(p.hi, q.hi);
        return s.hi + (s.lo + (p.lo + q.lo));
    }
    if ![a, b, c, d].iter().all(|x| x.is_finite()) {
        return plain;
    }
    // Products that overflow may cancel.
    let (down, up) = (2f64.powi(-520), 2f64.powi(520));
    dot(a * down, b * down, c * down, d * down) * up * up
}

/// The product: each part in one rounding, so that what cancels is exact.
pub(crate) fn multiply(a: C, b: C) -> C {
    C::new(dot(a.re, b.re, -a.im, b.im), dot(a.re, b.im, a.im, b.re))
}

/// The quotient: each part in about one rounding; by Smith's method where a part is not finite.
pub(crate) fn divide(a: C, b: C) -> C {
    if b.im == 0.0 {
        return C::new(a.re / b.re, a.im / b.re);
    }
    let (n, d) = (a.re.abs().max(a.im.abs()), b.re.abs().max(b.im.abs()));
    if n > 0.0 && n.is_finite() && d.is_finite() && !(a.re + a.im + b.re + b.im).is_nan() {
        // Powers of two taken out, squares fit.
        let (i, j) = (libm::ilogb(n), libm::ilogb(d));
        let scaled = |z: C, by: i32| C::new(libm::ldexp(z.re, by), libm::ldexp(z.im, by));
        let (a, b) = (scaled(a, -i), scaled(b, -j));
        let below = product(b.re, b.re).plus(product(b.im, b.im));
        let part = |p: Double, q: Double| p.plus(q).over(below).value();
        let re = part(product(a.re, b.re), product(a.im, b.im));
        return scaled(C::new(re, part(product(a.im, b.re), product(-a.re, b.im))), i - j);
    }
    if b.re.abs() >= b.im.abs() {
        let r = b.im / b.re;
        let d = b.re + b.im * r;
        C::new((a.re + a.im * r) / d, (a.im - a.re * r) / d)
    } else {
        let r = b.re / b.im;
        let d = b.re * r + b.im;
        C::new((a.re * r + a.im) / d, (a.im * r - a.re) / d)
    }
}

/// a to the b; anything to the 0 is 1, and 0 to a positive power 0.
pub(crate) fn power(a: C, b: C) -> C {
    if b == C::new(0.0, 0.0) {
        ONE
    } else if a == C::new(0.0, 0.0) {
        if b.re > 0.0 { C::new(0.0, 0.0) } else { C::new(f64::NAN, f64::NAN) }
    } else {
        exp(multiply(b, log(a)))
    }
}

#[cfg(test)]
mod tests;
