//! Small steps that composites share, each one primitive: reductions, and bringing their results back to shape.

use crate::operand::splat;
use crate::{Sym, builder};
use evoxc_core::{DType, Dim, DimLike, I32, Scalar, Shape};
use evoxc_ir::{AxisPair, GatherDims, Prim, Reducer};

/// Reduces `axes`; no op where there are none.
#[track_caller]
pub(crate) fn reduce(op: Reducer, x: Sym, axes: &[usize]) -> Sym {
    if axes.is_empty() { x } else { builder::emit(Prim::Reduce { op, axes: axes.to_vec() }, &[x]) }
}

/// `shape` without `axes`, or with 1 there.
pub(crate) fn reduced_shape(shape: &Shape, axes: &[usize], keep: bool) -> Shape {
    let one = Dim::constant(1);
    let axis = |(i, &d): (usize, &Dim)| match (axes.contains(&i), keep) {
        (false, _) => Some(d),
        (true, true) => Some(one),
        (true, false) => None,
    };
    shape.iter().enumerate().filter_map(axis).collect()
}

/// The result of a reduction with its axes back as size 1, if `keep`.
#[track_caller]
pub(crate) fn kept(x: Sym, shape: &Shape, axes: &[usize], keep: bool) -> Sym {
    if keep { reshape(x, reduced_shape(shape, axes, true)) } else { x }
}

/// The result of a reduction over `axes`, repeated to the shape it came from.
#[track_caller]
pub(crate) fn spread(x: Sym, shape: &Shape, axes: &[usize]) -> Sym {
    if axes.is_empty() {
        return x;
    }
    let dims = (0..shape.rank()).filter(|i| !axes.contains(i)).collect();
    builder::emit(Prim::BroadcastInDim { shape: shape.clone(), dims }, &[x])
}

/// The number of elements along `axes`.
pub(crate) fn count(shape: &Shape, axes: &[usize]) -> Dim {
    axes.iter().filter_map(|&a| shape.get(a)).fold(Dim::constant(1), |n, &d| n * d)
}

/// Another shape; no op where it is the same.
#[track_caller]
pub(crate) fn reshape(x: Sym, shape: Shape) -> Sym {
    match builder::with_type(x, |t| t.shape == shape) {
        Some(true) => x,
        _ => builder::emit(Prim::Reshape { shape }, &[x]),
    }
}

/// Another dtype; no op where it is the same.
#[track_caller]
pub(crate) fn convert(x: Sym, dtype: DType) -> Sym {
    match builder::with_type(x, |t| t.dtype == dtype) {
        Some(true) => x,
        _ => builder::emit(Prim::Convert { dtype }, &[x]),
    }
}

/// i32 counts along `axis`.
#[track_caller]
pub(crate) fn count_along(shape: &Shape, axis: usize) -> Sym {
    builder::emit(Prim::Iota { dtype: I32, shape: shape.clone(), axis }, &[])
}

/// One value over a shape.
#[track_caller]
pub(crate) fn filled(op: &str, value: impl Into<Scalar>, dtype: DType, shape: &Shape) -> Sym {
    splat(op, value.into(), dtype, shape.clone())
}

/// `start..limit` of one axis.
#[track_caller]
pub(crate) fn cut(x: Sym, axis: usize, from: impl DimLike, to: impl DimLike) -> Sym {
    let Some(shape) = builder::with_type(x, |t| t.shape.clone()) else { return x };
    let mut start = vec![Dim::constant(0); shape.rank()];
    let mut limit = shape.to_vec();
    if let (Some(s), Some(l)) = (start.get_mut(axis), limit.get_mut(axis)) {
        (*s, *l) = (from.to_dim(), to.to_dim());
    }
    if limit.as_slice() == &shape[..] && start.iter().all(|&s| s == 0) {
        return x;
    }
    builder::emit(Prim::Slice { start, limit, stride: vec![1; shape.rank()] }, &[x])
}

/// The operands one after the other.
#[track_caller]
pub(crate) fn joined(xs: &[Sym], axis: usize) -> Sym {
    builder::emit(Prim::Concatenate { axis }, xs)
}

/// One more axis, repeated `n` times, at the end.
#[track_caller]
pub(crate) fn repeated_last(x: Sym, n: Dim) -> Sym {
    let Some(mut shape) = builder::with_type(x, |t| t.shape.clone()) else { return x };
    let dims = (0..shape.rank()).collect();
    shape.push(n);
    builder::emit(Prim::BroadcastInDim { shape, dims }, &[x])
}

/// Of each row (the last axis) of `x` the element that `index` names: `x[.., index[..]]`. `index` has x's shape without
/// the last axis.
#[track_caller]
pub(crate) fn pick_last(x: Sym, index: Sym) -> Sym {
    let Some(rank) = builder::with_type(x, |t| t.rank()) else { return x };
    let last = rank.saturating_sub(1);
    let batch: Vec<usize> = (0..last).collect();
    let dims = GatherDims {
        offset: vec![],
        collapsed: vec![last],
        operand_batching: batch.clone(),
        indices_batching: batch,
        start_map: vec![last],
        index_vector: last,
    };
    builder::emit(Prim::Gather { dims, sizes: vec![Dim::constant(1); rank], sorted: false }, &[x, index])
}

/// A dot with batch and contracting axes, accumulated in the operands' accumulator dtype, which is the result's.
#[track_caller]
pub(crate) fn dot_wide(a: Sym, b: Sym, batch: usize, contract: (usize, usize), wide: bool) -> Sym {
    let axes: Vec<usize> = (0..batch).collect();
    let accumulate =
        builder::with_type(a, |t| t.dtype).filter(|d| wide && d.accumulator() != *d).map(DType::accumulator);
    let contract = AxisPair { lhs: vec![contract.0], rhs: vec![contract.1] };
    builder::emit(Prim::Dot { batch: AxisPair { lhs: axes.clone(), rhs: axes }, contract, accumulate }, &[a, b])
}
