//! What a call costs on the interpreter beside its work: an op on four floats, and an input.
//! Targets: 0.3 µs an op, 3 µs an input. And what factorisations cost, at n = 512 in f64.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evoxc::prelude::*;
use evoxc_benches::{chain_graph, leaves_graph};

fn overhead(c: &mut Criterion) {
    let mut group = c.benchmark_group("per_op");
    for n in [10usize, 100, 1000] {
        let exe = chain_graph(n, 4).lower(&Interp).and_then(|l| l.compile()).and_then(|a| a.load(Device::cpu()));
        let Ok(exe) = exe else { panic!("the chain builds") };
        let x = Tensor::ones(F32, [4]);
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(n.to_string(), |b| b.iter(|| exe.run(x.clone())));
    }
    group.finish();

    let mut group = c.benchmark_group("per_leaf");
    for n in [1usize, 10, 100] {
        let exe = leaves_graph(n).lower(&Interp).and_then(|l| l.compile()).and_then(|a| a.load(Device::cpu()));
        let Ok(exe) = exe else { panic!("the sum builds") };
        let xs = vec![Tensor::ones(F32, []); n];
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(n.to_string(), |b| b.iter(|| exe.run(xs.clone())));
    }
    group.finish();
}

/// A well-conditioned symmetric positive definite matrix of pseudo-random numbers.
fn matrix(n: usize) -> Tensor {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut values = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let x = next();
            values[i * n + j] = x;
            values[j * n + i] = x;
        }
        values[i * n + i] += n as f64;
    }
    match Tensor::from_vec(values, [n, n]) {
        Ok(t) => t,
        Err(e) => panic!("{e}"),
    }
}

fn factorisations(c: &mut Criterion) {
    let n = 512;
    let a = matrix(n);
    let mut group = c.benchmark_group("linalg_512_f64");
    group.sample_size(10);
    let mut bench = |name: &str, f: fn(Sym, Sym) -> Sym| match build(f, (a.spec(), a.spec()), &Interp) {
        Ok(exe) => {
            group.bench_function(name, |b| b.iter(|| exe.run((a.clone(), a.clone()))));
        }
        Err(e) => panic!("{e}"),
    };
    bench("lu", |a, _| a.lu().0);
    bench("cholesky", |a, _| a.cholesky());
    bench("triangular_solve", |a, b| a.triangular_solve(b, true));
    bench("solve", |a, b| a.solve(b));
    bench("dot", |a, b| a.dot(b));
    group.finish();
}

criterion_group!(benches, overhead, factorisations);
criterion_main!(benches);
