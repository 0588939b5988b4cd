//! What a call costs on the interpreter beside its work: an op on four floats, and an input.
//! Targets: 0.3 µs an op, 3 µs an input.

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

criterion_group!(benches, overhead);
criterion_main!(benches);
