//! Eigenvalues and eigenvectors of Hermitian matrices by Jacobi's rotations, in f64.

use super::super::parts::{cut, emit, joined};
use super::super::rules::Syms;
use super::jacobi::{Rotation, SWEEPS, halves, moved};
use super::matrix::{
    Matrix, adjoint, conj, double, known, modulus, of_real, or_nan, ordered, permuted, real, repeat, repeat_while,
    size, square,
};
use super::svd::power_of_two;
use evoxc_core::{Dim, I32, OpError, keep};
use evoxc_ir::Prim;
use evoxc_trace::{Sym, full};
use smallvec::smallvec;

/// Eigenvalues in ascending order, and eigenvectors as columns. Reads the lower triangle, and the real part of the
/// diagonal. NaN or an infinity in a matrix gives NaN throughout.
pub(in super::super) fn eigh(a: Sym) -> Result<Syms, OpError> {
    let x = Matrix::of(a)?;
    let n = known(x.n)?;
    let part = a.dtype().real();
    if n == 0 {
        return Ok(smallvec![full(part, x.shape([x.n]), false), a]);
    }
    let wide = double(a.dtype());
    let lower = x.rows.gt(x.columns).select(a, 0).cast(wide);
    let diagonal = x.rows.eq(x.columns).select(real(a), 0).cast(wide);
    let whole = lower + adjoint(lower) + diagonal;
    let largest = size(lower + diagonal).max(keep([-2, -1]));
    let bad = !largest.is_finite();
    let scale = power_of_two(bad.select(1.0, largest));
    let scaled = bad.select(0, whole) / of_real(scale, whole);
    let (values, vectors) = if n > 1 {
        let (values, vectors) = iterate(&x, scaled, n)?;
        let (values, order) = ordered(values, false)?;
        (values, permuted(&x, vectors, order))
    } else {
        (real(x.diagonal(scaled)), scaled.ones_like())
    };
    let bad_values = emit(Prim::Reshape { shape: x.shape([Dim::constant(1)]) }, &[bad]);
    let scale = emit(Prim::Reshape { shape: x.shape([Dim::constant(1)]) }, &[scale]);
    let values = or_nan(bad_values, values * scale);
    Ok(smallvec![values.cast(part), or_nan(bad, vectors).cast(a.dtype())])
}

/// The values and vectors, in any order. An odd size is made even by a row and a column of zeros, which no rotation
/// mixes with the others.
fn iterate(x: &Matrix, a: Sym, n: i64) -> Result<(Sym, Sym), OpError> {
    let half = (n + 1) / 2;
    let (row, column) = (x.rank - 2, x.rank - 1);
    let whole = Dim::constant(2 * half);
    let pad = |x: Sym, rows: i64| -> Sym {
        let mut high = vec![Dim::constant(0); x.rank()];
        if let Some([r, c]) = high.last_chunk_mut() {
            (*r, *c) = (Dim::constant(rows), whole - n);
        }
        let none = vec![Dim::constant(0); x.rank()];
        let zero = full(x.dtype(), [], false);
        emit(Prim::Pad { low: none.clone(), high, interior: vec![0; none.len()] }, &[x, zero])
    };
    let zeros = full(a.dtype(), x.shape([x.n, x.n]), false);
    let vectors = pad(x.rows.eq(x.columns).select(zeros.ones_like(), zeros), 0);
    let padded = pad(a, 2 * half - n);
    let (top, bottom) = halves(padded, row, half);
    let ((tl, tr), (bl, br)) = (halves(top, column, half), halves(bottom, column, half));
    let (vl, vr) = halves(vectors, column, half);
    let h = Matrix::of(tl)?;
    let on = h.rows.eq(h.columns);
    let sum = |x: Sym| x.sum([-2, -1]);
    let total = sum(square(padded));
    // Rotated, until what is off the diagonal is lost against the whole.
    let off = |[tl, tr, bl, br, _, _]: [Sym; 6]| {
        let outside = |x: Sym| on.select(0.0, square(x));
        sum(outside(tl) + outside(br) + square(tr) + square(bl))
    };
    let lost = f64::EPSILON * f64::EPSILON;
    let done = |state| {
        let left = off(state).gt(total * lost);
        Some(!left.any(..))
    };
    let step = |_, [tl, tr, bl, br, vl, vr]: [Sym; 6]| {
        let (p, q, cross) = (real(h.diagonal(tl)), real(h.diagonal(br)), h.diagonal(tr));
        let modulus = modulus(cross);
        let r = Rotation::of(p, q, cross, modulus.eq(0.0));
        let (p, q) = (p - r.t * modulus, q + r.t * modulus);
        let along = |x: Sym, last: [Dim; 2]| emit(Prim::Reshape { shape: h.shape(last) }, &[x]);
        let (k, one) = (h.n, Dim::constant(1));
        let by_column = Rotation { c: along(r.c, [one, k]), s: along(r.s, [one, k]), t: r.t };
        let ((tl, tr), (bl, br)) = (by_column.columns(tl, tr), by_column.columns(bl, br));
        let (vl, vr) = by_column.columns(vl, vr);
        // From the left by the adjoint.
        let (c, s) = (along(r.c, [k, one]), along(r.s, [k, one]));
        let from_left = |t: Sym, b: Sym| (t * c - b * s, t * conj(s) + b * c);
        let ((tl, bl), (tr, br)) = (from_left(tl, bl), from_left(tr, br));
        // What is known exactly of the diagonals.
        let set = |x: Sym, d: Sym| on.select(along(of_real(d, x), [one, k]), x);
        let (tl, br) = (set(tl, p), set(br, q));
        let (tr, bl) = (on.select(0, tr), on.select(0, bl));
        let ((tl, tr), (bl, br)) = (moved(tl, tr, column, half), moved(bl, br, column, half));
        let ((tl, bl), (tr, br)) = (moved(tl, bl, row, half), moved(tr, br, row, half));
        let (vl, vr) = moved(vl, vr, column, half);
        Ok([tl, tr, bl, br, vl, vr])
    };
    let steps = full(I32, [], 2 * half - 1);
    let sweep = |_, state| repeat(steps, state, step);
    let [tl, _, _, br, vl, vr] = repeat_while(full(I32, [], SWEEPS), [tl, tr, bl, br, vl, vr], done, sweep)?;
    let values = joined(&[real(h.diagonal(tl)), real(h.diagonal(br))], row);
    Ok((cut(values, row, 0, n), cut(joined(&[vl, vr], column), column, 0, n)))
}
