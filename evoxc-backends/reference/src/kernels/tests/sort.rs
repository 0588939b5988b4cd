//! Sorting and the largest elements.

use super::{same, t};
use crate::kernels::sort::*;
use evoxc_core::{F32, I32, Tensor};
use evoxc_ir::SortKeys;
use num_complex::Complex;

const INF: f32 = f32::INFINITY;
fn special() -> Tensor {
    t(&[8], [3f32, f32::NAN, -0., 0., -INF, 1., INF, -1.])
}
fn up(n: usize) -> SortKeys {
    SortKeys(vec![false; n])
}
fn indices() -> Tensor {
    t(&[8], 0..8i32)
}

// Expectations of this test: jax.lax.sort, jnp.argsort (also descending=True, stable=True).
#[test]
fn floats_with_nan_and_zeros() {
    let r = sort(&[special()], 0, &up(1), true).unwrap();
    same(&r[0], &t(&[8], [-INF, -1., -0., 0., 1., 3., INF, f32::NAN]));
    let r = sort(&[special(), indices()], 0, &up(1), true).unwrap();
    same(&r[1], &t(&[8], [4i32, 7, 2, 3, 5, 0, 6, 1]));
    let r = sort(&[special(), indices()], 0, &SortKeys(vec![true]), true).unwrap();
    same(&r[1], &t(&[8], [1i32, 6, 0, 5, 2, 3, 7, 4]));
    // NaN with the sign set sorts as any other.
    let r = sort(&[t(&[2], [-f32::NAN, 1.])], 0, &up(1), true).unwrap();
    same(&r[0], &t(&[2], [1., -f32::NAN]));
}

// Expectations of this test: jax.lax.sort with num_keys 2 along axis 1, and 1 along axis 0; numpy.sort for complex.
#[test]
fn several_keys_and_axes() {
    let k1 = t(&[2, 4], [2i32, 1, 2, 1, 0, 0, 1, 0]);
    let k2 = t(&[2, 4], [1f64, 5., 0., 4., 3., 2., 1., 1.]);
    let r = sort(&[k1.clone(), k2.clone(), t(&[2, 4], 0..8i32)], 1, &up(2), true).unwrap();
    same(&r[2], &t(&[2, 4], [3i32, 1, 2, 0, 7, 5, 4, 6]));
    let r = sort(&[k1, k2], 0, &up(1), true).unwrap();
    same(&r[1], &t(&[2, 4], [3f64, 2., 1., 1., 1., 5., 0., 4.]));
    let c = |re, im| Complex::new(re, im);
    let r = sort(&[t(&[3], [c(1f64, 2.), c(1., -1.), c(0., 5.)])], 0, &up(1), true).unwrap();
    same(&r[0], &t(&[3], [c(0f64, 5.), c(1., -1.), c(1., 2.)]));
    let r = sort(&[t(&[3], [true, false, true])], 0, &up(1), false).unwrap();
    same(&r[0], &t(&[3], [false, true, true]));
    let empty = Tensor::zeros(F32, [0, 3]);
    same(&sort(std::slice::from_ref(&empty), 0, &up(1), true).unwrap()[0], &empty);
    same(&sort(&[empty.clone(), empty.clone()], 1, &up(1), true).unwrap()[1], &empty);
}

// The definition: ties keep their order; a comparator that is no order gives a permutation; an error comes out.
#[test]
fn by_a_body() {
    let x = t(&[7], [5i32, 2, 9, 2, 7, 1, 5]);
    let i = t(&[7], 0..7i32);
    let mut less = |a: &[Tensor]| Ok(vec![Tensor::from(a[0].item::<i32>()? < a[1].item::<i32>()?)]);
    let r = sort_body(&[x.clone(), i.clone()], 0, true, &mut less).unwrap();
    same(&r[0], &t(&[7], [1i32, 2, 2, 5, 5, 7, 9]));
    same(&r[1], &t(&[7], [5i32, 1, 3, 0, 6, 4, 2]));
    for always in [true, false] {
        let r =
            sort_body(std::slice::from_ref(&i), 0, true, &mut |_: &[Tensor]| Ok(vec![Tensor::from(always)])).unwrap();
        let mut v = r[0].to_vec::<i32>().unwrap();
        v.sort();
        assert_eq!(v, [0, 1, 2, 3, 4, 5, 6]);
    }
    assert!(sort_body(std::slice::from_ref(&x), 0, true, &mut |_: &[Tensor]| Ok(vec![Tensor::from(1f32)])).is_err());
    assert!(sort_body(&[x], 0, true, &mut |_: &[Tensor]| Ok(vec![])).is_err());
}

// Expectations: jax.lax.top_k.
#[test]
fn largest() {
    let [v, i] = top_k(&special(), 4).unwrap();
    same(&v, &t(&[4], [f32::NAN, INF, 3., 1.]));
    same(&i, &t(&[4], [1i32, 6, 0, 5]));
    let [v, i] = top_k(&t(&[2, 3], [1u8, 1, 1, 0, 2, 2]), 2).unwrap();
    same(&v, &t(&[2, 2], [1u8, 1, 2, 2]));
    same(&i, &t(&[2, 2], [0i32, 1, 1, 2]));
    let [v, i] = top_k(&Tensor::zeros(F32, [2, 0]), 0).unwrap();
    same(&v, &Tensor::zeros(F32, [2, 0]));
    same(&i, &Tensor::zeros(I32, [2, 0]));
    assert!(top_k(&special(), 9).is_err());
    assert!(top_k(&Tensor::from(1f32), 0).is_err());
}
