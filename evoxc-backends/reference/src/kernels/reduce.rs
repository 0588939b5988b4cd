//! Reductions by a named combiner. The order in which elements combine depends on the shapes alone: blocks of fixed
//! size, then pairwise, so that sums lose little and every run gives the same bits.

use super::binary::{complex_max, complex_min, float_max, float_min};
use super::movement::transpose;
use super::{Outcome, collect, collected, collector, empty, no_kernel, scalar_at, slice, tensor};
use evoxc_core::{DType, Element, OpError, Result, RunError, Tensor};
use evoxc_ir::Reducer;
use half::{bf16, f16};
use num_complex::Complex;

/// Elements of a line up to this many combine in sequence, in eight lanes.
const BLOCK: usize = 128;
/// Rows up to this many combine in sequence.
const ROWS: usize = 16;

/// One combiner on one dtype: elements T, accumulated as A.
struct Fold<L, F, S, A> {
    load: L,
    op: F,
    store: S,
    identity: A,
}

impl<L, F, S, A: Copy> Fold<L, F, S, A> {
    /// Reduces x, seen as [outer, n, inner], over n.
    fn run<T: Element>(&self, x: &[T], outer: usize, n: usize, inner: usize) -> Vec<T>
    where
        L: Fn(T) -> A,
        F: Fn(A, A) -> A,
        S: Fn(A) -> T,
    {
        let mut out = Vec::with_capacity(outer * inner);
        let mut acc = vec![self.identity; if inner == 1 { 0 } else { inner }];
        for o in 0..outer {
            let part = x.get(o * n * inner..(o + 1) * n * inner).unwrap_or_default();
            if inner == 1 {
                out.push((self.store)(self.line(part)));
            } else {
                self.rows(part, n, &mut acc);
                out.extend(acc.iter().map(|&a| (self.store)(a)));
            }
        }
        out
    }

    /// Combines a contiguous line.
    fn line<T: Element>(&self, x: &[T]) -> A
    where
        L: Fn(T) -> A,
        F: Fn(A, A) -> A,
    {
        if x.len() > BLOCK {
            // Halves at a multiple of the block, so that every leaf but the last is full.
            let half = x.len().div_ceil(2 * BLOCK) * BLOCK;
            let (a, b) = x.split_at(half.min(x.len()));
            return (self.op)(self.line(a), self.line(b));
        }
        let mut lanes = [self.identity; 8];
        let chunks = x.chunks_exact(8);
        let rest = chunks.remainder();
        for c in chunks {
            lanes.iter_mut().zip(c).for_each(|(l, &e)| *l = (self.op)(*l, (self.load)(e)));
        }
        lanes.iter_mut().zip(rest).for_each(|(l, &e)| *l = (self.op)(*l, (self.load)(e)));
        let [a, b, c, d, e, f, g, h] = lanes;
        let op = &self.op;
        op(op(op(a, b), op(c, d)), op(op(e, f), op(g, h)))
    }

    /// Combines n rows element by element into `acc`.
    fn rows<T: Element>(&self, x: &[T], n: usize, acc: &mut [A])
    where
        L: Fn(T) -> A,
        F: Fn(A, A) -> A,
    {
        let inner = acc.len();
        if n <= ROWS || inner == 0 {
            acc.fill(self.identity);
            for r in x.chunks_exact(inner.max(1)) {
                acc.iter_mut().zip(r).for_each(|(a, &e)| *a = (self.op)(*a, (self.load)(e)));
            }
            return;
        }
        let half = n.div_ceil(2 * ROWS) * ROWS;
        let (a, b) = x.split_at((half * inner).min(x.len()));
        let mut other = vec![self.identity; inner];
        self.rows(a, half, acc);
        self.rows(b, n - half, &mut other);
        acc.iter_mut().zip(other).for_each(|(a, b)| *a = (self.op)(*a, b));
    }
}

/// x with its reduced axes in one contiguous run: as [outer, n, inner], transposed first where they are not.
fn gathered(x: &Tensor, axes: &[usize]) -> Result<(Tensor, [usize; 3]), OpError> {
    let reduced = |i: &usize| axes.contains(i);
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    let product = |r: &mut dyn Iterator<Item = usize>| r.filter_map(|i| x.shape().get(i)).product::<usize>();
    let n = product(&mut sorted.iter().copied());
    let run = sorted.windows(2).all(|w| w[0] + 1 == w[1]);
    if run {
        let (first, last) = (sorted.first().copied().unwrap_or(x.rank()), sorted.last().map_or(x.rank(), |l| l + 1));
        return Ok((x.clone(), [product(&mut (0..first)), n, product(&mut (last..x.rank()))]));
    }
    let mut perm: Vec<usize> = (0..x.rank()).filter(|i| !reduced(i)).collect();
    let outer = product(&mut perm.iter().copied());
    perm.extend(sorted);
    Ok((transpose(x, &perm)?, [outer, n, 1]))
}

/// Reduces `axes` of `x`; `shape` is the result's.
pub(crate) fn reduce(op: Reducer, x: &Tensor, axes: &[usize], shape: &[usize]) -> Outcome {
    if shape.contains(&0) {
        return empty(x.dtype(), shape);
    }
    let (x, [outer, n, inner]) = gathered(x, axes)?;
    macro_rules! go {
        ($T:ty, $load:expr, $store:expr, $identity:expr, $f:expr) => {{
            let fold = Fold { load: $load, op: $f, store: $store, identity: $identity };
            tensor(fold.run(slice::<$T>(&x)?, outer, n, inner), shape)
        }};
    }
    macro_rules! plain {
        ($T:ty, $identity:expr, $f:expr) => {
            go!($T, |v: $T| v, |v: $T| v, $identity, $f)
        };
    }
    macro_rules! int {
        ($T:ty) => {
            match op {
                Reducer::Sum => plain!($T, 0, |a: $T, b: $T| a.wrapping_add(b)),
                Reducer::Prod => plain!($T, 1, |a: $T, b: $T| a.wrapping_mul(b)),
                Reducer::Max => plain!($T, <$T>::MIN, |a: $T, b: $T| a.max(b)),
                Reducer::Min => plain!($T, <$T>::MAX, |a: $T, b: $T| a.min(b)),
                Reducer::And => plain!($T, !0, |a: $T, b: $T| a & b),
                Reducer::Or => plain!($T, 0, |a: $T, b: $T| a | b),
            }
        };
    }
    macro_rules! float {
        ($T:ty, $A:ty, $load:expr, $store:expr) => {
            match op {
                Reducer::Sum => go!($T, $load, $store, 0.0, |a: $A, b: $A| a + b),
                Reducer::Prod => go!($T, $load, $store, 1.0, |a: $A, b: $A| a * b),
                Reducer::Max => go!($T, $load, $store, <$A>::NEG_INFINITY, float_max::<$A>),
                Reducer::Min => go!($T, $load, $store, <$A>::INFINITY, float_min::<$A>),
                Reducer::And | Reducer::Or => Err(no_kernel(op.word(), x.dtype())),
            }
        };
    }
    macro_rules! complex {
        ($P:ty) => {
            match op {
                Reducer::Sum => plain!(Complex<$P>, Complex::new(0.0, 0.0), |a: Complex<$P>, b: Complex<$P>| a + b),
                Reducer::Prod => plain!(Complex<$P>, Complex::new(1.0, 0.0), |a: Complex<$P>, b: Complex<$P>| a * b),
                Reducer::Max => {
                    plain!(Complex<$P>, Complex::new(<$P>::NEG_INFINITY, <$P>::NEG_INFINITY), complex_max::<$P>)
                }
                Reducer::Min => plain!(Complex<$P>, Complex::new(<$P>::INFINITY, <$P>::INFINITY), complex_min::<$P>),
                Reducer::And | Reducer::Or => Err(no_kernel(op.word(), x.dtype())),
            }
        };
    }
    match x.dtype() {
        DType::BOOL => match op {
            Reducer::Sum | Reducer::Max | Reducer::Or => plain!(bool, false, |a: bool, b: bool| a | b),
            Reducer::Prod | Reducer::Min | Reducer::And => plain!(bool, true, |a: bool, b: bool| a & b),
        },
        DType::I8 => int!(i8),
        DType::I16 => int!(i16),
        DType::I32 => int!(i32),
        DType::I64 => int!(i64),
        DType::U8 => int!(u8),
        DType::U16 => int!(u16),
        DType::U32 => int!(u32),
        DType::U64 => int!(u64),
        DType::F16 => float!(f16, f32, f16::to_f32, f16::from_f32),
        DType::BF16 => float!(bf16, f32, bf16::to_f32, bf16::from_f32),
        DType::F32 => float!(f32, f32, |v: f32| v, |v: f32| v),
        DType::F64 => float!(f64, f64, |v: f64| v, |v: f64| v),
        DType::C64 => complex!(f32),
        DType::C128 => complex!(f64),
    }
}

/// Reduces n operands over `axes` with a body of 2n scalars, in row-major order of the reduced axes, from n scalars.
pub(crate) fn reduce_body(
    xs: &[Tensor],
    inits: &[Tensor],
    axes: &[usize],
    shape: &[usize],
    body: &mut dyn FnMut(&[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<Vec<Tensor>> {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    let rank = xs.first().map_or(0, Tensor::rank);
    let mut perm: Vec<usize> = (0..rank).filter(|i| !sorted.contains(i)).collect();
    perm.extend(&sorted);
    let fail = |e: OpError| RunError::Op(Box::new(e));
    let xs = xs.iter().map(|x| transpose(x, &perm)).collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let outer: usize = shape.iter().product();
    let n = xs.first().map_or(0, |x| x.shape().iter().skip(rank.saturating_sub(sorted.len())).product());
    let mut outs = collector(inits.iter().map(|i| (i.dtype(), outer)));
    for o in 0..outer {
        let mut acc = inits.to_vec();
        for i in 0..n {
            for x in &xs {
                acc.push(scalar_at(x, o * n + i).map_err(fail)?);
            }
            acc = body(&acc)?;
        }
        collect(&mut outs, &acc).map_err(fail)?;
    }
    collected(outs, shape).map_err(|e| fail(e).into())
}

/// Combines tensors of one shape element by element with a body of two scalars, in their order.
pub(crate) fn across(xs: &[Tensor], body: &mut dyn FnMut(&[Tensor]) -> Result<Vec<Tensor>>) -> Result<Tensor> {
    let fail = |e: OpError| RunError::Op(Box::new(e));
    let missing = || fail(OpError::new("", "a body needs something to combine, and gives one scalar"));
    let (first, rest) = xs.split_first().ok_or_else(missing)?;
    let mut outs = collector([(first.dtype(), first.len())].into_iter());
    for i in 0..first.len() {
        let mut acc = scalar_at(first, i).map_err(fail)?;
        for x in rest {
            let next = body(&[acc, scalar_at(x, i).map_err(fail)?])?;
            acc = next.into_iter().next().ok_or_else(missing)?;
        }
        collect(&mut outs, &[acc]).map_err(fail)?;
    }
    let out = collected(outs, first.shape()).map_err(fail)?;
    Ok(out.into_iter().next().ok_or_else(missing)?)
}
