//! Bits, and floats in an interval.

use super::key::Key;
use super::parameter::{Bounds, float_dtype, number, ordered, parameter};
use crate::ops::{convert, largest};
use crate::{Operand, Sym, builder};
use evoxc_core::{DType, IntoShape, Shape, U8, U16, U32, U64};

/// Independent random bits of an unsigned dtype: every value is as likely as another. Shape: the key's batch axes, then
/// `shape`. Element i depends on the key and i alone.
///
/// Of threefry they are those of `jax.random.bits`. Of splitmix64 they are the high bits of number i of its sequence, of
/// philox the low bits of word i (of words 2i and 2i + 1, low word first, for `U64`) of its blocks.
///
/// ```
/// use evoxc::prelude::*;
/// let bits = evaluate(|k: Sym| random::bits(k, U32, [2]), random::threefry_key(0), &Interp)?;
/// assert_eq!(bits.to_vec::<u32>()?, [4070199207, 4202968722]); // jax.random.bits(PRNGKey(0), (2,))
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is not `U8`, `U16`, `U32` or `U64`.
#[track_caller]
pub fn bits(key: Sym, dtype: DType, shape: impl IntoShape) -> Sym {
    match Key::of("bits", key) {
        Some(key) => key.bits(dtype, &shape.into_shape()),
        None => Sym::POISON,
    }
}

/// Floats in [0, 1), evenly spaced: multiples of 2⁻²³ in f32, 2⁻⁵² in f64, 2⁻¹⁰ in f16, 2⁻⁷ in bf16. Random bits are the
/// fraction of a number in [1, 2), and 1 is taken off, which is exact; as `jax.random.uniform`. Of f16 and bf16, few
/// values and short tails come of that, here and in what is made of uniform numbers: draw in f32 and `.cast(..)` where
/// they matter.
///
/// ```
/// use evoxc::prelude::*;
/// let u = evaluate(|k: Sym| random::uniform(k, F32, [8]), random::key(42), &Interp)?;
/// assert!(u.to_vec::<f32>()?.iter().all(|u| (0.0..1.0).contains(u)));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is no real float.
#[track_caller]
pub fn uniform(key: Sym, dtype: DType, shape: impl IntoShape) -> Sym {
    let _at = builder::pin();
    match Key::of("uniform", key) {
        Some(key) => unit("uniform", &key, dtype, &shape.into_shape()),
        None => Sym::POISON,
    }
}

/// Floats in [low, high): max(low, u·(high - low) + low) of a [`uniform`] u, as `jax.random.uniform` with bounds. Where
/// rounding does it, `high` itself comes up. Differentiable in the bounds, which are numbers or `Sym`s of that dtype that
/// broadcast to the result.
///
/// ```
/// use evoxc::prelude::*;
/// let u = evaluate(|k: Sym| random::uniform_range(k, F32, [8], -2.0, 2.0), random::key(42), &Interp)?;
/// assert!(u.to_vec::<f32>()?.iter().all(|u| (-2.0..2.0).contains(u)));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is no real float; bounds that are numbers, with `low` not below `high`, or so far apart that their
/// difference is infinite.
#[track_caller]
pub fn uniform_range(key: Sym, dtype: DType, shape: impl IntoShape, low: impl Operand, high: impl Operand) -> Sym {
    let _at = builder::pin();
    let op = "uniform_range";
    let (shape, low, high) = (shape.into_shape(), low.operand(), high.operand());
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    if ordered(op, low, high).is_none() {
        return Sym::POISON;
    }
    let span = number(high).zip(number(low)).map(|(h, l)| h - l);
    if let Some(span) = span.filter(|&s| dtype.is_float() && s > largest(dtype)) {
        let m = format!("the bounds are {span:?} apart, which is infinite as {dtype}");
        return builder::fail(op, &[], m, Some("draw between half of them, and double it".into()));
    }
    let full = key.drawn(&shape);
    let (Some(low), Some(high)) = (
        parameter(op, "low", low, dtype, &full, Bounds::FINITE),
        parameter(op, "high", high, dtype, &full, Bounds::FINITE),
    ) else {
        return Sym::POISON;
    };
    between(op, &key, dtype, &shape, low, high)
}

/// [`uniform`] for other functions, which name themselves in errors.
#[track_caller]
pub(super) fn unit(op: &str, key: &Key, dtype: DType, shape: &Shape) -> Sym {
    let Some(dtype) = float_dtype(op, dtype) else { return Sym::POISON };
    let (drawn, held, shift, one) = match dtype {
        DType::F16 => (U16, U16, 6, 0x3C00u64),
        DType::BF16 => (U8, U16, 1, 0x3F80),
        DType::F32 => (U32, U32, 9, 0x3F80_0000),
        _ => (U64, U64, 12, 0x3FF0_0000_0000_0000),
    };
    let fraction = convert(key.bits(drawn, shape), held) >> shift;
    (fraction | one).bitcast(dtype) - 1
}

/// [`uniform_range`] for other functions; the bounds are checked.
#[track_caller]
pub(super) fn between(op: &str, key: &Key, dtype: DType, shape: &Shape, low: Sym, high: Sym) -> Sym {
    let u = unit(op, key, dtype, shape);
    (u * (high - low) + low).maximum(low)
}
