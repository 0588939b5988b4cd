//! IREE as a backend.
//!
//! This crate owns the calls into the IREE compiler and runtime, and the stages of the `Backend` contract over them.
//! Programs reach it as StableHLO text.
