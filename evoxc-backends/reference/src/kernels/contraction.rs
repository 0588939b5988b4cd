//! The general dot product: batched matrix products after the axes of both operands are brought into three groups.

use super::matmul::{MatMul, Strided, matmul};
use super::precision::cast;
use super::walk::{Dims, others, permute, pick, positions, slice, strides, tensor};
use evoxc_core::{DType, OpError, Result, Tensor, with_dtype};
use evoxc_ir::AxisPair;
use std::borrow::Cow;

/// Sums of products over the contracting axes; result axes: batch, free of lhs, free of rhs.
///
/// Sums have dtype `out` (by default the operands'), halves sum in `f32` and round once; integers wrap; `bool` is or of
/// and.
pub(crate) fn dot(
    lhs: &Tensor,
    rhs: &Tensor,
    batch: &AxisPair,
    contract: &AxisPair,
    out: Option<DType>,
) -> Result<Tensor, OpError> {
    let out = out.unwrap_or(lhs.dtype());
    let wide = out.accumulator();
    let (lhs, rhs) = (cast("dot", lhs, wide)?, cast("dot", rhs, wide)?);
    let r = with_dtype!(wide, T => dot_as::<T>(&lhs, &rhs, batch, contract))?;
    cast("dot", &r, out)
}

/// One operand as a batch of strided matrices.
struct Matrices<'a, T: Clone> {
    data: Cow<'a, [T]>,
    batch: Dims,
    first: usize,
    second: usize,
}

/// The one stride of a group of axes, if walking them in order is a walk of that stride.
fn merged(sizes: &[usize], strides: &[usize], axes: &[usize]) -> Option<usize> {
    let mut axes = axes.iter().rev().filter(|&&d| sizes[d] != 1);
    let Some(&last) = axes.next() else { return Some(1) };
    let mut next = strides[last] * sizes[last];
    for &d in axes {
        if strides[d] != next {
            return None;
        }
        next *= sizes[d];
    }
    Some(strides[last])
}

/// `x` as matrices over the groups `first` and `second`: in place where each group has one stride, else a copy in that
/// order.
fn matrices<'a, T: Copy>(
    x: &'a [T],
    shape: &[usize],
    batch: &[usize],
    first: &[usize],
    second: &[usize],
) -> Matrices<'a, T> {
    let s = strides(shape);
    if let (Some(a), Some(b)) = (merged(shape, &s, first), merged(shape, &s, second)) {
        return Matrices { data: Cow::Borrowed(x), batch: pick(&s, batch), first: a, second: b };
    }
    let perm: Dims = [batch, first, second].concat().into();
    let sizes = pick(shape, &perm);
    let width: usize = second.iter().map(|&d| shape[d]).product();
    let batch = strides(&sizes)[..batch.len()].into();
    Matrices { data: Cow::Owned(permute(x, shape, &perm)), batch, first: width, second: 1 }
}

fn dot_as<T: MatMul>(lhs: &Tensor, rhs: &Tensor, batch: &AxisPair, contract: &AxisPair) -> Result<Tensor, OpError> {
    let (l, r) = (lhs.shape(), rhs.shape());
    let same = |p: &AxisPair| pick(l, &p.lhs) == pick(r, &p.rhs);
    if !same(batch) || !same(contract) {
        return Err(OpError::new("dot", "batch and contracting axes must have equal extents")
            .operands([lhs.spec(), rhs.spec()])
            .remedy("reshape or transpose one operand"));
    }
    let l_free = others(l.len(), &[&batch.lhs, &contract.lhs]);
    let r_free = others(r.len(), &[&batch.rhs, &contract.rhs]);
    let sizes = pick(l, &batch.lhs);
    let [m, k, n] = [pick(l, &l_free), pick(l, &contract.lhs), pick(r, &r_free)].map(|d| d.iter().product::<usize>());
    let shape: Dims = sizes.iter().copied().chain(pick(l, &l_free)).chain(pick(r, &r_free)).collect();
    let mut out = vec![T::ZERO; shape.iter().product()];
    if !out.is_empty() && k > 0 {
        let a = matrices(slice::<T>("dot", lhs)?, l, &batch.lhs, &l_free, &contract.lhs);
        let b = matrices(slice::<T>("dot", rhs)?, r, &batch.rhs, &contract.rhs, &r_free);
        let mut chunks = out.chunks_mut(m * n);
        positions(&sizes, |at| {
            let from = |s: &Dims| -> usize { at.iter().zip(s).map(|(i, s)| i * s).sum() };
            let a = Strided { data: &a.data[from(&a.batch)..], row: a.first, col: a.second };
            let b = Strided { data: &b.data[from(&b.batch)..], row: b.first, col: b.second };
            if let Some(c) = chunks.next() {
                matmul([m, k, n], a, b, c, n);
            }
        });
    }
    tensor("dot", out, &shape)
}
