//! Dot products.

use super::{same, t};
use crate::kernels::contraction::dot;
use crate::kernels::matmul::{Strided, matmul};
use evoxc_core::{DType, F16, F32, F64, I32, Tensor};
use evoxc_ir::AxisPair;
use num_complex::Complex;

fn pair(lhs: &[usize], rhs: &[usize]) -> AxisPair {
    AxisPair { lhs: lhs.into(), rhs: rhs.into() }
}
fn ramp(shape: &[usize], from: f64, step: f64) -> Tensor {
    t(shape, (0..shape.iter().product::<usize>()).map(|i| from + step * i as f64))
}

// Expectations of this test: jax.lax.dot_general of (arange(24) - 5).reshape(2, 3, 4) and arange(30).reshape(5, 2, 3)/2.
#[test]
fn batches_and_several_contracting_axes() {
    let (a, b) = (ramp(&[2, 3, 4], -5., 1.), ramp(&[5, 2, 3], 0., 0.5));
    let r = dot(&a, &b, &pair(&[0], &[1]), &pair(&[1], &[2]), None).unwrap();
    let want = [
        2.5, -6.5, -15.5, -24.5, -33.5, 4.0, 4.0, 4.0, 4.0, 4.0, 5.5, 14.5, 23.5, 32.5, 41.5, 7.0, 25.0, 43.0, 61.0,
        79.0, 70.0, 169.0, 268.0, 367.0, 466.0, 76.0, 184.0, 292.0, 400.0, 508.0, 82.0, 199.0, 316.0, 433.0, 550.0,
        88.0, 214.0, 340.0, 466.0, 592.0,
    ];
    same(&r, &t(&[2, 4, 5], want));
    // The right operand of this one is b with axes (2, 0, 1).
    let bt = t(&[3, 5, 2], (0..30).map(|i| f64::from((i / 2 % 5) * 6 + (i % 2) * 3 + i / 10) / 2.));
    let r = dot(&a, &bt, &pair(&[], &[]), &pair(&[1, 0], &[0, 2]), None).unwrap();
    let want = [
        72.5, 162.5, 252.5, 342.5, 432.5, 80.0, 188.0, 296.0, 404.0, 512.0, 87.5, 213.5, 339.5, 465.5, 591.5, 95.0,
        239.0, 383.0, 527.0, 671.0,
    ];
    same(&r, &t(&[4, 5], want));
}

// Expectations: jax.lax.dot_general of i8, without and with preferred_element_type = i32; bool is or of and (table).
#[test]
fn integers_wrap_in_the_type_of_the_sum() {
    let (a, b) = (t(&[2, 2], [100i8, 100, 1, 2]), t(&[2, 2], [2i8, 1, 3, 1]));
    let c = pair(&[1], &[0]);
    same(&dot(&a, &b, &pair(&[], &[]), &c, None).unwrap(), &t(&[2, 2], [-12i8, -56, 8, 3]));
    same(&dot(&a, &b, &pair(&[], &[]), &c, Some(I32)).unwrap(), &t(&[2, 2], [500, 200, 8, 3]));
    let (a, b) = (t(&[2, 2], [true, false, false, false]), t(&[2], [true, true]));
    same(&dot(&a, &b, &pair(&[], &[]), &c, None).unwrap(), &t(&[2], [true, false]));
}

// 2048 + 1 is not an f16: a sum in f16 would stay at 2048, a sum in f32 rounds once.
#[test]
fn halves_sum_in_f32() {
    let ones = Tensor::ones(F16, [4000]);
    let r = dot(&ones, &ones, &pair(&[], &[]), &pair(&[0], &[0]), None).unwrap();
    same(&r, &Tensor::from(half::f16::from_f32(4000.)));
    let r = dot(&ones, &ones, &pair(&[], &[]), &pair(&[0], &[0]), Some(F32)).unwrap();
    same(&r, &Tensor::from(4000f32));
}

// Every size and layout against the definition, in integers small enough to be exact in every type.
#[test]
fn sizes_and_layouts() {
    fn check(dtype: DType, m: usize, k: usize, n: usize) {
        let value = |i: usize| (i * 7 % 11) as f64 - 5.;
        for (left, right) in [(false, false), (true, false), (false, true), (true, true)] {
            let a = if left { ramp(&[k, m], 0., 1.) } else { ramp(&[m, k], 0., 1.) };
            let b = if right { ramp(&[n, k], 0., 1.) } else { ramp(&[k, n], 0., 1.) };
            let small = |x: &Tensor| {
                let v: Vec<f64> = x.as_slice::<f64>().unwrap().iter().map(|&i| value(i as usize)).collect();
                t(x.shape(), v).cast(dtype).unwrap()
            };
            let contract = pair(&[if left { 0 } else { 1 }], &[if right { 1 } else { 0 }]);
            let r = dot(&small(&a), &small(&b), &pair(&[], &[]), &contract, None).unwrap();
            let want = (0..m * n).map(|ij| {
                let (i, j) = (ij / n, ij % n);
                let l = |p| value(if left { p * m + i } else { i * k + p });
                let r = |p| value(if right { j * k + p } else { p * n + j });
                (0..k).fold(0., |s, p| s + l(p) * r(p))
            });
            same(&r, &t(&[m, n], want.collect::<Vec<_>>()).cast(dtype).unwrap());
        }
    }
    for dtype in [F32, F64, I32, DType::C64, DType::C128, DType::BF16] {
        for (m, k, n) in [(1, 1, 1), (1, 9, 5), (5, 9, 1), (1, 17, 1), (3, 2, 4), (9, 10, 11), (33, 5, 20), (2, 0, 3)] {
            check(dtype, m, k, n);
        }
    }
}

// The definition, into rows that are further apart than they are long: what lies between stays as it is.
#[test]
fn rows_with_gaps() {
    for (m, k, n) in [(1, 9, 5), (5, 9, 1), (3, 2, 4), (9, 10, 11), (33, 5, 20), (2, 600, 3)] {
        let (a, b, gap) = (vec![1f32; m * k], vec![2f32; k * n], 3);
        let mut c = vec![0f32; m * (n + gap)];
        let (a, b) = (Strided { data: &a, row: k, col: 1 }, Strided { data: &b, row: 1, col: k });
        matmul([m, k, n], a, b, &mut c, n + gap);
        for row in c.chunks(n + gap) {
            assert!(row[..n].iter().all(|&x| x == 2. * k as f32), "{m}x{k}x{n}: {c:?}");
            assert_eq!(row[n..], [0.; 3]);
        }
    }
}

// Same inputs, same bits, wherever in memory they lie.
#[test]
fn bits_do_not_depend_on_addresses() {
    for (m, k, n) in [(1, 100, 70), (70, 100, 1), (5, 3, 7), (37, 129, 41)] {
        let value = |i: usize| ((i * 7919 + 13) % 1009) as f32 / 1009. - 0.5;
        let product = |shift: usize| {
            let place = |len: usize| (0..len + shift).map(|i| value(i.saturating_sub(shift))).collect::<Vec<_>>();
            let (a, b, mut c) = (place(m * k), place(k * n), vec![0f32; m * n + shift]);
            let a = Strided { data: &a[shift..], row: k, col: 1 };
            let b = Strided { data: &b[shift..], row: n, col: 1 };
            matmul([m, k, n], a, b, &mut c[shift..], n);
            c[shift..].iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        let want = product(0);
        (1..16).for_each(|shift| assert_eq!(product(shift), want, "{m}x{k}x{n} at {shift}"));
    }
}

// NumPy: a row of NaN or inf * 0 is NaN; empty operands; a scalar product; complex products do not conjugate.
#[test]
fn edges() {
    let none = pair(&[], &[]);
    let a = t(&[2, 2], [f32::INFINITY, 1., f32::NAN, 1.]);
    let r = dot(&a, &Tensor::zeros(F32, [2, 3]), &none, &pair(&[1], &[0]), None).unwrap();
    assert!(r.to_vec::<f32>().unwrap().iter().all(|x| x.is_nan()));
    let r = dot(&Tensor::zeros(F32, [0, 2]), &Tensor::zeros(F32, [2, 3]), &none, &pair(&[1], &[0]), None).unwrap();
    same(&r, &Tensor::zeros(F32, [0, 3]));
    same(&dot(&Tensor::from(2f64), &Tensor::from(3f64), &none, &none, None).unwrap(), &Tensor::from(6f64));
    let i = Tensor::from(Complex::new(0f32, 1.));
    same(&dot(&i, &i, &none, &none, None).unwrap(), &Tensor::from(Complex::new(-1f32, 0.)));
    assert!(dot(&Tensor::zeros(F32, [2]), &Tensor::zeros(F32, [3]), &none, &pair(&[0], &[0]), None).is_err());
}
