//! Reductions over windows. Expectations are those of jax.lax.reduce_window on the ramp, unless said otherwise.

use super::{ramp, same, t};
use crate::kernels::window::*;
use evoxc_core::{Dim, F32, F64, Tensor};
use evoxc_ir::{Padding, Reducer, SelectOp, Window};

const INF: f64 = f64::INFINITY;

fn window(size: &[i64], stride: &[i64], padding: &[(i64, i64)]) -> Window {
    let mut w = Window::new(size.iter().map(|&n| Dim::constant(n)).collect());
    w.stride = stride.into();
    let pad = |&(low, high): &(i64, i64)| Padding { low: Dim::constant(low), high: Dim::constant(high) };
    w.padding = padding.iter().map(pad).collect();
    w
}

#[test]
fn named_combiners() {
    let x = ramp(&[3, 5], 0);
    let check = |op, w: &Window, shape: &[usize], want: &[f64]| {
        same(&reduce_window(op, &x, w, shape).unwrap(), &t(shape, want.iter().copied()));
    };
    let w = window(&[2, 3], &[1, 2], &[(0, 1), (1, 1)]);
    check(Reducer::Sum, &w, &[3, 3], &[-2., 5., 5., -5., -5., 2., -6., -5., 3.]);
    let mut w = window(&[2, 2], &[1, 1], &[(0, 0), (1, -1)]);
    (w.base_dilation, w.window_dilation) = (vec![1, 2], vec![2, 1]);
    check(Reducer::Max, &w, &[1, 8], &[-1., -1., 2., 2., 2., 2., 5., 5.]);
    let w = window(&[3, 1], &[1, 1], &[(0, 0); 2]);
    check(Reducer::Prod, &w, &[1, 5], &[-15., -40., -0., 40., 15.]);
    let w = window(&[1, 2], &[1, 2], &[(0, 0), (3, 0)]);
    check(Reducer::Min, &w, &[3, 4], &[INF, -5., -2., 1., INF, -3., 0., -4., INF, -1., -5., -2.]);
}

// The table of ops: padding counts as the identity, sums of halves round once, NaN propagates; and/or on integers.
#[test]
fn other_types() {
    let w = window(&[2], &[1], &[(1, 0)]);
    let r = reduce_window(Reducer::And, &t(&[3], [6u8, 3, 1]), &w, &[3]).unwrap();
    same(&r, &t(&[3], [6u8, 2, 1]));
    let r = reduce_window(Reducer::Or, &t(&[3], [true, false, false]), &w, &[3]).unwrap();
    same(&r, &t(&[3], [true, true, false]));
    let r = reduce_window(Reducer::Max, &t(&[3], [f32::NAN, 3., 4.]), &w, &[3]).unwrap();
    same(&r, &t(&[3], [f32::NAN, f32::NAN, 4.]));
    assert!(reduce_window(Reducer::And, &t(&[3], [1f32, 2., 3.]), &w, &[3]).is_err());
    let x = t(&[3000], vec![half::f16::ONE; 3000]);
    let r = reduce_window(Reducer::Sum, &x, &window(&[3000], &[1], &[(0, 0)]), &[1]).unwrap();
    same(&r, &t(&[1], [half::f16::from_f32(3000.)]));
    let none = Tensor::zeros(F32, [0]);
    same(&reduce_window(Reducer::Sum, &none, &window(&[2], &[1], &[(1, 2)]), &[2]).unwrap(), &t(&[2], [0f32; 2]));
    same(&reduce_window(Reducer::Sum, &Tensor::from(2i8), &window(&[], &[], &[]), &[]).unwrap(), &Tensor::from(2i8));
}

// By hand, from StableHLO's definition: padding and holes are initial values that the body sees, in row-major order.
#[test]
fn with_a_body() {
    let mut w = window(&[3], &[2], &[(1, 0)]);
    w.base_dilation = vec![2];
    // Padded: init 1 hole 2 hole 3, init being 9; a body that writes down what it sees in base ten.
    let mut body = |a: &[Tensor]| Ok(vec![Tensor::from(a[0].item::<f64>()? * 10. + a[1].item::<f64>()?)]);
    let r = reduce_window_body(&[t(&[3], [1., 2., 3.])], &[Tensor::from(9.)], &w, &[2], &mut body).unwrap();
    same(&r[0], &t(&[2], [9919., 9929.]));
    let failing = reduce_window_body(&[t(&[3], [1., 2., 3.])], &[Tensor::from(9.)], &w, &[2], &mut |_| {
        Ok(vec![Tensor::from(1i32)])
    });
    assert!(failing.is_err());
}

// Expectations: JAX's _select_and_scatter_add with ge (the first largest) and le, with padding at the end.
#[test]
fn gradient_of_pooling() {
    let y = t(&[3, 5], [1., 5., 5., 2., 0., 3., 5., 1., 9., 9., 7., 7., 2., 9., 4.]);
    let s = t(&[2, 4], (1..9).map(f64::from));
    let w = window(&[2, 2], &[1, 1], &[(0, 0); 2]);
    let r = select_and_scatter(SelectOp::Max, &y, &s, &w).unwrap();
    same(&r, &t(&[3, 5], [0., 3., 0., 0., 0., 0., 0., 0., 22., 0., 5., 6., 0., 0., 0.]));
    let w = window(&[2, 2], &[2, 2], &[(0, 1), (0, 1)]);
    let r = select_and_scatter(SelectOp::Min, &y, &t(&[2, 3], (1..7).map(f64::from)), &w).unwrap();
    let want = t(&[3, 5], [1., 0., 0., 0., 3., 0., 0., 2., 0., 0., 4., 0., 5., 0., 6.]);
    same(&r, &want);
    let mut select = |a: &[Tensor]| Ok(vec![Tensor::from(a[0].item::<f64>()? <= a[1].item::<f64>()?)]);
    let mut scatter = |a: &[Tensor]| Ok(vec![Tensor::from(a[0].item::<f64>()? + a[1].item::<f64>()?)]);
    let s = t(&[2, 3], (1..7).map(f64::from));
    let r = select_and_scatter_body(&y, &s, &Tensor::from(0.), &w, &mut select, &mut scatter).unwrap();
    same(&r, &want);
    // NaN is selected; a window of nothing but padding selects nothing.
    let y = t(&[2], [1., f64::NAN]);
    let r = select_and_scatter(SelectOp::Max, &y, &t(&[1], [3.]), &window(&[2], &[1], &[(0, 0)])).unwrap();
    same(&r, &t(&[2], [0., 3.]));
    let r = select_and_scatter(SelectOp::Max, &y, &t(&[1], [3.]), &window(&[1], &[9], &[(1, 0)])).unwrap();
    same(&r, &Tensor::zeros(F64, [2]));
}

// Padding counts as the identity, however much of it a window covers: the elements alone take time and memory.
#[test]
fn windows_of_padding() {
    let n = 1 << 40;
    let x = t(&[4], [1f32, 2., 3., 4.]);
    let r = reduce_window(Reducer::Sum, &x, &window(&[n], &[1], &[(n - 1, 0)]), &[4]).unwrap();
    same(&r, &t(&[4], [1f32, 3., 6., 10.]));
    let r = reduce_window(Reducer::Sum, &x, &window(&[n], &[2], &[(1, n)]), &[3]).unwrap();
    same(&r, &t(&[3], [10f32, 9., 4.]));
}
