//! The reference interpreter of evoxc: runs modules op by op on host tensors.
//!
//! This crate owns the backend [`Interp`], the [`Plan`] that a verified module becomes, and the kernels. It defines what
//! every op gives; other backends are compared with it. It optimises nothing but the lifetime of values.

mod backend;
mod control;
mod dispatch;
mod kernels;
mod plan;
mod rows;
mod run;
mod symbols;

pub use backend::{Interp, InterpProgram};
pub use plan::Plan;

#[cfg(test)]
mod tests;
