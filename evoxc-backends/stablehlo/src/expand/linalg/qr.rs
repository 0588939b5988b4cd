//! QR factors by Householder reflections, a column a step, with LAPACK's signs.

use super::super::parts::cut;
use super::super::rules::Syms;
use super::matrix::{Matrix, conj, count, hypot, imag, modulus, of_real, over_rows, real, repeat, size, slice, square};
use evoxc_core::{OpError, keep};
use evoxc_trace::{Sym, full};
use smallvec::smallvec;

/// q and r with a = q r; q has min(m, n) orthonormal columns, or m if `full` (G. H. Golub, C. F. Van Loan, "Matrix
/// computations", algorithm 5.2.1; the reflections of complex columns are LAPACK's, whose diagonal of r is real).
pub(in super::super) fn qr(a: Sym, full_q: bool) -> Result<Syms, OpError> {
    let x = Matrix::of(a)?;
    let steps = x.m.min(x.n);
    let columns = if full_q { x.m } else { steps };
    let q = identity(a, &x, columns)?;
    if steps == 0 {
        let r = full(a.dtype(), x.shape([columns, x.n]), false);
        return Ok(smallvec![q, r]);
    }
    let taus = full(a.dtype(), x.shape([evoxc_core::Dim::constant(1), steps]), false);
    let place = Matrix::of(taus)?.columns;
    let [factored, taus] = repeat(count(steps), [a, taus], |k, [a, taus]| {
        let (tau, beta, scale) = reflection(&x, a, k);
        let below = x.rows.gt(k);
        let vector = below.select(x.column(a, k) * scale, x.rows.eq(k).select(scale.ones_like(), 0));
        let updated = apply(vector, a, conj(tau));
        let own = x.rows.eq(k).select(beta, vector);
        let a = x.columns.gt(k).select(updated, (x.columns.eq(k) & x.rows.ge(k)).select(own, a));
        Ok([a, place.eq(k).select(tau, taus)])
    })?;
    let last = count(steps) - 1;
    let [q] = repeat(count(steps), [q], |i, [q]| {
        let k = last - i;
        let column = x.column(factored, k);
        let vector = x.rows.gt(k).select(column, x.rows.eq(k).select(column.ones_like(), 0));
        Ok([apply(vector, q, slice(taus, x.rank - 1, k))])
    })?;
    let upper = x.columns.ge(x.rows).select(factored, 0);
    Ok(smallvec![q, if columns == x.m { upper } else { cut(upper, x.rank - 2, 0, columns) }])
}

/// The first columns of the identity.
pub(super) fn identity(a: Sym, x: &Matrix, columns: evoxc_core::Dim) -> Result<Sym, OpError> {
    let zeros = full(a.dtype(), x.shape([x.m, columns]), false);
    let z = Matrix::of(zeros)?;
    Ok(z.rows.eq(z.columns).select(zeros.ones_like(), zeros))
}

/// Of column k from row k on: tau, the element beta that it becomes, and what scales the rest to the vector. Where
/// nothing is to reflect, tau is 0 and the column stays.
fn reflection(x: &Matrix, a: Sym, k: Sym) -> (Sym, Sym, Sym) {
    let column = x.column(a, k);
    let alpha = slice(column, x.rank - 2, k);
    let rest = x.rows.gt(k).select(column, 0);
    // Scaled, so that squares neither overflow nor vanish.
    let largest = size(rest).max(keep(-2));
    let plain = largest.eq(0.0) | !largest.is_finite();
    let scaled = rest / of_real(plain.select(1.0, largest), rest);
    let below = plain.select(largest, largest * over_rows(square(scaled)).sqrt());
    let length = hypot(modulus(alpha), below);
    let none = below.eq(0.0) & imag(alpha).eq(0.0);
    // The sign of -0 is that of 0 here.
    let beta = real(alpha).lt(0.0).select(length, -length);
    let beta = of_real(beta, alpha);
    let safe = none.select(1, beta);
    let tau = none.select(0, (safe - alpha) / safe);
    let scale = none.select(0, 1.0 / none.select(1, alpha - beta));
    (tau, none.select(alpha, beta), scale)
}

/// x - factor v (vᴴ x).
fn apply(v: Sym, x: Sym, factor: Sym) -> Sym {
    x - factor * v * over_rows(conj(v) * x)
}
