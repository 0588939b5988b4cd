//! The staging contract: what a backend implements, and the stages that a program goes through on it.
//!
//! This crate owns [`Backend`], the stages [`LoweredProgram`], [`CompiledArtifact`] and [`Executable`], their files and
//! caches, and the checks of inputs before a program runs. It sees modules and tensors; it knows no tracer, no graph and no
//! particular backend.

mod any;
mod artifact;
mod backend;
mod cache;
mod capabilities;
mod check;
mod executable;
mod host;
mod lowered;
mod options;
mod persist;
mod profile;
mod program;
mod signature;

pub use any::{AnyArtifact, AnyBackend, AnyLowered};
pub use artifact::CompiledArtifact;
pub use backend::Backend;
pub use cache::{CacheKey, CompileCache, CompileKey, FileCache};
pub use capabilities::Capabilities;
pub use executable::Executable;
pub use host::host_processor;
pub use lowered::LoweredProgram;
pub use options::OptLevel;
pub use profile::{Profile, ProfileStep};
pub use program::Program;
pub use signature::Signature;
