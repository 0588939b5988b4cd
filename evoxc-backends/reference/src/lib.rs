//! Reference execution of ops on host tensors: the kernels, and the plan that runs a module op by op.
//!
//! This crate owns the [`Plan`] that a verified module becomes, the [`Replicas`] that run several at once, the kernels,
//! and [`scalar`], the functions of single numbers that they apply. It defines what every op gives: the interpreter is
//! the backend over it, others are compared with it and leave to it what they have no code for. It optimises nothing but
//! the lifetime of values.

mod collective;
mod control;
mod dispatch;
mod kernels;
mod plan;
mod replicas;
mod rows;
mod run;
pub mod scalar;
mod symbols;
mod world;

pub use plan::Plan;
pub use replicas::{Member, Replicas};
pub use world::Process;

#[cfg(test)]
mod tests;
