//! The reference interpreter of evoxc: runs modules op by op on host tensors.
//!
//! This crate owns the backend [`Interp`], over the reference execution of ops; other backends are compared with it.

mod backend;

pub use backend::{Interp, InterpProgram};
pub use evoxc_reference::Replicas;
