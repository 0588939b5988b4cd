//! Elementary functions of real numbers (f32 and f64) that StableHLO lacks, by identities that lose no digits.

use super::parts::with_sign_of;
use evoxc_core::{DType, F32};
use evoxc_trace::Sym;
use std::f64::consts::{LN_2, LOG2_E};

pub(super) fn exp2(x: Sym) -> Sym {
    x.full_like(2.0).pow(x)
}

pub(super) fn log2(x: Sym) -> Sym {
    x.log() * LOG2_E
}

/// The integer part: towards zero, with the sign of x.
pub(super) fn trunc(x: Sym) -> Sym {
    x.lt(0.0).select(x.ceil(), x.floor())
}

/// The angle whose sine is x; the factors under the root are exact near ±1.
pub(super) fn asin(x: Sym) -> Sym {
    x.atan2(((1.0 - x) * (x + 1.0)).sqrt())
}

pub(super) fn acos(x: Sym) -> Sym {
    ((1.0 - x) * (x + 1.0)).sqrt().atan2(x)
}

pub(super) fn atan(x: Sym) -> Sym {
    x.atan2(x.ones_like())
}

/// Beyond this, e to the -x is lost against e to the x.
const FAR: f64 = 20.0;

/// e to the x, halved, for large x: in two factors, since e to the x alone overflows first.
fn half_exp(x: Sym) -> Sym {
    let root = (x * 0.5).exp();
    root * 0.5 * root
}

/// (m + m/(m + 1))/2 with m = expm1 |x|.
pub(super) fn sinh(x: Sym) -> Sym {
    let a = x.abs();
    let far = a.gt(FAR);
    let m = far.select(0.0, a).expm1();
    with_sign_of(far.select(half_exp(a), (m + m / (m + 1.0)) * 0.5), x)
}

pub(super) fn cosh(x: Sym) -> Sym {
    let a = x.abs();
    let far = a.gt(FAR);
    let e = far.select(0.0, a).exp();
    far.select(half_exp(a), (e + 1.0 / e) * 0.5)
}

/// Beyond this, 1 is lost against x².
fn huge(d: DType) -> f64 {
    if d == F32 { 2f64.powi(14) } else { 2f64.powi(28) }
}

/// log(a + √(a² + 1)) = log1p(a + a²/(1 + √(a² + 1))), with the sign of x.
pub(super) fn asinh(x: Sym) -> Sym {
    let a = x.abs();
    let far = a.gt(huge(x.dtype()));
    let near = far.select(1.0, a);
    let square = near * near;
    let y = (near + square / ((square + 1.0).sqrt() + 1.0)).log1p();
    with_sign_of(far.select(a.log() + LN_2, y), x)
}

/// log(x + √(x² - 1)) = log1p(t + √(t (t + 2))) with t = x - 1; NaN below 1.
pub(super) fn acosh(x: Sym) -> Sym {
    let far = x.gt(huge(x.dtype()));
    let t = far.select(1.0, x) - 1.0;
    let y = (t + (t * (t + 2.0)).sqrt()).log1p();
    x.lt(1.0).select(f64::NAN, far.select(x.log() + LN_2, y))
}

/// log1p(2a/(1 - a))/2, with the sign of x.
pub(super) fn atanh(x: Sym) -> Sym {
    let a = x.abs();
    with_sign_of((a * 2.0 / (1.0 - a)).log1p() * 0.5, x)
}
