//! Special functions and tests of floats, as `jax.numpy` and `jax.scipy.special` define them. All are element-wise and
//! keep x's shape (operands broadcast together) and dtype, a real float unless they say otherwise.

use super::checks::{float, known, number, real, same_dtype, two_floats};
use super::parts::filled;
use crate::operand::together;
use crate::{Operand, Sym, builder};
use evoxc_core::{BOOL, DType};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The largest finite number of a float dtype.
pub(crate) fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => half::f16::MAX.to_f64(),
        DType::BF16 => half::bf16::MAX.to_f64(),
        DType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    }
}

impl Sym {
    /// Is it NaN? A bool; of integers false.
    #[track_caller]
    pub fn is_nan(self) -> Sym {
        if known("is_nan", self).is_none() { Sym::POISON } else { self.ne(self) }
    }
    /// Is it infinite, of either sign? A bool; of integers false.
    #[track_caller]
    pub fn is_inf(self) -> Sym {
        match number("is_inf", self) {
            Some(t) if t.dtype.is_int() => filled("is_inf", false, BOOL, &t.shape),
            Some(_) => self.abs().eq(f64::INFINITY),
            None => Sym::POISON,
        }
    }
    /// NaN becomes 0, infinities the largest finite numbers; integers stay.
    #[track_caller]
    pub fn nan_to_num(self) -> Sym {
        let Some(t) = real("nan_to_num", self) else { return Sym::POISON };
        if t.dtype.is_int() {
            return self;
        }
        let most = largest(t.dtype);
        self.is_nan().select(0, self.clip(-most, most))
    }
    /// The straight line from `self` to `end`: self + weight·(end - self).
    #[track_caller]
    pub fn lerp(self, end: impl Operand, weight: impl Operand) -> Sym {
        match two_floats("lerp", self, end) {
            Some((a, b, _)) => a + (b - a) * weight.operand(),
            None => Sym::POISON,
        }
    }
    /// 0 below 0, 1 above, `at_zero` at 0; NaN stays.
    #[track_caller]
    pub fn heaviside(self, at_zero: impl Operand) -> Sym {
        match two_floats("heaviside", self, at_zero) {
            Some((x, h, t)) => {
                let one = filled("heaviside", 1, t.dtype, &known("heaviside", x).unwrap_or(t).shape);
                x.lt(0).select(0, x.gt(0).select(one, x.eq(0).select(h, x)))
            }
            None => Sym::POISON,
        }
    }
    /// Degrees to radians.
    #[track_caller]
    pub fn deg2rad(self) -> Sym {
        if float("deg2rad", self).is_none() { Sym::POISON } else { self * (PI / 180.0) }
    }
    /// Radians to degrees.
    #[track_caller]
    pub fn rad2deg(self) -> Sym {
        if float("rad2deg", self).is_none() { Sym::POISON } else { self * (180.0 / PI) }
    }
    /// √(a² + b²), without overflow; infinite if either is. The derivative where both are 0 is 0.
    #[track_caller]
    pub fn hypot(self, other: impl Operand) -> Sym {
        let _at = builder::pin();
        let Some((a, b, _)) = two_floats("hypot", self, other) else { return Sym::POISON };
        let most = a.abs().maximum(b.abs());
        let ends = most.eq(0) | most.eq(f64::INFINITY);
        // A constant to derivatives: it cancels. The kinks of |a| and |b| are none of the norm, so that they stay out.
        let scale = ends.select(1, most).stop_gradient();
        let [x, y] = [a, b].map(|v| ends.select(1, v) / scale);
        ends.select(most, scale * (x * x + y * y).sqrt())
    }
    /// log(eᵃ + eᵇ), without overflow, also for infinities.
    #[track_caller]
    pub fn logaddexp(self, other: impl Operand) -> Sym {
        let Some((a, b, _)) = two_floats("logaddexp", self, other) else { return Sym::POISON };
        // Not max and |a - b|, whose kinks where a = b would be lost to second derivatives.
        let first = a.ge(b);
        let most = first.select(a, b);
        let difference = first.select(b, a) - most;
        // Infinities of one sign differ by NaN; their sum is the answer, as it is for NaN.
        let none = difference.is_nan();
        none.select(a + b, most + none.select(0, difference).exp().log1p())
    }
    /// x·log(y), and 0 where x is 0 (but for y NaN).
    #[track_caller]
    pub fn xlogy(self, y: impl Operand) -> Sym {
        let Some((x, y, _)) = two_floats("xlogy", self, y) else { return Sym::POISON };
        // Only where 0·log(y) would be NaN: elsewhere the derivative in x is log(y), also at 0. And log of an unused 0
        // would make it NaN.
        let zero = x.eq(0) & (y.le(0) | y.eq(f64::INFINITY));
        zero.select(0, x * zero.select(1, y).log())
    }
    /// x·log(1 + y), and 0 where x is 0 (but for y NaN).
    #[track_caller]
    pub fn xlog1py(self, y: impl Operand) -> Sym {
        let Some((x, y, _)) = two_floats("xlog1py", self, y) else { return Sym::POISON };
        let zero = x.eq(0) & (y.le(-1) | y.eq(f64::INFINITY));
        zero.select(0, x * zero.select(0, y).log1p())
    }
    /// log(p / (1 - p)).
    #[track_caller]
    pub fn logit(self) -> Sym {
        match float("logit", self) {
            Some(t) => (self / (filled("logit", 1, t.dtype, &t.shape) - self)).log(),
            None => Sym::POISON,
        }
    }
    /// sin(πx)/(πx), and 1 at 0.
    #[track_caller]
    pub fn sinc(self) -> Sym {
        if float("sinc", self).is_none() {
            return Sym::POISON;
        }
        // Near 0 the power series, which has derivatives there, and whose digits do not cancel.
        let near = self.abs().lt(1.0 / 16.0);
        let (small, angle) = (near.select(self, 0) * PI, near.select(1, self * PI));
        let square = small * small;
        let mut series = square * (-1.0 / 110.0) + 1;
        for n in [72.0, 42.0, 20.0, 6.0] {
            series = series * square * (-1.0 / n) + 1;
        }
        near.select(series, angle.sin() / angle)
    }
    /// The normal distribution function: ½·erfc(-x/√2).
    #[track_caller]
    pub fn ndtr(self) -> Sym {
        if float("ndtr", self).is_none() { Sym::POISON } else { (self * -FRAC_1_SQRT_2).erfc() * 0.5 }
    }
    /// The inverse of the normal distribution function `ndtr`, by the rational approximations of Cephes.
    #[track_caller]
    pub fn ndtri(self) -> Sym {
        let _at = builder::pin();
        let Some(t) = float("ndtri", self) else { return Sym::POISON };
        let one = || filled("ndtri", 1, t.dtype, &t.shape);
        let p = self.gt(-f64::exp_m1(-2.0)).select(one() - self, self);
        let p = p.eq(0).select(0.5, p);
        let w = p - 0.5;
        let ww = w * w;
        let middle = (w + w * ww * (polynomial(ww, &P0) / polynomial(ww, &Q0))) * -(2.0 * PI).sqrt();
        let z = (p.log() * -2.0).sqrt();
        let first = z - z.log() / z;
        let u = one() / z;
        let tail = first - polynomial(u, &P1) / polynomial(u, &Q1) / z;
        let far_tail = first - polynomial(u, &P2) / polynomial(u, &Q2) / z;
        let x = p.gt(f64::exp(-2.0)).select(middle, z.ge(8).select(far_tail, tail));
        let x = self.gt(1.0 - f64::exp(-2.0)).select(x, -x);
        self.eq(0).select(f64::NEG_INFINITY, self.eq(1).select(f64::INFINITY, x))
    }
    /// The quotient rounded down, for real numbers. Integer division by 0 is that of `/`; floats divide as CPython and
    /// JAX do.
    #[track_caller]
    pub fn floor_div(self, other: impl Operand) -> Sym {
        let op = "floor_div";
        let Some(t) = real(op, self) else { return Sym::POISON };
        let Some((a, b)) = together(op, self, other) else { return Sym::POISON };
        if same_dtype(op, a, b).is_none() {
            return Sym::POISON;
        }
        if t.dtype.is_unsigned() {
            return a / b;
        }
        let rest = a % b;
        if t.dtype.is_int() {
            let quotient = a / b;
            return (a.sign().ne(b.sign()) & rest.ne(0)).select(quotient - 1, quotient);
        }
        let quotient = b.eq(0).select(a, a - rest) / b;
        (rest.ne(0) & b.sign().ne(rest.sign())).select(quotient - 1, quotient).round_away()
    }
    /// The remainder with the sign of the divisor, as Python's `%` (the operator `%` keeps the dividend's sign), for
    /// real numbers.
    #[track_caller]
    pub fn modulo(self, other: impl Operand) -> Sym {
        let op = "modulo";
        let Some(t) = real(op, self) else { return Sym::POISON };
        let Some((a, b)) = together(op, self, other) else { return Sym::POISON };
        if same_dtype(op, a, b).is_none() {
            return Sym::POISON;
        }
        let rest = a % b;
        if t.dtype.is_unsigned() {
            return rest;
        }
        (rest.lt(0).ne(b.lt(0)) & rest.ne(0)).select(rest + b, rest)
    }
}

/// The polynomial of these coefficients, at least two, the highest power first, by Horner's rule.
#[track_caller]
fn polynomial(x: Sym, coefficients: &[f64]) -> Sym {
    let [first, second, rest @ ..] = coefficients else { return x };
    let mut sum = if *first == 1.0 { x + *second } else { x * *first + *second };
    for &c in rest {
        sum = sum * x + c;
    }
    sum
}

// Cephes, ndtri.c.
const P0: [f64; 5] =
    [-59.96335010141079, 98.00107541859997, -56.67628574690703, 13.931260938727968, -1.2391658386738125];
const Q0: [f64; 9] = [
    1.0,
    1.9544885833814176,
    4.676279128988815,
    86.36024213908905,
    -225.46268785411937,
    200.26021238006066,
    -82.03722561683334,
    15.90562251262117,
    -1.1833162112133,
];
const P1: [f64; 9] = [
    4.0554489230596245,
    31.525109459989388,
    57.16281922464213,
    44.08050738932008,
    14.684956192885803,
    2.1866330685079025,
    -0.1402560791713545,
    -0.03504246268278482,
    -0.0008574567851546854,
];
const Q1: [f64; 9] = [
    1.0,
    15.779988325646675,
    45.39076351288792,
    41.3172038254672,
    15.04253856929075,
    2.504649462083094,
    -0.14218292285478779,
    -0.03808064076915783,
    -0.0009332594808954574,
];
const P2: [f64; 9] = [
    3.2377489177694603,
    6.915228890689842,
    3.9388102529247444,
    1.3330346081580755,
    0.20148538954917908,
    0.012371663481782003,
    0.00030158155350823543,
    2.6580697468673755e-06,
    6.239745391849833e-09,
];
const Q2: [f64; 9] = [
    1.0,
    6.02427039364742,
    3.6798356385616087,
    1.3770209948908132,
    0.21623699359449663,
    0.013420400608854318,
    0.00032801446468212774,
    2.8924786474538068e-06,
    6.790194080099813e-09,
];
