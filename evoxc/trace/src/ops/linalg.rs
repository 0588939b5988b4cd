//! Factorisations as methods: thin ones over primitives. Matrices are the last two axes; leading axes are a batch.

use super::matrices::{hermitian_part, matrices, square};
use crate::{Sym, builder};
use evoxc_core::{Dim, IntoShape};
use evoxc_ir::{FftKind, LinTranspose, Prim};

impl Sym {
    /// The lower Cholesky factors of Hermitian positive definite matrices `[.., n, n]`; NaN where a matrix is not
    /// positive definite. Those of (self + selfᴴ)/2, as in JAX, so that both triangles have a part in the gradient. f32,
    /// f64, c64 or c128.
    ///
    /// # Errors
    /// Another dtype, matrices that are not square.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let l = evaluate(|a: Sym| a.cholesky(), Tensor::from([[4f64, 2.0], [2.0, 5.0]]), &Interp)?;
    /// assert_eq!(l.to_vec::<f64>()?, [2.0, 0.0, 1.0, 2.0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn cholesky(self) -> Sym {
        let _at = builder::pin();
        match matrices("cholesky", self).and_then(|m| square("cholesky", self, m)) {
            Some(_) => builder::emit(Prim::Cholesky { lower: true }, &[hermitian_part(self)]),
            None => Sym::POISON,
        }
    }
    /// `q` (orthonormal columns) and `r` (upper triangular), with min(m, n) columns of `q`.
    #[track_caller]
    pub fn qr(self) -> (Sym, Sym) {
        let [q, r] = builder::emit_many(Prim::Qr { full: false }, &[self]);
        (q, r)
    }
    /// Eigenvalues in ascending order (real) and eigenvectors (columns) of Hermitian matrices `[.., n, n]`. Those of
    /// (self + selfᴴ)/2, as in JAX, so that both triangles have a part in the gradient. f32, f64, c64 or c128.
    ///
    /// # Errors
    /// Another dtype, matrices that are not square.
    #[track_caller]
    pub fn eigh(self) -> (Sym, Sym) {
        let _at = builder::pin();
        if matrices("eigh", self).and_then(|m| square("eigh", self, m)).is_none() {
            return (Sym::POISON, Sym::POISON);
        }
        let [w, v] = builder::emit_many(Prim::Eigh {}, &[hermitian_part(self)]);
        (w, v)
    }
    /// `u`, the singular values in descending order, and `vᴴ`, with min(m, n) vectors.
    #[track_caller]
    pub fn svd(self) -> (Sym, Sym, Sym) {
        let [u, s, vh] = builder::emit_many(Prim::Svd { full: false }, &[self]);
        (u, s, vh)
    }
    /// The packed LU factors with partial pivoting, the pivots and the permutation of rows (i32).
    #[track_caller]
    pub fn lu(self) -> (Sym, Sym, Sym) {
        let [lu, pivots, perm] = builder::emit_many(Prim::Lu {}, &[self]);
        (lu, pivots, perm)
    }
    /// Solves `self · x = b` for a triangular matrix.
    #[track_caller]
    pub fn triangular_solve(self, b: Sym, lower: bool) -> Sym {
        let p = Prim::TriangularSolve { left: true, lower, unit_diagonal: false, transpose: LinTranspose::None };
        builder::emit(p, &[self, b])
    }
    /// The Fourier transform of the last axes, as many as `length` has, which are its extents (those of the result's
    /// real axis for `irfft`).
    #[track_caller]
    pub fn fft(self, kind: FftKind, length: impl IntoShape) -> Sym {
        let length: Vec<Dim> = length.into_shape().to_vec();
        builder::emit(Prim::Fft { kind, length }, &[self])
    }
}
