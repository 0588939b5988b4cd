//! The methods of `Sym` and the free functions beside them: thin ones over primitives, and composites.

mod contraction;
mod creators;
mod elementwise;
mod index;
mod linalg;
mod shape;
mod windows;

pub use contraction::einsum;
pub use creators::{arange, constant, eye, full, iota, linspace, meshgrid, ones, zeros};
pub use shape::{concat, stack};
pub use windows::{Conv, Interpolation};
