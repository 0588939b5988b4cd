//! Elementary functions of complex numbers in double precision, under the names that the reals use. Branch cuts are
//! those of the C library.

use num_complex::Complex64 as C;

const ONE: C = C::new(1.0, 0.0);

// Exact products and sums that keep the signs of zeros.
fn times_i(z: C) -> C {
    C::new(-z.im, z.re)
}
fn over_i(z: C) -> C {
    C::new(z.im, -z.re)
}
fn one_plus(z: C) -> C {
    C::new(1.0 + z.re, z.im)
}
fn one_minus(z: C) -> C {
    C::new(1.0 - z.re, -z.im)
}

/// Single to double precision.
pub(crate) fn widen(z: num_complex::Complex32) -> C {
    C::new(z.re.into(), z.im.into())
}
/// Rounded to single precision.
pub(crate) fn narrow(z: C) -> num_complex::Complex32 {
    num_complex::Complex32::new(z.re as f32, z.im as f32)
}

pub(crate) fn exp(z: C) -> C {
    // The plain formula would turn inf * 0 into NaN on the real axis.
    if z.im == 0.0 { C::new(z.re.exp(), z.im) } else { z.exp() }
}
pub(crate) fn exp2(z: C) -> C {
    exp(z * std::f64::consts::LN_2)
}
pub(crate) fn expm1(z: C) -> C {
    let s = (z.im / 2.0).sin();
    let e = z.re.exp();
    C::new(z.re.exp_m1() - 2.0 * e * s * s, if z.im == 0.0 { z.im } else { e * z.im.sin() })
}
pub(crate) fn log(z: C) -> C {
    C::new(z.re.hypot(z.im).ln(), z.im.atan2(z.re))
}
pub(crate) fn log2(z: C) -> C {
    log(z) / std::f64::consts::LN_2
}
pub(crate) fn log1p(z: C) -> C {
    let near = z.re.abs() < 0.5 && z.im.abs() < 0.5;
    let re = if near { 0.5 * (z.re * (2.0 + z.re) + z.im * z.im).ln_1p() } else { (1.0 + z.re).hypot(z.im).ln() };
    C::new(re, z.im.atan2(1.0 + z.re))
}
pub(crate) fn sqrt(z: C) -> C {
    z.sqrt()
}
pub(crate) fn rsqrt(z: C) -> C {
    divide(ONE, z.sqrt())
}
pub(crate) fn sin(z: C) -> C {
    z.sin()
}
pub(crate) fn cos(z: C) -> C {
    z.cos()
}
pub(crate) fn tan(z: C) -> C {
    over_i(tanh(times_i(z)))
}
// asin, acos, acosh after W. Kahan, "Branch cuts for complex elementary functions" (1987): the signs of zeros tell the
// sides of the cuts, so none may be lost in passing.
pub(crate) fn asin(z: C) -> C {
    let (minus, plus) = (one_minus(z).sqrt(), one_plus(z).sqrt());
    C::new(z.re.atan2((minus * plus).re), (minus.conj() * plus).im.asinh())
}
pub(crate) fn acos(z: C) -> C {
    let (minus, plus) = (one_minus(z).sqrt(), one_plus(z).sqrt());
    C::new(2.0 * minus.re.atan2(plus.re), (plus.conj() * minus).im.asinh())
}
pub(crate) fn atan(z: C) -> C {
    over_i(atanh(times_i(z)))
}
pub(crate) fn sinh(z: C) -> C {
    z.sinh()
}
pub(crate) fn cosh(z: C) -> C {
    z.cosh()
}
pub(crate) fn tanh(z: C) -> C {
    // Beyond 20 the real part is 1 to the last bit, and the plain formula would overflow further on.
    if z.re.abs() > 20.0 {
        let im = 4.0 * z.im.sin() * z.im.cos() * (-2.0 * z.re.abs()).exp();
        return C::new(1f64.copysign(z.re), im);
    }
    z.tanh()
}
pub(crate) fn asinh(z: C) -> C {
    over_i(asin(times_i(z)))
}
pub(crate) fn acosh(z: C) -> C {
    let (minus, plus) = (C::new(z.re - 1.0, z.im).sqrt(), one_plus(z).sqrt());
    C::new((minus.conj() * plus).re.asinh(), 2.0 * minus.im.atan2(plus.re))
}
pub(crate) fn atanh(z: C) -> C {
    let far = (1.0 - z.re) * (1.0 - z.re) + z.im * z.im;
    let re = 0.25 * (4.0 * z.re / far).ln_1p();
    C::new(re, 0.5 * (2.0 * z.im).atan2((1.0 - z.re) * (1.0 + z.re) - z.im * z.im))
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

/// The quotient by Smith's method, which does not overflow where the result does not.
pub(crate) fn divide(a: C, b: C) -> C {
    if b.im == 0.0 {
        return C::new(a.re / b.re, a.im / b.re);
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
        exp(b * log(a))
    }
}
