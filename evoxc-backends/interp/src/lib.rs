//! The reference interpreter of evoxc: runs modules op by op on host tensors.
//!
//! This crate owns the backend [`Interp`], the [`Plan`] that a verified module becomes, the [`Replicas`] that run several
//! at once, and the kernels. It defines what every op gives; other backends are compared with it. It optimises nothing but
//! the lifetime of values.

mod backend;
mod collective;
mod control;
mod dispatch;
mod kernels;
mod plan;
mod replicas;
mod rows;
mod run;
mod symbols;
mod world;

pub use backend::{Interp, InterpProgram};
pub use plan::Plan;
pub use replicas::Replicas;

#[cfg(test)]
mod tests;
