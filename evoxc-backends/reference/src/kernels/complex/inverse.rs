//! Inverse trigonometric and hyperbolic functions of complex numbers.
//!
//! asin and acos after T. E. Hull, T. F. Fairgrieve, P. T. P. Tang, "Implementing the complex arcsine and arccosine
//! functions using exception handling" (1997), in double-double arithmetic in place of their case analysis.

use super::double::{Double, product, sum, total};
use super::logarithm::log_modulus;
use super::{over_i, times_i};
use num_complex::Complex64 as C;
use std::f64::consts::{FRAC_PI_2, LN_2};

/// What asin and acos of x + iy, in the first quadrant, are made of: the square root of 1 - z² times that of its
/// conjugate, of which the angle is taken against x; and the logarithm that is the imaginary part.
struct Parts {
    root: f64,
    log: f64,
}

fn parts(x: f64, y: f64) -> Parts {
    // Far out, |z + 1| and |z - 1| are |z|, and the square of z swamps 1.
    if x > 1e18 || y > 1e18 {
        return Parts { root: y, log: LN_2 + log_modulus(x, y) };
    }
    let one = Double::from(1.0);
    let (plus, minus) = (sum(x, 1.0), sum(x, -1.0));
    let yy = product(y, y);
    // r = |z + 1|, s = |z - 1|, a = (r + s) / 2. y² may underflow beside what is not 0.
    let r = plus.square().plus(yy).sqrt();
    let s = if minus.hi == 0.0 { Double::from(y) } else { minus.square().plus(yy).sqrt() };
    let a = r.plus(s).scaled(0.5);
    let (from_r, away) = (one.over(r.plus(plus)), Double { hi: minus.hi.abs(), lo: minus.lo * minus.hi.signum() });
    let outer = s.plus(away);
    let y = Double::from(y);
    if x < 1.0 {
        // a - x = (y² / (r + (x + 1)) + s + (1 - x)) / 2 and a - 1 = y² (1 / (r + x + 1) + 1 / (s + 1 - x)) / 2.
        let less_x = yy.times(from_r).plus(outer).scaled(0.5);
        let root = a.plus(Double::from(x)).times(less_x).sqrt();
        let q = from_r.plus(one.over(outer)).scaled(0.5);
        let log = y.times(y.times(q).plus(q.times(a.plus(one)).sqrt()));
        Parts { root: root.value(), log: log.log1p() }
    } else {
        // The same, with the sides of 1 and x exchanged.
        let less_1 = yy.times(from_r).plus(outer).scaled(0.5);
        let log = less_1.plus(less_1.times(a.plus(one)).sqrt());
        let root = if outer.hi == y.hi && minus.hi == 0.0 {
            a.plus(Double::from(x)).times(yy.times(from_r).plus(y).scaled(0.5)).sqrt()
        } else {
            let q = from_r.plus(one.over(outer)).scaled(0.5);
            y.times(q.times(a.plus(Double::from(x))).sqrt())
        };
        Parts { root: root.value(), log: log.log1p() }
    }
}

pub(crate) fn asin(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    if x.is_nan() || y.is_nan() {
        let re = if z.re == 0.0 { z.re } else { f64::NAN };
        let im = if x.is_infinite() || y.is_infinite() { f64::INFINITY } else { f64::NAN };
        return C::new(re, if z.im == 0.0 { z.im } else { im.copysign(z.im) });
    }
    let p = parts(x, y);
    C::new(x.atan2(p.root).copysign(z.re), p.log.copysign(z.im))
}

pub(crate) fn acos(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    if x.is_nan() || y.is_nan() {
        let re = if z.re == 0.0 { FRAC_PI_2 } else { f64::NAN };
        let im = if x.is_infinite() || y.is_infinite() { f64::INFINITY } else { f64::NAN };
        return C::new(re, (-im).copysign(-z.im));
    }
    let p = parts(x, y);
    C::new(p.root.atan2(z.re), p.log.copysign(-z.im))
}

pub(crate) fn asinh(z: C) -> C {
    over_i(asin(times_i(z)))
}

pub(crate) fn acosh(z: C) -> C {
    // i acos(z) or -i acos(z), whichever lies to the right.
    let w = acos(z);
    C::new(w.im.abs(), w.re.copysign(z.im))
}

pub(crate) fn atan(z: C) -> C {
    over_i(atanh(times_i(z)))
}

pub(crate) fn atanh(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    if x.is_infinite() || y.is_infinite() {
        let im = if y.is_nan() { f64::NAN } else { FRAC_PI_2 };
        return C::new(0f64.copysign(z.re), im.copysign(z.im));
    }
    if x.is_nan() || y.is_nan() {
        return C::new(if z.re == 0.0 { z.re } else { f64::NAN }, f64::NAN);
    }
    if x > 1e18 || y > 1e18 {
        // 1 / z, and a right angle. Halves do not overflow.
        let (h, k) = (0.5 * x, 0.5 * y);
        let re = if x >= y { 0.5 / (h + k * (y / x)) } else { 0.5 * (x / y) / (k + h * (x / y)) };
        return C::new(re.copysign(z.re), FRAC_PI_2.copysign(z.im));
    }
    // |1 - z|², and 1 - |z|².
    let off = sum(1.0, -x);
    let far = off.square().plus(product(y, y));
    let re = if off.hi == 0.0 && y < 1e-100 {
        // 4 / y² does not fit.
        0.5 * (LN_2 - y.ln())
    } else {
        0.25 * Double::from(4.0 * x).over(far).log1p()
    };
    let (p, q) = (product(x, x), product(y, y));
    let below = total([1.0, -p.hi, -p.lo, -q.hi, -q.lo]).value();
    C::new(re.copysign(z.re), (0.5 * (2.0 * y).atan2(below)).copysign(z.im))
}
