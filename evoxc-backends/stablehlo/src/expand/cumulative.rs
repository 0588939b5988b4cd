//! Running combinations along an axis.
//!
//! An axis of n elements is scanned in log2(n) steps, each of which combines every element with the one 1, 2, 4 … before it
//! (W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986): plain element-wise work on every compiler, and sums that
//! round less than one after the other. The steps over a symbolic axis are those of a loop.

use super::complex::extreme;
use super::parts::{cut, emit, emit_regions, joined, region};
use evoxc_core::{BF16, Dim, F16, F32, I64, OpError, Scalar, spec};
use evoxc_ir::{CumOp, Prim};
use evoxc_trace::{Sym, full};
use num_complex::Complex;

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
        CumOp::Sum => only(scan.of([wide], &|[a], [b]| [a + b], |_| [false.into()])?),
        CumOp::Prod => only(scan.of([wide], &|[a], [b]| [a * b], |_| [true.into()])?),
        CumOp::Max | CumOp::Min => {
            let largest = op == CumOp::Max;
            let one = move |a: Sym, b: Sym| match (d.is_complex(), largest) {
                (true, _) => extreme(largest, a, b),
                (false, true) => a.maximum(b),
                (false, false) => a.minimum(b),
            };
            only(scan.of([wide], &|[a], [b]| [one(a, b)], |d| [least(d, largest)])?)
        }
    };
    Ok(y.cast(d))
}

/// What changes no maximum (minimum).
fn least(d: evoxc_core::DType, largest: bool) -> Scalar {
    let infinite = if largest { f64::NEG_INFINITY } else { f64::INFINITY };
    match (d.is_complex(), d.is_float(), d.is_bool()) {
        (true, ..) => Complex::new(infinite, infinite).into(),
        (_, true, _) => infinite.into(),
        (_, _, true) => (!largest).into(),
        _ => {
            let (low, high) = super::conversion::ends(d);
            if largest { low } else { high }
        }
    }
}

impl Scan {
    /// The scan of a value in parts; `identity` is what combines with any to that, used where the extent is symbolic.
    fn of<const N: usize>(
        &self,
        xs: [Sym; N],
        combine: Combine<N>,
        identity: impl Fn(evoxc_core::DType) -> [Scalar; N],
    ) -> Result<[Sym; N], OpError> {
        match (self.n.as_i64(), xs.first()) {
            (Some(n), _) => Ok(self.steps(xs, n, combine)),
            (None, Some(x)) => self.doubling(xs, combine, identity(x.dtype())),
            (None, None) => Ok(xs),
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
    /// The same steps in a loop: what is `reach` before is cut out of the value with as many identities before it.
    fn doubling<const N: usize>(
        &self,
        xs: [Sym; N],
        combine: Combine<N>,
        identity: [Scalar; N],
    ) -> Result<[Sym; N], OpError> {
        let missing = || OpError::new("", "the loop has as many values as it started with");
        let n = emit(Prim::DimSize { extent: self.n, dtype: I64 }, &[]);
        let mut types = vec![spec(I64, [])];
        types.extend(xs.iter().map(|x| x.spec()));
        let until = region(&types, |args| Ok(vec![args.first().ok_or_else(missing)?.lt(n)]))?;
        let step = region(&types, |args| {
            let (&reach, xs) = args.split_first().ok_or_else(missing)?;
            let xs = <[Sym; N]>::try_from(xs).map_err(|_| missing())?;
            let mut earlier = xs;
            for (x, &k) in earlier.iter_mut().zip(&identity) {
                let none = full(x.dtype(), x.shape(), k);
                let padded = if self.reverse { [*x, none] } else { [none, *x] };
                let start = if self.reverse { reach } else { n - reach };
                let mut operands = vec![joined(&padded, self.axis)];
                operands.extend((0..x.rank()).map(|a| if a == self.axis { start } else { start.zeros_like() }));
                *x = emit(Prim::DynamicSlice { sizes: x.shape().to_vec() }, &operands);
            }
            let mut out = vec![reach + reach];
            out.extend(combine(earlier, xs));
            Ok(out)
        })?;
        let mut state = vec![full(I64, [], 1)];
        state.extend(xs);
        let y = emit_regions(Prim::WhileLoop {}, &state, vec![until, step])?;
        y.get(1..).and_then(|y| <[Sym; N]>::try_from(y).ok()).ok_or_else(missing)
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
    let none = |_| [f64::NEG_INFINITY.into(), false.into()];
    let [m, s] = scan.of([x, x.ones_like()], &combine, none)?;
    Ok(m + m.is_finite().select(s.log(), 0.0))
}
