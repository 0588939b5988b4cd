//! How many kernels programs become: the parity cases of polygrad, normalisations and losses, and their gradients.

use evoxc::prelude::*;
use evoxc::{Dyn, TreeDef};
use evoxc_native::Native;
use evoxc_native::schedule::{Counters, Schedule, schedule};
use evoxc_stage::{Backend, LoweredProgram};

/// The schedule of a graph, whose values are those of the reference where it is small.
fn of<I, O>(graph: Result<Graph<I, O>, evoxc::Error>) -> Schedule {
    let graph = graph.unwrap_or_else(|e| panic!("{e}")).simplify();
    let s = schedule(graph.module()).unwrap_or_else(|e| panic!("{e}"));
    let shapes: Option<Vec<Vec<usize>>> = graph.input_specs().iter().map(|t| t.shape.to_static()).collect();
    if let Some(shapes) = shapes
        && shapes.iter().all(|s| s.iter().product::<usize>() <= 1 << 14)
    {
        let inputs: Vec<Tensor> =
            graph.input_specs().iter().zip(&shapes).enumerate().map(|(k, (t, s))| numbers(t.dtype, s, k)).collect();
        let want = evoxc_reference::Plan::new(graph.module()).and_then(|p| p.run(inputs.clone())).unwrap();
        for native in [Native::interp(), Native::default()].into_iter().filter(|n| !n.devices().is_empty()) {
            let got = run(native, graph.module(), &inputs).unwrap_or_else(|e| panic!("{e}\n{s}"));
            for (w, g) in want.iter().zip(&got) {
                close(w, g, &s);
            }
        }
    }
    s
}

/// On the native compiler.
fn run(native: Native, module: &evoxc::ir::Module, inputs: &[Tensor]) -> Result<Vec<Tensor>, evoxc::Error> {
    let outputs = module.main().map_or(0, |f| f.body.results.len());
    let tree = TreeDef::leaves_tuple;
    let device = native.devices()[0];
    let lowered: LoweredProgram<Dyn<Tensor>, Dyn<Tensor>, Native> =
        LoweredProgram::from_parts(native, module, tree(inputs.len()), tree(outputs))?;
    let args: Dyn<Tensor> = tree(inputs.len()).unflatten(inputs.to_vec())?;
    Ok(lowered.compile()?.load(device)?.run(args)?.leaves().to_vec())
}

/// Numbers around 0 that differ; labels where integers are asked for.
fn numbers(dtype: DType, shape: &[usize], k: usize) -> Tensor {
    let n: usize = shape.iter().product();
    let number = |i: usize| ((i * 7919 + k * 1047 + 13) % 1009) as f32 / 504.5 - 0.9;
    match dtype {
        I32 => Tensor::from_vec((0..n).map(|i| (i * 7 + k) as i32 % 5).collect(), shape).unwrap(),
        F16 => {
            let all = (0..n).map(|i| half::f16::from_f32(number(i))).collect();
            Tensor::from_vec(all, shape).unwrap()
        }
        _ => Tensor::from_vec((0..n).map(number).collect(), shape).unwrap(),
    }
}

#[track_caller]
fn close(want: &Tensor, got: &Tensor, s: &Schedule) {
    assert_eq!((want.dtype(), want.shape()), (got.dtype(), got.shape()));
    let bound = if want.dtype() == F16 { 1e-2 } else { 2e-5 };
    let all = |t: &Tensor| -> Vec<f32> {
        match t.dtype() {
            F16 => t.to_vec::<half::f16>().unwrap().into_iter().map(f32::from).collect(),
            _ => t.to_vec::<f32>().unwrap(),
        }
    };
    for (w, g) in all(want).into_iter().zip(all(got)) {
        assert!((w - g).abs() <= bound * (1.0 + w.abs()) || w.is_nan() && g.is_nan(), "{want:?}\n{got:?}\n{s}");
    }
}

#[track_caller]
fn at_most(kernels: usize, s: &Schedule) {
    let c = s.counters();
    let rest = Counters { kernels: 0, views: 0, ..c };
    assert!(c.kernels <= kernels && rest == Counters::default(), "at most {kernels}:\n{s}");
}

/// One kernel, and nothing else.
macro_rules! one_kernel {
    ($($name:ident: |$($arg:ident),+| $body:expr, $specs:expr;)*) => { $(
        #[test]
        fn $name() {
            at_most(1, &of(trace(|$($arg: Sym),+| $body, $specs)));
        }
    )* };
}

one_kernel! {
    vecadd: |a, b| a + b, (spec(F32, [16]), spec(F32, [16]));
    chain: |a, b| ((a + b) * a - b).exp(), (spec(F32, [16]), spec(F32, [16]));
    broadcast_scalar: |a| a * 2.0 + 1.0, spec(F32, [4, 4]);
    neg: |a| -a, spec(F32, [8]);
    mul: |a, b| a * b, (spec(F32, [8]), spec(F32, [8]));
    sqrt: |a| a.sqrt(), spec(F32, [8]);
    where_: |a, b| a.gt(0.0).select(a, b), (spec(F32, [8]), spec(F32, [8]));
    exp2: |a| a.exp2(), spec(F32, [8]);
    sum_all: |a| a.sum(..), spec(F32, [4, 8]);
    sum_axis_0: |a| a.sum(0), spec(F32, [4, 8]);
    sum_axis_1: |a| a.sum(1), spec(F32, [4, 8]);
    max_all: |a| a.max(..), spec(F32, [4, 8]);
    max_axis_0: |a| a.max(0), spec(F32, [4, 8]);
    max_axis_1: |a| a.max(1), spec(F32, [4, 8]);
    reshape_reduce: |a| a.reshape([8, 4]).sum(1), spec(F32, [4, 8]);
    expand_alu_reduce: |a| (a.reshape([4, 1]).broadcast_to([4, 8]) * 2.0).sum(1), spec(F32, [4]);
    reduce_scalar_chain: |a| (a - a.mean(..)) / (a.sum(..) + 1.0), spec(F32, [4, 8]);
    reduce_vector_chain: |a| (a - a.mean(keep(1))) / (a.sum(keep(1)) + 1.0), spec(F32, [4, 8]);
    permute: |a| a.transpose([1, 0]) + 1.0, spec(F32, [4, 8]);
    shrink: |a| a.slice(s![1..3, 2..6]) * 2.0, spec(F32, [4, 8]);
    pad: |a| a.pad(&[(1, 2), (0, 3)], 0.0) + 1.0, spec(F32, [4, 8]);
    chain_pad_flip: |a| (a + 1.0).pad(&[(1, 1)], 0.0).flip(0) * 3.0, spec(F32, [8]);
    multi_movement: |a| a.reshape([2, 2, 8]).transpose([2, 0, 1]).slice(s![1..7, .., ..]).flip(0).reshape([12, 2]) + 1.0, spec(F32, [4, 8]);
    matmul_small: |a, b| a.matmul(b), (spec(F32, [2, 3]), spec(F32, [3, 2]));
    matmul_broadcast: |a, b| a.matmul(b), (spec(F32, [2, 2, 2]), spec(F32, [1, 2, 2]));
    softmax: |x| x.softmax(-1), spec(F32, [64, 128]);
    softmax_large: |x| x.softmax(-1), spec(F32, [4096, 1024]);
    softmax_symbolic: |x| x.softmax(-1), spec(F32, (dim("B"), dim("N")));
    log_softmax: |x| x.log_softmax(-1), spec(F32, [4096, 1024]);
    layer_norm: |x, w, b| x.layer_norm(-1, 1e-5) * w + b, (spec(F32, [4096, 1024]), spec(F32, [1024]), spec(F32, [1024]));
    layer_norm_half: |x, w, b| x.layer_norm(-1, 1e-5) * w + b, (spec(F16, [64, 128]), spec(F16, [128]), spec(F16, [128]));
    rms_norm: |x, w| x.rms_norm(-1, 1e-5) * w, (spec(F32, [4096, 1024]), spec(F32, [1024]));
    variance_axis: |x| x.var(1), spec(F32, [4096, 1024]);
    variance_all: |x| x.var(..), spec(F32, [64, 64]);
    cross_entropy: |x, y| x.cross_entropy(y, CrossEntropy::default()), (spec(F32, [64, 10]), spec(I32, [64]));
    attention_rows: |s, m| (s * 0.125 + m).softmax(-1), (spec(F32, [32, 128, 128]), spec(F32, [128, 128]));
}

/// Much to one number is two steps, so that threads share the first.
#[test]
fn large_reductions_to_one_number() {
    let of_rows = |x: Sym, y: Sym| x.cross_entropy(y, CrossEntropy::default());
    at_most(2, &of(trace(of_rows, (spec(F32, [1024, 1000]), spec(I32, [1024])))));
    for shape in [vec![10_000_000usize], vec![4096, 1024], vec![3, 1_000_000]] {
        let s = of(trace(|x: Sym| (x * x).sum(..), spec(F32, shape.clone())));
        at_most(2, &s);
        assert_eq!(s.counters().kernels, 2, "{s}");
    }
    let s = of(trace(|x: Sym| x.max(..), spec(F32, (dim("B"), 1024))));
    at_most(2, &s);
    assert_eq!(s.counters().kernels, 2, "{s}");
}

#[test]
fn cross_entropy_over_another_axis() {
    // As for images: [batch, classes, pixels], labels [batch, pixels].
    let f = |x: Sym, y: Sym| {
        let log_p = x.log_softmax(1);
        let hot = y.reshape([2, 1, 6]).broadcast_to([2, 5, 6]).eq(iota(I32, [2, 5, 6], 1));
        -(hot.select(log_p, 0.0)).sum(1).mean(..)
    };
    at_most(2, &of(trace(f, (spec(F32, [2, 5, 6]), spec(I32, [2, 6])))));
}

#[test]
fn shared_scalar_reduce_branches() {
    let f = |x: Sym| {
        let s = x.sum(..);
        (x * s, (x + s).exp(), s + 1.0)
    };
    at_most(3, &of(trace(f, spec(F32, [4, 8]))));
}

/// The gradient with respect to the first argument.
macro_rules! gradients {
    ($($name:ident: $most:literal, |$($arg:ident),+| $body:expr, $specs:expr;)*) => { $(
        #[test]
        fn $name() {
            at_most($most, &of(trace(grad(|$($arg: Sym),+| $body), $specs)));
        }
    )* };
}

gradients! {
    grad_mul: 1, |a, b| (a * b).sum(..), (spec(F32, [8]), spec(F32, [8]));
    grad_exp2: 1, |a| a.exp2().sum(..), spec(F32, [8]);
    grad_fdiv_left: 1, |a, b| (a / b).sum(..), (spec(F32, [8]), spec(F32, [8]));
    grad_fdiv_right: 1, |b, a| (a / b).sum(..), (spec(F32, [8]), spec(F32, [8]));
    grad_movement_chain: 1, |a| (a.reshape([8, 4]).transpose([1, 0]).pad(&[(1, 0), (0, 0)], 0.0).flip(0) * 2.0).exp().sum(..), spec(F32, [4, 8]);
    grad_log2: 1, |a| a.log2().sum(..), spec(F32, [8]);
    grad_sqrt: 1, |a| a.sqrt().sum(..), spec(F32, [8]);
    grad_where: 1, |a, b| a.gt(0.0).select(a * b, b).sum(..), (spec(F32, [8]), spec(F32, [8]));
    grad_multi_use: 1, |a| (a * a + a.exp() * a).sum(..), spec(F32, [8]);
    grad_softmax: 3, |x, g| (x.softmax(-1) * g).sum(..), (spec(F32, [4096, 1024]), spec(F32, [4096, 1024]));
    grad_log_softmax: 3, |x, g| (x.log_softmax(-1) * g).sum(..), (spec(F32, [4096, 1024]), spec(F32, [4096, 1024]));
    grad_layer_norm: 3, |x, g| (x.layer_norm(-1, 1e-5) * g).sum(..), (spec(F32, [4096, 1024]), spec(F32, [4096, 1024]));
    grad_rms_norm: 3, |x, g| (x.rms_norm(-1, 1e-5) * g).sum(..), (spec(F32, [4096, 1024]), spec(F32, [4096, 1024]));
    grad_variance: 3, |x, g| (x.var(1) * g).sum(..), (spec(F32, [4096, 1024]), spec(F32, [4096]));
    grad_cross_entropy: 3, |x, y| x.cross_entropy(y, CrossEntropy::default()), (spec(F32, [1024, 1000]), spec(I32, [1024]));
}

gradients! {
    small_grad_softmax: 3, |x, g| (x.softmax(-1) * g).sum(..), (spec(F32, [24, 40]), spec(F32, [24, 40]));
    small_grad_log_softmax: 3, |x, g| (x.log_softmax(-1) * g).sum(..), (spec(F32, [24, 40]), spec(F32, [24, 40]));
    small_grad_layer_norm: 3, |x, g| (x.layer_norm(-1, 1e-5) * g).sum(..), (spec(F32, [24, 40]), spec(F32, [24, 40]));
    small_grad_rms_norm: 3, |x, g| (x.rms_norm(-1, 1e-5) * g).sum(..), (spec(F32, [24, 40]), spec(F32, [24, 40]));
    small_grad_cross_entropy: 3, |x, y| x.cross_entropy(y, CrossEntropy::default()), (spec(F32, [64, 10]), spec(I32, [64]));
}

#[test]
fn rows_and_what_is_kept_of_them_are_one_kernel() {
    let f = |x: Sym| {
        let e = (x - x.max(keep(1))).exp();
        let s = e.sum(keep(1));
        (e / s, e, s)
    };
    at_most(1, &of(trace(f, spec(F32, [64, 128]))));
}

fn block(x: Sym, p: &[Sym]) -> Sym {
    let h = x.layer_norm(-1, 1e-5) * p[0] + p[1];
    let qkv = h.matmul(p[2]).reshape([2, 16, 3, 4, 8]).transpose([2, 0, 3, 1, 4]);
    let part = |i: i64| qkv.slice(s![i..i + 1, .., .., .., ..]).reshape([2, 4, 16, 8]);
    let (q, k, v) = (part(0), part(1), part(2));
    let s = (q.matmul(k.t()) * 0.35).softmax(-1);
    let o = s.matmul(v).transpose([0, 2, 1, 3]).reshape([2, 16, 32]);
    let x = x + o.matmul(p[3]);
    let h = x.layer_norm(-1, 1e-5) * p[4] + p[5];
    x + h.matmul(p[6]).gelu().matmul(p[7])
}

#[test]
fn a_transformer_block_and_its_gradient() {
    let t = |s: &[usize]| spec(F32, s.to_vec());
    let p = || {
        let (n, square) = (t(&[32]), t(&[32, 32]));
        vec![n.clone(), n.clone(), t(&[32, 96]), square, n.clone(), n, t(&[32, 64]), t(&[64, 32])]
    };
    of(trace(|x: Sym, p: Vec<Sym>| block(x, &p), (t(&[2, 16, 32]), p())));
    let loss = |p: Vec<Sym>, x: Sym| (block(x, &p) * 0.5).mean(..);
    of(trace(grad(loss), (p(), t(&[2, 16, 32]))));
}

#[test]
fn grad_layer_norm_of_everything() {
    let f = |x: Sym, w: Sym, b: Sym, g: Sym| ((x.layer_norm(-1, 1e-5) * w + b) * g).sum(..);
    let all = (spec(F32, [4096, 1024]), spec(F32, [1024]), spec(F32, [1024]), spec(F32, [4096, 1024]));
    at_most(3, &of(trace(grad(f).wrt_all(), all)));
}
