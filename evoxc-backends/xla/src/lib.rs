//! XLA as a backend, through PJRT plugins.
//!
//! This crate owns the bindings of the PJRT C API, the loading of plugins, and the stages of the `Backend` contract over
//! them. Programs reach it as StableHLO text.
