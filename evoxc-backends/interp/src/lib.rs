//! The reference interpreter of evoxc: runs modules op by op on host tensors.
//!
//! This crate owns [`Plan`], which is a verified module made ready to run, and the kernels. It defines what every op
//! gives; other backends are compared with it. It optimises nothing but the lifetime of values.

mod control;
mod dispatch;
mod kernels;
mod plan;
mod run;
mod symbols;

pub use plan::Plan;

#[cfg(test)]
mod tests;
