//! Factorisations as loops of element-wise work on whole matrices, of any number of leading batch axes at once: what is
//! not in the triangle or column at hand is masked. Signs and pivots are those of the primitives (LAPACK's).

mod cholesky;
mod eigh;
mod jacobi;
mod lu;
mod matrix;
mod qr;
mod svd;
mod triangular;

pub(super) use cholesky::cleared;
pub(super) use eigh::eigh;
pub(super) use lu::lu;
pub(super) use matrix::hypot;
pub(super) use qr::qr;
pub(super) use svd::svd;
pub(super) use triangular::{cholesky, solve};
