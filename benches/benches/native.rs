//! The native compiler: what a call costs beside its work, and what each stage costs for a small program.
//!
//! Targets: a call of a compiled tiny graph below 1 µs; tracing, compiling and running ten element-wise ops on 64 elements
//! for the first time below 0.5 ms.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evoxc::{Native, prelude::*};
use evoxc_benches::{chain_graph, leaves_graph};
use std::hint::black_box;

fn must<T>(r: evoxc::Result<T>) -> T {
    match r {
        Ok(t) => t,
        Err(e) => panic!("{e:?}"),
    }
}

/// Calls of compiled programs.
fn call(c: &mut Criterion) {
    let native = Native::default();
    let mut group = c.benchmark_group("call");
    let exe = must(build(|x: Sym| x + 1.0, spec(F32, [4]), &native));
    let x = Tensor::ones(F32, [4]);
    group.bench_function("add_4", |b| b.iter(|| exe.run(black_box(x.clone()))));
    let exe = must(build(|x: Sym| x + 1.0, spec(F32, [dim("B")]), &native));
    group.bench_function("add_symbolic", |b| b.iter(|| exe.run(black_box(x.clone()))));
    let exe = must(chain_graph(10, 64).lower(&native).and_then(|l| l.compile()).and_then(|a| a.load(Device::cpu())));
    let x = Tensor::ones(F32, [64]);
    group.bench_function("chain_10", |b| b.iter(|| exe.run(black_box(x.clone()))));
    let exe = must(leaves_graph(10).lower(&native).and_then(|l| l.compile()).and_then(|a| a.load(Device::cpu())));
    let xs = vec![Tensor::ones(F32, []); 10];
    group.bench_function("leaves_10", |b| b.iter(|| exe.run(black_box(xs.clone()))));
    group.finish();
}

/// Loops, by iteration: those with small bodies are one kernel, the others a loop of the plan.
fn loops(c: &mut Criterion) {
    let native = Native::default();
    let mut group = c.benchmark_group("loops");
    let step = |(h, w): (Sym, Sym), x: Sym| ((w.dot(h).tanh() + x, w), ());
    let f = move |h: Sym, w: Sym, xs: Sym| scan((h, w), xs, step).0.0;
    let exe = must(build(f, (spec(F32, [64]), spec(F32, [64, 64]), spec(F32, [1000, 64])), &native));
    let args = (Tensor::zeros(F32, [64]), Tensor::ones(F32, [64, 64]), Tensor::ones(F32, [1000, 64]));
    group.throughput(Throughput::Elements(1000));
    group.bench_function("rnn_1000x64", |b| b.iter(|| exe.run(black_box(args.clone()))));

    let count = |x: Sym| while_loop((x, x * 0.0), |(_, n)| n.lt(1e6), |(x, n)| (3.7 * x * (1.0 - x), n + 1.0)).0;
    let exe = must(build(count, spec(F32, []), &native));
    let x = Tensor::from(0.3f32);
    group.sample_size(20);
    group.throughput(Throughput::Elements(1_000_000));
    group.bench_function("scalar_while_1m", |b| b.iter(|| exe.run(black_box(x.clone()))));

    for (n, name) in [(64usize, "fori_1000x64"), (1 << 18, "fori_100x262144")] {
        let times = if n == 64 { 1000 } else { 100 };
        let map = move |x: Sym| fori_loop(times, x, |_, x| 3.7 * x * (1.0 - x));
        let exe = must(build(map, spec(F32, [n]), &native));
        let x = Tensor::full(F32, [n], 0.3f32);
        group.throughput(Throughput::Elements(times as u64));
        group.bench_function(name, |b| b.iter(|| exe.run(black_box(x.clone()))));
    }
    group.finish();
}

/// The stages of a small program.
fn stages(c: &mut Criterion) {
    let native = Native::default();
    let mut group = c.benchmark_group("stages");
    let graph = chain_graph(10, 64);
    group.bench_function("trace", |b| b.iter(|| chain_graph(black_box(10), 64)));
    group.bench_function("lower", |b| b.iter(|| graph.lower(&native)));
    let lowered = must(graph.lower(&native));
    group.bench_function("compile", |b| b.iter(|| lowered.compile()));
    let artifact = must(lowered.compile());
    group.bench_function("load", |b| b.iter(|| artifact.load(Device::cpu())));
    let x = Tensor::ones(F32, [64]);
    group.bench_function("all_and_first_run", |b| {
        b.iter(|| {
            let exe = chain_graph(10, 64).lower(&native)?.compile()?.load(Device::cpu())?;
            exe.run(x.clone())
        })
    });
    group.finish();
}

/// Compile time grows with the program alone: a chain, many results, layers of all kinds of ops.
fn sizes(c: &mut Criterion) {
    let native = Native::default();
    macro_rules! build {
        ($name:literal, $graph:expr) => {
            let mut group = c.benchmark_group($name);
            group.sample_size(10);
            for n in [100usize, 1000, 10_000] {
                let graph = $graph(n);
                group.throughput(Throughput::Elements(n as u64));
                group.bench_function(n.to_string(), |b| {
                    b.iter(|| graph.lower(&native).and_then(|l| l.compile()).and_then(|a| a.load(Device::cpu())))
                });
            }
            group.finish();
        };
    }
    build!("build_chain", |n| chain_graph(n, 64));
    build!("build_wide", |n| must(trace(|x: Sym| wide(x, n), spec(F32, [64]))));
    let square = || spec(F32, [16, 16]);
    build!("build_layers", |n| must(trace(|x: Sym, w: Sym| layers(x, w, n), (square(), square()))));
}

/// Results of two ops each that share their input only.
fn wide(x: Sym, n: usize) -> Vec<Sym> {
    (0..n / 2).map(|i| (x + i as f32).exp()).collect()
}

/// Products, reductions and element-wise ops: ten a layer.
fn layers(x: Sym, w: Sym, n: usize) -> Sym {
    (0..n / 10).fold(x, |h, _| (h.dot(w) + 0.5).tanh().softmax(1) + h)
}

criterion_group!(benches, call, loops, stages, sizes);
criterion_main!(benches);
