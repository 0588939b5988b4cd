//! f16 and bf16 on the native compiler: programs in both, as every kind of code, strict and fast, for sizes that symbols have.
//!
//! What is strict is the interpreter's within the tolerances, and the same bits as every kind of code, beside guard pages
//! too. What is fast may round less often: it must be as near to the same program in f64 as the strict form is. Values from
//! NumPy and ml_dtypes are in `ir/run/halves.evx`.

use evoxc::{Native, Precision, prelude::*};
use evoxc_backends::{Edge, Interp};
use evoxc_core::DType;
use evoxc_stage::AnyBackend;
use evoxc_tests::engines::Engines;
use evoxc_tests::run::{execute, same_bits};

type Program = fn(Sym, Sym) -> Sym;

/// Of x `[n, 24]` and w `[24, 70]`, whatever n is.
fn programs() -> Vec<(&'static str, Program)> {
    fn other(x: Sym) -> DType {
        match x.dtype() {
            F16 => BF16,
            BF16 => F16,
            d => d,
        }
    }
    vec![
        ("chain", |x, w| {
            (x * 1.5 + 0.25).tanh() - (x * 0.5).exp() / (x.abs() + w.at(0).slice_axis(0, 0, 24).abs()).sqrt()
        }),
        ("softmax", |x, _| x.softmax(1)),
        ("log_softmax", |x, _| (x - x.logsumexp(1).expand_dims(1)).exp() * x),
        ("layer_norm", |x, _| x.layer_norm(1, 1e-3)),
        ("sums", |x, _| (x * x).sum(1) - x.max(1) + x.mean(1)),
        ("dot", |x, w| x.dot(w)),
        ("dot_transposed", |x, w| w.t().dot(x.t()).tanh()),
        ("gram", |x, _| x.t().dot(x)),
        ("wide_dot", |x, w| x.cast(F32).dot(w.cast(F32)).cast(x.dtype())),
        ("network", |x, w| {
            let h = x.dot(w).tanh();
            h.dot(w.t()).softmax(1)
        }),
        ("gradient", |x, w| {
            let loss = |x: Sym, w: Sym| (x.dot(w).tanh() * 0.25).sum(..);
            let (gx, gw) = grad(loss).wrt2::<0, 1>().call((x, w));
            gx + gw.sum(1)
        }),
        ("scan", |x, _| scan(x.sum(0) * 0.0, x, |c: Sym, row: Sym| ((c * 0.5 + row).sin(), c * row)).1),
        ("casts", |x, _| {
            let up = (x.cast(F32) * 1.001).cast(x.dtype());
            up + x.cast(other(x)).cast(x.dtype()) + (x * 8.0).cast(I32).cast(x.dtype())
        }),
        ("compare", |x, w| {
            let row = w.at(1).slice_axis(0, 0, 24);
            x.lt(row).select(x, row) + x.ge(0.0).cast(x.dtype())
        }),
        ("sort", |x, _| x.sort(1) + x.cumsum(1)),
        ("conv", |x, w| {
            let n = x.dim(0);
            let image = x.reshape((n, 1, 24));
            image.conv1d(w.slice_axis(0, 0, 12).reshape([24, 1, 35]).slice_axis(2, 0, 5), Conv::default()).sum(1)
        }),
    ]
}

fn numbers(seed: u64, shape: [usize; 2], scale: f64) -> Tensor {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 40) as f64 / (1 << 23) as f64 - 1.0) * scale
    };
    Tensor::from_vec((0..shape[0] * shape[1]).map(|_| next()).collect::<Vec<f64>>(), shape).unwrap()
}

/// The largest distance between elements.
fn apart(a: &Tensor, b: &Tensor) -> f64 {
    let (a, b) = (a.cast(F64).unwrap().to_vec::<f64>().unwrap(), b.cast(F64).unwrap().to_vec::<f64>().unwrap());
    assert_eq!(a.len(), b.len());
    a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, |m, d| if d > m || d.is_nan() { d } else { m })
}

#[test]
fn programs_in_halves() {
    let cached = || Native::c().cache_dir(concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels"));
    let kinds = |precision: Precision| -> Vec<(&'static str, AnyBackend)> {
        let fenced = |e| Native::default().fenced(e);
        let all = [
            ("machine code", Native::default()),
            ("three threads", Native::default().threads(3)),
            ("256 bits", Native::avx2()),
            ("C", cached()),
            ("interpreted kernels", Native::interp()),
            ("before a guard page", fenced(Edge::End)),
            ("after a guard page", fenced(Edge::Start)),
        ];
        let here = all.into_iter().filter(|(_, n)| !n.devices().is_empty());
        here.map(|(name, n)| (name, AnyBackend::new(n.precision(precision)))).collect()
    };
    let (strict, fast) = (kinds(Precision::Strict), kinds(Precision::Fast));
    let (engines, interp) = (AnyBackend::new(Engines), AnyBackend::new(Interp));
    for (name, f) in programs() {
        let traced = |d| trace(move |x: Sym, w: Sym| f(x, w), (spec(d, (dim("N"), 24)), spec(d, [24, 70])));
        let exact = traced(F64).unwrap_or_else(|e| panic!("{name}: {e}"));
        for dtype in [F16, BF16] {
            let graph = traced(dtype).unwrap_or_else(|e| panic!("{name}: {e}"));
            for n in [0, 1, 7, 33, 260] {
                let at = format!("{name}, {dtype}, n = {n}");
                let inputs = [numbers(1, [n, 24], 3.0), numbers(2, [24, 70], 1.5)].map(|t| t.cast(dtype).unwrap());
                let run = |b: &AnyBackend, form: &str| {
                    execute(b, graph.module(), &inputs).unwrap_or_else(|e| panic!("{at}, {form}: {e:?}"))
                };
                // The interpreter's results; it ends there where machine code has others.
                let expected = run(&engines, "engines");
                let same = |kinds: &[(&'static str, AnyBackend)]| {
                    let first = run(&kinds[0].1, kinds[0].0);
                    for (form, kind) in &kinds[1..] {
                        same_bits(&first, &run(kind, form)).unwrap_or_else(|e| panic!("{at}, {form}: {e}"));
                    }
                    first
                };
                let (strict, fast) = (same(&strict), same(&fast));
                let wide = inputs.clone().map(|t| t.cast(F64).unwrap());
                let ideal = execute(&interp, exact.module(), &wide).unwrap_or_else(|e| panic!("{at}: {e:?}"));
                for ((s, f), (i, e)) in strict.iter().zip(&fast).zip(ideal.iter().zip(&expected)) {
                    let largest = i.to_vec::<f64>().unwrap().iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
                    let unit = largest * if dtype == F16 { 2f64.powi(-11) } else { 2f64.powi(-8) };
                    let (strict, fast, reference) = (apart(s, i), apart(f, i), apart(e, i));
                    assert!(strict <= reference + 2.0 * unit, "{at}: strict {strict}, reference {reference}");
                    assert!(fast <= reference + 2.0 * unit, "{at}: fast {fast}, reference {reference}");
                }
            }
        }
    }
}

/// Large products of halves are products of matrices, and no step of a library.
#[test]
fn large_products_of_halves_are_blocked() -> evoxc::Result<()> {
    for dtype in [F16, BF16] {
        let specs = (spec(dtype, [130, 300]), spec(dtype, [300, 90]));
        let lowered = trace(|x: Sym, w: Sym| x.dot(w), specs)?.lower(&Native::interp())?;
        let counters = lowered.schedule().counters();
        assert_eq!((counters.matmuls, counters.library, counters.kernels), (1, 0, 0), "{}", lowered.schedule());
    }
    Ok(())
}
