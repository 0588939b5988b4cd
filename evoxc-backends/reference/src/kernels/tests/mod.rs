//! Tests of the kernels on concrete tensors; each expectation names its source.

mod contraction;
mod convolution;
mod cumulative;
mod fft;
mod indexing;
mod linalg;
mod sort;
mod window;

use evoxc_core::{Element, Tensor};

/// A tensor of a shape.
fn t<T: Element>(shape: &[usize], v: impl IntoIterator<Item = T>) -> Tensor {
    Tensor::from_vec(v.into_iter().collect(), shape).expect("a test's own shape")
}
/// 0, 1, 2 … as f32.
fn counting(shape: &[usize]) -> Tensor {
    t(shape, (0..shape.iter().product::<usize>()).map(|i| i as f32))
}
#[track_caller]
fn same(got: &Tensor, want: &Tensor) {
    assert!(got.bit_eq(want), "\n got {got}\nwant {want}");
}
/// Equal within a relative tolerance, NaN to NaN and infinities exactly.
#[track_caller]
fn near(got: &[f64], want: &[f64], tolerance: f64) {
    let close = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * b.abs().max(1.);
    let all = got.len() == want.len() && got.iter().zip(want).all(|(&a, &b)| close(a, b));
    assert!(all, "\n got {got:?}\nwant {want:?}");
}
/// `((7 i + a) mod 11) - 5`: small integers without a pattern.
fn ramp(shape: &[usize], a: usize) -> Tensor {
    t(shape, (0..shape.iter().product::<usize>()).map(|i| ((i * 7 + a) % 11) as f64 - 5.))
}
