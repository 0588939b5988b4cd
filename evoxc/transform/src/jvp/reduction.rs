//! Tangents of reductions. Equal maxima share equally.

use super::Site;
use evoxc_core::{Dim, Shape};
use evoxc_ir::{CumOp, Prim, Reducer};
use evoxc_trace::{Sym, emitter};

/// By the combiner.
pub(super) fn reduce(site: &Site, op: Reducer, axes: &[usize]) -> Option<Sym> {
    let t = site.t[0]?;
    match op {
        Reducer::Sum => Some(site.same(&[t])),
        Reducer::Prod => Some(added(t * others(site.x[0], axes)?, axes)),
        Reducer::Max | Reducer::Min => extremum(site, t, axes),
        // Of integers and bools, which have no tangents.
        Reducer::And | Reducer::Or => None,
    }
}

fn added(x: Sym, axes: &[usize]) -> Sym {
    emitter::emit(Prim::Reduce { op: Reducer::Sum, axes: axes.to_vec() }, &[x])
}

/// The mean tangent of the elements that equal the result.
fn extremum(site: &Site, t: Sym, axes: &[usize]) -> Option<Sym> {
    let (x, y) = (site.x[0], site.y[0]);
    let ty = emitter::type_of(x)?;
    if axes.iter().any(|&a| ty.shape.get(a).is_some_and(|&n| n == 0)) {
        return None;
    }
    let dims = (0..ty.rank()).filter(|a| !axes.contains(a)).collect();
    let spread = emitter::emit(Prim::BroadcastInDim { shape: ty.shape, dims }, &[y]);
    let taken = x.eq(spread).cast(ty.dtype);
    Some(added(t * taken, axes) / added(taken, axes))
}

/// For every element the product of all others along `axes`: no quotient, so that zeros are no trouble.
fn others(x: Sym, axes: &[usize]) -> Option<Sym> {
    let ty = emitter::type_of(x)?;
    if let &[axis] = axes {
        return others_along(x, axis);
    }
    // The reduced axes as one, at the end.
    let kept: Vec<usize> = (0..ty.rank()).filter(|a| !axes.contains(a)).collect();
    let perm: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let moved = emitter::emit(Prim::Transpose { perm: perm.clone() }, &[x]);
    let extents = |of: &[usize]| -> Shape { of.iter().filter_map(|&a| ty.shape.get(a)).copied().collect() };
    let mut flat = extents(&kept);
    flat.push(extents(axes).size());
    let product = others_along(moved.reshape(flat), kept.len())?.reshape(extents(&perm));
    let back = (0..perm.len()).filter_map(|a| perm.iter().position(|&p| p == a)).collect();
    Some(emitter::emit(Prim::Transpose { perm: back }, &[product]))
}

/// [`others`] along one axis: the product of those before times that of those after.
fn others_along(x: Sym, axis: usize) -> Option<Sym> {
    let running = |by: i64, reverse: bool| {
        let moved = shifted(x, axis, by, 1.0)?;
        Some(emitter::emit(Prim::Cumulative { op: CumOp::Prod, axis, reverse }, &[moved]))
    };
    Some(running(1, false)? * running(-1, true)?)
}

/// The elements moved by `by` places along an axis, and `fill` where that leaves none.
pub(super) fn shifted(x: Sym, axis: usize, by: i64, fill: f64) -> Option<Sym> {
    let ty = emitter::type_of(x)?;
    let zeros = vec![Dim::constant(0); ty.rank()];
    let (mut low, mut high) = (zeros.clone(), zeros);
    *low.get_mut(axis)? = Dim::constant(by);
    *high.get_mut(axis)? = Dim::constant(-by);
    let fill = evoxc_trace::full(ty.dtype, Shape::scalar(), fill);
    Some(emitter::emit(Prim::Pad { low, high, interior: vec![0; ty.rank()] }, &[x, fill]))
}
