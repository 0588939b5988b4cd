//! Element-wise ops of one operand.

use super::complex::{narrow, widen};
use super::real::Real;
use super::{Outcome, complex, map, map_to, no_kernel};
use evoxc_core::{DType, Tensor};
use evoxc_ir::Unary;
use half::{bf16, f16};
use num_complex::Complex;

/// A real function on the four float dtypes; the half types compute in `f32` and round.
macro_rules! real {
    ($x:ident, $op:ident, $f:ident) => {
        match $x.dtype() {
            DType::F32 => map::<f32>($x, |v| Real::$f(v)),
            DType::F64 => map::<f64>($x, |v| Real::$f(v)),
            DType::F16 => map::<f16>($x, |v| f16::from_f32(Real::$f(v.to_f32()))),
            DType::BF16 => map::<bf16>($x, |v| bf16::from_f32(Real::$f(v.to_f32()))),
            d => Err(no_kernel($op.name(), d)),
        }
    };
}
/// The same with a complex form; `c64` computes in double precision and rounds.
macro_rules! field {
    ($x:ident, $op:ident, $f:ident) => {
        match $x.dtype() {
            DType::C64 => map::<Complex<f32>>($x, |v| narrow(complex::$f(widen(v)))),
            DType::C128 => map::<Complex<f64>>($x, complex::$f),
            _ => real!($x, $op, $f),
        }
    };
}
/// A function on the eight integer dtypes, of which the signed and unsigned forms may differ.
macro_rules! ints {
    ($x:ident, $signed:expr, $unsigned:expr, $($rest:tt)*) => {
        match $x.dtype() {
            DType::I8 => map::<i8>($x, $signed),
            DType::I16 => map::<i16>($x, $signed),
            DType::I32 => map::<i32>($x, $signed),
            DType::I64 => map::<i64>($x, $signed),
            DType::U8 => map::<u8>($x, $unsigned),
            DType::U16 => map::<u16>($x, $unsigned),
            DType::U32 => map::<u32>($x, $unsigned),
            DType::U64 => map::<u64>($x, $unsigned),
            $($rest)*
        }
    };
}

/// `op` of every element of `x`, in place where `x` owns its storage alone.
pub(crate) fn unary(op: Unary, x: Tensor) -> Outcome {
    match op {
        Unary::Exp => field!(x, op, exp),
        Unary::Exp2 => field!(x, op, exp2),
        Unary::Expm1 => field!(x, op, expm1),
        Unary::Log => field!(x, op, log),
        Unary::Log2 => field!(x, op, log2),
        Unary::Log1p => field!(x, op, log1p),
        Unary::Sqrt => field!(x, op, sqrt),
        Unary::Rsqrt => field!(x, op, rsqrt),
        Unary::Cbrt => field!(x, op, cbrt),
        Unary::Sin => field!(x, op, sin),
        Unary::Cos => field!(x, op, cos),
        Unary::Tan => field!(x, op, tan),
        Unary::Asin => field!(x, op, asin),
        Unary::Acos => field!(x, op, acos),
        Unary::Atan => field!(x, op, atan),
        Unary::Sinh => field!(x, op, sinh),
        Unary::Cosh => field!(x, op, cosh),
        Unary::Tanh => field!(x, op, tanh),
        Unary::Asinh => field!(x, op, asinh),
        Unary::Acosh => field!(x, op, acosh),
        Unary::Atanh => field!(x, op, atanh),
        Unary::Logistic => field!(x, op, logistic),
        Unary::Erf => real!(x, op, erf),
        Unary::Erfc => real!(x, op, erfc),
        Unary::ErfInv => real!(x, op, erf_inv),
        Unary::Lgamma => real!(x, op, lgamma),
        Unary::Digamma => real!(x, op, digamma),
        Unary::Floor => real!(x, op, floor),
        Unary::Ceil => real!(x, op, ceil),
        Unary::RoundEven => real!(x, op, round_even),
        Unary::RoundAway => real!(x, op, round_away),
        Unary::Trunc => real!(x, op, trunc),
        Unary::Neg => neg(x),
        Unary::Abs => abs(x),
        Unary::Sign => ints!(x, |v| v.signum(), |v| v.min(1), _ => field!(x, op, sign)),
        Unary::Not => ints!(x, |v| !v, |v| !v,
            DType::BOOL => map::<bool>(x, |v| !v),
            d => Err(no_kernel(op.name(), d)),
        ),
        Unary::Popcount => {
            ints!(x, |v| v.count_ones() as _, |v| v.count_ones() as _, d => Err(no_kernel(op.name(), d)))
        }
        Unary::CountLeadingZeros => {
            ints!(x, |v| v.leading_zeros() as _, |v| v.leading_zeros() as _, d => Err(no_kernel(op.name(), d)))
        }
        Unary::IsFinite => match x.dtype() {
            DType::F16 => map_to::<f16, _>(&x, f16::is_finite),
            DType::BF16 => map_to::<bf16, _>(&x, bf16::is_finite),
            DType::F32 => map_to::<f32, _>(&x, f32::is_finite),
            DType::F64 => map_to::<f64, _>(&x, f64::is_finite),
            d => Err(no_kernel(op.name(), d)),
        },
        Unary::Real => match x.dtype() {
            DType::C64 => map_to::<Complex<f32>, _>(&x, |z| z.re),
            DType::C128 => map_to::<Complex<f64>, _>(&x, |z| z.re),
            _ => Ok(x),
        },
        Unary::Imag => match x.dtype() {
            DType::C64 => map_to::<Complex<f32>, _>(&x, |z| z.im),
            DType::C128 => map_to::<Complex<f64>, _>(&x, |z| z.im),
            DType::F16 => map::<f16>(x, |_| f16::ZERO),
            DType::BF16 => map::<bf16>(x, |_| bf16::ZERO),
            DType::F32 => map::<f32>(x, |_| 0.0),
            DType::F64 => map::<f64>(x, |_| 0.0),
            _ => ints!(x, |_| 0, |_| 0, d => Err(no_kernel(op.name(), d))),
        },
        Unary::Conj => match x.dtype() {
            DType::C64 => map::<Complex<f32>>(x, |z| z.conj()),
            DType::C128 => map::<Complex<f64>>(x, |z| z.conj()),
            _ => Ok(x),
        },
    }
}

fn neg(x: Tensor) -> Outcome {
    ints!(x, |v| v.wrapping_neg(), |v| v.wrapping_neg(),
        DType::F16 => map::<f16>(x, |v| -v),
        DType::BF16 => map::<bf16>(x, |v| -v),
        DType::F32 => map::<f32>(x, |v| -v),
        DType::F64 => map::<f64>(x, |v| -v),
        DType::C64 => map::<Complex<f32>>(x, |v| -v),
        DType::C128 => map::<Complex<f64>>(x, |v| -v),
        DType::BOOL => Err(no_kernel("neg", DType::BOOL)),
    )
}

fn abs(x: Tensor) -> Outcome {
    ints!(x, |v| v.wrapping_abs(), |v| v,
        DType::F16 => map::<f16>(x, |v| f16::from_bits(v.to_bits() & 0x7FFF)),
        DType::BF16 => map::<bf16>(x, |v| bf16::from_bits(v.to_bits() & 0x7FFF)),
        DType::F32 => map::<f32>(x, f32::abs),
        DType::F64 => map::<f64>(x, f64::abs),
        DType::C64 => map_to::<Complex<f32>, _>(&x, |z| f64::from(z.re).hypot(z.im.into()) as f32),
        DType::C128 => map_to::<Complex<f64>, _>(&x, |z| z.re.hypot(z.im)),
        DType::BOOL => Err(no_kernel("abs", DType::BOOL)),
    )
}
