//! The kernels: one file a group of ops, plain functions on concrete tensors.
//!
//! A kernel knows no graph and no symbols; the plan evaluates both before it calls one. Which kernel runs is decided in
//! `dispatch`.

pub(crate) mod arg;
pub(crate) mod binary;
mod combine;
pub(crate) mod compare;
mod complex;
pub(crate) mod contraction;
pub(crate) mod convert;
pub(crate) mod convolution;
pub(crate) mod cumulative;
mod elements;
pub(crate) mod fft;
mod fft_short;
pub(crate) mod indexing;
pub(crate) mod linalg;
mod matmul;
pub(crate) mod movement;
mod precision;
pub(crate) mod random;
pub(crate) mod real;
pub(crate) mod reduce;
pub(crate) mod sort;
mod special;
mod strided;
mod taps;
pub(crate) mod unary;
mod walk;
pub(crate) mod window;

pub(crate) use elements::{
    Outcome, collect, collected, collector, empty, map, map_to, no_kernel, scalar_at, slice, tensor, zip, zip_to,
};

#[cfg(test)]
mod tests;
