//! Tracing: from Rust functions on [`Sym`] to [`Graph`]s.
//!
//! This crate owns the user's language: `Sym` and its operations, control flow, `trace`, and `Graph`. It appends ops to
//! a graph and never executes one, reads a clock, or touches a device.

extern crate self as evoxc_trace;

mod axes;
mod build_cached;
mod builder;
mod compare;
mod control;
pub mod dist;
pub mod emitter;
mod graph;
mod graph_fn;
mod inline;
mod name;
mod operand;
mod operators;
mod ops;
mod private_static;
mod prune;
pub mod random;
mod specialization;
mod sym;
mod trace_fn;

pub use build_cached::{build_cached, build_cached_as};
pub use builder::fail;
pub use control::{
    Branch, branch, cond, fori_loop, map, optimization_barrier, scan, scan_n, scan_reverse, switch, while_loop,
};
pub use graph::{Graph, GraphMark};
pub use graph_fn::GraphFn;
pub use operand::{Operand, Opnd};
pub use ops::{
    Attention, Conv, CrossEntropy, Interpolation, MatrixNorm, Reduction, Rope, arange, concat, constant, einsum, eye,
    full, iota, linspace, meshgrid, multi_dot, ones, stack, zeros,
};
pub use specialization::SpecializationCache;
pub use sym::{Sym, SymsBelongToTheThreadThatTracesThem};
pub use trace_fn::{build, evaluate, trace};

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
