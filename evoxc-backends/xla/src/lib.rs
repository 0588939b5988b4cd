//! XLA as a backend, through PJRT plugins.
//!
//! This crate owns the bindings of the PJRT C API, the loading of plugins, and the stages of the `Backend` contract over
//! them. Programs reach it as StableHLO text; it knows no graph and no tracer.
//!
//! Threads: a plugin, its client, executables and tensors' memory may be used from any number of threads at once, which
//! PJRT promises for its objects and everything here keeps. Memory is written once, before anything else can see it; a
//! donated input has no owner but the call that consumes it.

mod aliasing;
mod backend;
mod client;
mod error;
mod event;
mod executable;
mod export;
mod ffi;
mod library;
mod lowered;
mod memory;
mod options;
mod plugin;
mod program;
mod proto;

pub use backend::{Xla, XlaArtifact};
pub use lowered::XlaProgram;
pub use options::FlagValue as XlaFlag;
