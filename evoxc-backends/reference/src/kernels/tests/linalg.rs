//! Factorisations and solves. Expectations are those of jax.lax.linalg, numpy.linalg and the definitions.

use super::{near, same, t};
use crate::kernels::contraction::dot;
use crate::kernels::linalg::*;
use evoxc_core::{C64, C128, DType, F32, F64, I32, Tensor};
use evoxc_ir::{AxisPair, LinTranspose};
use num_complex::Complex;

fn c(re: f64, im: f64) -> Complex<f64> {
    Complex::new(re, im)
}
fn a() -> Tensor {
    t(&[3, 3], [2., 1., -3., 4., -2., 1., -4., 0., 5.])
}
fn wide() -> Tensor {
    t(&[2, 3], [1., 2., 3., 4., 5., 7.])
}
fn tall() -> Tensor {
    t(&[3, 2], [1., 4., 2., 5., 3., 7.])
}
fn complex() -> Tensor {
    t(&[2, 2], [c(1., 1.), c(2., 0.), c(0., 3.), c(1., -2.)])
}
/// Real and imaginary parts in double precision.
fn parts(x: &Tensor) -> Vec<f64> {
    x.cast(C128).unwrap().as_slice::<Complex<f64>>().unwrap().iter().flat_map(|z| [z.re, z.im]).collect()
}
#[track_caller]
fn close(got: &Tensor, want: &Tensor, tolerance: f64) {
    assert_eq!(got.shape(), want.shape());
    near(&parts(got), &parts(want), tolerance);
}
#[track_caller]
fn reals(got: &Tensor, want: &[f64]) {
    near(got.as_slice().unwrap(), want, 1e-13);
}
fn all_nan(x: &Tensor) -> bool {
    parts(x).chunks(2).all(|z| z[0].is_nan())
}
fn matmul(a: &Tensor, b: &Tensor) -> Tensor {
    let n = a.rank();
    let lead: Vec<usize> = (0..n - 2).collect();
    let batch = AxisPair { lhs: lead.clone(), rhs: lead };
    dot(a, b, &batch, &AxisPair { lhs: vec![n - 1], rhs: vec![n - 2] }, None).unwrap()
}
/// The conjugate transpose of a matrix.
fn adjoint(x: &Tensor) -> Tensor {
    let v = x.cast(C128).unwrap();
    let [m, n] = *x.shape() else { panic!("a matrix") };
    let v = v.as_slice::<Complex<f64>>().unwrap();
    t(&[n, m], (0..n * m).map(|ij| v[ij % m * n + ij / m].conj())).cast(x.dtype()).unwrap()
}
fn eye(n: usize, dtype: DType) -> Tensor {
    t(&[n, n], (0..n * n).map(|ij| f64::from(ij / n == ij % n))).cast(dtype).unwrap()
}
/// Numbers in [-1, 1) by a linear congruential generator.
fn noise(shape: &[usize], dtype: DType, seed: u64) -> Tensor {
    let mut s = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (s >> 11) as f64 / (1u64 << 52) as f64 - 1.
    };
    t(shape, (0..shape.iter().product::<usize>()).map(|_| c(next(), next()))).cast(dtype).unwrap()
}
const TYPES: [(DType, f64); 4] = [(F32, 2e-5), (F64, 1e-12), (C64, 2e-5), (C128, 1e-12)];

#[test]
fn lu_of_small_matrices() {
    let check = |a: &Tensor, want: &[f64], pivots: &[i32], perm: &[i32]| {
        let [f, p, q] = lu(a).unwrap();
        near(f.as_slice().unwrap(), want, 1e-14);
        same(&p, &t(&[pivots.len()], pivots.iter().copied()));
        same(&q, &t(&[perm.len()], perm.iter().copied()));
    };
    check(&a(), &[4., -2., 1., 0.5, 2., -3.5, -1., -1., 2.5], &[1, 1, 2], &[1, 0, 2]);
    check(&wide(), &[4., 5., 7., 0.25, 0.75, 1.25], &[1, 1], &[1, 0]);
    let want = [3., 7., 0.3333333333333333, 1.666666666666667, 0.6666666666666666, 0.2];
    check(&tall(), &want, &[2, 2], &[2, 0, 1]);
    check(&t(&[2, 2], [0., 1., 0., 2.]), &[0., 1., 0., 2.], &[0, 1], &[0, 1]);
    let [f, p, _] = lu(&complex()).unwrap();
    let third = 1. / 3.;
    close(&f, &t(&[2, 2], [c(0., 3.), c(1., -2.), c(third, -third), c(7. * third, 1.)]), 1e-15);
    same(&p, &t(&[2], [1i32, 1]));
    assert!(lu(&t(&[1, 1], [1i32])).is_err());
    assert!(lu(&t(&[1], [1f32])).is_err());
}

// The definition: a[perm] = L U.
#[test]
fn lu_of_batches() {
    for (dtype, tolerance) in TYPES {
        let x = noise(&[2, 7, 5], dtype, 3);
        let [f, _, perm] = lu(&x).unwrap();
        let (f, v, perm) = (parts(&f), parts(&x), perm.to_vec::<i32>().unwrap());
        let at = |v: &[f64], b: usize, i: usize, j: usize| {
            let k = 2 * ((b * 7 + i) * 5 + j);
            c(v[k], v[k + 1])
        };
        for (b, i, j) in (0..70).map(|n| (n / 35, n / 5 % 7, n % 5)) {
            let l = |k: usize| if k < i { at(&f, b, i, k) } else { c(f64::from(k == i), 0.) };
            let got: Complex<f64> = (0..=i.min(j)).map(|k| l(k) * at(&f, b, k, j)).sum();
            let want = at(&v, b, perm[b * 7 + i] as usize, j);
            near(&[got.re, got.im], &[want.re, want.im], tolerance);
        }
    }
}

// The definitions, of matrices of several blocks and of one that is not full.
#[test]
fn blocked_factorisations() {
    for (dtype, tolerance) in TYPES {
        for n in [64, 65, 150] {
            let x = noise(&[n, n], dtype, 17);
            let [f, pivots, perm] = lu(&x).unwrap();
            let v = parts(&f);
            let triangle = |lower: bool| {
                let at = |i: usize, j: usize| match (i == j, (i > j) == lower) {
                    (true, _) if lower => c(1., 0.),
                    (true, _) | (false, true) => c(v[2 * (i * n + j)], v[2 * (i * n + j) + 1]),
                    (false, false) => c(0., 0.),
                };
                t(&[n, n], (0..n * n).map(|ij| at(ij / n, ij % n))).cast(dtype).unwrap()
            };
            let (rows, swaps) = (perm.to_vec::<i32>().unwrap(), pivots.to_vec::<i32>().unwrap());
            let mut swapped: Vec<i32> = (0..n as i32).collect();
            swaps.iter().enumerate().for_each(|(i, &p)| swapped.swap(i, p as usize));
            assert_eq!(rows, swapped);
            let elements = parts(&x);
            let at = |i: usize, j: usize| {
                let k = 2 * (rows[i] as usize * n + j);
                c(elements[k], elements[k + 1])
            };
            let exchanged = t(&[n, n], (0..n * n).map(|ij| at(ij / n, ij % n))).cast(dtype).unwrap();
            let (l, u) = (triangle(true), triangle(false));
            close(&matmul(&l, &u), &exchanged, 4. * tolerance);
            // No multiplier is over 1 (√2 where |re| + |im| chooses).
            assert!(parts(&l).chunks(2).all(|z| z[0].hypot(z[1]) <= 1.4143));

            let h = matmul(&x, &adjoint(&x));
            let l = cholesky(&h, true).unwrap();
            close(&matmul(&l, &adjoint(&l)), &h, n as f64 * tolerance);
            let u = cholesky(&h, false).unwrap();
            close(&matmul(&adjoint(&u), &u), &h, n as f64 * tolerance);
            let v = parts(&l);
            assert!((0..n * n).all(|ij| ij % n <= ij / n || v[2 * ij..2 * ij + 2] == [0., 0.]));

            let b = noise(&[n, 3], dtype, 19);
            for (lower, transpose) in
                [(true, LinTranspose::None), (false, LinTranspose::None), (true, LinTranspose::Adjoint)]
            {
                let m = if lower { &l } else { &adjoint(&l) };
                let y = triangular_solve(m, &b, true, lower, false, transpose).unwrap();
                let op = if transpose == LinTranspose::Adjoint { adjoint(m) } else { m.clone() };
                // Relative to the sizes of the terms.
                let largest = parts(&y).iter().fold(1f64, |m, x| m.max(x.abs()));
                close(&matmul(&op, &y), &b, n as f64 * tolerance * largest);
            }
        }
    }
    // The pivot of the last block is not positive.
    let mut values = vec![0f64; 100 * 100];
    (0..100).for_each(|i| values[101 * i] = if i == 90 { -1. } else { 1. });
    assert!(all_nan(&cholesky(&t(&[100, 100], values), true).unwrap()));
    // Zero pivots leave their columns, in whatever block.
    let [f, p, _] = lu(&Tensor::zeros(F64, [70, 70])).unwrap();
    same(&f, &Tensor::zeros(F64, [70, 70]));
    same(&p, &t(&[70], 0..70i32));
    // A matrix of more rows than columns, and the reverse.
    for (m, n) in [(150, 70), (70, 150)] {
        let x = noise(&[m, n], F64, 23);
        let [f, _, perm] = lu(&x).unwrap();
        let (f, x, rows) = (f.to_vec::<f64>().unwrap(), x.to_vec::<f64>().unwrap(), perm.to_vec::<i32>().unwrap());
        for (i, j) in (0..m * n).map(|ij| (ij / n, ij % n)) {
            let l = |k: usize| if k < i { f[i * n + k] } else { 1. };
            let got: f64 = (0..=i.min(j)).map(|k| l(k) * f[k * n + j]).sum();
            near(&[got], &[x[rows[i] as usize * n + j]], 1e-12);
        }
    }
}

#[test]
fn qr_has_the_signs_of_lapack() {
    let third = 1. / 3.;
    let [q, r] = qr(&a(), false).unwrap();
    reals(&q, &[-third, -2. * third, 2. * third, -2. * third, 2. * third, third, 2. * third, third, 2. * third]);
    reals(&r, &[-6., 1., 11. * third, 0., -2., 13. * third, 0., 0., 5. * third]);
    let [q, r] = qr(&tall(), true).unwrap();
    let want = [
        -0.2672612419124243,
        0.948683298050514,
        0.16903085094570328,
        -0.5345224838248488,
        0.0,
        -0.8451542547285167,
        -0.8017837257372732,
        -0.3162277660168378,
        0.50709255283711,
    ];
    reals(&q, &want);
    reals(&r, &[-3.7416573867739413, -9.354143466934854, 0.0, 1.5811388300841913, 0.0, 0.0]);
    let [q, r] = qr(&wide(), false).unwrap();
    reals(&q, &[-0.24253562503633308, -0.970142500145332, -0.970142500145332, 0.24253562503633286]);
    let want =
        [-4.123105625617661, -5.335783750799326, -7.518604376126323, 0.0, -0.7276068751089992, -1.2126781251816663];
    reals(&r, &want);
    let [q, r] = qr(&complex(), false).unwrap();
    let want = [
        c(-0.3015113445777635, -0.3015113445777636),
        c(0.8313979615881407, 0.3563134121092031),
        c(0., -0.9045340337332908),
        c(-0.1583615164929792, -0.395903791232448),
    ];
    close(&q, &t(&[2, 2], want), 1e-15);
    let want =
        [c(-3.3166247903554003, 0.), c(1.2060453783110545, 1.507556722888818), c(0., 0.), c(2.2962419891481978, 0.)];
    close(&r, &t(&[2, 2], want), 1e-15);
    let [q, r] = qr(&t(&[2, 2], [0., 2., 0., 1.]), false).unwrap();
    reals(&q, &[1., 0., 0., 1.]);
    reals(&r, &[0., 2., 0., 1.]);
}

// The definition: a = q r, qᴴ q = 1; squares of the elements overflow and vanish here.
#[test]
fn qr_of_every_shape() {
    for (dtype, tolerance) in TYPES {
        for (m, n) in [(6, 4), (4, 6), (5, 5), (1, 3), (3, 1), (1, 1)] {
            let x = noise(&[m, n], dtype, 5);
            for full in [false, true] {
                let [q, r] = qr(&x, full).unwrap();
                close(&matmul(&q, &r), &x, tolerance);
                close(&matmul(&adjoint(&q), &q), &eye(q.shape()[1], dtype), tolerance);
            }
        }
    }
    for size in [1e200, 1e-200] {
        let [_, r] = qr(&t(&[2, 1], [3. * size, 4. * size]), false).unwrap();
        near(&[r.as_slice::<f64>().unwrap()[0] / size], &[-5.], 1e-15);
    }
}

#[test]
fn cholesky_reads_one_triangle() {
    let x = t(&[2, 3, 3], [4., 9., 9., 2., 5., 9., -2., 1., 6., 1., 0., 0., 0., -1., 0., 0., 0., 1.]);
    let r = cholesky(&x, true).unwrap();
    let v = r.as_slice::<f64>().unwrap();
    near(&v[..9], &[2., 0., 0., 1., 2., 0., -1., 1., 2.], 1e-15);
    assert!(v[9..].iter().all(|x| x.is_nan()));
    let upper = cholesky(&t(&[3, 3], [4., 2., -2., 9., 5., 1., 9., 9., 6.]), false).unwrap();
    reals(&upper, &[2., 1., -1., 0., 2., 1., 0., 0., 2.]);
    let h = t(&[2, 2], [c(4., 0.), c(1., -2.), c(1., 2.), c(6., 0.)]);
    let l = cholesky(&h, true).unwrap();
    close(&l, &t(&[2, 2], [c(2., 0.), c(0., 0.), c(0.5, 1.), c(2.179449471770337, 0.)]), 1e-15);
    close(&cholesky(&h, false).unwrap(), &adjoint(&l), 1e-15);
    assert!(all_nan(&cholesky(&t(&[2, 2], [1f32, 0., f32::NAN, 1.]), true).unwrap()));
    assert!(cholesky(&wide(), true).is_err());
}

#[test]
fn cholesky_of_larger_matrices() {
    for (dtype, tolerance) in TYPES {
        let x = noise(&[9, 9], dtype, 7);
        let h = matmul(&x, &adjoint(&x));
        let l = cholesky(&h, true).unwrap();
        close(&matmul(&l, &adjoint(&l)), &h, tolerance);
        let u = cholesky(&h, false).unwrap();
        close(&matmul(&adjoint(&u), &u), &h, tolerance);
    }
}

#[test]
fn triangular_solves() {
    use LinTranspose::{None, Transpose};
    let l = t(&[3, 3], [2., 9., 9., 1., 4., 9., -1., 3., 5.]);
    let b = t(&[3, 2], [2., 4., 5., 6., 1., -3.]);
    let bt = t(&[2, 3], [2., 5., 1., 4., 6., -3.]);
    let check = |left: bool, lower, transpose, unit, want: [f64; 6]| {
        let r = triangular_solve(&l, if left { &b } else { &bt }, left, lower, unit, transpose).unwrap();
        reals(&r, &want);
    };
    check(true, true, None, false, [1.0, 2.0, 1.0, 1.0, -0.2, -0.8]);
    check(true, true, None, true, [2.0, 4.0, 3.0, 2.0, -6.0, -5.0]);
    check(true, true, Transpose, false, [0.55, 0.725, 1.1, 1.95, 0.2, -0.6]);
    check(true, true, Transpose, true, [1.0, -14.0, 2.0, 15.0, 1.0, -3.0]);
    check(true, false, None, false, [-3.5, -8.125, 0.8, 2.85, 0.2, -0.6]);
    check(true, false, None, true, [29.0, -266.0, -4.0, 33.0, 1.0, -3.0]);
    check(true, false, Transpose, false, [1.0, 2.0, -1.0, -3.0, 0.2, 1.2]);
    check(true, false, Transpose, true, [2.0, 4.0, -13.0, -30.0, 100.0, 231.0]);
    check(false, true, None, false, [0.55, 1.1, 0.2, 0.725, 1.95, -0.6]);
    check(false, true, None, true, [1.0, 2.0, 1.0, -14.0, 15.0, -3.0]);
    check(false, true, Transpose, false, [1.0, 1.0, -0.2, 2.0, 1.0, -0.8]);
    check(false, true, Transpose, true, [2.0, 3.0, -6.0, 4.0, 2.0, -5.0]);
    check(false, false, None, false, [1.0, -1.0, 0.2, 2.0, -3.0, 1.2]);
    check(false, false, None, true, [2.0, -13.0, 100.0, 4.0, -30.0, 231.0]);
    check(false, false, Transpose, false, [-3.5, 0.8, 0.2, -8.125, 2.85, -0.6]);
    check(false, false, Transpose, true, [29.0, -4.0, 1.0, -266.0, 33.0, -3.0]);
    let l = t(&[2, 2], [c(1., 1.), c(0., 0.), c(0., 2.), c(1., -1.)]);
    let b = t(&[2, 1], [c(1., 0.), c(0., 1.)]);
    let r = triangular_solve(&l, &b, true, true, false, LinTranspose::Adjoint).unwrap();
    close(&r, &t(&[2, 1], [c(-0.5, 0.5), c(0.5, 0.5)]), 1e-15);
    assert!(triangular_solve(&l, &a(), true, true, false, None).is_err());
    assert!(triangular_solve(&l, &t(&[2, 1], [1f64, 1.]), true, true, false, None).is_err());
}

// x op(a) = b with the conjugate transpose, by multiplying back.
#[test]
fn triangular_solve_from_the_right_with_the_adjoint() {
    let l = t(&[2, 2], [c(1., 1.), c(0., 0.), c(0., 2.), c(1., -1.)]);
    let b = t(&[1, 2], [c(1., 2.), c(3., -1.)]);
    let x = triangular_solve(&l, &b, false, true, false, LinTranspose::Adjoint).unwrap();
    close(&matmul(&x, &adjoint(&l)), &b, 1e-15);
}

// numpy.linalg.eigvalsh; a v = v diag(w), vᴴ v = 1.
#[test]
fn eigenvalues_of_hermitian_matrices() {
    let [w, _] = eigh(&t(&[3, 3], [4., 9., 9., 2., 5., 9., -2., 1., 6.])).unwrap();
    reals(&w, &[1.3881412901959558, 6.341324689288878, 7.270534020515166]);
    let [w, _] = eigh(&t(&[2, 2], [c(4., 0.), c(1., -2.), c(1., 2.), c(6., 0.)])).unwrap();
    reals(&w, &[2.5505102572168217, 7.449489742783178]);
    for (dtype, tolerance) in TYPES {
        for n in [1, 2, 3, 8, 40] {
            let x = noise(&[n, n], dtype, 11);
            let h = matmul(&x, &adjoint(&x));
            let [w, v] = eigh(&h).unwrap();
            assert_eq!((w.dtype(), v.dtype()), (dtype.real(), dtype));
            let w = parts(&w.cast(F64).unwrap());
            assert!(w.chunks(2).map(|w| w[0]).is_sorted());
            let d = t(&[n, n], (0..n * n).map(|ij| if ij / n == ij % n { w[2 * (ij / n)] } else { 0. }));
            let d = d.cast(dtype).unwrap();
            close(&matmul(&matmul(&v, &d), &adjoint(&v)), &h, tolerance * n as f64);
            close(&matmul(&adjoint(&v), &v), &eye(n, dtype), tolerance);
        }
    }
}

// numpy.linalg.svd; a = u diag(s) vh, with orthonormal vectors.
#[test]
fn singular_values() {
    reals(&svd(&a(), false).unwrap()[1], &[7.5840656382851455, 4.254136995631386, 0.6198925847135791]);
    reals(&svd(&wide(), true).unwrap()[1], &[10.18147167222686, 0.5810633249844988]);
    reals(&svd(&complex(), false).unwrap()[1], &[4.059647853990278, 1.8759688967549917]);
    for (dtype, tolerance) in TYPES {
        for (m, n) in [(1, 1), (5, 3), (3, 5), (4, 4), (1, 4), (30, 17)] {
            let x = noise(&[m, n], dtype, 13);
            for full in [false, true] {
                let [u, s, vh] = svd(&x, full).unwrap();
                let s = parts(&s.cast(F64).unwrap());
                assert!(s.chunks(2).map(|s| -s[0]).is_sorted());
                let (rows, columns) = (u.shape()[1], vh.shape()[0]);
                let at = |i: usize, j: usize| if i == j { s.get(2 * i).copied().unwrap_or(0.) } else { 0. };
                let d = t(&[rows, columns], (0..rows * columns).map(|ij| at(ij / columns, ij % columns)));
                let d = d.cast(dtype).unwrap();
                close(&matmul(&matmul(&u, &d), &vh), &x, tolerance);
                close(&matmul(&adjoint(&u), &u), &eye(rows, dtype), tolerance);
                close(&matmul(&vh, &adjoint(&vh)), &eye(columns, dtype), tolerance);
            }
        }
    }
}

// By hand: zero and extreme matrices, no matrices, matrices without elements, NaN and infinity.
#[test]
fn edges() {
    for size in [1e-320, 1e-200, 1., 1e300] {
        let x = t(&[2, 2], [3. * size, 0., 4. * size, 0.]);
        near(
            &[svd(&x, false).unwrap()[1].as_slice::<f64>().unwrap()[0] / size],
            &[5.],
            1e-3f64.min(1e-323 / size + 1e-14),
        );
        let [w, _] = eigh(&t(&[2, 2], [size, 0., size, size])).unwrap();
        near(&[w.as_slice::<f64>().unwrap()[1] / size], &[2.], 1e-3f64.min(1e-323 / size + 1e-14));
    }
    reals(&svd(&Tensor::zeros(F64, [2, 3]), true).unwrap()[1], &[0., 0.]);
    for nan in [f64::NAN, f64::INFINITY] {
        let x = t(&[2, 2, 2], [1., 0., 0., 1., 1., 0., nan, 1.]);
        for r in [eigh(&x).unwrap().to_vec(), svd(&x, true).unwrap().to_vec()] {
            for r in r {
                let v = r.as_slice::<f64>().unwrap();
                let (good, bad) = v.split_at(v.len() / 2);
                assert!(good.iter().all(|x| x.is_finite()) && bad.iter().all(|x| x.is_nan()));
            }
        }
    }
    let [q, r] = qr(&t(&[2, 1], [f64::NAN, 1.]), false).unwrap();
    assert!(all_nan(&q) && all_nan(&r));
    for x in [Tensor::zeros(F32, [0, 0]), Tensor::zeros(F32, [0, 2, 2]), Tensor::zeros(F32, [2, 0, 0])] {
        same(&cholesky(&x, true).unwrap(), &x);
        same(&triangular_solve(&x, &x, false, true, false, LinTranspose::None).unwrap(), &x);
        same(&eigh(&x).unwrap()[1], &x);
        same(&svd(&x, true).unwrap()[2], &x);
        same(&lu(&x).unwrap()[0], &x);
        same(&qr(&x, true).unwrap()[0], &x);
    }
    let x = Tensor::zeros(F64, [2, 0]);
    same(&qr(&x, true).unwrap()[0], &eye(2, F64));
    same(&svd(&x, true).unwrap()[0], &eye(2, F64));
    same(&lu(&x).unwrap()[2], &t(&[2], [0i32, 1]));
    same(&lu(&x).unwrap()[1], &Tensor::zeros(I32, [0]));
    same(&qr(&Tensor::zeros(F64, [0, 2]), true).unwrap()[1], &Tensor::zeros(F64, [0, 2]));
}
