//! Trace, print, parse, verify and simplify a 10,000-op program. Target: a trace within 20 ms.

use criterion::{Criterion, criterion_group, criterion_main};
use evoxc::prelude::*;
use evoxc_benches::{chain, chain_graph};
use std::hint::black_box;

fn graph(c: &mut Criterion) {
    let mut group = c.benchmark_group("10k_ops");
    group.sample_size(20);
    group.bench_function("trace", |b| b.iter(|| trace(|x: Sym| chain(x, 10_000), spec(F32, [64]))));
    let g = chain_graph(10_000, 64);
    let text = g.to_string();
    group.bench_function("print", |b| b.iter(|| black_box(&g).to_string()));
    group.bench_function("parse", |b| b.iter(|| Graph::parse(black_box(&text))));
    group.bench_function("verify", |b| b.iter(|| black_box(&g).verify()));
    group.bench_function("simplify", |b| b.iter(|| black_box(&g).simplify()));
    group.finish();

    let mut group = c.benchmark_group("10_ops");
    group.bench_function("trace", |b| b.iter(|| trace(|x: Sym| chain(x, 10), spec(F32, [64]))));
    group.bench_function("build", |b| b.iter(|| build(|x: Sym| chain(x, 10), spec(F32, [64]), &Interp)));
    group.finish();
}

criterion_group!(benches, graph);
criterion_main!(benches);
