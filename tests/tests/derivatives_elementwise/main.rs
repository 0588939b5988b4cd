//! Derivatives of element-wise ops, data movement, dot, convolution, and reductions.

mod check;
mod convolution;
mod movement;
mod ops;
mod reductions;
