//! LU factors with partial pivoting, a column a step.

use super::super::extremes::first;
use super::super::parts::{emit, iota};
use super::super::rules::Syms;
use super::matrix::{Matrix, count, repeat, size, slice};
use evoxc_core::{Dim, I32, OpError, keep};
use evoxc_ir::Prim;
use evoxc_trace::{Sym, full};
use smallvec::smallvec;

/// The packed factors, the pivots (row i was exchanged with row pivots[i]), and the permutation (a[perm] = L U). A zero
/// pivot leaves its column as it is (G. H. Golub, C. F. Van Loan, "Matrix computations", algorithm 3.4.1).
pub(in super::super) fn lu(a: Sym) -> Result<Syms, OpError> {
    let x = Matrix::of(a)?;
    let steps = x.m.min(x.n);
    let last = x.rank - 2;
    let perm = iota(I32, x.shape([x.m]), last);
    let pivots = full(I32, x.shape([steps]), 0);
    if steps == 0 {
        return Ok(smallvec![a, pivots, perm]);
    }
    let number = iota(I32, x.shape([x.m]), last);
    let place = iota(I32, x.shape([steps]), last);
    let y = repeat(count(steps), [a, pivots, perm], |k, [a, pivots, perm]| {
        let size = size(x.column(a, k));
        // NaN is taken where it is the first candidate only.
        let nan = x.rows.eq(k).select(size.full_like(f64::INFINITY), -1.0);
        let candidates = x.rows.lt(k).select(-2.0, size.ne(size).select(nan, size));
        let p = first(candidates, x.rank - 2, true);
        let pivots = place.eq(k).select(p, pivots);
        let perm = swapped(perm, last, number, k, p);
        let p = emit(Prim::Reshape { shape: x.shape([Dim::constant(1); 2]) }, &[p]);
        let a = swapped(a, last, x.rows, k, p);
        let column = x.column(a, k);
        let row = x.row(a, k);
        let pivot = slice(column, last, k);
        let live = pivot.ne(0);
        let factors = column / live.select(pivot, 1);
        let below = x.rows.gt(k) & live;
        let rest = (below & x.columns.gt(k)).select(a - factors * row, a);
        let a = (below & x.columns.eq(k)).select(factors, rest);
        Ok([a, pivots, perm])
    })?;
    Ok(y.into_iter().collect())
}

/// Entries `k` and `p` of an axis exchanged; `p` differs from matrix to matrix, `number` counts along the axis.
fn swapped(x: Sym, axis: usize, number: Sym, k: Sym, p: Sym) -> Sym {
    let here = slice(x, axis, k);
    let chosen = number.eq(p);
    let there = chosen.select(x, 0).sum(keep(axis as i64));
    number.eq(k).select(there, chosen.select(here, x))
}
