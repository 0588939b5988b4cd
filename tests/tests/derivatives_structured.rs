//! Derivatives of indexing, windows, sorts, Fourier transforms and factorisations: what JAX gives for ties, duplicates
//! and indices out of bounds, and for the rest central differences in f64, with reverse mode against forward mode.

use evoxc::ir::{
    FftKind, Flag, GatherDims, LinTranspose, Padding, Prim, Reducer, ScatterDims, ScatterOp, SelectOp, SortKeys, Window,
};
use evoxc::prelude::*;
use evoxc_tests::engines::Engines;
use evoxc_trace::emitter;

type Result<T = ()> = evoxc::Result<T>;

fn close(a: &[f64], b: &[f64], tol: f64) {
    let scale = b.iter().fold(1f64, |m, v| m.max(v.abs()));
    let near = |x: f64, y: f64| (x - y).abs() <= tol * scale || x == y || (x.is_nan() && y.is_nan());
    assert!(a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| near(x, y)), "{a:?}\n{b:?}");
}

/// Numbers in [-1, 1), different for every seed.
fn random(shape: &[usize], seed: u64) -> Tensor {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    Tensor::from_vec((0..shape.iter().product()).map(|_| next()).collect(), shape).unwrap()
}

fn moved(x: &Tensor, v: &Tensor, h: f64) -> Result<Tensor> {
    let moved = x.as_slice::<f64>()?.iter().zip(v.as_slice::<f64>()?).map(|(x, v)| x + h * v).collect();
    Tensor::from_vec(moved, x.shape())
}

/// Forward mode against central differences in two directions, reverse mode against forward mode.
fn check<F: Fn(Sym) -> Sym + Copy>(f: F, x: &Tensor) -> Result {
    check_to(f, x, 1e-7)
}

fn check_to<F: Fn(Sym) -> Sym + Copy>(f: F, x: &Tensor, tol: f64) -> Result {
    for seed in [1, 2] {
        let v = random(x.shape(), seed);
        let (y, t) = evaluate(jvp(f), (x.clone(), v.clone()), &Engines)?;
        let h = 1e-6;
        let (above, below) = (evaluate(f, moved(x, &v, h)?, &Engines)?, evaluate(f, moved(x, &v, -h)?, &Engines)?);
        let slopes = above.as_slice::<f64>()?.iter().zip(below.as_slice::<f64>()?).map(|(a, b)| (a - b) / (2.0 * h));
        let t = t.to_vec::<f64>()?;
        close(&t, &slopes.collect::<Vec<_>>(), tol);
        let u = random(y.shape(), seed + 10);
        let back = evaluate(vjp(f), (x.clone(), u.clone()), &Engines)?;
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let there = inner(u.as_slice()?, &t);
        close(&[inner(back.as_slice()?, v.as_slice()?)], &[there], 1e-11);
    }
    Ok(())
}

/// The gradient of a function of the results, checked as a function itself.
fn check_second<F: Fn(Sym) -> Sym + Copy>(f: F, x: &Tensor) -> Result {
    check_to(move |x: Sym| grad(move |x: Sym| f(x).sin().sum(..)).call(x), x, 1e-6)
}

/// f of a complex tensor, as a function of real and imaginary parts along a leading axis, of complex results alike.
fn complex(f: impl Fn(Sym) -> Sym + Copy) -> impl Fn(Sym) -> Sym + Copy {
    move |x: Sym| {
        let y = f(x.take(0, 0).complex(x.take(1, 0)));
        if y.dtype().is_complex() { stack([y.real(), y.imag()], 0) } else { y }
    }
}

fn emit(prim: Prim, operands: &[Sym]) -> Sym {
    emitter::emit(prim, operands)
}

fn ints(v: &[i32]) -> Sym {
    constant(&Tensor::from(v.to_vec()))
}

#[test]
fn gather_reads_clamped_and_gives_back_there() -> Result {
    // JAX: x.at[jnp.array([-7, 1, 1, 9])].get(mode="clip")
    let f = |x: Sym| x.take(ints(&[-7, 1, 1, 9]), 0);
    let x = Tensor::from([1f64, 2.0, 3.0, 4.0, 5.0]);
    let ct = evaluate(vjp(f), (x.clone(), Tensor::from([1f64, 2.0, 4.0, 8.0])), &Engines)?;
    assert_eq!(ct.to_vec::<f64>()?, [1.0, 6.0, 0.0, 0.0, 8.0]);
    check(f, &x)?;
    check_second(f, &x)?;
    for dtype in [U8, I8, U32, I64, U64] {
        check(move |x: Sym| x.take(ints(&[3, 1, 1]).cast(dtype), 0), &x)?;
    }
    check(|x: Sym| x.take(constant(&Tensor::from([u64::MAX, u64::MAX / 2, 1])), 0), &x)?;
    // Windows of two axes with starts of two components, batched, in part out of bounds.
    let f = |x: Sym| {
        let dims = GatherDims {
            offset: vec![1, 2],
            collapsed: vec![],
            operand_batching: vec![0],
            indices_batching: vec![0],
            start_map: vec![2, 1],
            index_vector: 1,
        };
        let starts = constant(&Tensor::from([[2i32, 1], [-3, 9]]));
        let sizes = [1, 2, 3].map(Dim::constant).to_vec();
        emit(Prim::Gather { dims, sizes, sorted: false }, &[x, starts])
    };
    check(f, &random(&[2, 4, 5], 3))
}

/// Scatters rows of one element, and windows of two axes, of which some are in part out of bounds.
fn scatters() -> [fn(ScatterOp, bool, Sym, Sym) -> Sym; 3] {
    [
        |op, unique, x, u| {
            let dims = ScatterDims {
                update_window: vec![],
                inserted: vec![0],
                operand_batching: vec![],
                indices_batching: vec![],
                scatter_map: vec![0],
                index_vector: 1,
            };
            let at = if unique { ints(&[4, 0, 2, -9, 7]) } else { ints(&[4, 1, 1, -9, 7]) };
            let (x, u) = (x.reshape([20]).slice_axis(0, 0, 5), u.reshape([12]).slice_axis(0, 0, 5));
            emit(Prim::Scatter { op, dims, sorted: false, unique }, &[x, at, u])
        },
        |op, unique, x, u| {
            let dims = ScatterDims {
                update_window: vec![0, 2],
                inserted: vec![],
                operand_batching: vec![],
                indices_batching: vec![],
                scatter_map: vec![1, 0],
                index_vector: 1,
            };
            let at = if unique { [[1i32, 0], [3, 2]] } else { [[1i32, 2], [2, 3]] };
            emit(Prim::Scatter { op, dims, sorted: false, unique }, &[x, constant(&Tensor::from(at)), u])
        },
        // Batched rows, components along axis 0 of the indices.
        |op, unique, x, u| {
            let dims = ScatterDims {
                update_window: vec![2],
                inserted: vec![1],
                operand_batching: vec![0],
                indices_batching: vec![1],
                scatter_map: vec![2, 1],
                index_vector: 0,
            };
            let at =
                if unique { [[[0i64, 1], [0, 3]], [[1, 2], [4, 0]]] } else { [[[0i64, 0], [1, 3]], [[1, 1], [4, 0]]] };
            let (x, u) = (x.reshape([2, 2, 5]), u.reshape([2, 2, 3]));
            emit(Prim::Scatter { op, dims, sorted: false, unique }, &[x, constant(&Tensor::from(at)), u])
        },
    ]
}

#[test]
fn scatters_agree_with_differences() -> Result {
    let (x, u) = (random(&[4, 5], 1), random(&[2, 2, 3], 2));
    for op in [ScatterOp::Add, ScatterOp::Set, ScatterOp::Mul, ScatterOp::Min, ScatterOp::Max] {
        for unique in [false, true] {
            for f in scatters() {
                let of_both = move |z: Sym| {
                    let (x, u) = (z.slice_axis(0, 0, 20), z.slice_axis(0, 20, 32));
                    f(op, unique, x.reshape([4, 5]), u.reshape([2, 2, 3]))
                };
                let both = [x.to_vec::<f64>()?, u.to_vec::<f64>()?].concat();
                check(of_both, &Tensor::from(both.clone()))?;
                check_second(of_both, &Tensor::from(both))?;
                let (a, b) = (constant_of(&x), constant_of(&u));
                check(move |x: Sym| f(op, unique, x, b()), &x)?;
                check(move |u: Sym| f(op, unique, a(), u), &u)?;
            }
        }
    }
    Ok(())
}

/// A constant of the tensor, made where it is used.
fn constant_of(t: &Tensor) -> impl Fn() -> Sym + Copy + 'static {
    let t: &'static Tensor = Box::leak(Box::new(t.clone()));
    move || constant(t)
}

fn rows(op: ScatterOp, at: &'static [i32]) -> impl Fn(Sym, Sym) -> Sym + Copy {
    move |x: Sym, u: Sym| x.scatter_rows(op, ints(at), u)
}

#[test]
fn complex_numbers_move_alike() -> Result {
    let x = random(&[2, 32], 3);
    for op in [ScatterOp::Add, ScatterOp::Set, ScatterOp::Mul, ScatterOp::Min, ScatterOp::Max] {
        for f in scatters() {
            let both = move |z: Sym| {
                let (x, u) = (z.slice_axis(0, 0, 20), z.slice_axis(0, 20, 32));
                f(op, false, x.reshape([4, 5]), u.reshape([2, 2, 3]))
            };
            check(complex(both), &x)?;
        }
    }
    let w: &'static Window = Box::leak(Box::new(window([2, 3], [1, 2], [(1, 0), (0, 2)])));
    for op in [Reducer::Sum, Reducer::Prod] {
        let f = move |x: Sym| emit(Prim::ReduceWindow { op, window: w.clone() }, &[x.reshape([4, 8])]);
        check(complex(f), &x)?;
        check_second(complex(f), &x)?;
    }
    check(complex(|x: Sym| x.take(ints(&[3, 1, 1, 99]), 0)), &x)?;
    check(complex(|x: Sym| sort(&[x.real(), x], &[true])[1]), &x)
}

#[test]
fn of_several_updates_the_last_wins() -> Result {
    // JAX: jvp of lambda x, u: x.at[jnp.array([1, 3, 1, 9])].set(u, mode="drop")
    let f = rows(ScatterOp::Set, &[1, 3, 1, 9]);
    let x = (Tensor::from([1f64, 2.0, 3.0, 4.0, 5.0]), Tensor::from([10f64, 20.0, 30.0, 40.0]));
    let t = (Tensor::from([0.5f64; 5]), Tensor::from([1f64, 2.0, 4.0, 8.0]));
    let (_, t) = evaluate(jvp(f), (x.clone(), t), &Engines)?;
    assert_eq!(t.to_vec::<f64>()?, [0.5, 4.0, 0.5, 2.0, 0.5]);
    // The transpose of that.
    let (a, b) = evaluate(vjp(f), (x, Tensor::from([1f64, 2.0, 4.0, 8.0, 16.0])), &Engines)?;
    assert_eq!(a.to_vec::<f64>()?, [1.0, 0.0, 4.0, 0.0, 16.0]);
    assert_eq!(b.to_vec::<f64>()?, [0.0, 8.0, 2.0, 0.0]);
    Ok(())
}

#[test]
fn extremes_are_shared_by_those_that_are_equal() -> Result {
    // JAX: jvp and vjp of lambda x, u: x.at[jnp.array([2, 3, 1, 9, 2])].max(u, mode="drop"), and of .min
    let x = (Tensor::from([1f64, 2.0, 3.0, 4.0, 5.0]), Tensor::from([3f64, 4.0, 2.0, 7.0, 2.0]));
    let t = (Tensor::from([1f64, 2.0, 4.0, 8.0, 16.0]), Tensor::from([32f64, 64.0, 128.0, 256.0, 512.0]));
    let ct = Tensor::from([1f64, 2.0, 4.0, 8.0, 16.0]);
    type Case = (ScatterOp, [f64; 5], [f64; 5], [f64; 5]);
    let cases: [Case; 2] = [
        (ScatterOp::Max, [1.0, 65.0, 18.0, 36.0, 16.0], [1.0, 1.0, 2.0, 4.0, 16.0], [2.0, 4.0, 1.0, 0.0, 0.0]),
        (ScatterOp::Min, [1.0, 65.0, 512.0, 36.0, 16.0], [1.0, 1.0, 0.0, 4.0, 16.0], [0.0, 4.0, 1.0, 0.0, 4.0]),
    ];
    for (op, tangent, to_x, to_u) in cases {
        let f = rows(op, &[2, 3, 1, 9, 2]);
        assert_eq!(evaluate(jvp(f), (x.clone(), t.clone()), &Engines)?.1.to_vec::<f64>()?, tangent);
        let (a, b) = evaluate(vjp(f), (x.clone(), ct.clone()), &Engines)?;
        assert_eq!((a.to_vec::<f64>()?, b.to_vec::<f64>()?), (to_x.to_vec(), to_u.to_vec()));
    }
    Ok(())
}

#[test]
fn products_with_zeros_have_the_derivative_of_a_product() -> Result {
    // d/du_i x Π u = x Π of the others: [3·2·0, 3·0·0 …] by hand.
    let f = rows(ScatterOp::Mul, &[0, 0, 1, 1, 1]);
    let x = (Tensor::from([3f64, 5.0]), Tensor::from([0f64, 2.0, 0.0, 4.0, 0.0]));
    let (a, b) = evaluate(vjp(f), (x, Tensor::from([1f64, 1.0])), &Engines)?;
    assert_eq!(a.to_vec::<f64>()?, [0.0, 0.0]);
    assert_eq!(b.to_vec::<f64>()?, [6.0, 0.0, 0.0, 0.0, 0.0]);
    let x = (Tensor::from([3f64, 5.0]), Tensor::from([7f64, 2.0, 0.0, 4.0, 2.0]));
    let (_, b) = evaluate(vjp(f), (x, Tensor::from([1f64, 1.0])), &Engines)?;
    assert_eq!(b.to_vec::<f64>()?, [6.0, 21.0, 40.0, 0.0, 0.0]);
    Ok(())
}

#[test]
fn dynamic_slices() -> Result {
    for at in [-3, 1, 9] {
        let f = move |x: Sym| x.dynamic_slice([ints(&[at]).reshape([]), ints(&[1]).reshape([])], [2, 3]);
        check(f, &random(&[4, 5], 1))?;
        check_second(f, &random(&[4, 5], 1))?;
        let (x, u) = (constant_of(&random(&[4, 5], 1)), constant_of(&random(&[2, 3], 2)));
        let write = move |x: Sym, u: Sym| x.dynamic_update_slice(u, [ints(&[at]).reshape([]), ints(&[1]).reshape([])]);
        check(move |x: Sym| write(x, u()), &random(&[4, 5], 1))?;
        check(move |u: Sym| write(x(), u), &random(&[2, 3], 2))?;
        let both = move |z: Sym| write(z.slice_axis(0, 0, 20).reshape([4, 5]), z.slice_axis(0, 20, 26).reshape([2, 3]));
        check(both, &random(&[26], 1))?;
    }
    Ok(())
}

fn window<const N: usize>(size: [i64; N], stride: [i64; N], padding: [(i64, i64); N]) -> Window {
    let pad = |(low, high): (i64, i64)| Padding { low: Dim::constant(low), high: Dim::constant(high) };
    Window {
        stride: stride.to_vec(),
        padding: padding.map(pad).to_vec(),
        reversal: vec![Flag(false); N],
        ..Window::new(size.map(Dim::constant).to_vec())
    }
}

#[test]
fn windows_of_all_kinds() -> Result {
    let plain = window([2, 3], [1, 2], [(0, 0), (0, 0)]);
    let padded = window([2, 3], [2, 1], [(1, 2), (2, 0)]);
    let cut = window([2, 2], [1, 1], [(-1, 0), (0, -2)]);
    let far = window([2, 1], [1, 2], [(4, 3), (0, 1)]);
    let dilated = Window { base_dilation: vec![2, 3], window_dilation: vec![3, 1], ..padded.clone() };
    let sparse = Window { base_dilation: vec![3, 1], ..plain.clone() };
    let all: &'static [Window] = Box::leak(Box::new([plain, padded, cut, far, dilated, sparse]));
    for (i, w) in all.iter().enumerate() {
        let x = random(&[4, 5], 7 + i as u64);
        for op in [Reducer::Sum, Reducer::Prod, Reducer::Max, Reducer::Min] {
            let f = move |x: Sym| {
                let y = emit(Prim::ReduceWindow { op, window: w.clone() }, &[x]);
                // Windows that see nothing give infinities, which no difference knows.
                y.abs().lt(1e9).select(y, 0)
            };
            check(f, &x)?;
            check_second(f, &x)?;
        }
    }
    for w in &all[..4] {
        for select in [SelectOp::Max, SelectOp::Min] {
            let y = infer_places(w, &[4, 5]);
            let x = constant_of(&random(&[4, 5], 5));
            let f = move |s: Sym| emit(Prim::SelectAndScatter { select, window: w.clone() }, &[x(), s]);
            check(f, &random(&y, 6))?;
        }
    }
    Ok(())
}

/// The extents of the windows over a shape, by the language itself.
fn infer_places(w: &Window, shape: &[usize]) -> Vec<usize> {
    let prim = Prim::ReduceWindow { op: Reducer::Sum, window: w.clone() };
    evoxc::ir::infer(&prim, &[&spec(F64, shape)], &[]).unwrap()[0].shape.to_static().unwrap()
}

#[test]
fn windows_select_their_first_largest() -> Result {
    // JAX: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 1), ((0, 1), (1, 0)))
    let w = window([2, 2], [1, 1], [(0, 1), (1, 0)]);
    let w: &'static Window = Box::leak(Box::new(w));
    let f = move |x: Sym| emit(Prim::ReduceWindow { op: Reducer::Max, window: w.clone() }, &[x]);
    let x = Tensor::from([[1f64, 5.0, 5.0, 2.0], [5.0, 0.0, 5.0, 3.0], [4.0, 4.0, 5.0, 9.0]]);
    let count = |from: f64| Tensor::from_vec((0..12).map(|i| i as f64 + from).collect(), [3, 4]).unwrap();
    let (_, t) = evaluate(jvp(f), (x.clone(), count(0.0)), &Engines)?;
    // JAX gives 4 in place of the first 1, which is that of the second largest: its own reverse mode takes the first.
    assert_eq!(t.to_vec::<f64>()?, [4.0, 1.0, 1.0, 2.0, 4.0, 4.0, 6.0, 11.0, 8.0, 8.0, 10.0, 11.0]);
    let ct = evaluate(vjp(f), (x.clone(), count(1.0)), &Engines)?;
    assert_eq!(ct.to_vec::<f64>()?, [0.0, 5.0, 4.0, 0.0, 12.0, 0.0, 7.0, 0.0, 19.0, 0.0, 11.0, 20.0]);
    // Its gradient is one op more.
    let graph = trace(vjp(f), (spec(F64, [3, 4]), spec(F64, [3, 4])))?;
    assert_eq!(graph.ops().len(), 1, "{graph}");
    // Of infinities too an element is selected, not the padding.
    let low = Tensor::full(F64, [3, 4], f64::NEG_INFINITY);
    let (_, t) = evaluate(jvp(f), (low.clone(), count(0.0)), &Engines)?;
    assert_eq!(t.to_vec::<f64>()?, [0.0, 0.0, 1.0, 2.0, 4.0, 4.0, 5.0, 6.0, 8.0, 8.0, 9.0, 10.0]);
    let there = evaluate(vjp(f), (low, count(0.0)), &Engines)?;
    assert_eq!(there.to_vec::<f64>()?, [1.0, 2.0, 3.0, 0.0, 9.0, 6.0, 7.0, 0.0, 17.0, 10.0, 11.0, 0.0]);
    Ok(())
}

fn sort(xs: &[Sym], keys: &[bool]) -> Vec<Sym> {
    let prim = Prim::Sort { axis: 0, keys: SortKeys(keys.to_vec()), stable: true };
    emitter::emit_regions(prim, xs, vec![]).unwrap().to_vec()
}

#[test]
fn sorts_move_tangents_along() -> Result {
    // JAX: jvp of jnp.sort
    let x = Tensor::from([3f64, 1.0, f64::NAN, 1.0, 2.0]);
    let (_, t) = evaluate(jvp(|x: Sym| x.sort(0)), (x, Tensor::from([1f64, 2.0, 3.0, 4.0, 5.0])), &Engines)?;
    assert_eq!(t.to_vec::<f64>()?, [2.0, 4.0, 5.0, 1.0, 3.0]);
    // JAX: jvp of lambda k, v: lax.sort((k, v), num_keys=1)
    let f = |k: Sym, v: Sym| {
        let y = sort(&[k, v], &[false]);
        (y[0], y[1])
    };
    let x = (Tensor::from([2f64, 1.0, 2.0, 1.0]), Tensor::from([1f64, 2.0, 3.0, 4.0]));
    let t = (Tensor::from([1f64, 2.0, 4.0, 8.0]), Tensor::from([16f64, 32.0, 64.0, 128.0]));
    let (_, (a, b)) = evaluate(jvp(f), (x, t), &Engines)?;
    assert_eq!(a.to_vec::<f64>()?, [2.0, 8.0, 1.0, 4.0]);
    assert_eq!(b.to_vec::<f64>()?, [32.0, 128.0, 16.0, 64.0]);
    // JAX: jvp of lambda x: lax.top_k(x, 3)[0]
    let x = (Tensor::from([1f64, 5.0, 5.0, 2.0]), Tensor::from([1f64, 2.0, 4.0, 8.0]));
    assert_eq!(evaluate(jvp(|x: Sym| x.top_k(3).0), x, &Engines)?.1.to_vec::<f64>()?, [2.0, 4.0, 8.0]);

    let x = random(&[4, 3, 5], 4);
    check(|x: Sym| x.sort_descending(1), &x)?;
    check(|x: Sym| x.sort(0).sin(), &x)?;
    check(|x: Sym| x.top_k(2).0, &x)?;
    check(
        |x: Sym| {
            let y = sort(&[x.cos().cast(F32), x, x * x, iota(I32, x.shape(), 0)], &[true, false]);
            y[1] * y[2] + y[3].cast(F64)
        },
        &x,
    )?;
    check_second(|x: Sym| x.sort(2), &x)
}

#[test]
fn sorts_by_a_body_move_tangents_along() -> Result {
    let f = |x: Sym| {
        let s = spec(F64, []);
        let args = emitter::open_region(&vec![s; 4]);
        let body = emitter::close_region("sort_by", &[(args[0] * args[0]).lt(args[1] * args[1])]).unwrap();
        let y = emitter::emit_regions(Prim::SortBody { axis: 0, stable: true }, &[x, x.sin()], vec![body]).unwrap();
        y[0] * y[1]
    };
    check(f, &random(&[6], 1))?;
    check_second(f, &random(&[6], 1))
}

#[test]
fn fourier_transforms() -> Result {
    // JAX: vjp of jnp.fft.rfft and irfft, of 4 and 5 points, on 1, 2, … and 1 + 2i, 2 + 3i, …
    let count = |n: usize| Tensor::from((1..=n).map(|i| i as f64).collect::<Vec<_>>());
    let half = |n: usize| {
        let entries = (1..=n / 2 + 1).map(|i| num(i as f64, i as f64 + 1.0));
        Tensor::from(entries.collect::<Vec<_>>())
    };
    let rfft: [&[f64]; 2] = [&[6.0, 1.0, 2.0, -5.0], &[6.0, 4.39529356, -1.73185331, 2.3498873, -6.01332755]];
    let irfft: [&[(f64, f64)]; 2] =
        [&[(2.5, 0.0), (-1.0, -1.0), (-0.5, 0.0)], &[(3.0, 0.0), (-1.0, -1.37638192), (-1.0, -0.3249197)]];
    for (n, (r, i)) in [4, 5].into_iter().zip(rfft.into_iter().zip(irfft)) {
        let back = evaluate(vjp(move |x: Sym| x.fft(FftKind::Rfft, [n])), (count(n), half(n)), &Engines)?;
        close(&back.to_vec::<f64>()?, r, 1e-8);
        let back = evaluate(vjp(move |x: Sym| x.fft(FftKind::Irfft, [n])), (half(n), count(n)), &Engines)?;
        let back = back.to_vec::<num_complex::Complex<f64>>()?;
        close(&back.iter().flat_map(|c| [c.re, c.im]).collect::<Vec<_>>(), &flat(i), 1e-8);
    }
    // JAX: vjp of jnp.fft.fft and ifft at [1+2j, 3-1j, 0.5j] on [1j, 2, 1-1j]
    let x = || Tensor::from([num(1.0, 2.0), num(3.0, -1.0), num(0.0, 0.5)]);
    let ct = || Tensor::from([num(0.0, 1.0), num(2.0, 0.0), num(1.0, -1.0)]);
    let fft = [(3.0, 0.0), (-0.6339746, 0.6339746), (-2.3660254, 2.3660254)];
    let ifft = [(1.0, 0.0), (-0.78867513, 0.78867513), (-0.21132487, 0.21132487)];
    for (kind, want) in [(FftKind::Fft, fft), (FftKind::Ifft, ifft)] {
        let back = evaluate(vjp(move |x: Sym| x.fft(kind, [3])), (x(), ct()), &Engines)?;
        let back = back.to_vec::<num_complex::Complex<f64>>()?;
        close(&back.iter().flat_map(|c| [c.re, c.im]).collect::<Vec<_>>(), &flat(&want), 1e-7);
    }
    for length in [vec![4usize], vec![5], vec![3, 4], vec![2, 3, 5], vec![1], vec![2]] {
        let shape = [&[2][..], &length].concat();
        let length: &'static [usize] = Box::leak(length.into_boxed_slice());
        check(complex(move |x: Sym| x.fft(FftKind::Fft, length)), &random(&[&[2], &shape[..]].concat(), 1))?;
        check(complex(move |x: Sym| x.fft(FftKind::Ifft, length)), &random(&[&[2], &shape[..]].concat(), 1))?;
        let halves = |x: Sym| stack([x.real(), x.imag()], 0);
        check(move |x: Sym| halves(x.fft(FftKind::Rfft, length)), &random(&shape, 1))?;
        let mut half = shape.clone();
        let last = half.last_mut().unwrap();
        *last = *last / 2 + 1;
        check(complex(move |x: Sym| x.fft(FftKind::Irfft, length)), &random(&[&[2], &half[..]].concat(), 1))?;
    }
    Ok(())
}

fn num(re: f64, im: f64) -> num_complex::Complex<f64> {
    num_complex::Complex::new(re, im)
}

fn flat(v: &[(f64, f64)]) -> Vec<f64> {
    v.iter().flat_map(|c| [c.0, c.1]).collect()
}

/// A matrix that is positive definite in the triangle that is read, whatever the other holds.
fn definite(x: Sym) -> Sym {
    let n = x.dim(-1);
    x + eye(x.dtype(), n) * 4.0
}

#[test]
fn cholesky_factors() -> Result {
    for lower in [true, false] {
        let f = move |x: Sym| emit(Prim::Cholesky { lower }, &[definite(x)]);
        check(f, &random(&[2, 4, 4], 1))?;
        check_second(f, &random(&[3, 3], 2))?;
        check(complex(f), &random(&[2, 2, 3, 3], 3))?;
    }
    check(|x: Sym| definite(x).cholesky(), &random(&[4, 4], 4))?;
    // JAX: vjp of lax.linalg.cholesky at [[4, 1-2j], [1+2j, 6]] on [[1, 0], [2+1j, 3]]
    let a = Tensor::from([[num(4.0, 0.0), num(1.0, -2.0)], [num(1.0, 2.0), num(6.0, 0.0)]]);
    let ct = Tensor::from([[num(1.0, 0.0), num(0.0, 0.0)], [num(2.0, 1.0), num(3.0, 0.0)]]);
    let back = evaluate(vjp(|a: Sym| a.cholesky()), (a, ct), &Engines)?.to_vec::<num_complex::Complex<f64>>()?;
    let want = [(0.46507725, 0.0), (0.3279382, -0.5941236), (0.3279382, 0.5941236), (0.6882472, 0.0)];
    close(&back.iter().flat_map(|c| [c.re, c.im]).collect::<Vec<_>>(), &flat(&want), 1e-7);
    Ok(())
}

#[test]
fn triangular_solves() -> Result {
    for bits in 0..24 {
        let (left, lower, unit_diagonal) = (bits & 1 == 0, bits & 2 == 0, bits & 4 == 0);
        let transpose = LinTranspose::ALL[bits / 8];
        let solve = move |a: Sym, b: Sym| {
            emit(Prim::TriangularSolve { left, lower, unit_diagonal, transpose }, &[definite(a), b])
        };
        let rest = if left { [2, 3, 4] } else { [2, 4, 3] };
        let split = move |z: Sym| (z.slice_axis(-1, 0, 18).reshape([2, 3, 3]), z.slice_axis(-1, 18, 42).reshape(rest));
        let f = move |z: Sym| {
            let (a, b) = split(z);
            solve(a, b)
        };
        check(f, &random(&[42], bits as u64))?;
        check_second(f, &random(&[42], bits as u64))?;
        let g = move |z: Sym| {
            let part = |i: i64| split(z.take(i, 0));
            let ((ar, br), (ai, bi)) = (part(0), part(1));
            let y = solve(ar.complex(ai), br.complex(bi));
            stack([y.real(), y.imag()], 0)
        };
        check(g, &random(&[2, 42], bits as u64))?;
    }
    Ok(())
}

#[test]
fn lu_factors() -> Result {
    for (m, n) in [(3, 3), (4, 2), (2, 4), (1, 1)] {
        let f = |x: Sym| x.lu().0;
        check_to(f, &random(&[2, m, n], 5), 1e-6)?;
        check_to(complex(f), &random(&[2, m, n], 6), 1e-6)?;
    }
    check_second(|x: Sym| definite(x).lu().0, &random(&[3, 3], 1))
}

#[test]
fn qr_factors() -> Result {
    for (m, n) in [(3, 3), (4, 2), (2, 4)] {
        let f = |x: Sym| {
            let (q, r) = x.qr();
            concat([q.flatten(-2), r.flatten(-2)], -1)
        };
        check_to(f, &random(&[2, m, n], 5), 1e-6)?;
        check_to(complex(f), &random(&[2, 2, m, n], 6), 1e-6)?;
    }
    let full = |x: Sym| emitter::emit_regions(Prim::Qr { full: true }, &[x], vec![]).unwrap()[0];
    check_to(full, &random(&[3, 3], 1), 1e-6)?;
    check_to(full, &random(&[2, 3], 1), 1e-6)?;
    check_second(|x: Sym| definite(x).qr().0, &random(&[3, 3], 1))?;
    let e = trace(vjp(full), (spec(F64, [3, 2]), spec(F64, [3, 3]))).unwrap_err().to_string();
    assert!(e.contains("qr") && e.contains("reduced form"), "{e}");
    Ok(())
}

#[test]
fn eigenvalues_and_vectors() -> Result {
    let both = |x: Sym| {
        let y = emitter::emit_regions(Prim::Eigh {}, &[x], vec![]).unwrap();
        // The squared moduli do not depend on the phase of a vector.
        let v = y[1];
        let size = if v.dtype().is_complex() { (v * v.conj()).real() } else { v * v };
        concat([y[0].expand_dims(-2), size], -2)
    };
    check_to(both, &random(&[2, 3, 3], 1), 1e-6)?;
    check_to(complex(both), &random(&[2, 3, 3], 2), 1e-6)?;
    check_to(|x: Sym| x.eigh().0, &random(&[4, 4], 3), 1e-6)?;
    // JAX: jvp of jnp.linalg.eigh at diag(1, 1, 2): the values have tangents, vectors of equal ones have none.
    let a = Tensor::from([[1f64, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]);
    let t = Tensor::from([[0f64, 4.0, 8.0], [4.0, 8.0, 12.0], [8.0, 12.0, 16.0]]);
    let (_, (w, v)) = evaluate(jvp(|a: Sym| a.eigh()), (a, t), &Engines)?;
    assert_eq!(w.to_vec::<f64>()?, [0.0, 8.0, 16.0]);
    assert!(v.to_vec::<f64>()?.iter().any(|x| !x.is_finite()));
    Ok(())
}

#[test]
fn singular_values_and_vectors() -> Result {
    // u f(s) vh does not depend on the signs of the vectors.
    let f = |x: Sym| {
        let (u, s, vh) = x.svd();
        let scaled = u * s.sin().expand_dims(-2).cast(u.dtype());
        concat([scaled.matmul(vh).flatten(-2), s.cast(u.dtype())], -1)
    };
    for (m, n) in [(3, 3), (4, 2), (2, 4)] {
        check_to(f, &random(&[2, m, n], 5), 1e-6)?;
        check_to(complex(f), &random(&[2, 2, m, n], 6), 1e-6)?;
    }
    check_second(|x: Sym| x.svd().1, &random(&[3, 2], 1))?;
    let full = |x: Sym| emitter::emit_regions(Prim::Svd { full: true }, &[x], vec![]).unwrap()[1];
    check_to(full, &random(&[3, 3], 1), 1e-6)?;
    let e = trace(vjp(full), (spec(F64, [3, 2]), spec(F64, [2]))).unwrap_err().to_string();
    assert!(e.contains("svd") && e.contains("reduced form"), "{e}");
    Ok(())
}

#[test]
fn symbolic_extents() -> Result {
    let b = dim("B");
    trace(vjp(|x: Sym, i: Sym| x.take(i, 0)), ((spec(F64, (b, 3)), spec(I32, [5])), spec(F64, [5, 3])))?;
    trace(vjp(|x: Sym| x.max_pool([1, 2], [1, 2])), (spec(F32, (b, 1, 3, 6)), spec(F32, (b, 1, 3, 3))))?;
    trace(vjp(|x: Sym| x.avg_pool([1, 2], [1, 2])), (spec(F32, (b, 1, 3, 6)), spec(F32, (b, 1, 3, 3))))?;
    trace(vjp(|x: Sym| x.sort(0)), (spec(F64, (b, 3)), spec(F64, (b, 3))))?;
    trace(vjp(|x: Sym| x.cholesky()), (spec(F64, (b, 3, 3)), spec(F64, (b, 3, 3))))?;
    trace(vjp(|x: Sym| x.svd().1), (spec(F64, (b, 3, 2)), spec(F64, (b, 2))))?;
    trace(vjp(|x: Sym| x.lu().0), (spec(F64, (b, 3, 2)), spec(F64, (b, 3, 2))))?;
    trace(vjp(|x: Sym| x.qr().0), (spec(F64, (b, 3, 2)), spec(F64, (b, 3, 2))))?;
    trace(vjp(move |x: Sym| x.fft(FftKind::Irfft, [b])), (spec(C128, [b / 2 + 1]), spec(F64, [b])))?;
    let f = |x: Sym, i: Sym, u: Sym| x.scatter_rows(ScatterOp::Max, i, u);
    trace(vjp(f), ((spec(F64, (b, 3)), spec(I32, [b]), spec(F64, (b, 3))), spec(F64, (b, 3))))?;
    Ok(())
}
