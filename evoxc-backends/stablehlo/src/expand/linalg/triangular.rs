//! Cholesky factors and triangular solves, a column a step: for consumers that lack StableHLO's own.

use super::super::parts::emit;
use super::cholesky::cleared;
use super::matrix::{Matrix, adjoint, conj, count, of_real, real, repeat, slice};
use evoxc_core::OpError;
use evoxc_ir::{LinTranspose, Prim};
use evoxc_trace::Sym;

/// The factor L (a = L Lᴴ) or, not `lower`, U (a = Uᴴ U); NaN throughout where a is not positive definite (G. H. Golub,
/// C. F. Van Loan, "Matrix computations", algorithm 4.2.2).
pub(in super::super) fn cholesky(a: Sym, lower: bool) -> Result<Sym, OpError> {
    if !lower {
        return Ok(adjoint(cholesky(adjoint(a), true)?));
    }
    let x = Matrix::of(a)?;
    if x.n == 0 {
        return Ok(a);
    }
    let [l] = repeat(count(x.n), [a], |k, [a]| {
        let column = x.column(a, k);
        let pivot = real(slice(column, x.rank - 2, k));
        let root = pivot.gt(0.0).select(pivot.sqrt(), f64::NAN);
        let root = of_real(root, a);
        let column = x.rows.gt(k).select(column / root, root);
        let rest = a - column * adjoint(column);
        let later = x.columns.gt(k) & x.rows.gt(k);
        Ok([later.select(rest, (x.columns.eq(k) & x.rows.ge(k)).select(column, a))])
    })?;
    Ok(cleared(l, true))
}

/// x with op(a) x = b (`left`) or x op(a) = b. Reads one triangle of a, and not its diagonal if that counts as ones.
pub(in super::super) fn solve(
    a: Sym,
    b: Sym,
    left: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose: LinTranspose,
) -> Result<Sym, OpError> {
    let a = if transpose == LinTranspose::Adjoint { conj(a) } else { a };
    let turned = transpose != LinTranspose::None;
    // x op(a) = b is op(a)ᵀ xᵀ = bᵀ.
    let (t, b) = (if turned == left { transposed(a) } else { a }, if left { b } else { transposed(b) });
    let lower = lower != (turned == left);
    let x = Matrix::of(t)?;
    if x.n == 0 {
        return Ok(if left { b } else { transposed(b) });
    }
    let n = count(x.n);
    let [y] = repeat(n, [b], |i, [b]| {
        let k = if lower { i } else { n - 1 - i };
        let column = x.column(t, k);
        let row = slice(b, x.rank - 2, k);
        let found = if unit_diagonal { row } else { row / slice(column, x.rank - 2, k) };
        let later = if lower { x.rows.gt(k) } else { x.rows.lt(k) };
        Ok([later.select(b - column * found, x.rows.eq(k).select(found, b))])
    })?;
    Ok(if left { y } else { transposed(y) })
}

fn transposed(x: Sym) -> Sym {
    let rank = x.rank();
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank.saturating_sub(1), rank.saturating_sub(2));
    emit(Prim::Transpose { perm }, &[x])
}
