//! Sliding windows: which element is under which tap, for convolutions and reductions of windows.

use super::group::{At, Group, Indices};
use super::index::{add, both, div_mod, less, mul, sub};
use crate::uop::{Alu, UOp};
use evoxc_core::{DType, Dim, OpError, Shape};
use evoxc_ir::{ConvLayout, Window};
use smallvec::{SmallVec, smallvec};

/// What an element of a result reads: the contexts of the operands, the ranges over taps, and where a tap is no padding.
pub(super) struct Taps {
    pub(super) from: SmallVec<[At; 3]>,
    pub(super) ranges: SmallVec<[UOp; 2]>,
    pub(super) inside: Option<UOp>,
}

/// The number of taps.
pub(super) fn size(w: &Window) -> Option<i64> {
    w.size.iter().try_fold(1i64, |n, d| n.checked_mul(d.as_i64()?))
}

/// Can no tap fall on padding or between elements?
pub(super) fn is_dense(w: &Window) -> bool {
    let none = |d: Dim| d.upper_bound().is_some_and(|u| u <= 0);
    w.padding.iter().all(|p| none(p.low) && none(p.high)) && w.base_dilation.iter().all(|&b| b <= 1)
}

/// The place along one axis under tap `k` at place `o`, and where there is an element.
fn tap(g: &mut Group, w: &Window, d: usize, o: UOp, k: UOp, n: Dim) -> Result<(UOp, Option<UOp>), OpError> {
    let number = |of: &[i64]| of.get(d).copied().unwrap_or(1).max(1);
    let (stride, dilation, base) = (number(&w.stride), number(&w.window_dilation), number(&w.base_dilation));
    let zero = g.arena.index(0);
    let mut k = k;
    if w.reversal.get(d).is_some_and(|r| r.0) {
        let last = g.extent(w.size[d] - 1)?;
        k = sub(&mut g.arena, last, k);
    }
    let (stride, dilation) = (g.arena.index(stride), g.arena.index(dilation));
    let (start, offset) = (mul(&mut g.arena, o, stride), mul(&mut g.arena, k, dilation));
    let mut at = add(&mut g.arena, start, offset);
    let padding = w.padding.get(d).cloned();
    let (low, high) = padding.map_or((Dim::constant(0), Dim::constant(0)), |p| (p.low, p.high));
    let low_node = g.extent(low)?;
    at = sub(&mut g.arena, at, low_node);
    let mut inside = None;
    if low.upper_bound().is_none_or(|u| u > 0) {
        inside = match less(&mut g.arena, at, zero) {
            Ok(false) => None,
            Ok(true) => Some(g.arena.constant(DType::BOOL, 0)),
            Err(_) => Some(g.arena.alu(Alu::Le, &[zero, at])),
        };
    }
    if high.upper_bound().is_none_or(|u| u > 0) || base > 1 {
        let end = g.extent((n - 1) * base + 1)?;
        let below = match less(&mut g.arena, at, end) {
            Ok(true) => None,
            Ok(false) => Some(g.arena.constant(DType::BOOL, 0)),
            Err(u) => Some(u),
        };
        inside = both(&mut g.arena, inside, below);
    }
    if base > 1 {
        let by = g.arena.index(base);
        let (q, r) = div_mod(&mut g.arena, at, by);
        let on = g.arena.alu(Alu::Eq, &[r, zero]);
        inside = both(&mut g.arena, inside, Some(on));
        at = q;
    }
    Ok((at, inside))
}

/// What a reduction of windows reads for the element at `index`.
pub(super) fn reduced(
    g: &mut Group,
    w: &Window,
    index: &[UOp],
    shape: &Shape,
    depth: u32,
    gate: Option<UOp>,
) -> Result<Taps, OpError> {
    let (mut from, mut ranges, mut inside) = (Indices::new(), SmallVec::new(), None);
    for (d, &o) in index.iter().enumerate() {
        let size = g.extent(w.size[d])?;
        let k = g.reduce_range(depth, d as u32, size);
        ranges.push(k);
        let (at, here) = tap(g, w, d, o, k, shape[d])?;
        inside = both(&mut g.arena, inside, here);
        from.push(at);
    }
    let under = both(&mut g.arena, gate, inside);
    Ok(Taps { from: smallvec![g.at(from, under)], ranges, inside })
}

/// A convolution: its attributes and the types of its operands.
pub(super) struct Convolution<'a> {
    pub(super) window: &'a Window,
    pub(super) layout: &'a ConvLayout,
    pub(super) feature_groups: usize,
    pub(super) batch_groups: usize,
    pub(super) lhs: &'a Shape,
    pub(super) rhs: &'a Shape,
}

impl Convolution<'_> {
    /// Products in all for a result of that shape, and input features of a group.
    pub(super) fn work(&self, out: f64) -> (f64, f64) {
        let features = self.layout.rhs.get(1).and_then(|&d| self.rhs.get(d)).map_or(1.0, |&d| super::group::rough(d));
        let taps = size(self.window).unwrap_or(i64::MAX) as f64;
        (out * taps * features, features)
    }
    /// What it reads for the element at `index`.
    pub(super) fn taps(&self, g: &mut Group, index: &[UOp], depth: u32, gate: Option<UOp>) -> Result<Taps, OpError> {
        let fault = || OpError::new("convolution", "its layout must name two axes of each operand");
        let (&[batch, feature], &[out_feature, in_feature], &[b, o]) =
            (&self.layout.lhs[..], &self.layout.rhs[..], &self.layout.out[..])
        else {
            return Err(fault());
        };
        let zero = g.arena.index(0);
        let mut left: Indices = smallvec![zero; self.lhs.rank()];
        let mut right: Indices = smallvec![zero; self.rhs.rank()];
        let (b, o) = (index[b], index[o]);
        let width = g.extent(self.rhs[in_feature])?;
        let c = g.reduce_range(depth, 0, width);
        let mut ranges: SmallVec<[UOp; 2]> = smallvec![c];
        (left[batch], left[feature], right[out_feature], right[in_feature]) = (b, c, o, c);
        let groups = self.feature_groups.max(self.batch_groups);
        if groups > 1 {
            let each = g.extent(self.rhs[out_feature] / groups as i64)?;
            let (group, _) = div_mod(&mut g.arena, o, each);
            if self.batch_groups > 1 {
                let images = g.extent(self.lhs[batch] / groups as i64)?;
                let first = mul(&mut g.arena, group, images);
                left[batch] = add(&mut g.arena, first, b);
            } else {
                let first = mul(&mut g.arena, group, width);
                left[feature] = add(&mut g.arena, first, c);
            }
        }
        let mut inside = None;
        let spatial = self.layout.lhs_spatial.iter().zip(&self.layout.rhs_spatial).zip(&self.layout.out_spatial);
        for (d, ((&from, &kernel), &to)) in spatial.enumerate() {
            let size = g.extent(self.rhs[kernel])?;
            let k = g.reduce_range(depth, d as u32 + 1, size);
            ranges.push(k);
            right[kernel] = k;
            let (at, here) = tap(g, self.window, d, index[to], k, self.lhs[from])?;
            inside = both(&mut g.arena, inside, here);
            left[from] = at;
        }
        let under = both(&mut g.arena, gate, inside);
        Ok(Taps { from: smallvec![g.at(left, under), g.at(right, gate)], ranges, inside })
    }
}
