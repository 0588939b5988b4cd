//! Sums of products: dot, matmul, tensordot, einsum, linear.

use crate::operand::{broadcast_shapes, broadcast_to};
use crate::{Sym, axes, builder};
use evoxc_core::{DType, Dim, IntoAxes, Shape};
use evoxc_ir::{AxisPair, Prim};

#[track_caller]
pub(crate) fn dot_general(l: Sym, r: Sym, batch: AxisPair, contract: AxisPair, accumulate: Option<DType>) -> Sym {
    builder::emit(Prim::Dot { batch, contract, accumulate }, &[l, r])
}

impl Sym {
    /// NumPy's `dot`: the last axis of `self` against the second last of `r` (its only one for a vector); the result has
    /// the remaining axes of `self`, then of `r`. A scalar multiplies. f16 and bf16 accumulate in f32.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let g = trace(|x: Sym, w: Sym| x.dot(w), (spec(F32, (dim("B"), 8)), spec(F32, [8, 4]))).unwrap();
    /// assert_eq!(g.output_specs(), [spec(F32, (dim("B"), 4))]);
    /// ```
    #[track_caller]
    pub fn dot(self, r: Sym) -> Sym {
        let (Some(a), Some(b)) = (self.ty(), r.ty()) else { return Sym::POISON };
        if a.rank() == 0 || b.rank() == 0 {
            return self * r;
        }
        let contract = AxisPair { lhs: vec![a.rank() - 1], rhs: vec![b.rank().saturating_sub(2)] };
        dot_general(self, r, AxisPair::default(), contract, None)
    }
    /// NumPy's `matmul`: matrices in the last two axes, leading axes broadcast; a vector on either side is a row
    /// (column) that the result drops.
    #[track_caller]
    pub fn matmul(self, r: Sym) -> Sym {
        let _at = builder::pin();
        let (Some(a), Some(b)) = (self.ty(), r.ty()) else { return Sym::POISON };
        if a.rank() == 0 || b.rank() == 0 {
            return builder::fail("matmul", &[self, r], "an operand is a scalar", Some("use `*`".into()));
        }
        if b.rank() == 1 || (a.rank() <= 2 && b.rank() == 2) {
            return self.dot(r);
        }
        if a.rank() == 1 {
            return self.expand_dims(0).matmul(r).squeeze(-2);
        }
        let lead = |s: &Shape| s[..s.rank() - 2].iter().copied().collect::<Shape>();
        let batch = match broadcast_shapes(&lead(&a.shape), &lead(&b.shape)) {
            Ok(s) => s,
            Err(m) => return builder::fail("matmul", &[self, r], format!("the leading axes: {m}"), None),
        };
        let with = |s: &Shape| batch.iter().chain(&s[s.rank() - 2..]).copied().collect::<Shape>();
        // A right matrix without leading axes needs no batch.
        if b.rank() == 2 {
            return self.dot(r);
        }
        let (l, r) = (broadcast_to("matmul", self, &with(&a.shape)), broadcast_to("matmul", r, &with(&b.shape)));
        let n = batch.rank();
        let axes: Vec<usize> = (0..n).collect();
        let contract = AxisPair { lhs: vec![n + 1], rhs: vec![n] };
        dot_general(l, r, AxisPair { lhs: axes.clone(), rhs: axes }, contract, None)
    }
    /// Sums over pairs of axes: `axes` of `self` against `axes_r` of `r`; the result has the remaining axes of both.
    #[track_caller]
    pub fn tensordot(self, r: Sym, axes: impl IntoAxes, axes_r: impl IntoAxes) -> Sym {
        let (Some((a, _)), Some((b, _))) = (axes::many("tensordot", self, axes), axes::many("tensordot", r, axes_r))
        else {
            return Sym::POISON;
        };
        if a.len() != b.len() {
            return builder::fail(
                "tensordot",
                &[self, r],
                format!("{} axes on the left, {} on the right", a.len(), b.len()),
                None,
            );
        }
        dot_general(self, r, AxisPair::default(), AxisPair { lhs: a, rhs: b }, None)
    }
    /// `x · wᵀ + bias` with a weight of shape `[out, in]`, as PyTorch's `linear`.
    #[track_caller]
    pub fn linear(self, weight: Sym, bias: Option<Sym>) -> Sym {
        let _at = builder::pin();
        let (Some(a), Some(w)) = (self.ty(), weight.ty()) else { return Sym::POISON };
        if a.rank() == 0 || w.rank() != 2 {
            return builder::fail(
                "linear",
                &[self, weight],
                "takes a tensor of at least one axis and a weight [out, in]",
                None,
            );
        }
        let y =
            dot_general(self, weight, AxisPair::default(), AxisPair { lhs: vec![a.rank() - 1], rhs: vec![1] }, None);
        bias.map_or(y, |b| y + b)
    }
    /// The outer product of the elements of two vectors.
    #[track_caller]
    pub fn outer(self, r: Sym) -> Sym {
        self.ravel().expand_dims(1) * r.ravel().expand_dims(0)
    }
    /// The Kronecker product of two tensors of one rank.
    #[track_caller]
    pub fn kron(self, r: Sym) -> Sym {
        let _at = builder::pin();
        let (Some(a), Some(b)) = (self.ty(), r.ty()) else { return Sym::POISON };
        if a.rank() != b.rank() {
            return builder::fail("kron", &[self, r], format!("ranks {} and {} differ", a.rank(), b.rank()), None);
        }
        let one = Dim::constant(1);
        let l: Vec<Dim> = a.shape.iter().flat_map(|&d| [d, one]).collect();
        let m: Vec<Dim> = b.shape.iter().flat_map(|&d| [one, d]).collect();
        let out: Vec<Dim> = a.shape.iter().zip(&b.shape).map(|(&x, &y)| x * y).collect();
        (self.reshape(&l) * r.reshape(&m)).reshape(&out)
    }
}

/// One operand of an einsum: its value and a label an axis.
struct Labelled {
    x: Sym,
    labels: Vec<char>,
}

/// Einstein summation: `einsum("bij,bjk->bik", [a, b])`. Letters name axes; those that are not in the result are
/// summed; without `->` the result has the letters that occur once, in alphabetical order. A letter twice in one operand
/// takes its diagonal. `...` stands for leading axes that broadcast. Operands are contracted from left to right.
///
/// ```
/// use evoxc::prelude::*;
/// let heads = |q: Sym, k: Sym| einsum("bqhd,bkhd->bhqk", [q, k]);
/// let graph = trace(heads, (spec(F32, [2, 5, 8, 64]), spec(F32, [2, 7, 8, 64])))?;
/// assert_eq!(graph.output_specs(), [spec(F32, [2, 8, 5, 7])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn einsum(equation: &str, xs: impl IntoIterator<Item = Sym>) -> Sym {
    let _at = builder::pin();
    let xs: Vec<Sym> = xs.into_iter().collect();
    if xs.iter().any(|x| x.ty().is_none()) {
        return Sym::POISON;
    }
    match parse(equation, &xs) {
        Ok((operands, out)) => contract(operands, &out).unwrap_or(Sym::POISON),
        Err(m) => builder::fail("einsum", &xs, format!("\"{equation}\": {m}"), None),
    }
}

/// Labels of operands and result; the axes under `...` get labels of their own, upper private-use letters.
fn parse(equation: &str, xs: &[Sym]) -> Result<(Vec<Labelled>, Vec<char>), String> {
    let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match text.split_once("->") {
        Some((i, o)) => (i, Some(o)),
        None => (text.as_str(), None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != xs.len() {
        return Err(format!("{} terms for {} operands", terms.len(), xs.len()));
    }
    let hidden = |i: usize| char::from_u32(0xE000 + i as u32).unwrap_or('?');
    let mut widest = 0;
    let mut operands = vec![];
    for (term, &x) in terms.iter().zip(xs) {
        let rank = builder::with_type(x, |t| t.rank()).unwrap_or(0);
        let letters = term.replacen("...", "", 1);
        if let Some(c) = letters.chars().find(|c| !c.is_alphabetic()) {
            return Err(format!("`{c}` is no letter"));
        }
        let named = letters.chars().count();
        let extra = rank.checked_sub(named).filter(|&e| e == 0 || term.contains("..."));
        let extra = extra.ok_or_else(|| format!("`{term}` names {named} axes of an operand of rank {rank}"))?;
        widest = widest.max(extra);
        let ellipsis: String = (0..extra).rev().map(hidden).collect();
        operands.push(Labelled { x, labels: term.replacen("...", &ellipsis, 1).chars().collect() });
    }
    let all: String = (0..widest).rev().map(hidden).collect();
    let out: Vec<char> = match output {
        Some(o) => o.replacen("...", &all, 1).chars().collect(),
        None => {
            let mut once: Vec<char> =
                operands.iter().flat_map(|o| o.labels.iter().copied()).filter(|c| c.is_alphabetic()).collect();
            once.sort_unstable();
            let count = |c: char| once.iter().filter(|&&d| d == c).count();
            let single: Vec<char> = once.iter().copied().filter(|&c| count(c) == 1).collect();
            all.chars().chain(single).collect()
        }
    };
    for (i, c) in out.iter().enumerate() {
        if out[..i].contains(c) {
            return Err(format!("`{c}` stands twice in the result"));
        }
        if !operands.iter().any(|o| o.labels.contains(c)) {
            return Err(format!("`{c}` of the result is in no operand"));
        }
    }
    Ok((operands, out))
}

#[track_caller]
fn contract(operands: Vec<Labelled>, out: &[char]) -> Option<Sym> {
    let mut rest = operands.into_iter().map(diagonals).collect::<Option<Vec<_>>>()?.into_iter();
    let mut acc = rest.next()?;
    let mut later: Vec<Labelled> = rest.collect();
    while !later.is_empty() {
        let next = later.remove(0);
        let needed = |c: char| out.contains(&c) || later.iter().any(|o| o.labels.contains(&c));
        acc = pair(acc, next, &needed)?;
    }
    // What is left over is summed; the rest is put in order, and missing sizes are broadcast.
    let acc = sum_unless(acc, &|c| out.contains(&c));
    let perm: Vec<usize> = out.iter().filter_map(|c| acc.labels.iter().position(|d| d == c)).collect();
    Some(if perm.iter().copied().eq(0..perm.len()) { acc.x } else { builder::emit(Prim::Transpose { perm }, &[acc.x]) })
}

/// Takes the diagonal over labels that stand twice.
#[track_caller]
fn diagonals(mut o: Labelled) -> Option<Labelled> {
    while let Some((i, j)) =
        (0..o.labels.len()).flat_map(|j| (0..j).map(move |i| (i, j))).find(|&(i, j)| o.labels[i] == o.labels[j])
    {
        let moved = o.x.move_axis(j, -1);
        let moved = if i == o.labels.len() - 2 { moved } else { moved.move_axis(i, -2) };
        let t = moved.ty()?;
        if t.shape[t.rank() - 1] != t.shape[t.rank() - 2] {
            builder::fail(
                "einsum",
                &[o.x],
                format!("`{}` has sizes {} and {}", o.labels[i], t.shape[t.rank() - 2], t.shape[t.rank() - 1]),
                None,
            );
            return None;
        }
        let c = o.labels[i];
        o.labels.remove(j);
        o.labels.remove(i);
        o.labels.push(c);
        o.x = moved.diagonal();
    }
    Some(o)
}

/// The label as the user wrote it.
fn written(label: char) -> String {
    if label.is_alphabetic() { label.to_string() } else { "...".into() }
}

#[track_caller]
fn sum_unless(o: Labelled, keep: &dyn Fn(char) -> bool) -> Labelled {
    let axes: Vec<usize> = (0..o.labels.len()).filter(|&i| !keep(o.labels[i])).collect();
    if axes.is_empty() {
        return o;
    }
    let labels = o.labels.into_iter().filter(|&c| keep(c)).collect();
    Labelled { x: builder::emit(Prim::Reduce { op: evoxc_ir::Reducer::Sum, axes }, &[o.x]), labels }
}

/// Contracts two operands over the labels that nobody needs any more.
#[track_caller]
fn pair(l: Labelled, r: Labelled, needed: &dyn Fn(char) -> bool) -> Option<Labelled> {
    let l = sum_unless(l, &|c| r.labels.contains(&c) || needed(c));
    let r = sum_unless(r, &|c| l.labels.contains(&c) || needed(c));
    let (lt, rt) = (l.x.ty()?, r.x.ty()?);
    let one = |t: &evoxc_core::TensorSpec, i: usize| t.shape[i] == 1i64;
    // An axis of size 1 against a larger one broadcasts: drop it here, the other side has it.
    let drop_l: Vec<usize> = (0..l.labels.len())
        .filter(|&i| r.labels.iter().position(|c| *c == l.labels[i]).is_some_and(|j| one(&lt, i) && !one(&rt, j)))
        .collect();
    let drop_r: Vec<usize> = (0..r.labels.len())
        .filter(|&j| l.labels.iter().position(|c| *c == r.labels[j]).is_some_and(|i| one(&rt, j) && !one(&lt, i)))
        .collect();
    let dropped = |o: Labelled, axes: Vec<usize>| {
        if axes.is_empty() {
            return o;
        }
        let labels = o.labels.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, &c)| c).collect();
        Labelled { x: o.x.squeeze(&axes[..]), labels }
    };
    let (l, r) = (dropped(l, drop_l), dropped(r, drop_r));
    let l = sum_unless(l, &|c| r.labels.contains(&c) || needed(c));
    let r = sum_unless(r, &|c| l.labels.contains(&c) || needed(c));
    let (mut batch, mut inner) = (AxisPair::default(), AxisPair::default());
    let mut labels = vec![];
    for (i, &c) in l.labels.iter().enumerate() {
        if let Some(j) = r.labels.iter().position(|&d| d == c) {
            let (m, n) = (l.x.dim(i), r.x.dim(j));
            if m != n {
                builder::fail("einsum", &[l.x, r.x], format!("`{}` has sizes {m} and {n}", written(c)), None);
                return None;
            }
            let side = if needed(c) { &mut batch } else { &mut inner };
            side.lhs.push(i);
            side.rhs.push(j);
        }
    }
    labels.extend(batch.lhs.iter().map(|&i| l.labels[i]));
    labels.extend(l.labels.iter().filter(|c| !r.labels.contains(c)));
    labels.extend(r.labels.iter().filter(|c| !l.labels.contains(c)));
    Some(Labelled { x: dot_general(l.x, r.x, batch, inner, None), labels })
}
