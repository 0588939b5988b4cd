//! The native compiler of evoxc: a module becomes fused kernels, and these become code, without any system compiler.
//!
//! ```text
//! Module ──schedule──▶ kernels (UOp DAGs) ──decompose──▶ machine ops ──linearise──▶ LIR ──render──▶ code ──plan──▶ program
//! ```
//!
//! This crate owns all of it. The stages in order, each a folder: `uop` (the expression DAG and its rewriting), `schedule`
//! (which values become memory, and the kernels between them), `decompose` (ops of the IR in terms of what machines have),
//! `linearise` (loops, lanes, registers), `lir` (the form that all renderers share), `render` (interpreter, x86-64, C),
//! `plan` (steps over memory, and running them).

mod artifact;
mod backend;
pub mod decompose;
mod dump;
pub mod kernel;
pub mod linearise;
pub mod lir;
mod memo;
pub mod plan;
pub mod pool;
pub mod render;
pub mod schedule;
mod search;
pub mod uop;

pub use artifact::{NativeArtifact, NativeProgram};
pub use backend::Native;
pub use decompose::Precision;
pub use memo::MemoCounts;
#[doc(hidden)]
pub use plan::Edge;

/// The name of the backend.
pub(crate) const NAME: &str = "native";
