//! Transposes of convolution: a convolution of the cotangent with the kernel, or of the input with the cotangent.
//!
//! Strides and dilations change places; the paddings are such that the extents come out as those of the operand, also
//! as expressions of symbols. Groups of features become groups of the batch and the other way round.

use super::{Cotangents, Input, Site, contraction::Accumulator};
use crate::{no_rule, zeros};
use evoxc_core::{Dim, OpError, Shape};
use evoxc_ir::{ConvLayout, Flag, Padding, Prim, Window};
use evoxc_trace::{Sym, emitter};
use smallvec::smallvec;

/// The attributes of a convolution and the spatial extents of its operands and result.
struct Conv<'a> {
    window: &'a Window,
    layout: &'a ConvLayout,
    feature_groups: usize,
    batch_groups: usize,
    input: Vec<Dim>,
    kernel: Vec<Dim>,
    output: Vec<Dim>,
}

/// A convolution with the other operand.
pub(super) fn convolution(site: &Site) -> Result<Cotangents, OpError> {
    let Prim::Convolution { window, layout, feature_groups, batch_groups, accumulate } = &site.op.prim else {
        return Err(no_rule(&site.op.prim, "it is no convolution", "report this"));
    };
    let (Some(ct), [a, b]) = (site.ct[0], site.x) else { return Ok(smallvec![None, None]) };
    let (Some(left), Some(right), Some(out)) = (a.ty(), b.ty(), emitter::type_of(ct)) else {
        return Ok(smallvec![None, None]);
    };
    let extents = |shape: &Shape, axes: &[usize]| axes.iter().filter_map(|&a| shape.get(a)).copied().collect();
    let conv = Conv {
        window,
        layout,
        feature_groups: *feature_groups,
        batch_groups: *batch_groups,
        input: extents(&left.shape, &layout.lhs_spatial),
        kernel: extents(&right.shape, &layout.rhs_spatial),
        output: extents(&out.shape, &layout.out_spatial),
    };
    let wide = Accumulator::new(*accumulate, left.dtype);
    Ok(match (a, b) {
        (Input::Linear(_), Input::Known(k)) => {
            smallvec![Some(wide.narrowed(conv.of_input(ct, wide.widened(*k)))), None]
        }
        (Input::Known(k), Input::Linear(_)) => {
            // A cotangent without elements is no kernel.
            let nothing = conv.output.iter().any(|&n| n == 0);
            let kernel = || wide.narrowed(conv.of_kernel(wide.widened(*k), ct));
            smallvec![None, Some(if nothing { zeros(&right) } else { kernel() })]
        }
        _ => {
            return Err(no_rule(
                &site.op.prim,
                "it is not linear in both operands",
                "report this: a jvp rule wrote it",
            ));
        }
    })
}

/// `n` elements with gaps between them, as types of windows count them.
fn dilated(n: Dim, dilation: i64) -> Dim {
    if dilation == 1 { n } else { ((n - 1) * dilation + 1).max(0) }
}

impl Conv<'_> {
    /// The cotangent of the input: that of the result, spread by the strides, times the reversed kernel.
    fn of_input(&self, ct: Sym, kernel: Sym) -> Sym {
        let (w, l) = (self.window, self.layout);
        let (&[batch, feature], &[outs, ins]) = (&l.lhs[..], &l.rhs[..]) else { return emitter::poison() };
        let groups = self.feature_groups.max(self.batch_groups);
        let kernel = if groups > 1 { regrouped(kernel, outs, ins, groups) } else { kernel };
        let padding = (0..w.size.len()).map(|i| {
            let taps = dilated(self.kernel[i], w.window_dilation[i]);
            let low = taps - 1 - w.padding[i].low;
            // Such that (n - 1)·dilation is left to step over, which gives n places, also of n = 0.
            let room = (self.input[i] - 1) * w.base_dilation[i];
            Padding { low, high: room + taps - low - dilated(self.output[i], w.stride[i]) }
        });
        let window = Window {
            size: w.size.clone(),
            stride: w.base_dilation.clone(),
            padding: padding.collect(),
            base_dilation: w.stride.clone(),
            window_dilation: w.window_dilation.clone(),
            reversal: w.reversal.iter().map(|r| Flag(!r.0)).collect(),
        };
        let layout = ConvLayout {
            lhs: l.out.clone(),
            lhs_spatial: l.out_spatial.clone(),
            rhs: vec![ins, outs],
            rhs_spatial: l.rhs_spatial.clone(),
            out: l.lhs.clone(),
            out_spatial: l.lhs_spatial.clone(),
        };
        let x = emit(window, layout, (groups, 1), [ct, kernel]);
        if self.batch_groups > 1 { regrouped(x, feature, batch, self.batch_groups) } else { x }
    }

    /// The cotangent of the kernel: the input times the cotangent of the result, summed over the batch, which is the
    /// feature axis of both.
    fn of_kernel(&self, input: Sym, ct: Sym) -> Sym {
        let (w, l) = (self.window, self.layout);
        let swapped = |pair: &[usize]| pair.iter().rev().copied().collect::<Vec<_>>();
        let padding = (0..w.size.len()).map(|i| {
            let low = w.padding[i].low;
            let room = (self.kernel[i] - 1) * w.window_dilation[i];
            let (base, taps) = (dilated(self.input[i], w.base_dilation[i]), dilated(self.output[i], w.stride[i]));
            Padding { low, high: room + taps - low - base }
        });
        let window = Window {
            size: self.output.clone(),
            stride: w.window_dilation.clone(),
            padding: padding.collect(),
            base_dilation: w.base_dilation.clone(),
            window_dilation: w.stride.clone(),
            reversal: vec![Flag(false); w.size.len()],
        };
        let layout = ConvLayout {
            lhs: swapped(&l.lhs),
            lhs_spatial: l.lhs_spatial.clone(),
            rhs: swapped(&l.out),
            rhs_spatial: l.out_spatial.clone(),
            out: swapped(&l.rhs),
            out_spatial: l.rhs_spatial.clone(),
        };
        let x = emit(window, layout, (self.batch_groups, self.feature_groups), [input, ct]);
        let reversed = w.reversal.iter().zip(&l.rhs_spatial).filter(|(r, _)| r.0).map(|(_, &a)| a);
        match reversed.collect::<Vec<_>>() {
            axes if axes.is_empty() => x,
            axes => emitter::emit(Prim::Reverse { axes }, &[x]),
        }
    }
}

fn emit(window: Window, layout: ConvLayout, (feature_groups, batch_groups): (usize, usize), operands: [Sym; 2]) -> Sym {
    emitter::emit(Prim::Convolution { window, layout, feature_groups, batch_groups, accumulate: None }, &operands)
}

/// Takes the groups, which are the major part of axis `from`, and makes them the major part of axis `to`.
fn regrouped(x: Sym, from: usize, to: usize, groups: usize) -> Sym {
    let Some(ty) = emitter::type_of(x) else { return x };
    let part = ty.shape[from] / groups;
    let mut split = ty.shape.to_vec();
    split[from] = part;
    split.insert(from, Dim::constant(groups as i64));
    let target = if to > from { to + 1 } else { to };
    let moved = (0..split.len()).flat_map(|a| {
        let groups_first = (a == target).then_some(from);
        groups_first.into_iter().chain((a != from).then_some(a))
    });
    let perm = moved.collect();
    let mut merged = ty.shape.to_vec();
    merged[from] = part;
    merged[to] = merged[to] * groups;
    let moved = emitter::emit(Prim::Transpose { perm }, &[x.reshape(split)]);
    moved.reshape(merged)
}
