//! Compiled programs: immutable plans of steps over places in memory, and running them.
//!
//! A [`Plan`] is made once from a schedule: every value has a place, of which several may be the same memory; a run fills
//! the table of places and goes through the steps. Any number of threads may run a plan at once: each run takes a frame
//! (memory and tables) from a pool and gives it back, so that only outputs are allocated.
//!
//! `build` makes plans, with `lifetimes` for when values are needed and `place` for where they are; `extent` evaluates
//! symbolic extents, `memory` holds raw blocks, `fence` is memory beside pages that nobody may touch, for tests, `output` is
//! memory of results, `run` goes through steps, `control`, `library`, `matmul`, `update` are those steps that are no kernels, `record`
//! notes what took how long.

mod build;
mod control;
mod extent;
mod fence;
mod library;
mod lifetimes;
mod matmul;
mod memory;
mod output;
mod place;
mod record;
mod run;
mod steps;
mod update;

pub use build::Kernels;
pub use fence::Edge;
pub(crate) use memory::Memory;
pub(crate) use steps::Compiled;
pub use steps::Plan;
