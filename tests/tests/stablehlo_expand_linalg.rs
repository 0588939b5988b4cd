//! Factorisations said in StableHLO's ops, on matrices of many shapes: what they give is what the interpreter's kernels
//! give, up to the signs and phases that a definition leaves open.

use evoxc::prelude::*;
use evoxc_core::{C64, C128, DType, Error};
use evoxc_ir::{Module, Prim};
use evoxc_stablehlo::expand::{ExpandOptions, expand, unsayable};
use evoxc_stage::AnyBackend;
use evoxc_tests::engines::Engines;
use evoxc_tests::run;
use evoxc_tests::tolerance::{Category, compare};
use evoxc_trace::emitter;

fn engines() -> AnyBackend {
    AnyBackend::new(Engines)
}

/// Numbers in [-1, 1), the same every time.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF1;
    let mut next = || {
        z ^= z << 13;
        z ^= z >> 7;
        z ^= z << 17;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn matrix(dtype: DType, shape: &[usize], seed: u64) -> Tensor {
    let n: usize = shape.iter().product();
    if dtype.is_complex() {
        let (re, im) = (numbers(n, seed), numbers(n, seed + 1000));
        let z: Vec<_> = re.into_iter().zip(im).map(|(re, im)| num_complex::Complex::new(re, im)).collect();
        return Tensor::from_vec(z, shape.to_vec()).unwrap().cast(dtype).unwrap();
    }
    Tensor::from_vec(numbers(n, seed), shape.to_vec()).unwrap().cast(dtype).unwrap()
}

/// Runs a program as it stands, and expanded.
fn both(module: &Module, x: &Tensor) -> (Vec<Tensor>, Vec<Tensor>) {
    let options = ExpandOptions::default();
    let form = expand(module, &options).unwrap();
    form.verify().unwrap();
    assert_eq!(unsayable(&form, &options), Vec::<String>::new());
    let go = |m: &Module| run::execute(&engines(), m, std::slice::from_ref(x)).unwrap();
    (go(module), go(&form))
}

const DTYPES: [DType; 4] = [F32, F64, C64, C128];
const SHAPES: [&[usize]; 10] =
    [&[1, 1], &[2, 2], &[3, 3], &[6, 6], &[7, 7], &[5, 3], &[3, 5], &[2, 3, 4, 4], &[3, 2, 5], &[1, 4]];

fn agree(name: &str, x: &Tensor, module: &Module) {
    let (want, got) = both(module, x);
    assert_eq!(want.len(), got.len());
    for (i, (g, w)) in got.iter().zip(&want).enumerate() {
        compare(g, w, Category::Linalg).unwrap_or_else(|e| panic!("{name} of {}: result {i}: {e}", x.spec()));
    }
}

/// The conjugate transpose.
fn adjoint(x: Sym) -> Sym {
    x.swap_axes(-1, -2).conj()
}

fn of(prim: Prim, a: Sym) -> Vec<Sym> {
    emitter::emit_regions(prim, &[a], vec![]).unwrap().to_vec()
}

fn all(mut check: impl FnMut(&Tensor)) {
    for dtype in DTYPES {
        for (i, shape) in SHAPES.iter().enumerate() {
            check(&matrix(dtype, shape, i as u64 + 1));
        }
    }
}

#[test]
fn lu_has_the_same_pivots_and_factors() -> Result<(), Error> {
    all(|x| {
        let graph = trace(|a: Sym| of(Prim::Lu {}, a), x.spec()).unwrap();
        agree("lu", x, graph.module());
    });
    Ok(())
}

#[test]
fn qr_has_the_same_signs() {
    for full in [false, true] {
        all(|x| {
            let graph = trace(|a: Sym| of(Prim::Qr { full }, a), x.spec()).unwrap();
            agree("qr", x, graph.module());
        });
    }
}

#[test]
fn eigenvalues_and_what_the_vectors_give() {
    all(|x| {
        if x.shape().last() != x.shape().iter().rev().nth(1) {
            return;
        }
        let f = |a: Sym| {
            let y = of(Prim::Eigh {}, a);
            let (w, v) = (y[0], y[1]);
            let scaled = v * w.cast(v.dtype()).expand_dims(-2);
            (w, scaled.matmul(adjoint(v)), adjoint(v).matmul(v))
        };
        agree("eigh", x, trace(f, x.spec()).unwrap().module());
    });
}

#[test]
fn singular_values_and_what_the_vectors_give() {
    for full in [false, true] {
        all(|x| {
            let f = |a: Sym| {
                let y = of(Prim::Svd { full }, a);
                let (u, s, vh) = (y[0], y[1], y[2]);
                let k = s.dim(-1);
                let thin = |x: Sym, rows: bool| {
                    let at = iota(I32, [k], 0);
                    if rows { x.take(at, -2) } else { x.take(at, -1) }
                };
                let scaled = thin(u, false) * s.cast(u.dtype()).expand_dims(-2);
                let whole = scaled.matmul(thin(vh, true));
                (s, whole, adjoint(u).matmul(u), vh.matmul(adjoint(vh)))
            };
            agree("svd", x, trace(f, x.spec()).unwrap().module());
        });
    }
}

/// Ranks below the size, equal values, zeros, tiny and huge numbers, NaN.
#[test]
fn singular_matrices() {
    let cases = [
        vec![0.0; 9],
        vec![1.0; 9],
        vec![2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0],
        vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0],
        vec![1e300, 2e300, 0.0, 2e300, -1e300, 1e299, 0.0, 1e299, 1e300],
        vec![1e-300, 2e-300, 0.0, 2e-300, -1e-300, 1e-299, 0.0, 1e-299, 1e-300],
        vec![1.0, f64::NAN, 0.0, f64::NAN, 1.0, 0.0, 0.0, 0.0, 1.0],
        vec![0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, -5.0],
    ];
    for v in cases {
        let x = Tensor::from_vec(v, [3, 3]).unwrap();
        let eigh = |a: Sym| {
            let y = of(Prim::Eigh {}, a);
            (y[0], adjoint(y[1]).matmul(y[1]))
        };
        agree("eigh", &x, trace(eigh, x.spec()).unwrap().module());
        let svd = |a: Sym| {
            let y = of(Prim::Svd { full: true }, a);
            (y[1], adjoint(y[0]).matmul(y[0]), y[2].matmul(adjoint(y[2])))
        };
        agree("svd", &x, trace(svd, x.spec()).unwrap().module());
        agree("lu", &x, trace(|a: Sym| of(Prim::Lu {}, a), x.spec()).unwrap().module());
    }
}

/// Many rotations, and singular values that span sixteen digits (Hilbert's matrix).
#[test]
fn larger_matrices() {
    let hilbert: Vec<f64> = (0..144).map(|i| 1.0 / (i / 12 + i % 12 + 1) as f64).collect();
    let hilbert = Tensor::from_vec(hilbert, [12, 12]).unwrap();
    for x in [matrix(F64, &[24, 24], 5), matrix(F32, &[17, 17], 6), hilbert, matrix(C128, &[20, 9], 8)] {
        let svd = |a: Sym| {
            let y = of(Prim::Svd { full: false }, a);
            let whole = (y[0] * y[1].cast(a.dtype()).expand_dims(-2)).matmul(y[2]);
            (y[1], whole, adjoint(y[0]).matmul(y[0]))
        };
        agree("svd", &x, trace(svd, x.spec()).unwrap().module());
        if x.shape()[0] == x.shape()[1] {
            let eigh = |a: Sym| {
                let y = of(Prim::Eigh {}, a);
                (y[0], (y[1] * y[0].expand_dims(-2)).matmul(adjoint(y[1])))
            };
            agree("eigh", &x, trace(eigh, x.spec()).unwrap().module());
        }
        // The factors of Hilbert's matrix itself depend on every rounding.
        if x.shape() != [12, 12] {
            agree("qr", &x, trace(|a: Sym| of(Prim::Qr { full: false }, a), x.spec()).unwrap().module());
            agree("lu", &x, trace(|a: Sym| of(Prim::Lu {}, a), x.spec()).unwrap().module());
        }
    }
}

/// Cholesky factors and triangular solves of a consumer that lacks them.
#[test]
fn triangles_of_a_lean_consumer() {
    use evoxc_ir::LinTranspose;
    let lean = ExpandOptions { lean: true, ..ExpandOptions::default() };
    let check = |name: &str, module: &Module, x: &Tensor| {
        let form = expand(module, &lean).unwrap();
        assert_eq!(unsayable(&form, &lean), Vec::<String>::new());
        let go = |m: &Module| run::execute(&engines(), m, std::slice::from_ref(x)).unwrap();
        compare(&go(&form)[0], &go(module)[0], Category::Linalg).unwrap_or_else(|e| panic!("{name} {}: {e}", x.spec()));
    };
    for dtype in DTYPES {
        for shape in [&[1, 1][..], &[3, 3], &[6, 6], &[2, 4, 4]] {
            let x = matrix(dtype, shape, 3);
            for lower in [true, false] {
                for shift in [8.0, 0.0] {
                    // Positive definite with the shift, else not.
                    let f = |a: Sym| {
                        let n = a.dim(-1);
                        of(Prim::Cholesky { lower }, a + evoxc::eye(dtype, n) * shift)[0]
                    };
                    check("cholesky", trace(f, x.spec()).unwrap().module(), &x);
                }
                for (left, unit_diagonal) in [(true, false), (false, false), (true, true), (false, true)] {
                    for transpose in [LinTranspose::None, LinTranspose::Transpose, LinTranspose::Adjoint] {
                        let f = |a: Sym| {
                            let t = a + evoxc::eye(dtype, a.dim(-1)) * 3.0;
                            let prim = Prim::TriangularSolve { left, lower, unit_diagonal, transpose };
                            emitter::emit(prim, &[t, a * 2.0])
                        };
                        check("triangular_solve", trace(f, x.spec()).unwrap().module(), &x);
                    }
                }
            }
        }
    }
}

/// Extents of 0, and batch axes that are symbolic.
#[test]
fn empty_and_symbolic() {
    for shape in [[0, 3], [3, 0], [0, 0]] {
        let x = matrix(F32, &shape, 1);
        for prim in [Prim::Lu {}, Prim::Qr { full: true }, Prim::Qr { full: false }, Prim::Svd { full: true }] {
            agree("an empty matrix", &x, trace(|a: Sym| of(prim.clone(), a), x.spec()).unwrap().module());
        }
    }
    let x = matrix(F64, &[4, 3, 3], 7);
    let values = |prim: Prim, i: usize| move |a: Sym| of(prim.clone(), a)[i];
    for (prim, i) in
        [(Prim::Lu {}, 0), (Prim::Qr { full: false }, 1), (Prim::Eigh {}, 0), (Prim::Svd { full: false }, 1)]
    {
        let graph = trace(values(prim, i), spec(F64, (dim("B"), 3, 3))).unwrap();
        agree("a symbolic batch", &x, graph.module());
    }
    let graph = trace(values(Prim::Eigh {}, 0), spec(F64, (dim("N"), dim("N")))).unwrap();
    let e = expand(graph.module(), &ExpandOptions::default()).unwrap_err();
    assert!(e.to_string().contains("eigh") && e.to_string().contains("extents that are numbers"), "{e}");
}
