//! Tests of the kernels on concrete tensors; each expectation names its source.

mod contraction;
mod indexing;
mod sort;

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
