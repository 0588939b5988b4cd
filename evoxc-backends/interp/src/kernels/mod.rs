//! The kernels of the interpreter: one file a group of ops, plain functions on concrete tensors.
//!
//! A kernel knows no graph and no symbols; the plan evaluates both before it calls one.

#[allow(dead_code)]
pub(crate) mod combine;
#[allow(dead_code)]
pub(crate) mod contraction;
#[allow(dead_code)]
pub(crate) mod convolution;
#[allow(dead_code)]
pub(crate) mod cumulative;
#[allow(dead_code)]
pub(crate) mod fft;
#[allow(dead_code)]
pub(crate) mod indexing;
#[allow(dead_code)]
pub(crate) mod matmul;
#[allow(dead_code)]
pub(crate) mod sort;
#[allow(dead_code)]
pub(crate) mod taps;
#[allow(dead_code)]
pub(crate) mod walk;
#[allow(dead_code)]
pub(crate) mod window;

#[cfg(test)]
mod tests;
