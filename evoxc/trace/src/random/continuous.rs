//! Continuous distributions that are functions of one uniform number.

use super::bits::{between, unit};
use super::key::Key;
use super::parameter::{Bounds, float_dtype, ordered, parameter};
use crate::ops::filled;
use crate::{Operand, Opnd, Sym, builder};
use evoxc_core::{DType, IntoShape, Shape};
use std::f64::consts::SQRT_2;

/// Half of the distance of a float dtype's numbers above 1, which is that of the numbers below 1.
fn step_below_one(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f64::exp2(-11.0),
        DType::BF16 => f64::exp2(-8.0),
        DType::F32 => f64::exp2(-24.0),
        _ => f64::exp2(-53.0),
    }
}

/// The smallest normal number of a float dtype.
fn smallest_normal(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f64::exp2(-14.0),
        DType::BF16 | DType::F32 => f64::exp2(-126.0),
        _ => f64::MIN_POSITIVE,
    }
}

/// One value as a scalar of the dtype.
#[track_caller]
fn scalar(op: &str, x: f64, dtype: DType) -> Sym {
    filled(op, x, dtype, &Shape::scalar())
}

/// Normal numbers of mean 0 and variance 1: √2·erf⁻¹(u) of a uniform u in (-1, 1), as `jax.random.normal`. The largest is
/// 5.4 in f32, 8.2 in f64.
///
/// ```
/// use evoxc::prelude::*;
/// let noisy = |key: Sym, x: Sym| x + 0.1 * random::normal(key, F32, x.shape());
/// let graph = trace(noisy, (random::key_spec(), spec(F32, (dim("B"), 3))))?;
/// assert_eq!(graph.output_specs(), [spec(F32, (dim("B"), 3))]);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is no real float.
#[track_caller]
pub fn normal(key: Sym, dtype: DType, shape: impl IntoShape) -> Sym {
    let _at = builder::pin();
    match Key::of("normal", key) {
        Some(key) => gaussian("normal", &key, dtype, &shape.into_shape()),
        None => Sym::POISON,
    }
}

/// [`normal`] for other functions, which name themselves in errors.
#[track_caller]
pub(super) fn gaussian(op: &str, key: &Key, dtype: DType, shape: &Shape) -> Sym {
    let Some(dtype) = float_dtype(op, dtype) else { return Sym::POISON };
    let (low, high) = (scalar(op, step_below_one(dtype) - 1.0, dtype), scalar(op, 1.0, dtype));
    between(op, key, dtype, shape, low, high).erf_inv() * SQRT_2
}

/// Normal numbers between two bounds: √2·erf⁻¹(u) of a uniform u between the error functions of the bounds over √2, as
/// `jax.random.truncated_normal`. Strictly inside of the bounds, and differentiable in them. Bounds are numbers, infinite
/// ones included, or `Sym`s of that dtype that broadcast to the result. Bounds on one side, beyond about 5 in f32, leave
/// nothing to choose from: the numbers stand at a bound.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|k: Sym| random::truncated_normal(k, F32, [8], -1.0, 1.0), random::key(1), &Interp)?;
/// assert!(y.to_vec::<f32>()?.iter().all(|y| -1.0 < *y && *y < 1.0));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is no real float; bounds that are numbers, with `low` not below `high`.
#[track_caller]
pub fn truncated_normal(key: Sym, dtype: DType, shape: impl IntoShape, low: impl Operand, high: impl Operand) -> Sym {
    let _at = builder::pin();
    let op = "truncated_normal";
    let (shape, low, high) = (shape.into_shape(), low.operand(), high.operand());
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    if float_dtype(op, dtype).and(ordered(op, low, high)).is_none() {
        return Sym::POISON;
    }
    let full = key.drawn(&shape);
    let (Some(l), Some(h)) =
        (parameter(op, "low", low, dtype, &full, Bounds::ANY), parameter(op, "high", high, dtype, &full, Bounds::ANY))
    else {
        return Sym::POISON;
    };
    let erf = |x: Sym| (x / SQRT_2).erf();
    let x = between(op, &key, dtype, &shape, erf(l), erf(h)).erf_inv() * SQRT_2;
    // Of a bound that depends on something, the derivative comes through x.
    let fixed = |x: Opnd, s: Sym| if matches!(x, Opnd::Sym(_)) { s.stop_gradient() } else { s };
    x.clip(fixed(low, l).nextafter(f64::INFINITY), fixed(high, h).nextafter(f64::NEG_INFINITY))
}

/// Exponential numbers of rate 1: -log(1 - u) of a uniform u, as `jax.random.exponential`. Divide by a rate.
///
/// ```
/// use evoxc::prelude::*;
/// let waits = |k: Sym, rate: Sym| random::exponential(k, F32, [4]) / rate;
/// let y = evaluate(waits, (random::key(1), Tensor::from(2f32)), &Interp)?;
/// assert!(y.to_vec::<f32>()?.iter().all(|y| *y >= 0.0));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is no real float.
#[track_caller]
pub fn exponential(key: Sym, dtype: DType, shape: impl IntoShape) -> Sym {
    let _at = builder::pin();
    match Key::of("exponential", key) {
        Some(key) => waiting("exponential", &key, dtype, &shape.into_shape()),
        None => Sym::POISON,
    }
}

/// [`exponential`] for other functions.
#[track_caller]
pub(super) fn waiting(op: &str, key: &Key, dtype: DType, shape: &Shape) -> Sym {
    -(-unit(op, key, dtype, shape)).log1p()
}

/// Gumbel numbers of location 0 and scale 1: -log(-log(u)) of a uniform u above 0, as `jax.random.gumbel`. The index of
/// the largest of `logits + gumbel` is a [`categorical`](super::categorical) draw.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|k: Sym| random::gumbel(k, F64, [4]), random::key(1), &Interp)?;
/// assert!(y.to_vec::<f64>()?.iter().all(|y| y.is_finite()));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is no real float.
#[track_caller]
pub fn gumbel(key: Sym, dtype: DType, shape: impl IntoShape) -> Sym {
    let _at = builder::pin();
    match Key::of("gumbel", key) {
        Some(key) => extreme("gumbel", &key, dtype, &shape.into_shape()),
        None => Sym::POISON,
    }
}

/// [`gumbel`] for other functions.
#[track_caller]
pub(super) fn extreme(op: &str, key: &Key, dtype: DType, shape: &Shape) -> Sym {
    let u = unit(op, key, dtype, shape) + smallest_normal(dtype);
    -(-u.log()).log()
}

/// Laplace numbers of location 0 and scale 1: sign(u)·log(1 - |u|) of a uniform u in (-1, 1), as `jax.random.laplace`.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|k: Sym| random::laplace(k, F32, [4]), random::key(1), &Interp)?;
/// assert!(y.to_vec::<f32>()?.iter().all(|y| y.is_finite()));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is no real float.
#[track_caller]
pub fn laplace(key: Sym, dtype: DType, shape: impl IntoShape) -> Sym {
    let _at = builder::pin();
    let op = "laplace";
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    let Some(dtype) = float_dtype(op, dtype) else { return Sym::POISON };
    let (low, high) = (scalar(op, step_below_one(dtype) - 1.0, dtype), scalar(op, 1.0, dtype));
    let u = between(op, &key, dtype, &shape.into_shape(), low, high);
    u.sign() * (-u.abs()).log1p()
}
