//! Types of reductions, windows, cumulative ops and sorts.

use super::contraction::{check_window, window_extent};
use super::{Check, Cx, Types, surely_greater};
use crate::{CumOp, Reducer, SortKeys, TensorType, Window};
use evoxc_core::{DType, Dim, Shape, spec};
use smallvec::smallvec;

pub(super) fn reducer(cx: &Cx, op: Reducer, d: DType) -> Check {
    let bits = d.is_bool() || d.is_int();
    match op {
        Reducer::Sum | Reducer::Prod | Reducer::Max | Reducer::Min => Ok(()),
        Reducer::And | Reducer::Or => cx.dtype("x", d, bits, "bool or an integer dtype", "compare it with 0 first"),
    }
}

fn reduced(x: &TensorType, axes: &[usize]) -> Shape {
    x.shape.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, &d)| d).collect()
}

pub(super) fn reduce(cx: &Cx, op: Reducer, axes: &[usize]) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.axes("axes", axes, x.rank())?;
    reducer(cx, op, x.dtype)?;
    cx.one(x.dtype, &reduced(x, axes))
}

fn scalar(t: &TensorType) -> TensorType {
    spec(t.dtype, Shape::scalar())
}

/// The only region takes 2n scalars of the operands' dtypes, (accumulated..., element...), and gives n.
pub(super) fn body(cx: &Cx, xs: &[&TensorType]) -> Check {
    let [r] = cx.regions()?;
    let want: Vec<TensorType> = xs.iter().map(|t| scalar(t)).collect();
    let twice: Vec<&TensorType> = want.iter().chain(&want).collect();
    cx.signature("arguments of `body`", &r.args, twice.into_iter())?;
    cx.signature("results of `body`", &r.results, want.iter())
}

/// The first and second half of the operands: values of one shape, and their scalar initial values.
fn with_inits<'a>(cx: &Cx<'a>) -> Check<&'a [&'a TensorType]> {
    let n = cx.operands.len() / 2;
    if n == 0 || cx.operands.len() != 2 * n {
        return cx.fail(format!("it takes n operands and n initial values, got {} in all", cx.operands.len()));
    }
    let (xs, inits) = cx.operands.split_at(n);
    for (x, init) in xs.iter().zip(inits) {
        cx.same_shape(("operand 0", &xs[0].shape), ("another operand", &x.shape))?;
        cx.scalar("an initial value", init)?;
        cx.same_dtype(("an initial value", init), ("its operand", x))?;
    }
    body(cx, xs)?;
    Ok(xs)
}

pub(super) fn reduce_body(cx: &Cx, axes: &[usize]) -> Check<Types> {
    let xs = with_inits(cx)?;
    cx.axes("axes", axes, xs[0].rank())?;
    Ok(xs.iter().map(|x| spec(x.dtype, reduced(x, axes))).collect())
}

pub(super) fn arg(cx: &Cx, axis: usize) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.axis("axis", axis, x.rank())?;
    ordered(cx, "x", x.dtype)?;
    if x.shape[axis] == 0 {
        return cx.fail(format!("axis {axis} of x has size 0, so that no element is the first"));
    }
    cx.one(DType::I32, &reduced(x, &[axis]))
}

/// Complex numbers have no order that sorts agree on.
fn ordered(cx: &Cx, name: &str, d: DType) -> Check {
    cx.dtype(name, d, !d.is_complex(), "a real dtype or bool", "take `.real()` and `.imag()`, or `.abs()`")
}

fn windows(cx: &Cx, w: &Window, x: &TensorType) -> Check<Shape> {
    check_window(cx, w, x.rank(), false)?;
    Ok(x.shape.iter().enumerate().map(|(i, &n)| window_extent(w, i, n)).collect())
}

pub(super) fn reduce_window(cx: &Cx, op: Reducer, w: &Window) -> Check<Types> {
    let [x] = cx.operands()?;
    reducer(cx, op, x.dtype)?;
    cx.result(x.dtype, windows(cx, w, x)?)
}

pub(super) fn reduce_window_body(cx: &Cx, w: &Window) -> Check<Types> {
    let xs = with_inits(cx)?;
    let shape = windows(cx, w, xs[0])?;
    cx.shape("a result", &shape)?;
    Ok(xs.iter().map(|x| spec(x.dtype, &shape)).collect())
}

fn pooled(cx: &Cx, w: &Window, x: &TensorType, source: &TensorType) -> Check<Types> {
    cx.same_dtype(("source", source), ("x", x))?;
    let shape = windows(cx, w, x)?;
    if w.base_dilation.iter().chain(&w.window_dilation).any(|&d| d != 1) {
        return cx.fail("its window cannot be dilated");
    }
    cx.same_shape(("source", &source.shape), ("the windows over x", &shape))?;
    cx.one(x.dtype, &x.shape)
}

pub(super) fn select_and_scatter(cx: &Cx, w: &Window) -> Check<Types> {
    let [x, source] = cx.operands()?;
    ordered(cx, "x", x.dtype)?;
    pooled(cx, w, x, source)
}

pub(super) fn select_and_scatter_body(cx: &Cx, w: &Window) -> Check<Types> {
    let [x, source, init] = cx.operands()?;
    cx.scalar("init", init)?;
    cx.same_dtype(("init", init), ("x", x))?;
    let [select, scatter] = cx.regions()?;
    let (s, b) = (scalar(x), spec(DType::BOOL, Shape::scalar()));
    cx.signature("arguments of `select`", &select.args, [&s, &s].into_iter())?;
    cx.signature("results of `select`", &select.results, [&b].into_iter())?;
    cx.signature("arguments of `scatter`", &scatter.args, [&s, &s].into_iter())?;
    cx.signature("results of `scatter`", &scatter.results, [&s].into_iter())?;
    pooled(cx, w, x, source)
}

pub(super) fn cumulative(cx: &Cx, op: CumOp, axis: usize) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.axis("axis", axis, x.rank())?;
    match op {
        CumOp::Sum | CumOp::Prod | CumOp::Max | CumOp::Min => {}
        CumOp::Logsumexp => {
            cx.dtype("x", x.dtype, x.dtype.is_float(), "a real float", "cast it first: `.cast(F32)`")?;
        }
    }
    cx.one(x.dtype, &x.shape)
}

/// Operands of one shape with that axis.
fn sorted<'a>(cx: &Cx<'a>, axis: usize) -> Check<&'a [&'a TensorType]> {
    let Some(first) = cx.operands.first() else { return cx.fail("it needs at least one operand") };
    cx.axis("axis", axis, first.rank())?;
    for x in cx.operands {
        cx.same_shape(("operand 0", &first.shape), ("another operand", &x.shape))?;
    }
    Ok(cx.operands)
}

pub(super) fn sort(cx: &Cx, axis: usize, keys: &SortKeys) -> Check<Types> {
    let xs = sorted(cx, axis)?;
    if keys.0.is_empty() || keys.0.len() > xs.len() {
        return cx.fail(format!("`keys` names {} keys, of {} operands", keys.0.len(), xs.len()));
    }
    for x in xs.iter().take(keys.0.len()) {
        ordered(cx, "a key", x.dtype)?;
    }
    Ok(xs.iter().map(|x| cx.like(x)).collect())
}

pub(super) fn sort_body(cx: &Cx, axis: usize) -> Check<Types> {
    let xs = sorted(cx, axis)?;
    let [r] = cx.regions()?;
    let pairs: Vec<TensorType> = xs.iter().flat_map(|x| [scalar(x), scalar(x)]).collect();
    cx.signature("arguments of `body`", &r.args, pairs.iter())?;
    cx.signature("results of `body`", &r.results, [&spec(DType::BOOL, Shape::scalar())].into_iter())?;
    Ok(xs.iter().map(|x| cx.like(x)).collect())
}

pub(super) fn top_k(cx: &Cx, k: Dim) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.sound("k", &[k])?;
    ordered(cx, "x", x.dtype)?;
    let mut shape = x.shape.clone();
    let axis = x.rank().wrapping_sub(1);
    let Some(last) = shape.dims_mut().last_mut() else { return cx.fail("x is a scalar, it has no last axis") };
    if surely_greater(k, *last) || surely_greater(Dim::constant(0), k) {
        return cx.fail(format!("k is {k}, but axis {axis} of x has size {last}"));
    }
    *last = k;
    cx.shape("the result", &shape)?;
    Ok(smallvec![spec(x.dtype, &shape), spec(DType::I32, shape)])
}
