//! IREE as a backend.
//!
//! This crate owns the calls into the IREE compiler, which is found when it is needed, those into its runtime (feature
//! `iree-runtime`), and the stages of the `Backend` contract over them. Programs reach it as StableHLO text.

mod backend;
mod barriers;
mod compiler;
mod complex;
mod error;
mod library;
mod program;
#[cfg(feature = "iree-runtime")]
mod runtime;
mod target;

pub use backend::Iree;
pub use program::{IreeArtifact, IreeProgram};
pub use target::IreeTarget;
