//! The kernels of the interpreter: one file a group of ops, plain functions on concrete tensors.
//!
//! A kernel knows no graph and no symbols; the plan evaluates both before it calls one.

#[allow(dead_code)]
mod combine;
#[allow(dead_code)]
mod contraction;
#[allow(dead_code)]
mod indexing;
#[allow(dead_code)]
mod matmul;
#[allow(dead_code)]
mod sort;
#[allow(dead_code)]
mod walk;

#[cfg(test)]
mod tests;
