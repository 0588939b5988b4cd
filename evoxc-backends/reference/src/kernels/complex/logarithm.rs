//! Logarithms of complex numbers. The real part is the logarithm of the modulus, which is close to 0 near the unit circle:
//! there, the square of the modulus less 1 is summed exactly.

use super::double::{Double, product, sum, total};
use num_complex::Complex64 as C;
use std::f64::consts::LN_2;

/// ln |x + iy|.
pub(super) fn log_modulus(x: f64, y: f64) -> f64 {
    let (a, b) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    if a == f64::INFINITY || b == f64::INFINITY {
        return f64::INFINITY;
    }
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if a == 0.0 {
        return f64::NEG_INFINITY;
    }
    if (0.35..=2.0).contains(&a) {
        let (p, q) = (product(a, a), product(b, b));
        return 0.5 * total([-1.0, p.hi, p.lo, q.hi, q.lo]).log1p();
    }
    // Squares of numbers beyond 2^±400 do not fit; powers of two are exact.
    let k = if a > 2f64.powi(400) {
        -600
    } else if a < 2f64.powi(-400) {
        600
    } else {
        0
    };
    let (a, b) = (a * 2f64.powi(k), b * 2f64.powi(k));
    let square = product(a, a).plus(product(b, b));
    let log = 0.5 * square.log();
    if k == 0 { log } else { log - f64::from(k) * LN_2 }
}

pub(crate) fn log(z: C) -> C {
    C::new(log_modulus(z.re, z.im), z.im.atan2(z.re))
}

pub(crate) fn log2(z: C) -> C {
    let l = log(z);
    C::new(l.re / LN_2, l.im / LN_2)
}

pub(crate) fn log1p(z: C) -> C {
    let (x, y) = (z.re, z.im);
    let (re_one, fits) = (sum(1.0, x), |v: f64| v.abs() < 1e100);
    let re = if x.abs() < 3.0 && y.abs() < 3.0 {
        let (p, q) = (product(x, x), product(y, y));
        let square = total([2.0 * x, p.hi, p.lo, q.hi, q.lo]);
        if square.hi <= -1.0 { log_modulus(re_one.hi, y) } else { near(square, re_one, y) }
    } else if fits(x) && fits(y) {
        0.5 * re_one.square().plus(product(y, y)).log()
    } else {
        log_modulus(1.0 + x, y)
    };
    C::new(re, y.atan2(1.0 + x))
}

/// ln |1 + z| from |1 + z|² - 1; close to -1, where that has nothing left to say, from 1 + z itself.
fn near(square: Double, x: Double, y: f64) -> f64 {
    if square.hi < -0.5 { log_modulus(x.hi, y) } else { 0.5 * square.log1p() }
}
