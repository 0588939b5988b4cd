//! Tangents of factorisations. Sources: Giles, "Collected matrix derivative results for forward and reverse mode
//! algorithmic differentiation" (2008), Murray, "Differentiation of the Cholesky decomposition" (2016), Townsend,
//! "Differentiating the singular value decomposition" (2016), Walter and Lehmann, "Algorithmic differentiation of linear
//! algebra functions" (2011). Where these leave a choice (degenerate eigenvalues, singular values of 0) it is JAX's.

use super::{Site, Tangents, elementwise::sum};
use crate::matrices::{
    Solve, adjoint, batched, extents, half_triangle, hermitian, identity, mul, real_diagonal, scale, triangle, turned,
};
use crate::no_rule;
use evoxc_core::{Dim, OpError};
use evoxc_ir::{GatherDims, Prim};
use evoxc_trace::{Sym, concat, emitter, eye, iota};
use smallvec::smallvec;

/// dL = L Φ(L⁻¹ S L⁻ᴴ), where Φ takes the lower triangle and half of the diagonal, and S is the Hermitian matrix of the
/// triangle of the tangent that belongs to the one that is read.
pub(super) fn cholesky(site: &Site, lower: bool) -> Option<Sym> {
    let s = hermitian(site.t[0]?, lower);
    let l = if lower { site.y[0] } else { adjoint(site.y[0]) };
    let inner = Solve::right_adjoint(true).apply(l, Solve::left(true).apply(l, s));
    let dl = mul(l, inner * half_triangle(l, true));
    Some(if lower { dl } else { adjoint(dl) })
}

/// op(a) dx = db - op(da) x, or dx op(a) = db - x op(da).
pub(super) fn triangular_solve(site: &Site, solve: Solve) -> Option<Sym> {
    let (a, x) = (site.x[0], site.y[0]);
    let moved = site.t[0].map(|da| {
        let da = turned(triangle(da, solve.lower, solve.unit_diagonal), solve.transpose);
        -if solve.left { mul(da, x) } else { mul(x, da) }
    });
    sum(site.t[1], moved).map(|rest| solve.apply(a, rest))
}

/// The rows of every matrix in the order of its permutation.
fn permuted(x: Sym, perm: Sym) -> Sym {
    let at = x.rank().saturating_sub(2);
    let batch: Vec<usize> = (0..at).collect();
    let one = |d: &Dim| if *d == 0 { *d } else { Dim::constant(1) };
    let mut sizes: Vec<Dim> = x.shape().iter().take(at).map(one).collect();
    sizes.extend([Dim::constant(1), x.dim(-1)]);
    let dims = GatherDims {
        offset: vec![at + 1],
        collapsed: vec![at],
        operand_batching: batch.clone(),
        indices_batching: batch,
        start_map: vec![at],
        index_vector: at + 1,
    };
    emitter::emit(Prim::Gather { dims, sizes, sorted: false }, &[x, perm])
}

/// The packed factors l and u of a matrix m by n, each made square: l with ones on the diagonal, u with the identity in
/// the rows that it lacks.
fn unpacked(lu: Sym) -> (Sym, Sym) {
    let [m, n] = extents(lu);
    let k = m.min(n);
    let rank = lu.rank();
    let padded = |x: Sym, axis: usize, by: Dim| {
        if by == 0 {
            return x;
        }
        let low = vec![Dim::constant(0); rank];
        let mut high = low.clone();
        high[axis] = by;
        emitter::emit(Prim::Pad { low, high, interior: vec![0; rank] }, &[x, evoxc_trace::zeros(lu.dtype(), [])])
    };
    let cut = |axis: usize, of: Dim| if of == k { lu } else { lu.slice_axis(axis, 0, k) };
    let l = padded(cut(rank - 1, n), rank - 1, m - k);
    let mut u = padded(cut(rank - 2, m).triu(0), rank - 2, n - k);
    if n != k {
        let rest = iota(evoxc_core::I32, [n, n], 0).ge(k).cast(lu.dtype());
        u += batched(eye(lu.dtype(), n) * rest, &u.shape());
    }
    (l, u)
}

/// With P a = L U and G = L⁻¹ P da U⁻¹: dL is L times the strict lower triangle of G, dU its upper triangle times U.
pub(super) fn lu(site: &Site) -> Tangents {
    let Some(da) = site.t[0] else { return smallvec![None; 3] };
    let (l, u) = unpacked(site.y[0]);
    let l_solve = Solve { unit_diagonal: true, ..Solve::left(true) };
    let g = Solve::right(false).apply(u, l_solve.apply(l, permuted(da, site.y[2])));
    let unit = l.tril(-1) + identity(l, l.dtype());
    smallvec![Some(mul(unit, g.tril(-1)) + mul(g.triu(0), u)), None, None]
}

/// With C = qᴴ da r⁻¹ and D skew-Hermitian such that C - D is upper triangular with a real diagonal:
/// dq = q (D - C) + da r⁻¹, dr = (C - D) r. A wide matrix is [a₁ a₂] with a₁ square, of which q is the factor, and
/// r₂ = qᴴ a₂.
pub(super) fn qr(site: &Site, full: bool) -> Result<Tangents, OpError> {
    let Some(da) = site.t[0] else { return Ok(smallvec![None; 2]) };
    let (a, q, r) = (site.x[0], site.y[0], site.y[1]);
    let [m, n] = extents(a);
    let k = m.min(n);
    if full && k != m {
        let why = "the columns of q beyond those of `a` are not determined by it";
        return Err(no_rule(&site.op.prim, why, "use the reduced form: `.qr()`"));
    }
    let axis = a.rank() - 1;
    let front = |x: Sym| if k == n { x } else { x.slice_axis(axis, 0, k) };
    let (dq, dr) = tall(q, front(r), front(da));
    if k == n {
        return Ok(smallvec![Some(dq), Some(dr)]);
    }
    let back = |x: Sym| x.slice_axis(axis, k, n);
    let rest = mul(adjoint(dq), back(a)) + mul(adjoint(q), back(da));
    Ok(smallvec![Some(dq), Some(concat([dr, rest], axis))])
}

/// Of m by n matrices, m not less than n.
fn tall(q: Sym, r: Sym, da: Sym) -> (Sym, Sym) {
    let da_r = Solve::right(false).apply(r, da);
    let c = mul(adjoint(q), da_r);
    let lower = c.tril(-1);
    let mut skew = lower - adjoint(lower);
    let d = c.dtype();
    if d.is_complex() {
        skew += identity(c, d) * (c - c.real().cast(d));
    }
    (mul(q, skew - c) + da_r, mul(c - skew, r))
}

/// With C = vᴴ da v: dw is its diagonal, dv = v (F ∘ C) where F is 1 / (wⱼ - wᵢ) off the diagonal. Infinite where
/// eigenvalues are equal.
pub(super) fn eigh(site: &Site) -> Tangents {
    let Some(da) = site.t[0] else { return smallvec![None; 2] };
    let (w, v) = (site.y[0], site.y[1]);
    let c = mul(adjoint(v), mul(hermitian(da, true), v));
    let eye = identity(c, w.dtype());
    let gaps = scale(w, c, true) - scale(w, c, false);
    let f = (1.0 / (gaps + eye) - eye).cast(c.dtype());
    smallvec![Some(real_diagonal(c)), Some(mul(v, c * f))]
}

/// With C = uᴴ da v: ds is the real part of its diagonal; du and dv from F ∘ (C s + s Cᴴ) and F ∘ (s C + Cᴴ s), where F
/// is 1 / (sⱼ² - sᵢ²) off the diagonal, and what lies outside of the spans of u and v.
pub(super) fn svd(site: &Site, full: bool) -> Result<Tangents, OpError> {
    let Some(da) = site.t[0] else { return Ok(smallvec![None; 3]) };
    let (u, s, vh) = (site.y[0], site.y[1], site.y[2]);
    let [m, n] = extents(site.x[0]);
    let k = m.min(n);
    if full && m != n {
        let why = "the vectors beyond the smaller extent are not determined by `a`";
        return Err(no_rule(&site.op.prim, why, "use the reduced form: `.svd()`"));
    }
    let (uh, v) = (adjoint(u), adjoint(vh));
    let (da_v, d) = (mul(da, v), u.dtype());
    let c = mul(uh, da_v);
    let (row, column) = (scale(s, c, true), scale(s, c, false));
    let eye = identity(c, s.dtype());
    let f = (1.0 / ((row + column) * (row - column) + eye) - eye).cast(d);
    let zero = s.eq(0).cast(s.dtype());
    let inverse = 1.0 / (s + zero) - zero;
    let (row, column) = (row.cast(d), column.cast(d));
    let (cs, sc) = (c * row, c * column);
    let phase = (c - adjoint(c)) * (scale(inverse, c, true) * eye * 0.5).cast(d);
    let mut du = mul(u, (cs + adjoint(cs)) * f + phase);
    let mut dv = mul(v, (sc + adjoint(sc)) * f);
    if m != k {
        du += (da_v - mul(u, c)) / scale(s, u, true).cast(d);
    }
    if n != k {
        let da_u = mul(adjoint(da), u);
        dv += (da_u - mul(v, mul(vh, da_u))) / scale(s, v, true).cast(d);
    }
    Ok(smallvec![Some(du), Some(real_diagonal(c)), Some(adjoint(dv))])
}
