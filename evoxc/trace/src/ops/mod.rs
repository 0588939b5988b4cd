//! The methods of `Sym` and the free functions beside them: thin ones over primitives, and composites.

mod activations;
mod attention;
mod checks;
mod contraction;
mod creators;
mod elementwise;
mod index;
mod linalg;
mod linalg_functions;
mod linalg_least_squares;
mod linalg_norms;
mod linalg_solve;
mod loss;
mod matrices;
mod norm;
mod ordering;
mod parts;
mod quantile;
mod rearrange;
mod reductions;
mod segments;
pub(crate) mod series;
mod shape;
mod softmax;
mod special;
mod special_bessel;
mod special_beta;
pub(crate) mod special_gamma;
mod special_probability;
mod special_zeta;
mod windows;

pub(crate) use checks::{float, known};
pub(crate) use parts::{convert, count_along, cut, filled, joined, reduce, repeated_last, reshape};
pub(crate) use special::largest;

pub use attention::{Attention, Rope};
pub use contraction::einsum;
pub use creators::{arange, constant, eye, full, iota, linspace, meshgrid, ones, zeros};
pub use linalg_functions::multi_dot;
pub use linalg_norms::MatrixNorm;
pub use loss::{CrossEntropy, Reduction};
pub use shape::{concat, stack};
pub use windows::{Conv, Interpolation};
