//! Types of element-wise ops, conversions, select and clamp.

use super::{Check, Cx, Types};
use crate::{Binary, TensorType, Unary};
use evoxc_core::{DType, Dim};

/// The kinds of dtype that an op accepts.
enum Accept {
    /// f16, bf16, f32, f64.
    Floats,
    /// These and c64, c128.
    FloatsComplex,
    /// Integers.
    Ints,
    /// bool and integers.
    Bits,
    /// All but bool.
    Numbers,
    /// Integers and real floats.
    Reals,
    /// f32, f64.
    Parts,
    /// Every dtype.
    Any,
}

impl Accept {
    fn takes(&self, d: DType) -> bool {
        match self {
            Accept::Floats => d.is_float(),
            Accept::FloatsComplex => d.is_float() || d.is_complex(),
            Accept::Ints => d.is_int(),
            Accept::Bits => d.is_int() || d.is_bool(),
            Accept::Numbers => !d.is_bool(),
            Accept::Reals => d.is_int() || d.is_float(),
            Accept::Parts => d == DType::F32 || d == DType::F64,
            Accept::Any => true,
        }
    }
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Accept::Floats => ("a real float (f16, bf16, f32, f64)", "cast it first: `.cast(F32)`"),
            Accept::FloatsComplex => ("a float or complex dtype", "cast it first: `.cast(F32)`"),
            Accept::Ints => ("an integer dtype", "cast it first: `.cast(I32)`"),
            Accept::Bits => ("bool or an integer dtype", "cast it first: `.cast(I32)`, or compare it with 0"),
            Accept::Numbers => ("a number, not bool", "cast it first: `.cast(I32)`"),
            Accept::Reals => ("an integer or a real float", "cast it first: `.cast(F32)`"),
            Accept::Parts => ("f32 or f64", "cast it first: `.cast(F32)`"),
            Accept::Any => ("any dtype", "cast it first"),
        }
    }
    fn check(&self, cx: &Cx, name: &str, d: DType) -> Check {
        if self.takes(d) {
            return Ok(());
        }
        let (wanted, remedy) = self.words();
        cx.dtype(name, d, false, wanted, remedy)
    }
}

pub(super) fn unary(cx: &Cx, op: Unary) -> Check<Types> {
    let [x] = cx.operands()?;
    let (accept, result) = match op {
        Unary::Exp
        | Unary::Expm1
        | Unary::Log
        | Unary::Log1p
        | Unary::Sqrt
        | Unary::Rsqrt
        | Unary::Cbrt
        | Unary::Sin
        | Unary::Cos
        | Unary::Tan
        | Unary::Asin
        | Unary::Acos
        | Unary::Atan
        | Unary::Sinh
        | Unary::Cosh
        | Unary::Tanh
        | Unary::Asinh
        | Unary::Acosh
        | Unary::Atanh
        | Unary::Logistic
        | Unary::Conj => (Accept::FloatsComplex, x.dtype),
        Unary::Exp2
        | Unary::Log2
        | Unary::Erf
        | Unary::Erfc
        | Unary::ErfInv
        | Unary::Lgamma
        | Unary::Digamma
        | Unary::Floor
        | Unary::Ceil
        | Unary::RoundEven
        | Unary::RoundAway
        | Unary::Trunc => (Accept::Floats, x.dtype),
        Unary::Neg | Unary::Sign => (Accept::Numbers, x.dtype),
        Unary::Abs => (Accept::Numbers, x.dtype.real()),
        Unary::Not => (Accept::Bits, x.dtype),
        Unary::Popcount | Unary::CountLeadingZeros => (Accept::Ints, x.dtype),
        Unary::IsFinite => (Accept::Floats, DType::BOOL),
        Unary::Real | Unary::Imag => (Accept::FloatsComplex, x.dtype.real()),
    };
    accept.check(cx, "x", x.dtype)?;
    cx.one(result, &x.shape)
}

pub(super) fn binary(cx: &Cx, op: Binary) -> Check<Types> {
    let [a, b] = cx.operands()?;
    let accept = match op {
        Binary::Add | Binary::Mul | Binary::Max | Binary::Min => Accept::Any,
        Binary::Sub | Binary::Div | Binary::Pow => Accept::Numbers,
        Binary::Rem => Accept::Reals,
        Binary::Atan2 | Binary::Nextafter => Accept::Floats,
        Binary::And | Binary::Or | Binary::Xor => Accept::Bits,
        Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic | Binary::Mulhi => Accept::Ints,
        Binary::Complex => Accept::Parts,
    };
    cx.same_type(("lhs", a), ("rhs", b))?;
    accept.check(cx, "lhs", a.dtype)?;
    let result = match (op, a.dtype) {
        (Binary::Complex, DType::F64) => DType::C128,
        (Binary::Complex, _) => DType::C64,
        (_, d) => d,
    };
    cx.one(result, &a.shape)
}

pub(super) fn compare(cx: &Cx) -> Check<Types> {
    let [a, b] = cx.operands()?;
    cx.same_type(("lhs", a), ("rhs", b))?;
    cx.one(DType::BOOL, &a.shape)
}

fn same_shape_or_scalar(cx: &Cx, name: &str, t: &TensorType, x: (&str, &TensorType)) -> Check {
    if t.shape.is_empty() { Ok(()) } else { cx.same_shape((name, &t.shape), (x.0, &x.1.shape)) }
}

pub(super) fn select(cx: &Cx) -> Check<Types> {
    let [p, a, b] = cx.operands()?;
    cx.dtype("pred", p.dtype, p.dtype.is_bool(), "bool", "compare it: `x.ne(0)`")?;
    cx.same_type(("on_true", a), ("on_false", b))?;
    same_shape_or_scalar(cx, "pred", p, ("on_true", a))?;
    cx.one(a.dtype, &a.shape)
}

pub(super) fn clamp(cx: &Cx) -> Check<Types> {
    let [low, x, high] = cx.operands()?;
    for (name, t) in [("low", low), ("high", high)] {
        cx.same_dtype((name, t), ("x", x))?;
        same_shape_or_scalar(cx, name, t, ("x", x))?;
    }
    cx.one(x.dtype, &x.shape)
}

pub(super) fn convert(cx: &Cx, dtype: DType) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.one(dtype, &x.shape)
}

pub(super) fn identity(cx: &Cx) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.one(x.dtype, &x.shape)
}

pub(super) fn bitcast(cx: &Cx, dtype: DType) -> Check<Types> {
    let [x] = cx.operands()?;
    let remedy = "`convert` it to u8 first";
    cx.dtype("x", x.dtype, !x.dtype.is_bool(), "a number", remedy)?;
    cx.dtype("the result", dtype, !dtype.is_bool(), "a number", remedy)?;
    if x.dtype.is_complex() != dtype.is_complex() {
        return cx.fail_with(
            format!("{} to {dtype}: complex numbers are cast bit by bit to complex numbers only", x.dtype),
            "take `real` and `imag`, or build one by `complex`",
        );
    }
    let (from, to) = (x.dtype.size(), dtype.size());
    let mut shape = x.shape.clone();
    if to < from {
        shape.push(from / to);
    } else if to > from {
        let n = to / from;
        match x.shape.split_last() {
            Some((&last, rest)) if last == n => shape = rest.iter().copied().collect(),
            Some((last, _)) => {
                return cx.fail(format!(
                    "{n} elements of {} make one {dtype}, so the last axis must have size {n}, not {last}",
                    x.dtype
                ));
            }
            None => return cx.fail(format!("{n} elements of {} make one {dtype}, but x is a scalar", x.dtype)),
        }
    }
    cx.result(dtype, shape)
}

pub(super) fn reduce_precision(cx: &Cx, exponent_bits: u32) -> Check<Types> {
    let [x] = cx.operands()?;
    Accept::Floats.check(cx, "x", x.dtype)?;
    if exponent_bits == 0 {
        return cx.fail("`exponent_bits` must be at least 1");
    }
    cx.one(x.dtype, &x.shape)
}

/// Integers, for indices.
pub(super) fn index(cx: &Cx, name: &str, t: &TensorType) -> Check {
    Accept::Ints.check(cx, name, t.dtype)
}

/// The extents after the last `n`, and the last `n`.
pub(super) fn split_last<const N: usize>(shape: &[Dim]) -> Option<(&[Dim], [Dim; N])> {
    let at = shape.len().checked_sub(N)?;
    let (batch, last) = shape.split_at(at);
    Some((batch, last.try_into().ok()?))
}
