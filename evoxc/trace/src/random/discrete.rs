//! Draws of outcomes: coins, categories, counts.

use super::bits::unit;
use super::continuous::extreme;
use super::key::Key;
use super::parameter::{Bounds, fits, parameter};
use super::randint::range;
use crate::ops::{convert, cut, float, joined, reduce, repeated_last};
use crate::{Operand, Opnd, Sym, builder, zeros};
use evoxc_core::{DType, Dim, DimLike, F32, F64, I32, IntoShape, Shape};
use evoxc_ir::{Prim, Reducer};

/// Bools that are true with probability `p`: a uniform number is below `p`, as `jax.random.bernoulli`. `p` is a number (an
/// f32 draw), or a float `Sym` (a draw of its dtype) that broadcasts to the result. At 0 and below always false, at 1 and
/// above always true, at NaN false.
///
/// ```
/// use evoxc::prelude::*;
/// let dropout = |key: Sym, x: Sym| random::bernoulli(key, x.shape(), 0.9).select(x / 0.9, 0.0);
/// let graph = trace(dropout, (random::key_spec(), spec(F32, [4])))?;
/// assert_eq!(graph.output_specs(), [spec(F32, [4])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A number that is no probability; a `Sym` that is no real float.
#[track_caller]
pub fn bernoulli(key: Sym, shape: impl IntoShape, p: impl Operand) -> Sym {
    let _at = builder::pin();
    let op = "bernoulli";
    let (shape, p) = (shape.into_shape(), p.operand());
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    let Some(dtype) = dtype_of(op, p) else { return Sym::POISON };
    match parameter(op, "p", p, dtype, &key.drawn(&shape), Bounds::PROBABILITY) {
        Some(p) => unit(op, &key, dtype, &shape).lt(p),
        None => Sym::POISON,
    }
}

/// The dtype of a float parameter: a `Sym`'s own, else f32.
#[track_caller]
pub(super) fn dtype_of(op: &str, x: Opnd) -> Option<DType> {
    match x {
        Opnd::Sym(s) => float(op, s).map(|t| t.dtype),
        Opnd::Scalar(_) | Opnd::Dim(_) => Some(F32),
    }
}

/// Indices (i32) drawn with probabilities softmax(`logits`) along their last axis, the number of categories; as
/// `jax.random.categorical`, by the largest of `logits` + [`gumbel`](super::gumbel). The other axes of `logits` broadcast
/// to `shape`, the shape of the draw. Probabilities below 10⁻⁷ are not told from 0 in f32.
///
/// ```
/// use evoxc::prelude::*;
/// let f = |k: Sym, logits: Sym| random::categorical(k, [5, 2], logits); // five times each of two distributions
/// let graph = trace(f, (random::key_spec(), spec(F32, [2, 10])))?;
/// assert_eq!(graph.output_specs(), [spec(I32, [5, 2])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// `logits` is no real float, has no axis or no category, or does not broadcast.
#[track_caller]
pub fn categorical(key: Sym, shape: impl IntoShape, logits: Sym) -> Sym {
    let _at = builder::pin();
    let op = "categorical";
    let shape = shape.into_shape();
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    let Some((dtype, n)) = categories(op, "logits", logits, &key.drawn(&shape)) else { return Sym::POISON };
    let wide: Shape = shape.iter().copied().chain([n]).collect();
    let axis = key.batch.rank() + shape.rank();
    builder::emit(Prim::Argmax { axis }, &[extreme(op, &key, dtype, &wide) + logits])
}

/// The dtype and the number of categories, the last axis, of a float parameter whose other axes broadcast to `full`.
#[track_caller]
pub(super) fn categories(op: &str, name: &str, x: Sym, full: &Shape) -> Option<(DType, Dim)> {
    let t = float(op, x)?;
    let Some((&n, rest)) = t.shape.split_last() else {
        builder::fail(op, &[x], format!("`{name}` needs an axis, of the categories"), None);
        return None;
    };
    if n == 0 {
        builder::fail(op, &[x], format!("`{name}` has no category to draw"), None);
        return None;
    }
    fits(op, name, x, &rest.iter().copied().collect(), full)?;
    Some((t.dtype, n))
}

/// How often each category comes up in `trials` draws with probabilities proportional to the last axis of `p`: integers of
/// `dtype` whose sum along the last axis is `trials`. Shape: the key's batch axes, `shape`, the categories; the other axes
/// of `p` broadcast to `shape`. Uniform numbers, one a trial, are compared with the running sums of `p`, which takes
/// trials × categories of memory. (JAX draws by conditional binomials: other numbers of the same distribution.)
///
/// ```
/// use evoxc::prelude::*;
/// let f = |k: Sym, p: Sym| random::multinomial(k, I32, [], 100, p);
/// let counts = evaluate(f, (random::key(1), Tensor::from([0.2f32, 0.5, 0.3])), &Interp)?;
/// assert_eq!(counts.to_vec::<i32>()?.iter().sum::<i32>(), 100);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// `dtype` is no number or too narrow; `trials` is below 0; `p` is no real float, has no axis or no category, or does not broadcast.
#[track_caller]
pub fn multinomial(key: Sym, dtype: DType, shape: impl IntoShape, trials: impl DimLike, p: Sym) -> Sym {
    let _at = builder::pin();
    let op = "multinomial";
    let (shape, trials) = (shape.into_shape(), trials.to_dim());
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    let Some((given, n)) = categories(op, "p", p, &key.drawn(&shape)) else { return Sym::POISON };
    if dtype.is_bool() {
        return builder::fail(op, &[], "counts are no bools", Some("draw I32, then compare it".into()));
    }
    if trials.as_i64().is_some_and(|t| t < 0) {
        return builder::fail(op, &[p], format!("the number of trials is {trials}, below 0"), None);
    }
    if dtype.is_int() && trials.as_i64().is_some_and(|t| i128::from(t) > range(dtype).1) {
        let m = format!("counts of {trials} trials are more than {dtype} holds");
        return builder::fail(op, &[p], m, Some("draw a wider dtype, as I32".into()));
    }
    let work = if given == F64 { F64 } else { F32 };
    let sums = convert(p, work).cumsum(-1);
    let Some(last) = sums.ty().map(|t| t.rank().saturating_sub(1)) else { return Sym::POISON };
    // The running sum ends at exactly 1, which is above every uniform number.
    let ends = sums / cut(sums, last, n - 1, n);
    let draws: Shape = shape.iter().copied().chain([trials]).collect();
    let u = repeated_last(unit(op, &key, work, &draws), n);
    let axis = key.batch.rank() + shape.rank();
    let below = reduce(Reducer::Sum, convert(u.lt(ends.expand_dims(last as i64)), I32), &[axis]);
    let Some(mut first) = below.ty().map(|t| t.shape) else { return Sym::POISON };
    if let Some(d) = first.dims_mut().last_mut() {
        *d = Dim::constant(1);
    }
    let before = joined(&[zeros(I32, &first), cut(below, axis, 0, n - 1)], axis);
    convert(below - before, dtype)
}
