//! Running combinations along an axis.
//!
//! An axis of n elements is scanned in log2(n) steps, each of which combines every element with the one 1, 2, 4 … before it
//! (W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986): plain element-wise work on every compiler, and sums that
//! round less than one after the other. The steps over a symbolic axis are those of a loop.

use super::complex::extreme;
use super::parts::{cut, emit, emit_regions, iota, joined, others, region, spread};
use evoxc_core::{BF16, Dim, F16, F32, I64, OpError, spec};
use evoxc_ir::{CumOp, GatherDims, Prim};
use evoxc_trace::{Sym, full};

/// What earlier and later elements give together, each in as many parts.
type Combine<'a, const N: usize> = &'a dyn Fn([Sym; N], [Sym; N]) -> [Sym; N];

/// A scan.
struct Scan {
    axis: usize,
    n: Dim,
    reverse: bool,
}

/// Element i combines elements 0 to i of x along `axis` (i to the last if `reverse`). Halves are combined in f32.
pub(super) fn cumulative(op: CumOp, x: Sym, axis: usize, reverse: bool) -> Result<Sym, OpError> {
    let d = x.dtype();
    let wide = x.cast(if matches!(d, F16 | BF16) { F32 } else { d });
    let scan = Scan { axis, n: wide.dim(axis as i64), reverse };
    let only = |[y]: [Sym; 1]| y;
    let y = match op {
        CumOp::Logsumexp => logsumexp(wide, &scan)?,
        CumOp::Sum => only(scan.of([wide], &|[a], [b]| [a + b])?),
        CumOp::Prod => only(scan.of([wide], &|[a], [b]| [a * b])?),
        CumOp::Max | CumOp::Min => {
            let largest = op == CumOp::Max;
            let one = move |a: Sym, b: Sym| match (d.is_complex(), largest) {
                (true, _) => extreme(largest, a, b),
                (false, true) => a.maximum(b),
                (false, false) => a.minimum(b),
            };
            only(scan.of([wide], &|[a], [b]| [one(a, b)])?)
        }
    };
    Ok(y.cast(d))
}

impl Scan {
    /// The scan of a value in parts.
    fn of<const N: usize>(&self, xs: [Sym; N], combine: Combine<N>) -> Result<[Sym; N], OpError> {
        match self.n.as_i64() {
            Some(n) => Ok(self.steps(xs, n, combine)),
            None => self.doubling(xs, combine),
        }
    }
    fn steps<const N: usize>(&self, mut xs: [Sym; N], n: i64, combine: Combine<N>) -> [Sym; N] {
        let axis = self.axis;
        let mut reach = 1;
        while reach < n {
            let low = |x: Sym| cut(x, axis, 0, n - reach);
            let high = |x: Sym| cut(x, axis, reach, n);
            let (earlier, later) = if self.reverse { (xs.map(high), xs.map(low)) } else { (xs.map(low), xs.map(high)) };
            let mut next = combine(earlier, later);
            for (next, &x) in next.iter_mut().zip(&xs) {
                // The first elements have nothing more before them.
                *next = if self.reverse {
                    joined(&[*next, cut(x, axis, n - reach, n)], axis)
                } else {
                    joined(&[cut(x, axis, 0, reach), *next], axis)
                };
            }
            xs = next;
            reach *= 2;
        }
        xs
    }
    /// The same steps in a loop: what is `reach` before is looked up.
    fn doubling<const N: usize>(&self, xs: [Sym; N], combine: Combine<N>) -> Result<[Sym; N], OpError> {
        let missing = || OpError::new("", "the loop has as many values as it started with");
        let n = emit(Prim::DimSize { extent: self.n, dtype: I64 }, &[]);
        let number = iota(I64, [self.n], 0);
        let mut types = vec![spec(I64, [])];
        types.extend(xs.iter().map(|x| x.spec()));
        let until = region(&types, |args| Ok(vec![args.first().ok_or_else(missing)?.lt(n)]))?;
        let step = region(&types, |args| {
            let (&reach, xs) = args.split_first().ok_or_else(missing)?;
            let xs = <[Sym; N]>::try_from(xs).map_err(|_| missing())?;
            let at = if self.reverse { number + reach } else { number - reach };
            let has = if self.reverse { at.lt(n) } else { at.ge(0) };
            let earlier = xs.map(|x| self.looked_up(x, at));
            let mut out = vec![reach + reach];
            for (y, x) in combine(earlier, xs).into_iter().zip(xs) {
                out.push(spread(has, x.shape(), vec![self.axis]).select(y, x));
            }
            Ok(out)
        })?;
        let mut state = vec![full(I64, [], 1)];
        state.extend(xs);
        let y = emit_regions(Prim::WhileLoop {}, &state, vec![until, step])?;
        y.get(1..).and_then(|y| <[Sym; N]>::try_from(y).ok()).ok_or_else(missing)
    }
    /// The entries of the axis that `at` names, clamped.
    fn looked_up(&self, x: Sym, at: Sym) -> Sym {
        let mut sizes = x.shape().to_vec();
        if let Some(d) = sizes.get_mut(self.axis) {
            *d = Dim::constant(1);
        }
        let dims = GatherDims {
            offset: others(x.rank(), self.axis),
            collapsed: vec![self.axis],
            operand_batching: vec![],
            indices_batching: vec![],
            start_map: vec![self.axis],
            index_vector: 1,
        };
        emit(Prim::Gather { dims, sizes, sorted: false }, &[x, at])
    }
}

/// Pairs (m, s) that stand for m + log s, with m the maximum: s is at least 1 and never overflows.
fn logsumexp(x: Sym, scan: &Scan) -> Result<Sym, OpError> {
    let combine = |[m, s]: [Sym; 2], [o, t]: [Sym; 2]| {
        let top = m.maximum(o);
        // Equal infinities differ by NaN; their factor is 1. Of a NaN, `top` tells.
        let factor = |m: Sym| m.eq(top).select(1.0, (m - top).exp());
        [top, s * factor(m) + t * factor(o)]
    };
    let [m, s] = scan.of([x, x.ones_like()], &combine)?;
    Ok(m + m.is_finite().select(s.log(), 0.0))
}
