//! Bounds of indices, written out for compilers that do not look at them (`lean`): a gather reads from the nearest window
//! that is inside, and a scatter drops windows that are not. Left to such a compiler, they read and write elsewhere.

use super::convert::cast;
use super::scatter::within;
use super::writer::{Val, Writer};
use super::{Outcome, shape};
use evoxc_core::{DType, Dim, Shape, spec};
use evoxc_ir::{GatherDims, Literal, Reducer, ScatterDims, TensorType};

/// An index as i64 where its dtype needs it, else as i32; one beyond the range of i64 stays beyond every extent.
pub(super) fn signed(w: &mut Writer<'_>, index: &Val) -> Outcome<Val> {
    match index.dtype() {
        DType::U64 => {
            let most = w.splat(&index.ty, i64::MAX)?;
            let least = w.same("minimum", &[index, &most])?;
            Ok(cast(w, &least, DType::I64))
        }
        DType::I64 | DType::U32 => Ok(cast(w, index, DType::I64)),
        _ => Ok(cast(w, index, DType::I32)),
    }
}

/// One number for each component of indices, over their shape.
fn each(w: &mut Writer<'_>, indices: &Val, index_vector: usize, values: &[Dim]) -> Outcome<Val> {
    let list = w.extents(values)?;
    let list = cast(w, &list, indices.dtype());
    if index_vector < indices.rank() {
        return w.broadcast(&list, indices.shape(), &[index_vector]);
    }
    let one = w.typed("reshape", &[&list], "", spec(list.dtype(), Shape::scalar()));
    w.broadcast(&one, indices.shape(), &[])
}

/// The last start that is inside, for each component.
fn last(x: &Val, axes: &[usize], size: impl Fn(usize) -> Dim) -> Vec<Dim> {
    axes.iter().map(|&a| x.shape()[a] - size(a)).collect()
}

/// Are all starts inside, as far as is known?
fn known_inside(
    known: Option<&Literal>,
    index_vector: usize,
    x: &Val,
    axes: &[usize],
    size: impl Fn(usize) -> Dim,
) -> bool {
    let fits = |l: &Literal, i: usize, a: usize| within(l, index_vector, i, size(a), x.shape()[a]);
    known.is_some_and(|l| axes.iter().enumerate().all(|(i, &a)| fits(l, i, a)))
}

/// The starts of a gather, moved inside.
pub(super) fn gathered(
    w: &mut Writer<'_>,
    x: &Val,
    indices: &Val,
    d: &GatherDims,
    sizes: &[Dim],
    known: Option<&Literal>,
) -> Outcome<Val> {
    if d.start_map.is_empty() || known_inside(known, d.index_vector, x, &d.start_map, |a| sizes[a]) {
        return Ok(indices.clone());
    }
    let indices = signed(w, indices)?;
    let last = each(w, &indices, d.index_vector, &last(x, &d.start_map, |a| sizes[a]))?;
    inside(w, &indices, &last)
}

fn inside(w: &mut Writer<'_>, indices: &Val, last: &Val) -> Outcome<Val> {
    let zero = w.splat(&indices.ty, 0)?;
    let low = w.same("maximum", &[indices, &zero])?;
    w.same("minimum", &[&low, last])
}

/// A scatter whose windows all are inside of operands that are longer than the results.
pub(super) struct Roomy {
    pub(super) operands: Vec<Val>,
    pub(super) indices: Val,
}

/// Operands with room behind an axis, where windows go that are not inside.
pub(super) fn roomy(
    w: &mut Writer<'_>,
    operands: &[&Val],
    indices: &Val,
    update: &Val,
    d: &ScatterDims,
    known: Option<&Literal>,
) -> Outcome<Roomy> {
    let as_they_are = || Roomy { operands: operands.iter().map(|&x| x.clone()).collect(), indices: indices.clone() };
    let (Some(&first), Some(&axis)) = (operands.first(), d.scatter_map.first()) else { return Ok(as_they_are()) };
    let window: Vec<usize> =
        (0..first.rank()).filter(|a| !d.inserted.contains(a) && !d.operand_batching.contains(a)).collect();
    let size = |a: usize| {
        let at = window.iter().position(|&b| b == a).and_then(|i| d.update_window.get(i));
        at.map_or(Dim::constant(1), |&u| update.shape()[u])
    };
    if known_inside(known, d.index_vector, first, &d.scatter_map, size) {
        return Ok(as_they_are());
    }
    let indices = signed(w, indices)?;
    let last = each(w, &indices, d.index_vector, &last(first, &d.scatter_map, size))?;
    let near = inside(w, &indices, &last)?;
    let fits = w.compare("EQ", &near, &indices);
    let fits = every(w, &fits, d.index_vector)?;
    let behind: Vec<Dim> =
        d.scatter_map.iter().map(|&a| if a == axis { first.shape()[a] } else { Dim::constant(0) }).collect();
    let behind = each(w, &indices, d.index_vector, &behind)?;
    let indices = w.choose(&fits, &near, &behind);
    let mut out = vec![];
    for &x in operands {
        let (none, zero) = (vec![Dim::constant(0); x.rank()], w.scalar_zero(x.dtype())?);
        let mut high = none.clone();
        high[axis] = size(axis);
        let ty = longer(x, axis, size(axis));
        out.push(shape::pad(w, x, &zero, [&none, &high], &vec![0; x.rank()], ty)?);
    }
    Ok(Roomy { operands: out, indices })
}

fn longer(x: &Val, axis: usize, by: Dim) -> TensorType {
    spec(x.dtype(), x.shape().iter().enumerate().map(|(a, &n)| if a == axis { n + by } else { n }).collect::<Shape>())
}

/// Do all components hold, over the shape of the indices?
fn every(w: &mut Writer<'_>, holds: &Val, index_vector: usize) -> Outcome<Val> {
    if index_vector >= holds.rank() {
        return Ok(holds.clone());
    }
    let others: Vec<usize> = (0..holds.rank()).filter(|&a| a != index_vector).collect();
    let ty = spec(DType::BOOL, others.iter().map(|&a| holds.shape()[a]).collect::<Shape>());
    let all = super::reduction::reduce(w, Reducer::And, holds, &[index_vector], ty)?;
    w.broadcast(&all, holds.shape(), &others)
}

/// The results without the room.
pub(super) fn cut(w: &mut Writer<'_>, longer: Vec<Val>, types: &[TensorType]) -> Outcome<Vec<Val>> {
    let each = longer.iter().zip(types).map(|(x, ty)| {
        if x.shape() == &ty.shape {
            return Ok(x.clone());
        }
        let start = vec![Dim::constant(0); x.rank()];
        shape::slice(w, x, &start, &ty.shape.iter().copied().collect::<Vec<_>>(), &vec![1; x.rank()], ty.clone())
    });
    each.collect()
}

/// Has a tensor no elements, whatever its symbols?
pub(super) fn is_empty(x: &Val) -> bool {
    x.shape().iter().any(|n| *n == 0)
}

impl Writer<'_> {
    fn scalar_zero(&mut self, d: DType) -> Outcome<Val> {
        if d.is_bool() { self.scalar(d, false) } else { self.scalar(d, 0) }
    }
}
