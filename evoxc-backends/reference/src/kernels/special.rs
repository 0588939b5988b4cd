//! Special functions of `f64` that the mathematics library lacks.

use std::f64::consts::PI;

/// The inverse of `cosh`: NaN below 1, where the library's is not always.
pub(crate) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// The inverse of `erf`: NaN outside [-1, 1], infinite at the ends.
///
/// A first guess by the polynomials of M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2012), which
/// is good to single precision but for the far tail, then Halley's method, on `erfc` where `erf` would cancel.
pub(crate) fn erf_inv(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() {
        return x;
    }
    let a = x.abs();
    if a >= 1.0 {
        return if a == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    }
    let w = -((1.0 - a) * (1.0 + a)).ln();
    let horner = |w: f64, c: &[f64]| c.iter().fold(0.0, |p, &k| p * w + k);
    #[rustfmt::skip]
    let guess = if w < 5.0 {
        horner(w - 2.5, &[2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
                          -0.00417768164, 0.246640727, 1.50140941])
    } else {
        horner(w.sqrt() - 3.0, &[-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                 -0.0076224613, 0.00943887047, 1.00167406, 2.83297682])
    };
    let mut y = guess * a;
    // It settles after two steps, in the tail after four; the bound is for safety alone.
    for _ in 0..8 {
        let error = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let u = error * (PI.sqrt() / 2.0) * (y * y).exp();
        let step = u / (1.0 + y * u);
        y -= step;
        if step.abs() <= f64::EPSILON / 2.0 * y {
            break;
        }
    }
    y.copysign(x)
}

/// The derivative of `lgamma`: NaN at 0 and the negative integers.
///
/// Reflection for negative x, recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.3.5, 6.3.7 and
/// 6.3.18).
pub(crate) fn digamma(x: f64) -> f64 {
    if x == f64::NEG_INFINITY || (x <= 0.0 && x == x.floor()) {
        return f64::NAN;
    }
    if x < 0.0 {
        // The fraction alone, so that the tangent stays exact for large x.
        let fraction = x - x.round();
        return digamma(1.0 - x) - PI / (PI * fraction).tan();
    }
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift += 1.0 / x;
        x += 1.0;
    }
    if x == f64::INFINITY {
        return x;
    }
    let r = 1.0 / (x * x);
    let series = [1.0 / 12.0, -691.0 / 32760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0]
        .iter()
        .fold(0.0, |p, &k| p * r + k);
    x.ln() - 0.5 / x - series * r - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    // scipy.special.erfinv
    #[test]
    fn erf_inv_of_known_values() {
        for (x, y) in [
            (0.5, 0.4769362762044699),
            (-0.9, -1.1630871536766743),
            (1e-10, 8.862269254527581e-11),
            (0.999999, 3.458910737275499),
            (1.0 - 2f64.powi(-50), 5.686128441310391),
        ] {
            assert!((erf_inv(x) - y).abs() <= 1e-12 * y.abs(), "{x}: {} {y}", erf_inv(x));
        }
        assert_eq!(erf_inv(1.0), f64::INFINITY);
        assert!(erf_inv(1.5).is_nan());
    }

    // scipy.special.digamma
    #[test]
    fn digamma_of_known_values() {
        for (x, y) in [
            (1.0, -0.5772156649015329),
            (0.1, -10.423754940411076),
            (10.5, 2.3030010342976865),
            (-1.5, 0.7031566406452434),
            (1e10, 23.025850929890456),
        ] {
            assert!((digamma(x) - y).abs() <= 1e-14 * y.abs().max(1.0), "{x}: {} {y}", digamma(x));
        }
        assert!(digamma(-3.0).is_nan());
    }
}
