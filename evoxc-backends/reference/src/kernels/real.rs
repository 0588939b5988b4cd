//! Elementary functions of real numbers, under one set of names for `f32` and `f64`. The rarer ones of `f32` are computed
//! in `f64` and rounded once.

use super::special;

macro_rules! real {
    ($($name:ident: $single:expr, $double:expr;)*) => {
        /// The elementary functions.
        pub(crate) trait Real: Copy {
            $(fn $name(self) -> Self;)*
        }
        impl Real for f32 {
            $(#[inline] fn $name(self) -> f32 { let f: fn(f32) -> f32 = $single; f(self) })*
        }
        impl Real for f64 {
            $(#[inline] fn $name(self) -> f64 { let f: fn(f64) -> f64 = $double; f(self) })*
        }
    };
}

/// `f` in double precision, rounded to single.
macro_rules! wide {
    ($f:expr) => {
        |x| {
            let f: fn(f64) -> f64 = $f;
            f(f64::from(x)) as f32
        }
    };
}

real! {
    exp: f32::exp, f64::exp;
    exp2: f32::exp2, f64::exp2;
    expm1: f32::exp_m1, f64::exp_m1;
    log: f32::ln, f64::ln;
    log2: f32::log2, f64::log2;
    log1p: f32::ln_1p, f64::ln_1p;
    sqrt: f32::sqrt, f64::sqrt;
    rsqrt: wide!(|x| 1.0 / x.sqrt()), |x| 1.0 / x.sqrt();
    cbrt: f32::cbrt, f64::cbrt;
    sin: f32::sin, f64::sin;
    cos: f32::cos, f64::cos;
    tan: f32::tan, f64::tan;
    asin: f32::asin, f64::asin;
    acos: f32::acos, f64::acos;
    atan: f32::atan, f64::atan;
    sinh: f32::sinh, f64::sinh;
    cosh: f32::cosh, f64::cosh;
    tanh: f32::tanh, f64::tanh;
    asinh: wide!(libm::asinh), libm::asinh;
    acosh: wide!(special::acosh), special::acosh;
    atanh: wide!(libm::atanh), libm::atanh;
    logistic: |x| if x < 0.0 { let e = x.exp(); e / (1.0 + e) } else { 1.0 / (1.0 + (-x).exp()) },
        |x| if x < 0.0 { let e = x.exp(); e / (1.0 + e) } else { 1.0 / (1.0 + (-x).exp()) };
    erf: wide!(libm::erf), libm::erf;
    erfc: wide!(libm::erfc), libm::erfc;
    erf_inv: wide!(special::erf_inv), special::erf_inv;
    lgamma: wide!(libm::lgamma), libm::lgamma;
    digamma: wide!(special::digamma), special::digamma;
    floor: f32::floor, f64::floor;
    ceil: f32::ceil, f64::ceil;
    round_even: f32::round_ties_even, f64::round_ties_even;
    round_away: f32::round, f64::round;
    trunc: f32::trunc, f64::trunc;
    sign: |x| if x == 0.0 || x.is_nan() { x } else { x.signum() }, |x| if x == 0.0 || x.is_nan() { x } else { x.signum() };
}
