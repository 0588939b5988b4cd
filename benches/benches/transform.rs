//! What transforms cost to write: the trace of a function, and of its transforms, for small and for long programs.

use criterion::{Criterion, criterion_group, criterion_main};
use evoxc::prelude::*;
use evoxc_benches::chain;

fn mlp(x: Sym, w: [Sym; 3]) -> Sym {
    let h = x.dot(w[0]).tanh().dot(w[1]).tanh().dot(w[2]);
    (h * h).mean(..)
}

fn transform(c: &mut Criterion) {
    let specs = || (spec(F32, [4, 8]), [spec(F32, [8, 8]), spec(F32, [8, 8]), spec(F32, [8, 2])]);
    let mut group = c.benchmark_group("mlp");
    group.bench_function("trace", |b| b.iter(|| trace(mlp, specs())));
    group.bench_function("grad", |b| b.iter(|| trace(grad(mlp).wrt::<1>(), specs())));
    group.bench_function("vmap_grad", |b| {
        let rows = || (spec(F32, [16, 4, 8]), specs().1);
        b.iter(|| trace(vmap(grad(mlp).wrt::<1>()).in_axes([Some(0), None]), rows()))
    });
    group.bench_function("hvp", |b| b.iter(|| trace(hvp(mlp).wrt::<1>(), (specs(), specs().1))));
    group.finish();

    let mut group = c.benchmark_group("10k_ops");
    group.sample_size(20);
    let long = |x: Sym| chain(x, 10_000).sum(..);
    group.bench_function("trace", |b| b.iter(|| trace(long, spec(F32, [64]))));
    group.bench_function("jvp", |b| b.iter(|| trace(jvp(long), (spec(F32, [64]), spec(F32, [64])))));
    group.bench_function("grad", |b| b.iter(|| trace(grad(long), spec(F32, [64]))));
    group.bench_function("vmap", |b| b.iter(|| trace(vmap(long), spec(F32, [16, 64]))));
    group.finish();
}

criterion_group!(benches, transform);
criterion_main!(benches);
