//! What a call of a program on XLA costs besides its work: with tensors that stay there, with host tensors in and out, and
//! by the number of inputs. Without a plugin there is nothing to measure.

use criterion::{Criterion, criterion_group, criterion_main};
use evoxc::prelude::*;
use evoxc::{Executable, Xla};
use std::hint::black_box;

fn must<T>(r: evoxc::Result<T>) -> T {
    match r {
        Ok(t) => t,
        Err(e) => panic!("{e}"),
    }
}

fn calls(c: &mut Criterion) {
    let Ok(xla) = Xla::from_env() else {
        eprintln!("skipped: `eval \"$(.ci/compilers)\"` installs a plugin and names it in {}", Xla::ENV);
        return;
    };
    let mut group = c.benchmark_group("xla call");
    let add: Executable<(Tensor, Tensor), Tensor> =
        must(build(|x: Sym, y: Sym| x + y, (spec(F32, [4]), spec(F32, [4])), &xla));
    let host = Tensor::ones(F32, [4]);
    let there = must(add.run((host.clone(), host.clone())));
    group.bench_function("resident", |b| b.iter(|| must(add.run((there.clone(), there.clone())))));
    let mut carried = Some(must(add.run((host.clone(), host.clone()))));
    group.bench_function("resident, donated", |b| {
        b.iter(|| {
            let x = carried.take().unwrap_or_else(|| there.clone());
            carried = Some(must(add.run((x, there.clone()))));
        });
    });
    group.bench_function("host in, read out", |b| {
        b.iter(|| {
            let y = must(add.run((host.clone(), host.clone())));
            black_box(must(y.as_slice::<f32>()).first().copied())
        });
    });
    let n = 300;
    let many = must(build(
        |xs: Vec<Sym>| xs.into_iter().reduce(|a, b| a + b).unwrap_or_else(|| zeros(F32, [4])),
        vec![spec(F32, [4]); n],
        &xla,
    ));
    group.bench_function("300 resident inputs", |b| b.iter(|| must(many.run(vec![there.clone(); n]))));
    let big: Executable<Tensor, Tensor> = must(build(|x: Sym| x + 1.0, spec(F32, [1 << 20]), &xla));
    let large = Tensor::ones(F32, [1 << 20]);
    group.bench_function("4 MiB of host memory in, read out", |b| {
        b.iter(|| {
            let y = must(big.run(large.clone()));
            black_box(must(y.as_slice::<f32>()).first().copied())
        });
    });
    group.finish();
}

criterion_group!(benches, calls);
criterion_main!(benches);
