//! Types of gather, scatter and dynamic slices. The rules are those of the StableHLO specification.

use super::elementwise::index;
use super::reduction::body;
use super::{Check, Cx, Types, count, surely_greater};
use crate::{GatherDims, ScatterDims, ScatterOp, TensorType};
use evoxc_core::{Dim, Shape};

/// The dimension numbers that gather and scatter share, under the names that each gives them.
struct Numbers<'a> {
    dropped: (&'a str, &'a [usize]),
    operand_batching: &'a [usize],
    indices_batching: &'a [usize],
    map: (&'a str, &'a [usize]),
    window: (&'a str, &'a [usize]),
    index_vector: usize,
}

impl Numbers<'_> {
    /// Checks the numbers and gives the extents of the indices' batch.
    fn check(&self, cx: &Cx, x: &[Dim], indices: &TensorType) -> Check<Vec<Dim>> {
        index(cx, "indices", indices)?;
        let rank = x.len();
        if self.index_vector > indices.rank() {
            return cx.fail(format!(
                "`index_vector` is {}, but indices has rank {}",
                self.index_vector,
                indices.rank()
            ));
        }
        cx.axes(self.dropped.0, self.dropped.1, rank)?;
        cx.axes("operand_batching", self.operand_batching, rank)?;
        cx.axes("indices_batching", self.indices_batching, indices.rank())?;
        cx.axes(self.map.0, self.map.1, rank)?;
        for (name, list) in [self.dropped, ("operand_batching", self.operand_batching), self.window] {
            if !list.is_sorted() {
                return cx.fail(format!("`{name}` must be in ascending order, got {list:?}"));
            }
        }
        for (name, list) in [self.dropped, self.map] {
            if let Some(a) = list.iter().find(|a| self.operand_batching.contains(a)) {
                return cx.fail(format!("axis {a} of x is in `{name}` and in `operand_batching`"));
            }
        }
        if self.indices_batching.contains(&self.index_vector) {
            return cx
                .fail(format!("axis {} of indices is `index_vector` and in `indices_batching`", self.index_vector));
        }
        if self.operand_batching.len() != self.indices_batching.len() {
            return cx.fail("`operand_batching` and `indices_batching` differ in length");
        }
        for (&a, &b) in self.operand_batching.iter().zip(self.indices_batching) {
            if let (Some(n), Some(m)) = (x.get(a), indices.shape.get(b))
                && n != m
            {
                return cx.fail(format!("batching axis {a} of x has size {n}, axis {b} of indices has size {m}"));
            }
        }
        let components = indices.shape.get(self.index_vector).copied().unwrap_or(Dim::constant(1));
        if components != self.map.1.len() {
            return cx.fail(format!(
                "an index has {components} components (axis {} of indices), `{}` names {}",
                self.index_vector,
                self.map.0,
                count(self.map.1.len(), "axis of x").replace("axis of xs", "axes of x")
            ));
        }
        let kept = self.window.1.len() + self.dropped.1.len() + self.operand_batching.len();
        if kept != rank {
            return cx.fail(format!(
                "`{}`, `{}` and `operand_batching` together have {kept} entries, x has rank {rank}",
                self.window.0, self.dropped.0
            ));
        }
        Ok(without(&indices.shape, &[self.index_vector], &[]))
    }
}

/// The extents whose axes are in neither list.
fn without(dims: &[Dim], a: &[usize], b: &[usize]) -> Vec<Dim> {
    dims.iter().enumerate().filter(|(i, _)| !a.contains(i) && !b.contains(i)).map(|(_, &d)| d).collect()
}

fn check_sizes(cx: &Cx, sizes: &[Dim], x: &TensorType) -> Check {
    cx.lengths("sizes", sizes.len(), x.rank())?;
    cx.sound("sizes", sizes)?;
    for (i, (&s, &n)) in sizes.iter().zip(&x.shape).enumerate() {
        if surely_greater(Dim::constant(0), s) || surely_greater(s, n) {
            return cx.fail(format!("a slice of size {s} does not fit axis {i} of x, which has size {n}"));
        }
    }
    Ok(())
}

pub(super) fn gather(cx: &Cx, d: &GatherDims, sizes: &[Dim]) -> Check<Types> {
    let [x, indices] = cx.operands()?;
    let numbers = Numbers {
        dropped: ("collapsed", &d.collapsed),
        operand_batching: &d.operand_batching,
        indices_batching: &d.indices_batching,
        map: ("start_map", &d.start_map),
        window: ("offset", &d.offset),
        index_vector: d.index_vector,
    };
    let batch = numbers.check(cx, &x.shape, indices)?;
    check_sizes(cx, sizes, x)?;
    for &a in d.collapsed.iter().chain(&d.operand_batching) {
        if let Some(&s) = sizes.get(a)
            && surely_greater(s, Dim::constant(1))
        {
            return cx.fail(format!("axis {a} of x is dropped from the slices, so its size must be 1, not {s}"));
        }
    }
    let offset = without(sizes, &d.collapsed, &d.operand_batching);
    let rank = batch.len() + offset.len();
    cx.axes("offset", &d.offset, rank)?;
    let (mut batch, mut offset) = (batch.into_iter(), offset.into_iter());
    let shape: Shape =
        (0..rank).filter_map(|i| if d.offset.contains(&i) { offset.next() } else { batch.next() }).collect();
    cx.result(x.dtype, shape)
}

fn check_scatter(cx: &Cx, d: &ScatterDims, x: &TensorType, indices: &TensorType, updates: &TensorType) -> Check {
    let numbers = Numbers {
        dropped: ("inserted", &d.inserted),
        operand_batching: &d.operand_batching,
        indices_batching: &d.indices_batching,
        map: ("scatter_map", &d.scatter_map),
        window: ("update_window", &d.update_window),
        index_vector: d.index_vector,
    };
    let batch = numbers.check(cx, &x.shape, indices)?;
    let window = without(&x.shape, &d.inserted, &d.operand_batching);
    let rank = batch.len() + window.len();
    if updates.rank() != rank {
        return cx.fail(format!(
            "updates has rank {}, but {} of indices and {} of the window make {rank}",
            updates.rank(),
            batch.len(),
            window.len()
        ));
    }
    cx.axes("update_window", &d.update_window, rank)?;
    let (mut batch, mut window) = (batch.into_iter(), window.into_iter());
    for (i, &n) in updates.shape.iter().enumerate() {
        if d.update_window.contains(&i) {
            let room = window.next().unwrap_or(n);
            if surely_greater(n, room) {
                return cx.fail(format!("axis {i} of updates has size {n}, its axis of x only {room}"));
            }
        } else {
            let want = batch.next().unwrap_or(n);
            if n != want {
                return cx.fail(format!("axis {i} of updates has size {n}, its axis of indices has size {want}"));
            }
        }
    }
    Ok(())
}

pub(super) fn scatter(cx: &Cx, op: ScatterOp, d: &ScatterDims) -> Check<Types> {
    let [x, indices, updates] = cx.operands()?;
    match op {
        ScatterOp::Set | ScatterOp::Add | ScatterOp::Mul | ScatterOp::Min | ScatterOp::Max => {}
    }
    cx.same_dtype(("updates", updates), ("x", x))?;
    check_scatter(cx, d, x, indices, updates)?;
    cx.one(x.dtype, &x.shape)
}

pub(super) fn scatter_body(cx: &Cx, d: &ScatterDims) -> Check<Types> {
    let n = cx.operands.len() / 2;
    let (Some(xs), Some(indices), Some(updates)) = (cx.operands.get(..n), cx.operands.get(n), cx.operands.get(n + 1..))
    else {
        return cx.fail("it takes n operands, the indices, and n updates");
    };
    if n == 0 || updates.len() != n {
        return cx.fail(format!("it takes n operands, the indices, and n updates; got {} in all", cx.operands.len()));
    }
    for (x, u) in xs.iter().zip(updates) {
        cx.same_dtype(("updates", u), ("its operand", x))?;
        cx.same_shape(("operand 0", &xs[0].shape), ("another operand", &x.shape))?;
        cx.same_shape(("updates 0", &updates[0].shape), ("other updates", &u.shape))?;
        check_scatter(cx, d, x, indices, u)?;
    }
    body(cx, xs)?;
    Ok(xs.iter().map(|t| cx.like(t)).collect())
}

fn check_starts(cx: &Cx, starts: &[&TensorType], rank: usize) -> Check {
    if starts.len() != rank {
        return cx.fail(format!("x has rank {rank}, so it takes {}, got {}", count(rank, "start"), starts.len()));
    }
    for (i, t) in starts.iter().enumerate() {
        let name = || format!("start {i}");
        if !t.shape.is_empty() {
            cx.scalar(&name(), t)?;
        }
        index(cx, "a start", t)?;
        if let Some(first) = starts.first()
            && first.dtype != t.dtype
        {
            cx.same_dtype((&name(), t), ("start 0", first))?;
        }
    }
    Ok(())
}

pub(super) fn dynamic_slice(cx: &Cx, sizes: &[Dim]) -> Check<Types> {
    let Some((x, starts)) = cx.operands.split_first() else { return cx.fail("it takes x and its starts") };
    check_starts(cx, starts, x.rank())?;
    check_sizes(cx, sizes, x)?;
    cx.result(x.dtype, sizes.iter().copied().collect())
}

pub(super) fn dynamic_update_slice(cx: &Cx) -> Check<Types> {
    let [x, update, starts @ ..] = cx.operands else { return cx.fail("it takes x, the update, and its starts") };
    cx.same_dtype(("update", update), ("x", x))?;
    if update.rank() != x.rank() {
        return cx.fail(format!("update has rank {}, x has rank {}", update.rank(), x.rank()));
    }
    check_starts(cx, starts, x.rank())?;
    for (i, (&n, &room)) in update.shape.iter().zip(&x.shape).enumerate() {
        if surely_greater(n, room) {
            return cx.fail(format!("axis {i} of update has size {n}, axis {i} of x only {room}"));
        }
    }
    cx.one(x.dtype, &x.shape)
}
