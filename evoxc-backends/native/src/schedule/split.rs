//! Reductions of much to little in two steps, so that threads share the first: parts of the elements to a value each, and
//! those to the result. The parts depend on sizes alone, and so do the bits.

use super::expand::Known;
use super::facts::Facts;
use super::group::{elements, rough};
use evoxc_core::{Dim, Shape};
use evoxc_ir::{Op, Prim, Reducer, TensorType, Value};

/// Elements of a result that are loops enough for threads.
const FEW: f64 = 16.0;
/// Elements that are worth a second kernel.
const MANY: f64 = 262_144.0;
/// Parts, and elements of each, at least.
const PARTS: f64 = 64.0;
const PART: f64 = 1024.0;

/// The ops that a reduction becomes.
pub(super) fn in_parts(op: &Op, facts: &mut Facts) -> Option<Vec<Op>> {
    let Prim::Reduce { op: by, axes } = &op.prim else { return None };
    let (&[from], &[to]) = (&op.operands[..], &op.results[..]) else { return None };
    let (ty, result) = (facts.ty(from).clone(), facts.ty(to).clone());
    let rounds = ty.dtype.accumulator() != ty.dtype && matches!(by, Reducer::Sum | Reducer::Prod);
    if rounds || ty.dtype.is_complex() || elements(&result.shape) >= FEW || elements(&ty.shape) < MANY {
        return None;
    }
    let make = |prim: Prim, from: Value, to: Value| Op {
        prim,
        operands: [from].into_iter().collect(),
        results: [to].into_iter().collect(),
        regions: vec![],
        loc: op.loc,
    };
    let reduce = |axes: Vec<usize>| Prim::Reduce { op: *by, axes };
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    // The first axes, if they are many parts and leave much for each.
    let size = |axes: &[usize]| axes.iter().map(|&d| rough(ty.shape[d])).product::<f64>();
    let cut = (1..sorted.len()).find(|&n| size(&sorted[..n]) >= PARTS);
    if let Some(cut) = cut.filter(|&n| size(&sorted[n..]) >= PART) {
        let (outer, inner) = sorted.split_at(cut);
        let shape: Shape = (0..ty.shape.rank()).filter(|d| !inner.contains(d)).map(|d| ty.shape[d]).collect();
        let middle = facts.value(TensorType { shape, ..ty.clone() });
        let place = |d: usize| d - inner.iter().filter(|&&i| i < d).count();
        let rest = outer.iter().map(|&d| place(d)).collect();
        return Some(vec![make(reduce(inner.to_vec()), from, middle), make(reduce(rest), middle, to)]);
    }
    // Else equal runs of all elements, whole vectors if that can be.
    let n = ty.shape.size().as_i64().filter(|_| sorted.len() == ty.shape.rank())?;
    let fits = |p: &i64| n % p == 0 && n / p >= PART as i64;
    let parts = |even: i64| (PARTS as i64..=512).rev().filter(fits).find(|p| (n / p) % even == 0);
    let parts = parts(32).or_else(|| parts(1))?;
    let shape = |dims: &[i64]| dims.iter().map(|&d| Dim::constant(d)).collect::<Shape>();
    let runs = facts.value(TensorType { shape: shape(&[parts, n / parts]), ..ty.clone() });
    let middle = facts.value(TensorType { shape: shape(&[parts]), ..ty.clone() });
    let reshape = Prim::Reshape { shape: shape(&[parts, n / parts]) };
    Some(vec![make(reshape, from, runs), make(reduce(vec![1]), runs, middle), make(reduce(vec![0]), middle, to)])
}
