//! Dot and convolution for all rows.
//!
//! An operand that is the same for every row is not repeated: the rows become a free axis of a dot, and images or output
//! features of a convolution.

use super::parts::{front, move_axis, reshape, shape, transpose, up};
use super::{Rows, Site};
use crate::zeros;
use evoxc_core::{DType, Dim, OpError, spec};
use evoxc_ir::{AxisPair, ConvLayout, Prim, Window};
use evoxc_trace::{Sym, emitter};

pub(super) fn dot(
    site: &Site,
    batch: &AxisPair,
    contract: &AxisPair,
    accumulate: Option<DType>,
) -> Result<Rows, OpError> {
    let (a, b) = (site.x[0], site.x[1]);
    let lift = |axes: &[usize], batched: bool| if batched { up(axes) } else { axes.to_vec() };
    let pair = |p: &AxisPair| AxisPair { lhs: lift(&p.lhs, a.batched), rhs: lift(&p.rhs, b.batched) };
    let (mut batch, contract) = (pair(batch), pair(contract));
    // Of the result the axes come as batch, free of lhs, free of rhs.
    let shared = batch.lhs.len();
    let free = |i: usize, used: &[usize]| site.rank(i).saturating_sub(shared + used.len());
    let (free_a, free_b) = (free(0, &contract.lhs), free(1, &contract.rhs));
    if a.batched && b.batched {
        batch = AxisPair { lhs: front(0, &batch.lhs), rhs: front(0, &batch.rhs) };
        return site.write(Prim::Dot { batch, contract, accumulate }, &[a.sym, b.sym]);
    }
    if b.batched && shared == 0 && free_b == 0 {
        // With the rows alone on the right, exchanging the operands puts them first.
        let contract = AxisPair { lhs: contract.rhs, rhs: contract.lhs };
        return site.write(Prim::Dot { batch, contract, accumulate }, &[b.sym, a.sym]);
    }
    let y = emitter::emit(Prim::Dot { batch, contract, accumulate }, &[a.sym, b.sym]);
    let rows = if a.batched { shared } else { shared + free_a };
    Ok(Rows::from_elem(move_axis(y, rows, 0), 1))
}

/// The attributes of a convolution.
pub(super) struct Conv<'a> {
    pub window: &'a Window,
    pub layout: &'a ConvLayout,
    pub feature_groups: usize,
    pub batch_groups: usize,
    pub accumulate: Option<DType>,
}

impl Conv<'_> {
    fn emit(&self, [feature_groups, batch_groups]: [usize; 2], x: Sym, kernel: Sym) -> Sym {
        let (window, layout) = (self.window.clone(), self.layout.clone());
        let prim = Prim::Convolution { window, layout, feature_groups, batch_groups, accumulate: self.accumulate };
        emitter::emit(prim, &[x, kernel])
    }
}

/// Rows of images are more images; rows of kernels are more output features; rows of both are more groups.
pub(super) fn convolution(site: &Site, c: &Conv) -> Result<Rows, OpError> {
    let (x, kernel) = (site.x[0], site.x[1]);
    let (&[batch, feature], &[out_feature, _], &[y_batch, y_feature]) =
        (&c.layout.lhs[..], &c.layout.rhs[..], &c.layout.out[..])
    else {
        return Err(OpError::new("convolution", "its layout must name two axes of each operand"));
    };
    let (fg, bg) = (c.feature_groups, c.batch_groups);
    let n = site.size;
    let (y, axis, groups) = match (x.batched, kernel.batched) {
        (_, false) => (c.emit([fg, bg], fold(x.sym, batch, bg), kernel.sym), y_batch, 1),
        (false, true) => {
            let groups = fg.max(bg);
            (c.emit([fg, bg], x.sym, fold(kernel.sym, out_feature, groups)), y_feature, groups)
        }
        (true, true) => {
            let Some(rows) = n.get() else { return each_row(site) };
            if rows == 0 {
                let y = &site.y[0];
                return Ok(Rows::from_elem(zeros(&spec(y.dtype, site.with_rows(&y.shape))), 1));
            }
            let kernel = fold(kernel.sym, out_feature, 1);
            let y = if bg == 1 {
                c.emit([fg * rows, 1], fold(x.sym, feature, 1), kernel)
            } else {
                c.emit([1, bg * rows], fold(x.sym, batch, 1), kernel)
            };
            (y, y_feature, 1)
        }
    };
    Ok(Rows::from_elem(unfold(y, axis, groups, n, site.y[0].shape[axis]), 1))
}

/// Moves the rows from axis 0 into `axis` of a row: each of its groups holds all rows of that group.
fn fold(x: Sym, axis: usize, groups: usize) -> Sym {
    let all = shape(x);
    let Some((&rows, row)) = all.split_first() else { return x };
    let Some((before, [n, after @ ..])) = row.split_at_checked(axis) else { return x };
    let part = parts(*n, groups);
    let split = [&[rows], before, &part, after].concat();
    let at = before.len() + part.len();
    let x = transpose(reshape(x, split), (1..at).chain([0]).chain(at..=row.len() + part.len() - 1).collect());
    reshape(x, [before, &[*n * rows], after].concat())
}

/// The inverse of [`fold`], for an axis that has `n` elements a row.
fn unfold(y: Sym, axis: usize, groups: usize, rows: Dim, n: Dim) -> Sym {
    let all = shape(y);
    let Some((before, [_, after @ ..])) = all.split_at_checked(axis) else { return y };
    let part = parts(n, groups);
    let (last, major) = (part[part.len() - 1], &part[..part.len() - 1]);
    let split = [before, major, &[rows, last], after].concat();
    let at = before.len() + major.len();
    let rank = split.len();
    let y = transpose(reshape(y, split), std::iter::once(at).chain((0..rank).filter(|&a| a != at)).collect());
    reshape(y, [&[rows], before, &[n], after].concat())
}

/// The extents of `n` elements in groups.
fn parts(n: Dim, groups: usize) -> Vec<Dim> {
    if groups == 1 { vec![n] } else { vec![Dim::constant(groups as i64), n / groups] }
}

/// A loop over the rows: the number of groups is no extent, so it cannot be as many as a symbol says.
fn each_row(site: &Site) -> Result<Rows, OpError> {
    let types: Vec<_> = (0..site.x.len())
        .filter_map(|i| emitter::type_of(site.x[i].sym).map(|t| spec(t.dtype, site.row_shape(i))))
        .collect();
    let args = emitter::open_region(&types);
    let y = emitter::emit(site.prim.clone(), &args);
    let body = emitter::close_region("scan", &[y]);
    let scan = Prim::Scan { carry: 0, length: site.size, reverse: false };
    let x: Vec<Sym> = site.x.iter().map(|m| m.sym).collect();
    let rows = body.and_then(|b| emitter::emit_regions(scan, &x, vec![b]));
    Ok(rows.unwrap_or_else(|| Rows::from_elem(emitter::poison(), 1)))
}
