//! The methods of `Sym` and the free functions beside them: thin ones over primitives, and composites.

mod creators;
mod elementwise;
mod index;
mod shape;

pub use creators::{arange, constant, eye, full, iota, linspace, meshgrid, ones, zeros};
pub use shape::{concat, stack};
