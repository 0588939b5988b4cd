//! What the workspace's tests share: the format of file tests, their runner, and the tolerances of values.
//!
//! This crate owns how a result is judged. It is published nowhere and no other crate depends on it.

pub mod case;
pub mod conditioning;
pub mod engines;
pub mod filetest;
pub mod laws;
pub mod plugin;
pub mod random_graph;
pub mod run;
pub mod smooth_graph;
pub mod tolerance;
