//! Big dots as products of matrices: the axes of each operand in three groups, each of which is one stride.

use super::MatmulItem;
use super::expand::Known;
use evoxc_core::{DType, Dim, Shape};
use evoxc_ir::{AxisPair, Op, Prim, TensorType, Value};
use smallvec::SmallVec;

/// An operand as it lies in memory.
struct Strided {
    base: Value,
    strides: SmallVec<[Dim; 4]>,
}

fn dense(shape: &Shape) -> SmallVec<[Dim; 4]> {
    let mut strides: SmallVec<[Dim; 4]> = SmallVec::from_elem(Dim::constant(1), shape.rank());
    for d in (1..shape.rank()).rev() {
        strides[d - 1] = strides[d] * shape[d];
    }
    strides
}

/// An operand without the movement that strides express.
fn strided<'o>(v: Value, known: &dyn Known, def: &dyn Fn(Value) -> Option<&'o Op>) -> Strided {
    // From the operand's axes to those of what it is made of; none where it repeats along the axis.
    let mut base = v;
    let mut axes: SmallVec<[Option<usize>; 4]> = (0..known.ty(v).rank()).map(Some).collect();
    while let Some(op) = def(base) {
        let Some(&from) = op.operands.first() else { break };
        match &op.prim {
            Prim::Transpose { perm } => axes.iter_mut().for_each(|a| *a = a.and_then(|d| perm.get(d).copied())),
            Prim::BroadcastInDim { shape, dims } => {
                let x = &known.ty(from).shape;
                axes.iter_mut().for_each(|a| {
                    *a = a.and_then(|d| dims.iter().position(|&to| to == d).filter(|&i| x.get(i) == shape.get(d)));
                });
            }
            _ => break,
        }
        base = from;
    }
    let strides = dense(&known.ty(base).shape);
    let strides = axes.iter().map(|a| a.and_then(|d| strides.get(d).copied()).unwrap_or(Dim::constant(0))).collect();
    Strided { base, strides }
}

/// The one stride of a group of axes, if walking them in order is a walk of that stride.
fn merged(shape: &Shape, strides: &[Dim], axes: &[usize]) -> Option<Dim> {
    let one = Dim::constant(1);
    let mut axes = axes.iter().rev().filter(|&&d| shape[d] != one);
    let Some(&last) = axes.next() else { return Some(one) };
    let mut next = strides[last] * shape[last];
    for &d in axes {
        if strides[d] != next {
            return None;
        }
        next = next * shape[d];
    }
    Some(strides[last])
}

/// The axes of a shape that are in neither list.
pub(super) fn free(rank: usize, a: &[usize], b: &[usize]) -> SmallVec<[usize; 4]> {
    (0..rank).filter(|d| !a.contains(d) && !b.contains(d)).collect()
}

/// What a dot is as a product of matrices, and else which operands are to be brought into the order of their groups first.
pub(super) enum Plan {
    Matmul(Box<MatmulItem>),
    /// Transpose these operands: (number, permutation).
    Transpose(SmallVec<[(usize, Vec<usize>); 2]>),
}

/// Do products of one dtype sum in another here? Integers sum in wider ones in a library, and so do complex numbers: there
/// is no blocked product of those that keeps their infinities.
fn sums(dtype: DType, out: DType) -> bool {
    match dtype {
        DType::F16 | DType::BF16 => out == dtype || matches!(out, DType::F32 | DType::F64),
        DType::F32 => matches!(out, DType::F32 | DType::F64),
        DType::C64 | DType::C128 => false,
        DType::F64
        | DType::BOOL
        | DType::I8
        | DType::I16
        | DType::I32
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64 => out == dtype,
    }
}

/// The product of matrices that a dot is; none for dtypes that have none.
pub(super) fn matmul<'o>(op: &Op, known: &dyn Known, def: &dyn Fn(Value) -> Option<&'o Op>) -> Option<Plan> {
    let Prim::Dot { batch, contract, .. } = &op.prim else { return None };
    let ([lhs, rhs], [out]) = (&op.operands[..], &op.results[..]) else { return None };
    let (lhs, rhs, out) = (*lhs, *rhs, *out);
    if !sums(known.ty(lhs).dtype, known.ty(out).dtype) {
        return None;
    }
    let (l, r) = (&known.ty(lhs).shape, &known.ty(rhs).shape);
    let (lf, rf) = (free(l.rank(), &batch.lhs, &contract.lhs), free(r.rank(), &batch.rhs, &contract.rhs));
    let size = |s: &Shape, axes: &[usize]| axes.iter().fold(Dim::constant(1), |n, &d| n * s[d]);
    let extents = [size(l, &batch.lhs), size(l, &lf), size(r, &rf), size(l, &contract.lhs)];
    let groups = |v: Value, s: &Shape, g: [&[usize]; 3]| -> Option<(Value, [Dim; 3])> {
        let try_as = |x: &Strided| {
            let one = |axes| merged(s, &x.strides, axes);
            Some((x.base, [one(g[0])?, one(g[1])?, one(g[2])?]))
        };
        try_as(&strided(v, known, def)).or_else(|| try_as(&Strided { base: v, strides: dense(s) }))
    };
    let left = groups(lhs, l, [&batch.lhs, &lf, &contract.lhs]);
    let right = groups(rhs, r, [&batch.rhs, &contract.rhs, &rf]);
    if let (Some((lhs, lhs_strides)), Some((rhs, rhs_strides))) = (left, right) {
        let item = MatmulItem { lhs, rhs, out, extents, lhs_strides, rhs_strides, loc: op.loc };
        return Some(Plan::Matmul(Box::new(item)));
    }
    let order = |a: &[usize], b: &[usize], c: &[usize]| [a, b, c].concat();
    let mut copies = SmallVec::new();
    if left.is_none() {
        copies.push((0, order(&batch.lhs, &lf, &contract.lhs)));
    }
    if right.is_none() {
        copies.push((1, order(&batch.rhs, &contract.rhs, &rf)));
    }
    Some(Plan::Transpose(copies))
}

/// The dot with one operand transposed, and the type of that operand.
pub(super) fn transposed(op: &Op, which: usize, perm: &[usize], ty: &TensorType) -> (Prim, TensorType) {
    let at = |axes: &[usize]| -> Vec<usize> {
        axes.iter().map(|d| perm.iter().position(|p| p == d).unwrap_or(*d)).collect()
    };
    let pair = |p: &AxisPair| {
        if which == 0 {
            AxisPair { lhs: at(&p.lhs), rhs: p.rhs.clone() }
        } else {
            AxisPair { lhs: p.lhs.clone(), rhs: at(&p.rhs) }
        }
    };
    let mut prim = op.prim.clone();
    if let Prim::Dot { batch, contract, .. } = &mut prim {
        (*batch, *contract) = (pair(batch), pair(contract));
    }
    let mut ty = ty.clone();
    ty.shape = perm.iter().map(|&d| ty.shape[d]).collect();
    (prim, ty)
}
