//! The three generators of random bits on the interpreter, a million numbers at a time: which is fastest decides which is
//! the default.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evoxc::prelude::*;

const N: usize = 1_000_000;

fn generators(c: &mut Criterion) {
    let keys = [
        ("splitmix64", random::key(1)),
        ("threefry2x32", random::threefry_key(1)),
        ("philox4x32_10", random::philox_key(1)),
    ];
    type Draw = fn(Sym) -> Sym;
    let draws: [(&str, Draw); 4] = [
        ("bits_u32", |k| random::bits(k, U32, [N])),
        ("bits_u64", |k| random::bits(k, U64, [N])),
        ("uniform_f32", |k| random::uniform(k, F32, [N])),
        ("normal_f32", |k| random::normal(k, F32, [N])),
    ];
    for (name, draw) in draws {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(N as u64)).sample_size(20);
        for (algorithm, key) in &keys {
            let Ok(exe) = build(draw, key.spec(), &Interp) else { panic!("{name} of {algorithm} builds") };
            group.bench_function(*algorithm, |b| b.iter(|| exe.run(key.clone())));
        }
        group.finish();
    }
}

criterion_group!(benches, generators);
criterion_main!(benches);
