//! What a hit of `build_cached` costs beside `build`: of a function that is looked up by its type, of a closure that is
//! traced to be looked up by its graph, of one that is looked up by a name, and of a new process that finds a file.

use criterion::{Criterion, criterion_group, criterion_main};
use evoxc::prelude::*;
use evoxc::{CompileCache, FileCache, build_cached, build_cached_as};
use std::hint::black_box;

/// Eight layers of a network, and the gradient of their loss in the first.
#[defn]
fn loss(x: Sym, w: Sym) -> Sym {
    let mut y = x;
    for _ in 0..8 {
        y = y.dot(w).tanh();
    }
    (y * y).mean(..)
}

fn specs() -> (TensorSpec, TensorSpec) {
    (spec(F32, [16, 32]), spec(F32, [32, 32]))
}

fn hits(c: &mut Criterion) {
    let mut group = c.benchmark_group("cache");
    group.bench_function("build", |b| b.iter(|| build(grad(loss), black_box(specs()), &Interp).unwrap()));
    let cache = CompileCache::new(100);
    group.bench_function("hit by type", |b| {
        b.iter(|| build_cached(grad(loss), black_box(specs()), &Interp, &cache).unwrap());
    });
    let k = 2.0;
    let scaled = |x: Sym, w: Sym| loss(x * k, w);
    group.bench_function("hit by graph", |b| {
        b.iter(|| build_cached(grad(scaled), black_box(specs()), &Interp, &cache).unwrap());
    });
    group.bench_function("hit by name", |b| {
        b.iter(|| build_cached_as("scaled by 2", grad(scaled), black_box(specs()), &Interp, &cache).unwrap());
    });
    let folder = std::env::temp_dir().join(format!("evoxc-bench-cache-{}", std::process::id()));
    let files = FileCache::new(&folder).unwrap();
    group.bench_function("found in a folder", |b| {
        b.iter(|| {
            let cache = CompileCache::new(100).with_files(files.clone());
            build_cached(grad(loss), black_box(specs()), &Interp, &cache).unwrap()
        });
    });
    group.finish();
    std::fs::remove_dir_all(folder).unwrap();
}

criterion_group!(benches, hits);
criterion_main!(benches);
