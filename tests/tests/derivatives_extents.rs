//! Derivatives of structured ops in every dtype, with symbolic extents, without elements, and inside control flow.

use evoxc::ir::{FftKind, LinTranspose, Padding, Prim, Reducer, ScatterOp, SelectOp, Window};
use evoxc::prelude::*;
use evoxc_tests::engines::Engines;
use evoxc_trace::emitter;

type Result<T = ()> = evoxc::Result<T>;

fn emit(prim: Prim, operands: &[Sym]) -> Sym {
    emitter::emit(prim, operands)
}

fn ints(v: &[i32]) -> Sym {
    constant(&Tensor::from(v.to_vec()))
}

/// A window of a and of b elements with gaps, over two axes.
fn window(a: impl evoxc::DimLike, dilation: i64) -> Window {
    let pad = |low: i64, high: i64| Padding { low: Dim::constant(low), high: Dim::constant(high) };
    Window {
        stride: vec![1, 2],
        padding: vec![pad(1, 0), pad(0, 2)],
        base_dilation: vec![dilation, 1],
        window_dilation: vec![1, dilation],
        ..Window::new(vec![a.to_dim(), Dim::constant(2)])
    }
}

/// Scalar functions of a `[n, 4]` matrix, whatever n is.
fn functions() -> Vec<(&'static str, fn(Sym) -> Sym)> {
    fn pooled(x: Sym, op: Reducer, dilation: i64) -> Sym {
        let y = emit(Prim::ReduceWindow { op, window: window(2, dilation) }, &[x]);
        // Windows that see nothing give infinities.
        let y = y.abs().lt(1e4).select(y, 0);
        (y * y).sum(..)
    }
    fn select(x: Sym, select: SelectOp) -> Sym {
        let w = window(2, 1);
        let pooled = emit(Prim::ReduceWindow { op: Reducer::Sum, window: w.clone() }, &[x]);
        emit(Prim::SelectAndScatter { select, window: w }, &[x, pooled.sin()]).cos().sum(..)
    }
    fn rows(x: Sym, op: ScatterOp) -> Sym {
        x.scatter_rows(op, ints(&[1, 0, 1, 9]), (x * 0.75).slice_axis(0, 0, 1).broadcast_to([4, 4])).sin().sum(..)
    }
    fn gram(x: Sym) -> Sym {
        x.t().dot(x) + eye(x.dtype(), 4)
    }
    vec![
        ("gather", |x| x.take(ints(&[2, -1, 0, 2, 99]), 0).sin().sum(..)),
        ("gather_both", |x| x.take_along_axis(ints(&[1, 0]).broadcast_to((x.dim(0), 2)), 1).sin().sum(..)),
        ("scatter_add", |x| rows(x, ScatterOp::Add)),
        ("scatter_set", |x| rows(x, ScatterOp::Set)),
        ("scatter_mul", |x| rows(x, ScatterOp::Mul)),
        ("scatter_min", |x| rows(x, ScatterOp::Min)),
        ("scatter_max", |x| rows(x, ScatterOp::Max)),
        ("dynamic_slice", |x| x.dynamic_slice([ints(&[1]).reshape([]), ints(&[9]).reshape([])], [1, 2]).sin().sum(..)),
        ("dynamic_update_slice", |x| {
            let u = x.slice_axis(0, 0, 1).sin();
            x.dynamic_update_slice(u, [ints(&[5]).reshape([]), ints(&[1]).reshape([])]).cos().sum(..)
        }),
        ("window_sum", |x| pooled(x, Reducer::Sum, 1)),
        ("window_sum_dilated", |x| pooled(x, Reducer::Sum, 2)),
        ("window_prod", |x| pooled(x, Reducer::Prod, 1)),
        ("window_prod_dilated", |x| pooled(x, Reducer::Prod, 2)),
        ("window_max", |x| pooled(x, Reducer::Max, 1)),
        ("window_max_dilated", |x| pooled(x, Reducer::Max, 2)),
        ("window_min", |x| pooled(x, Reducer::Min, 1)),
        ("select_max", |x| select(x, SelectOp::Max)),
        ("select_min", |x| select(x, SelectOp::Min)),
        ("sort", |x| (x.sort(0) * x).sum(..)),
        ("sort_by_key", |x| (x.sin().sort_by_key(x.cos(), 0) * x).sum(..)),
        ("top_k", |x| x.top_k(2).0.sin().sum(..)),
        ("rfft", |x| x.fft(FftKind::Rfft, [4]).abs().sum(..)),
        ("rfft_rows", |x| x.fft(FftKind::Rfft, (x.dim(0), 4)).imag().sin().sum(..)),
        ("irfft", |x| {
            let n = x.dim(0);
            let half = x.t().slice_axis(1, 0, n / 2 + 1);
            half.complex(half.sin()).fft(FftKind::Irfft, [n]).sin().sum(..)
        }),
        ("fft", |x| x.complex(x.sin()).fft(FftKind::Fft, (x.dim(0), 4)).fft(FftKind::Ifft, [4]).real().sin().sum(..)),
        ("cholesky", |x| gram(x).cholesky().sin().sum(..)),
        ("triangular_solve", |x| {
            let p = |left| Prim::TriangularSolve {
                left,
                lower: true,
                unit_diagonal: false,
                transpose: LinTranspose::Adjoint,
            };
            emit(p(true), &[gram(x), x.t()]).sin().sum(..) + emit(p(false), &[gram(x), x]).sin().sum(..)
        }),
        ("lu", |x| x.lu().0.sin().sum(..) + gram(x).lu().0.sum(..)),
        ("qr", |x| gram(x).qr().1.sin().sum(..)),
        ("eigh", |x| gram(x).eigh().0.sin().sum(..)),
        ("svd", |x| x.svd().1.sin().sum(..)),
    ]
}

fn matrix(n: usize) -> Tensor {
    let at = |i: usize| (i as f64 * i as f64 * 1.7 + 0.3).sin();
    Tensor::from_vec((0..n * 4).map(at).collect(), [n, 4]).unwrap()
}

fn near(name: &str, a: &Tensor, b: &Tensor, tol: f64) -> Result {
    assert_eq!(a.shape(), b.shape(), "{name}");
    for (x, y) in a.cast(F64)?.as_slice::<f64>()?.iter().zip(b.cast(F64)?.as_slice::<f64>()?) {
        assert!((x - y).abs() <= tol * (1.0 + y.abs()), "{name}: {x} is not {y}\n{a:?}\n{b:?}");
    }
    Ok(())
}

#[test]
fn symbolic_extents_give_what_constants_give() -> Result {
    for (name, f) in functions() {
        let symbolic = trace(grad(f), spec(F64, (dim("B"), 4)));
        let symbolic = symbolic.unwrap_or_else(|e| panic!("{name}: {e}"));
        for n in [3, 5] {
            let x = matrix(n);
            let want = evaluate(grad(f), x.clone(), &Engines)?;
            near(name, &build(&symbolic, spec(F64, (dim("B"), 4)), &Engines)?.run(x)?, &want, 1e-12)?;
        }
    }
    Ok(())
}

#[test]
fn single_precision_follows_double() -> Result {
    for (name, f) in functions() {
        let x = matrix(5);
        let want = evaluate(grad(f), x.clone(), &Engines)?;
        near(name, &evaluate(grad(f), x.cast(F32)?, &Engines)?, &want, 1e-3)?;
        let v = |d| matrix(5).cast(d);
        let double = evaluate(jvp(f), (x.clone(), v(F64)?), &Engines)?.1;
        near(name, &evaluate(jvp(f), (x.cast(F32)?, v(F32)?), &Engines)?.1, &double, 1e-3)?;
    }
    Ok(())
}

#[test]
fn halves_have_rules_too() -> Result {
    let linalg = ["rfft", "rfft_rows", "irfft", "fft", "cholesky", "triangular_solve", "lu", "qr", "eigh", "svd"];
    for (name, f) in functions().into_iter().filter(|(n, _)| !linalg.contains(n)) {
        for dtype in [F16, BF16] {
            trace(grad(f), spec(dtype, [5, 4])).unwrap_or_else(|e| panic!("{name}: {e}"));
            trace(jvp(f), (spec(dtype, [5, 4]), spec(dtype, [5, 4]))).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
    Ok(())
}

#[test]
fn nothing_in_nothing_out() -> Result {
    let empty = || Tensor::zeros(F64, [0, 3, 3]);
    let cases: [(&str, fn(Sym) -> Sym); 10] = [
        ("cholesky", |x| x.cholesky().sum(..)),
        ("lu", |x| x.lu().0.sum(..)),
        ("qr", |x| x.qr().1.sum(..)),
        ("eigh", |x| x.eigh().0.sum(..)),
        ("svd", |x| x.svd().1.sum(..)),
        ("sort", |x| x.sort(0).sum(..)),
        ("sort_rows", |x| x.sort(1).sum(..)),
        ("top_k", |x| x.top_k(2).0.sum(..)),
        ("max", |x| {
            emit(
                Prim::ReduceWindow {
                    op: Reducer::Max,
                    window: Window::new(x.shape().iter().map(|_| Dim::constant(1)).collect()),
                },
                &[x],
            )
            .sum(..)
        }),
        ("set", |x| x.put_along_axis(zeros(I32, [0, 1, 3]), 1.0, 1).sum(..)),
    ];
    for (name, f) in cases {
        let back = evaluate(grad(f), empty(), &Engines).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(back.shape(), [0, 3, 3], "{name}");
        let y = evaluate(jvp(f), (empty(), empty()), &Engines).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(y.1.item::<f64>()?, 0.0, "{name}");
    }
    // Windows that see only padding.
    let window = Window {
        padding: vec![Padding { low: Dim::constant(2), high: Dim::constant(1) }],
        ..Window::new(vec![Dim::constant(2)])
    };
    let window: &'static Window = Box::leak(Box::new(window));
    for op in [Reducer::Sum, Reducer::Prod, Reducer::Max, Reducer::Min] {
        let f = move |x: Sym| emit(Prim::ReduceWindow { op, window: window.clone() }, &[x]);
        let back = evaluate(vjp(f), (Tensor::zeros(F64, [0]), Tensor::ones(F64, [2])), &Engines)?;
        assert_eq!(back.shape(), [0], "{op:?}");
        let t = evaluate(jvp(f), (Tensor::zeros(F64, [0]), Tensor::zeros(F64, [0])), &Engines)?.1;
        assert_eq!(t.to_vec::<f64>()?, [0.0, 0.0], "{op:?}");
    }
    Ok(())
}

#[test]
fn inside_loops_and_branches() -> Result {
    for (name, f) in functions() {
        let want = evaluate(grad(move |x: Sym| f(x) + f(x * 1.5) + f(x * 2.25)), matrix(4), &Engines)?;
        let looped = move |x: Sym| fori_loop(3, (x, x.sum(..) * 0.0), move |_, (x, s)| (x * 1.5, s + f(x))).1;
        near(name, &evaluate(grad(looped), matrix(4), &Engines)?, &want, 1e-10)?;
        let chosen = move |x: Sym| cond(x.sum(..).gt(1e9), || x.sum(..), || f(x) + f(x * 1.5) + f(x * 2.25));
        near(name, &evaluate(grad(chosen), matrix(4), &Engines)?, &want, 1e-10)?;
    }
    Ok(())
}

#[test]
fn rows_of_gradients() -> Result {
    for (name, f) in functions() {
        let batch = (0..2).map(|i| matrix(4 + i)).collect::<Vec<_>>();
        let rows: Vec<f64> = batch.iter().flat_map(|t| t.to_vec::<f64>().unwrap()[..16].to_vec()).collect();
        let x = Tensor::from_vec(rows.clone(), [2, 4, 4])?;
        let both = evaluate(vmap(grad(f)), x, &Engines).unwrap_or_else(|e| panic!("{name}: {e}"));
        let want = rows.chunks(16).map(|r| evaluate(grad(f), Tensor::from_vec(r.to_vec(), [4, 4])?, &Engines));
        let want: Vec<f64> = want.map(|t| t?.to_vec::<f64>()).collect::<Result<Vec<_>>>()?.concat();
        near(name, &both, &Tensor::from_vec(want, [2, 4, 4])?, 1e-10)?;
    }
    Ok(())
}

#[test]
fn symbols_that_turn_out_to_be_zero() -> Result {
    let leave = [
        "gather",
        "scatter_add",
        "scatter_set",
        "scatter_mul",
        "scatter_min",
        "scatter_max",
        "dynamic_slice",
        "dynamic_update_slice",
        "rfft_rows",
        "irfft",
        "fft",
    ];
    let mut bad = vec![];
    for (name, f) in functions().into_iter().filter(|(n, _)| !leave.contains(n)) {
        let g = trace(grad(f), spec(F64, (dim("B"), 4)))?;
        match build(&g, spec(F64, (dim("B"), 4)), &Engines)?.run(Tensor::zeros(F64, [0, 4])) {
            Ok(t) => assert_eq!(t.shape(), [0, 4], "{name}"),
            Err(e) => bad.push(format!("{name}: {e}")),
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
    Ok(())
}

/// Hessians are symmetric, forward over reverse mode is reverse over reverse, and recomputation changes nothing.
#[test]
fn nested_transforms() -> Result {
    let v = || matrix(5);
    let u = Tensor::from_vec((0..20).map(|i| (i as f64 * 0.7).cos()).collect(), [5, 4])?;
    let inner = |a: &Tensor, b: &Tensor| -> Result<f64> {
        Ok(a.as_slice::<f64>()?.iter().zip(b.as_slice::<f64>()?).map(|(a, b)| a * b).sum())
    };
    for (name, f) in functions() {
        let along = |f: fn(Sym) -> Sym, v: Tensor| evaluate(jvp(grad(f)), (matrix(5), v), &Engines);
        let (first, hv) = along(f, v())?;
        let (_, hu) = along(f, u.clone())?;
        let (a, b) = (inner(&u, &hv)?, inner(&v(), &hu)?);
        assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{name}: {a} {b}");
        near(name, &evaluate(vjp(grad(f)), (matrix(5), v()), &Engines)?, &hv, 1e-9)?;
        near(name, &evaluate(grad(checkpoint(f)), matrix(5), &Engines)?, &first, 1e-12)?;
        near(name, &evaluate(vjp(grad(checkpoint(f))), (matrix(5), v()), &Engines)?, &hv, 1e-9)?;
        let rows = |t: Tensor| Tensor::from_vec([t.to_vec::<f64>()?, t.to_vec::<f64>()?].concat(), [2, 5, 4]);
        let both = evaluate(vmap(jvp(grad(f))), (rows(matrix(5))?, rows(v())?), &Engines)?.1;
        near(name, &both, &rows(hv)?, 1e-9)?;
    }
    Ok(())
}
