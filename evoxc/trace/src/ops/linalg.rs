//! Factorisations as methods: thin ones over primitives. Matrices are the last two axes; leading axes are a batch.

use crate::{Sym, builder};
use evoxc_core::{Dim, IntoShape};
use evoxc_ir::{FftKind, LinTranspose, Prim};

impl Sym {
    /// The lower Cholesky factor of Hermitian positive definite matrices; NaN where a matrix is not positive definite.
    /// Reads the lower triangle.
    #[track_caller]
    pub fn cholesky(self) -> Sym {
        builder::emit(Prim::Cholesky { lower: true }, &[self])
    }
    /// `q` (orthonormal columns) and `r` (upper triangular), with min(m, n) columns of `q`.
    #[track_caller]
    pub fn qr(self) -> (Sym, Sym) {
        let [q, r] = builder::emit_many(Prim::Qr { full: false }, &[self]);
        (q, r)
    }
    /// Eigenvalues in ascending order (real) and eigenvectors (columns) of Hermitian matrices. Reads the lower triangle.
    #[track_caller]
    pub fn eigh(self) -> (Sym, Sym) {
        let [w, v] = builder::emit_many(Prim::Eigh {}, &[self]);
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
