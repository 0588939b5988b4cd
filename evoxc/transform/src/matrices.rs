//! Steps on batches of matrices that the rules of factorisations share. Matrices are the last two axes.

use evoxc_core::{DType, Dim, I32, Shape};
use evoxc_ir::{AxisPair, LinTranspose, Prim, Reducer};
use evoxc_trace::{Sym, emitter, iota};

/// The product of matrices whose leading axes are the same.
pub(crate) fn mul(a: Sym, b: Sym) -> Sym {
    let n = a.rank().saturating_sub(2);
    let batch: Vec<usize> = (0..n).collect();
    let batch = AxisPair { lhs: batch.clone(), rhs: batch };
    let contract = AxisPair { lhs: vec![n + 1], rhs: vec![n] };
    emitter::emit(Prim::Dot { batch, contract, accumulate: None }, &[a, b])
}

/// The conjugate transpose.
pub(crate) fn adjoint(x: Sym) -> Sym {
    let t = x.t();
    if x.dtype().is_complex() { t.conj() } else { t }
}

/// The extents of the last two axes.
pub(crate) fn extents(x: Sym) -> [Dim; 2] {
    [x.dim(-2), x.dim(-1)]
}

/// A triangular system.
#[derive(Clone, Copy)]
pub(crate) struct Solve {
    pub left: bool,
    pub lower: bool,
    pub unit_diagonal: bool,
    pub transpose: LinTranspose,
}

impl Solve {
    /// a x = b.
    pub fn left(lower: bool) -> Solve {
        Solve { left: true, lower, unit_diagonal: false, transpose: LinTranspose::None }
    }
    /// x a = b.
    pub fn right(lower: bool) -> Solve {
        Solve { left: false, ..Solve::left(lower) }
    }
    /// x aᴴ = b.
    pub fn right_adjoint(lower: bool) -> Solve {
        Solve { transpose: LinTranspose::Adjoint, ..Solve::right(lower) }
    }
    pub fn apply(self, a: Sym, b: Sym) -> Sym {
        let Solve { left, lower, unit_diagonal, transpose } = self;
        emitter::emit(Prim::TriangularSolve { left, lower, unit_diagonal, transpose }, &[a, b])
    }
}

/// The matrix that the op of a triangular solve is applied to.
pub(crate) fn turned(a: Sym, transpose: LinTranspose) -> Sym {
    match transpose {
        LinTranspose::None => a,
        LinTranspose::Transpose => a.t(),
        LinTranspose::Adjoint => adjoint(a),
    }
}

/// Row and column numbers of an m by n matrix.
fn numbers([m, n]: [Dim; 2]) -> (Sym, Sym) {
    (iota(I32, [m, n], 0), iota(I32, [m, n], 1))
}

/// A matrix repeated over the leading axes of `shape`.
pub(crate) fn batched(x: Sym, shape: &Shape) -> Sym {
    let dims = (shape.rank().saturating_sub(2)..shape.rank()).collect();
    if shape.rank() == 2 { x } else { emitter::emit(Prim::BroadcastInDim { shape: shape.clone(), dims }, &[x]) }
}

/// 1 below the diagonal, 1/2 on it, 0 above (or turned, if not `lower`); of the shape and dtype of the square `x`.
pub(crate) fn half_triangle(x: Sym, lower: bool) -> Sym {
    let (r, c) = numbers(extents(x));
    let (r, c) = if lower { (r, c) } else { (c, r) };
    let d = x.dtype();
    let w = (r.ge(c).cast(d) + r.gt(c).cast(d)) * 0.5;
    batched(w, &x.shape())
}

/// The identity, of the shape of square matrices `x`.
pub(crate) fn identity(x: Sym, dtype: DType) -> Sym {
    batched(evoxc_trace::eye(dtype, x.dim(-1)), &x.shape())
}

/// The triangle that a solve reads, zero elsewhere.
pub(crate) fn triangle(x: Sym, lower: bool, unit_diagonal: bool) -> Sym {
    let k = i64::from(unit_diagonal);
    if lower { x.tril(-k) } else { x.triu(k) }
}

/// The Hermitian matrices of which one triangle is that of `x`.
pub(crate) fn hermitian(x: Sym, lower: bool) -> Sym {
    let half = x * half_triangle(x, lower);
    half + adjoint(half)
}

/// The real parts of the diagonals of square matrices, as a last axis.
pub(crate) fn real_diagonal(x: Sym) -> Sym {
    let (r, c) = numbers(extents(x));
    let re = if x.dtype().is_complex() { x.real() } else { x };
    let kept = batched(r.eq(c), &x.shape()).select(re, 0);
    emitter::emit(Prim::Reduce { op: Reducer::Sum, axes: vec![x.rank() - 1] }, &[kept])
}

/// A vector of every matrix as a row that scales the columns of `like`; as a column if not `row`.
pub(crate) fn scale(v: Sym, like: Sym, row: bool) -> Sym {
    let n = like.rank();
    let mut dims: Vec<usize> = (0..n.saturating_sub(2)).collect();
    dims.push(if row { n - 1 } else { n - 2 });
    emitter::emit(Prim::BroadcastInDim { shape: like.shape(), dims }, &[v])
}
