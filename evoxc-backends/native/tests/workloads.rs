//! What the reference workloads are scheduled to: how many kernels, products of matrices and library steps.

#![allow(clippy::approx_constant, reason = "the other systems are given these very digits")]

use evoxc::prelude::*;
use evoxc_native::schedule::{Counters, Item, KernelItem, schedule};
use evoxc_native::uop::key;

#[track_caller]
fn steps<I, O>(graph: Result<Graph<I, O>, evoxc::Error>, kernels: usize, matmuls: usize) -> Counters {
    let graph = graph.unwrap_or_else(|e| panic!("{e}"));
    let time = std::time::Instant::now();
    let s = schedule(graph.module()).unwrap_or_else(|e| panic!("{e}"));
    println!("{s}in {:?}", time.elapsed());
    let c = s.counters();
    assert!(c.kernels <= kernels && c.matmuls <= matmuls && c.library == 0, "{s}");
    c
}

fn f32s(shape: impl evoxc::IntoShape) -> evoxc::TensorSpec {
    spec(F32, shape)
}

fn gelu(x: Sym) -> Sym {
    0.5 * x * (1.0 + (0.7978845608 * (x + 0.044715 * x * x * x)).tanh())
}

#[test]
fn element_wise_chains_are_one_kernel() {
    let chain20 = |x: Sym, a: Sym, b: Sym| (0..20).fold(x, |x, _| x * a + b);
    let n = 10_000_000;
    steps(trace(chain20, (f32s([n]), f32s([n]), f32s([n]))), 1, 0);
    steps(trace(gelu, f32s([4_194_304])), 1, 0);
    steps(trace(|a: Sym, b: Sym| (a * b + a).tanh() * b, (f32s([64]), f32s([64]))), 1, 0);
}

#[test]
fn rows_are_one_kernel() {
    let softmax = |x: Sym| {
        let e = (x - x.max(keep(1))).exp();
        e / e.sum(keep(1))
    };
    let layernorm = |x: Sym, g: Sym, b: Sym| {
        let d = x - x.mean(keep(1));
        d / ((d * d).mean(keep(1)) + 1e-5).sqrt() * g + b
    };
    steps(trace(softmax, f32s([4096, 1024])), 1, 0);
    steps(trace(layernorm, (f32s([4096, 1024]), f32s([1024]), f32s([1024]))), 1, 0);
    steps(trace(|x: Sym| x.sum(keep(1)), f32s([4096, 1024])), 1, 0);
    steps(trace(|x: Sym| x.sum(keep(0)), f32s([4096, 1024])), 1, 0);
}

#[test]
fn differential_evolution_is_one_kernel() {
    fn ackley(x: Sym) -> Sym {
        20.0 - 20.0 * (-0.2 * (x * x).mean(keep(1)).sqrt()).exp() - (6.2831853 * x).cos().mean(keep(1)).exp()
            + 2.718281828
    }
    let step = |x: Sym, a: Sym, b: Sym, c: Sym, u: Sym| {
        let trial = (u.lt(0.9)).select(a + 0.5 * (b - c), x);
        let better = ackley(trial).lt(ackley(x));
        better.broadcast_to(x.shape()).select(trial, x)
    };
    let p = || f32s([4096, 50]);
    steps(trace(step, (p(), p(), p(), p(), p())), 1, 0);
}

#[test]
fn networks() {
    let mlp = |x: Sym, w1: Sym, b1: Sym, w2: Sym, b2: Sym| gelu(x.matmul(w1) + b1).matmul(w2) + b2;
    let all = (f32s([512, 768]), f32s([768, 3072]), f32s([3072]), f32s([3072, 768]), f32s([768]));
    steps(trace(mlp, all), 2, 2);
    let attention = |q: Sym, k: Sym, v: Sym| {
        let s = q.matmul(k.t()) * 0.125;
        let e = (s - s.max(keep(2))).exp();
        (e / e.sum(keep(2))).matmul(v)
    };
    let h = || f32s([32, 128, 64]);
    steps(trace(attention, (h(), h(), h())), 1, 2);
}

fn mlp_loss(p: [Sym; 6], x: Sym, y: Sym) -> Sym {
    let [w1, b1, w2, b2, w3, b3] = p;
    let h = (x.matmul(w1) + b1).tanh();
    let h = (h.matmul(w2) + b2).tanh();
    let d = h.matmul(w3) + b3 - y;
    (d * d).mean(keep(1)).mean(keep(0)).sum(..)
}

#[test]
fn a_step_of_gradient_descent() {
    let train = |p: [Sym; 6], x: Sym, y: Sym| -> [Sym; 6] {
        let g = grad(|p: [Sym; 6]| mlp_loss(p, x, y)).call(p);
        std::array::from_fn(|i| p[i] - 0.01 * g[i])
    };
    let p = [f32s([784, 512]), f32s([512]), f32s([512, 512]), f32s([512]), f32s([512, 10]), f32s([10])];
    steps(trace(train, (p, f32s([128, 784]), f32s([128, 10]))), 12, 8);
}

#[test]
fn a_recurrent_network_is_one_kernel_a_step() {
    let rnn = |w: Sym, u: Sym, xs: Sym| {
        let (h, ()) = scan(zeros(F32, [64]), xs, |h: Sym, x: Sym| ((h.dot(w) + x.dot(u)).tanh(), ()));
        h
    };
    let c = steps(trace(rnn, (f32s([64, 64]), f32s([16, 64]), f32s([1000, 16]))), 2, 0);
    assert_eq!(c.controls, 1);
}

#[test]
fn a_population_is_one_kernel() {
    let program = |p: usize, a: Sym, b: Sym| {
        (0..10).fold(a, |x, j| {
            let y = if j % 2 == 0 { b } else { a };
            match (p * 7 + j * j * 3 + p * j) % 6 {
                0 => x + y,
                1 => x - y,
                2 => x * y,
                3 => x.maximum(y),
                4 => x.tanh() + y,
                _ => x.sin() * y,
            }
        })
    };
    let merged = move |a: Sym, c: Sym| {
        let all: Vec<Sym> = (0..32)
            .map(|p| program(p, a, c.slice(s![p as i64..p as i64 + 1, 0..1]).reshape([1]).broadcast_to([64])))
            .collect();
        stack(all, 0)
    };
    steps(trace(merged, (f32s([64]), f32s([32, 1]))), 1, 0);
}

#[test]
fn twelve_identical_layers_have_the_kernels_of_one() {
    let layers = |n: usize| {
        let net = move |x: Sym, w: Vec<Sym>, b: Vec<Sym>| {
            w.iter().zip(&b).fold(x, |x, (w, b)| (gelu(x.matmul(*w) + *b)).layer_norm(-1, 1e-5) + x)
        };
        let many = |t: evoxc::TensorSpec| vec![t; n];
        let g = trace(net, (f32s([64, 256]), many(f32s([256, 256])), many(f32s([256])))).unwrap();
        let s = schedule(g.module()).unwrap();
        let kernels: Vec<_> = s.routines[0]
            .body
            .items
            .iter()
            .filter_map(|i| match i {
                Item::Kernel(k) => Some(key(&k.kernel)),
                _ => None,
            })
            .collect();
        (kernels.len(), kernels.into_iter().collect::<std::collections::HashSet<_>>().len())
    };
    let (one, twelve) = (layers(1), layers(12));
    assert_eq!(twelve.0, one.0 * 12);
    // The first layer's input is no result of a layer, but is read as one.
    assert_eq!(twelve.1, one.1);
}

#[test]
fn long_chains_are_one_kernel_in_linear_time() {
    let of = |n: usize| {
        let chain = |x: Sym, a: Sym| (0..n).fold(x, |x, n| if n % 2 == 0 { x * a } else { x + a });
        let g = trace(chain, (f32s([64]), f32s([64]))).unwrap();
        let time = std::time::Instant::now();
        let s = schedule(g.module()).unwrap();
        let time = time.elapsed();
        println!("{n} ops in {time:?}");
        assert_eq!(s.counters().kernels, 1);
        time
    };
    of(1000);
    // A generous bound: machines are shared.
    assert!(of(10_000) < of(1000) * 40);
}

/// One row through a feed-forward block, as in the decoding of text: no product is computed more than once.
#[test]
fn one_row_through_a_feed_forward_block() {
    let block = |x: Sym, gate: Sym, up: Sym, down: Sym| {
        let y = x / ((x * x).mean(keep(1)) + 1e-5).sqrt();
        let (g, u) = (y.dot(gate.t()), y.dot(up.t()));
        x + (g.silu() * u).dot(down.t())
    };
    let specs = (f32s([1, 576]), f32s([1536, 576]), f32s([1536, 576]), f32s([576, 1536]));
    let graph = trace(block, specs).unwrap_or_else(|e| panic!("{e}"));
    let s = schedule(graph.module()).unwrap_or_else(|e| panic!("{e}"));
    let flops: i64 = s.routines[0]
        .body
        .items
        .iter()
        .map(|i| match i {
            Item::Kernel(k) => k.flops().as_i64().unwrap_or(i64::MAX / 8),
            _ => 0,
        })
        .sum();
    // Three products of 576 by 1536, two flops each; the rest is little.
    assert!(flops < 3 * 2 * 576 * 1536 * 3 / 2, "{flops} flops: {s}");
}

/// One row through attention: queries are computed once, not for each key.
#[test]
fn one_row_through_attention() {
    let attend = |x: Sym, w: Sym, keys: Sym, values: Sym| {
        let q = x.dot(w).reshape([12, 1, 64]);
        let scores = q.matmul(keys.transpose([0, 2, 1])) * 0.125;
        scores.softmax(-1).matmul(values)
    };
    let n = dim("N");
    let specs = (f32s([1, 768]), f32s([768, 768]), f32s((12, n, 64)), f32s((12, n, 64)));
    let graph = trace(attend, specs).unwrap_or_else(|e| panic!("{e}"));
    let s = schedule(graph.module()).unwrap_or_else(|e| panic!("{e}"));
    let of = |k: &KernelItem| k.flops().evaluate(&mut |_| Some(256)).unwrap_or_else(|e| panic!("{e}"));
    let items = s.routines[0].body.items.iter();
    let flops: i64 = items.map(|i| if let Item::Kernel(k) = i { of(k) } else { 0 }).sum();
    // The projection, two products with 256 rows of 64 for each of 12 heads, and some tens of flops for each score.
    assert!(flops < 2 * 768 * 768 + 2 * 2 * 12 * 256 * 64 + 12 * 256 * 60, "{flops} flops: {s}");
}
