//! Data movement for all rows: axes move up by one.

use super::parts::{front, spread, up};
use super::{Mapped, Rows, Site, batched};
use crate::zeros;
use evoxc_core::{DType, Dim, OpError, Shape, spec};
use evoxc_ir::Prim;
use evoxc_trace::{Sym, emitter};

pub(super) fn broadcast_in_dim(site: &Site, dims: &[usize]) -> Result<Rows, OpError> {
    let shape = site.with_rows(&site.y[0].shape);
    site.write(Prim::BroadcastInDim { shape, dims: front(0, &up(dims)) }, &[site.rows(0)])
}

pub(super) fn reshape(site: &Site) -> Result<Rows, OpError> {
    site.write(Prim::Reshape { shape: site.with_rows(&site.y[0].shape) }, &[site.rows(0)])
}

pub(super) fn transpose(site: &Site, perm: &[usize]) -> Result<Rows, OpError> {
    site.write(Prim::Transpose { perm: front(0, &up(perm)) }, &[site.rows(0)])
}

pub(super) fn slice(site: &Site, start: &[Dim], limit: &[Dim], stride: &[i64]) -> Result<Rows, OpError> {
    let (start, limit) = (front(Dim::constant(0), start), front(site.size, limit));
    site.write(Prim::Slice { start, limit, stride: front(1, stride) }, &[site.rows(0)])
}

/// A padding value that differs from row to row fills, by a mask, what padding by zero leaves.
pub(super) fn pad(site: &Site, low: &[Dim], high: &[Dim], interior: &[i64]) -> Result<Rows, OpError> {
    let (x, value) = (site.x[0], site.x[1]);
    let none = Dim::constant(0);
    let all = Prim::Pad { low: front(none, low), high: front(none, high), interior: front(0, interior) };
    if !value.batched {
        return site.write(all, &[x.sym, value.sym]);
    }
    let shape = site.with_rows(&site.y[0].shape);
    let zero = zeros(&spec(site.y[0].dtype, Shape::scalar()));
    let padded = emitter::emit(if x.batched { all } else { site.prim.clone() }, &[x.sym, zero]);
    let padded = batched(Mapped { sym: padded, batched: x.batched }, site.size);
    let filler = spread(value.sym, shape, vec![0]);
    // Where the elements of x are is the same for every row.
    let (yes, no) = (mask(true, &site.row_shape(0)), mask(false, &Shape::scalar()));
    let inside = Mapped { sym: emitter::emit(site.prim.clone(), &[yes, no]), batched: false };
    site.write(Prim::Select {}, &[batched(inside, site.size), padded, filler])
}

fn mask(value: bool, shape: &Shape) -> Sym {
    evoxc_trace::full(DType::BOOL, shape, value)
}

pub(super) fn concatenate(site: &Site, axis: usize) -> Result<Rows, OpError> {
    let x: Vec<Sym> = (0..site.x.len()).map(|i| site.rows(i)).collect();
    site.write(Prim::Concatenate { axis: axis + 1 }, &x)
}

pub(super) fn reverse(site: &Site, axes: &[usize]) -> Result<Rows, OpError> {
    site.write(Prim::Reverse { axes: up(axes) }, &[site.rows(0)])
}
