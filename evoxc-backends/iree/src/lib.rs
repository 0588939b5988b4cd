//! IREE as a backend.
//!
//! This crate owns the calls into the IREE compiler, which is found when it is needed, those into its runtime (feature
//! `iree-runtime`, and `iree-vulkan` for GPUs), and the stages of the `Backend` contract over them. Programs reach it as StableHLO text.

mod backend;
mod barriers;
mod compiler;
mod error;
mod lacking;
mod library;
mod program;
#[cfg(feature = "iree-runtime")]
mod runtime;
mod target;
#[cfg(feature = "iree-runtime")]
mod value;
#[cfg(feature = "iree-vulkan")]
mod vulkan;

pub use backend::Iree;
pub use program::{IreeArtifact, IreeProgram};
pub use target::IreeTarget;
