//! Types of constants and of ops that move data.

use super::{Check, Cx, Types, surely_greater};
use crate::Literal;
use evoxc_core::{DType, Dim, Shape};

pub(super) fn constant(cx: &Cx, value: &Literal) -> Check<Types> {
    let [] = cx.operands()?;
    match value {
        Literal::Dense(t) => cx.result(t.dtype(), t.shape().iter().map(|&n| Dim::constant(n as i64)).collect()),
        Literal::Splat(t, shape) => {
            if t.rank() != 0 {
                return cx.fail(format!("a splat repeats a scalar, got {}", t.spec()));
            }
            cx.result(t.dtype(), shape.clone())
        }
    }
}

pub(super) fn iota(cx: &Cx, dtype: DType, shape: &Shape, axis: usize) -> Check<Types> {
    let [] = cx.operands()?;
    cx.axis("axis", axis, shape.rank())?;
    cx.dtype("the result", dtype, !dtype.is_bool(), "a number", "count in I32 and compare")?;
    cx.result(dtype, shape.clone())
}

pub(super) fn dim_size(cx: &Cx, extent: Dim, dtype: DType) -> Check<Types> {
    let [] = cx.operands()?;
    cx.sound("extent", &[extent])?;
    cx.dtype("the result", dtype, dtype.is_int(), "an integer dtype", "take I32 and cast it")?;
    cx.one(dtype, &Shape::scalar())
}

pub(super) fn broadcast_in_dim(cx: &Cx, shape: &Shape, dims: &[usize]) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.lengths("dims", dims.len(), x.rank())?;
    cx.axes("dims", dims, shape.rank())?;
    for (i, (&d, &a)) in x.shape.iter().zip(dims).enumerate() {
        let to = shape.get(a).copied().unwrap_or(d);
        if d != to && d != 1 {
            return cx.fail_with(
                format!("axis {i} of x has size {d}, axis {a} of the result has size {to}"),
                "only an axis of size 1 can be repeated",
            );
        }
    }
    cx.result(x.dtype, shape.clone())
}

pub(super) fn reshape(cx: &Cx, shape: &Shape) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.shape("the result", shape)?;
    let (from, to) = (x.shape.size(), shape.size());
    // A product that has no value is an overflow; equal expressions are the same handle.
    if from != to || from.is_poison() {
        return cx.fail_with(
            format!("shape {} holds {from} elements, shape {shape} holds {to}", x.shape),
            "the products of the extents must be equal as expressions",
        );
    }
    cx.one(x.dtype, shape)
}

pub(super) fn transpose(cx: &Cx, perm: &[usize]) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.lengths("perm", perm.len(), x.rank())?;
    cx.axes("perm", perm, x.rank())?;
    cx.one(x.dtype, &perm.iter().filter_map(|&a| x.shape.get(a)).copied().collect())
}

pub(super) fn slice(cx: &Cx, start: &[Dim], limit: &[Dim], stride: &[i64]) -> Check<Types> {
    let [x] = cx.operands()?;
    for (name, n) in [("start", start.len()), ("limit", limit.len()), ("stride", stride.len())] {
        cx.lengths(name, n, x.rank())?;
    }
    cx.sound("start", start)?;
    cx.sound("limit", limit)?;
    let mut shape = Shape::scalar();
    for (i, (((&n, &lo), &hi), &by)) in x.shape.iter().zip(start).zip(limit).zip(stride).enumerate() {
        if by < 1 {
            return cx.fail_with(
                format!("the stride of axis {i} is {by}"),
                "strides are at least 1; `reverse` the axis for a negative one",
            );
        }
        if surely_greater(Dim::constant(0), lo) || surely_greater(lo, hi) || surely_greater(hi, n) {
            return cx.fail_with(
                format!("{lo}..{hi} is not within axis {i}, which has size {n}"),
                "bounds count from 0: 0 <= start <= limit <= size",
            );
        }
        shape.push(ceil_div(hi - lo, by));
    }
    cx.result(x.dtype, shape)
}

/// `n / by`, rounded up.
pub(super) fn ceil_div(n: Dim, by: i64) -> Dim {
    if by == 1 { n } else { (n + (by - 1)) / by }
}

pub(super) fn pad(cx: &Cx, low: &[Dim], high: &[Dim], interior: &[i64]) -> Check<Types> {
    let [x, value] = cx.operands()?;
    cx.scalar("value", value)?;
    cx.same_dtype(("value", value), ("x", x))?;
    for (name, n) in [("low", low.len()), ("high", high.len()), ("interior", interior.len())] {
        cx.lengths(name, n, x.rank())?;
    }
    let mut shape = Shape::scalar();
    for (i, (((&n, &lo), &hi), &gap)) in x.shape.iter().zip(low).zip(high).zip(interior).enumerate() {
        if gap < 0 {
            return cx.fail(format!("the interior padding of axis {i} is {gap}, it must be at least 0"));
        }
        let holes = if gap == 0 { Dim::constant(0) } else { (n - 1).max(0) * gap };
        let size = lo + n + holes + hi;
        if size.upper_bound().is_some_and(|v| v < 0) {
            return cx.fail_with(
                format!("axis {i} has size {n}, padded by {lo} and {hi} it would have size {size}"),
                "negative padding cannot cut more than there is",
            );
        }
        shape.push(size);
    }
    cx.result(x.dtype, shape)
}

pub(super) fn concatenate(cx: &Cx, axis: usize) -> Check<Types> {
    let Some((first, rest)) = cx.operands.split_first() else {
        return cx.fail("it needs at least one operand");
    };
    cx.axis("axis", axis, first.rank())?;
    let mut shape = first.shape.clone();
    for (k, t) in rest.iter().enumerate() {
        let k = k + 1;
        if t.dtype != first.dtype {
            cx.same_dtype((&format!("operand {k}"), t), ("operand 0", first))?;
        }
        if t.rank() != first.rank() {
            return cx.fail_with(
                format!("operand 0 has rank {}, operand {k} has rank {}", first.rank(), t.rank()),
                "concatenate keeps the rank; `stack` makes a new axis",
            );
        }
        for (i, ((&a, &b), sum)) in first.shape.iter().zip(&t.shape).zip(shape.dims_mut()).enumerate() {
            if i == axis {
                *sum = *sum + b;
            } else if a != b {
                return cx.fail(format!(
                    "axis {i} of operand 0 has size {a}, axis {i} of operand {k} has size {b}; only axis {axis} may differ"
                ));
            }
        }
    }
    cx.result(first.dtype, shape)
}

pub(super) fn reverse(cx: &Cx, axes: &[usize]) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.axes("axes", axes, x.rank())?;
    cx.one(x.dtype, &x.shape)
}
