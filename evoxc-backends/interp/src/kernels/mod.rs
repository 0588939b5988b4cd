//! The kernels of the interpreter: one file a group of ops, plain functions on concrete tensors.
//!
//! A kernel knows no graph and no symbols; the plan evaluates both before it calls one. Which kernel runs is decided in
//! `dispatch`.

pub(crate) mod arg;
pub(crate) mod binary;
pub(crate) mod compare;
pub(crate) mod complex;
pub(crate) mod convert;
mod elements;
pub(crate) mod movement;
pub(crate) mod random;
pub(crate) mod real;
pub(crate) mod reduce;
pub(crate) mod special;
pub(crate) mod strided;
pub(crate) mod unary;

pub(crate) use elements::{
    Outcome, collect, collected, collector, map, map_to, no_kernel, scalar_at, slice, tensor, zip, zip_to,
};

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
#[allow(dead_code, unused_imports)]
pub(crate) mod linalg;
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
