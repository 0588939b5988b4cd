//! Small steps that batching rules share, each one op, or none where nothing would change.

use evoxc_core::{Dim, Shape};
use evoxc_ir::{Literal, Prim};
use evoxc_trace::{Sym, emitter};

/// Axes of one row as axes of all rows.
pub(super) fn up(axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|a| a + 1).collect()
}

/// An entry for the axis of the rows, then those of the other axes.
pub(super) fn front<T: Clone>(first: T, rest: &[T]) -> Vec<T> {
    std::iter::once(first).chain(rest.iter().cloned()).collect()
}

/// The extents; none of a poisoned value.
pub(super) fn shape(x: Sym) -> Shape {
    emitter::type_of(x).map(|t| t.shape).unwrap_or_default()
}

#[track_caller]
pub(super) fn reshape(x: Sym, to: impl IntoIterator<Item = Dim>) -> Sym {
    let to: Shape = to.into_iter().collect();
    if shape(x) == to { x } else { emitter::emit(Prim::Reshape { shape: to }, &[x]) }
}

#[track_caller]
pub(super) fn transpose(x: Sym, perm: Vec<usize>) -> Sym {
    if perm.is_sorted() { x } else { emitter::emit(Prim::Transpose { perm }, &[x]) }
}

/// Moves an axis; the others keep their order.
#[track_caller]
pub(crate) fn move_axis(x: Sym, from: usize, to: usize) -> Sym {
    let mut perm: Vec<usize> = (0..shape(x).rank()).filter(|&a| a != from).collect();
    perm.insert(to.min(perm.len()), from);
    transpose(x, perm)
}

/// Axis i of `x` becomes axis `dims[i]` of `to`. A constant of one repeated value becomes one of the new shape.
#[track_caller]
pub(crate) fn spread(x: Sym, to: Shape, dims: Vec<usize>) -> Sym {
    match emitter::splat(x) {
        Some(value) => emitter::emit(Prim::Constant { value: Literal::Splat(value, to) }, &[]),
        None => emitter::emit(Prim::BroadcastInDim { shape: to, dims }, &[x]),
    }
}
