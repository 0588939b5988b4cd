//! Singular values and vectors by one-sided Jacobi rotations of the triangular factor, in f64.

use super::super::parts::{cut, emit, joined};
use super::super::rules::Syms;
use super::jacobi::{Rotation, SWEEPS, halves, moved};
use super::matrix::{
    Matrix, adjoint, conj, double, known, modulus, of_real, or_nan, ordered, over_rows, permuted, real, repeat,
    repeat_while, size, square,
};
use super::qr::{identity, qr};
use evoxc_core::{Dim, I32, OpError, U64, keep};
use evoxc_ir::Prim;
use evoxc_trace::{Sym, full};
use smallvec::smallvec;

/// The power of two below (or at) a positive f64; 1 for 0: its exponent bits.
pub(super) fn power_of_two(x: Sym) -> Sym {
    let exponent = (x.bitcast(U64) & x.bitcast(U64).full_like(0x7FF0_0000_0000_0000u64)).bitcast(evoxc_core::F64);
    exponent.eq(0.0).select(1.0, exponent)
}

/// u, s (descending, real) and vh with a = u diag(s) vh; min(m, n) vectors, or all if `full`. NaN or an infinity in a
/// matrix gives NaN throughout.
pub(in super::super) fn svd(a: Sym, all: bool) -> Result<Syms, OpError> {
    let x = Matrix::of(a)?;
    let (m, n) = (known(x.m)?, known(x.n)?);
    if m < n {
        let y = svd(adjoint(a), all)?;
        let [u, s, vh] = y.as_slice() else { return Err(OpError::new("", "it gives three values")) };
        return Ok(smallvec![adjoint(*vh), *s, adjoint(*u)]);
    }
    let part = a.dtype().real();
    if n == 0 {
        let u = identity(a, &x, if all { x.m } else { x.n })?;
        let vh = full(a.dtype(), x.shape([x.n, x.n]), false);
        return Ok(smallvec![u, full(part, x.shape([x.n]), false), vh]);
    }
    let wide = a.cast(double(a.dtype()));
    let largest = size(wide).max(keep([-2, -1]));
    let bad = !largest.is_finite();
    let scale = power_of_two(bad.select(1.0, largest));
    let wide = bad.select(0, wide) / of_real(scale, wide);
    let [u, s, v] = if m == n { iterate(&x, wide, n)? } else { tall(&x, wide, all, n)? };
    let s = emit(Prim::Reshape { shape: x.shape([x.n]) }, &[or_nan(bad, s * scale)]);
    let finish = |z: Sym| or_nan(bad, z).cast(a.dtype());
    Ok(smallvec![finish(u), s.cast(part), finish(adjoint(v))])
}

/// The same of more rows than columns: those of the triangular factor, its left vectors turned back.
fn tall(x: &Matrix, a: Sym, all: bool, n: i64) -> Result<[Sym; 3], OpError> {
    let y = qr(a, all)?;
    let [q, r] = y.as_slice() else { return Err(OpError::new("", "it gives two values")) };
    let r = if all { cut(*r, x.rank - 2, 0, n) } else { *r };
    let [u, s, v] = iterate(x, r, n)?;
    if !all {
        return Ok([q.matmul(u), s, v]);
    }
    let column = x.rank - 1;
    let u = joined(&[cut(*q, column, 0, n).matmul(u), cut(*q, column, n, x.m)], column);
    Ok([u, s, v])
}

/// Left vectors, singular values [.., 1, n] and right vectors of square matrices, descending (M. R. Hestenes, "Inversion
/// of matrices by biorthogonalization and related results", 1958). Rotations make the columns orthogonal; their norms
/// are the singular values. A QR factorisation of them gives left vectors that are orthonormal whatever the rank.
fn iterate(x: &Matrix, r: Sym, n: i64) -> Result<[Sym; 3], OpError> {
    let zeros = full(r.dtype(), x.shape([x.n, x.n]), false);
    let square_of = Matrix::of(zeros)?;
    let v = square_of.rows.eq(square_of.columns).select(zeros.ones_like(), zeros);
    let (g, v) = if n > 1 { rotated(x, r, v, n)? } else { (r, v) };
    let norms = over_rows(square(g)).sqrt();
    let (norms, g, v) = if n > 1 {
        let (norms, order) = ordered(emit(Prim::Reshape { shape: x.shape([x.n]) }, &[norms]), true)?;
        (norms, permuted(x, g, order), permuted(x, v, order))
    } else {
        (norms, g, v)
    };
    let norms = emit(Prim::Reshape { shape: x.shape([Dim::constant(1), x.n]) }, &[norms]);
    let y = qr(g, false)?;
    let [q, r] = y.as_slice() else { return Err(OpError::new("", "it gives two values")) };
    // The factor is diagonal but for rounding; its signs go into the vectors.
    let diagonal = real(square_of.rows.eq(square_of.columns).select(*r, 0).sum(keep(-2)));
    let sign = of_real(diagonal.lt(0.0).select(diagonal.full_like(-1.0), 1.0), *q);
    Ok([*q * sign, norms, v])
}

/// The columns, rotated until they are orthogonal, and what the same rotations make of `v`.
fn rotated(x: &Matrix, r: Sym, v: Sym, n: i64) -> Result<(Sym, Sym), OpError> {
    let half = (n + 1) / 2;
    let column = x.rank - 1;
    // An odd number of columns is made even by one of zeros, which no rotation mixes with the others.
    let even = |y: Sym| {
        if n % 2 == 0 {
            return y;
        }
        joined(&[y, full(y.dtype(), x.shape([x.n, Dim::constant(1)]), false)], column)
    };
    let ((gl, gr), (vl, vr)) = (halves(even(r), column, half), halves(even(v), column, half));
    let tolerance = f64::EPSILON * (n as f64).sqrt().max(4.0);
    let step = |_, [gl, gr, vl, vr, worst]: [Sym; 5]| {
        let (p, q) = (over_rows(square(gl)), over_rows(square(gr)));
        let cross = over_rows(conj(gl) * gr);
        let bound = p.sqrt() * q.sqrt();
        let size = modulus(cross);
        let skip = size.le(bound * tolerance);
        let rotation = Rotation::of(p, q, cross, skip);
        let (gl, gr) = rotation.columns(gl, gr);
        let (vl, vr) = rotation.columns(vl, vr);
        let worst = worst | (!skip).any(..);
        let ((gl, gr), (vl, vr)) = (moved(gl, gr, column, half), moved(vl, vr, column, half));
        Ok([gl, gr, vl, vr, worst])
    };
    let steps = full(I32, [], 2 * half - 1);
    let no = full(evoxc_core::BOOL, [], false);
    let sweep = |_, [gl, gr, vl, vr, _]: [Sym; 5]| repeat(steps, [gl, gr, vl, vr, no], step);
    let init = [gl, gr, vl, vr, full(evoxc_core::BOOL, [], true)];
    let [gl, gr, vl, vr, _] = repeat_while(full(I32, [], SWEEPS), init, |[.., worst]| Some(!worst), sweep)?;
    let whole = |left: Sym, right: Sym| cut(joined(&[left, right], column), column, 0, n);
    Ok((whole(gl, gr), whole(vl, vr)))
}
