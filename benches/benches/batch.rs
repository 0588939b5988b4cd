//! `batch_functions` on populations: N programs run one by one, merged, and merged in bands; and the time of merging.
//!
//! `cargo bench -p evoxc-benches --bench batch` prints the table that the README shows, then measures.

use criterion::{Criterion, criterion_group, criterion_main};
use evoxc::prelude::*;
use evoxc::{BatchedGraph, Executable};
use evoxc_benches::population::{chains, forty_ninths, trees};
use std::time::{Duration, Instant};

type One = Graph<(Sym, Sym), Sym>;
type Exe = Executable<(Tensor, Tensor), Tensor>;

fn must<T>(r: evoxc::Result<T>) -> T {
    match r {
        Ok(t) => t,
        Err(e) => panic!("{e}"),
    }
}

fn load(g: &One) -> Exe {
    must(g.lower(&Interp).and_then(|l| l.compile()).and_then(|a| a.load(Device::cpu())))
}

fn inputs() -> (Tensor, Tensor) {
    (must(Tensor::from_vec(forty_ninths(64, 0), [64])), must(Tensor::from_vec(forty_ninths(64, 17), [64])))
}

fn flat(graphs: &[One]) -> BatchedGraph<(Sym, Sym), Sym> {
    must(batch_functions(graphs).axes([None, None]).alignment(Alignment::Auto).build())
}

fn banded(graphs: &[One], bands: Bands) -> BatchedGraph<(Sym, Sym), Sym> {
    must(batch_functions(graphs).axes([None, None]).alignment(Alignment::Auto).bands(bands).build())
}

/// The median time of a call, each of which takes longer than the clock's resolution.
fn median(mut f: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..201)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Prints one line for each form of a workload.
fn table(name: &str, graphs: &[One]) {
    let ops: usize = graphs.iter().map(|g| g.ops().len()).sum();
    let alone: Vec<Exe> = graphs.iter().map(load).collect();
    let separate = median(|| {
        for exe in &alone {
            let y = exe.run(inputs());
            assert!(y.is_ok());
        }
    });
    let line = |form: &str, ops: usize, time: Duration| {
        let (us, gain) = (time.as_secs_f64() * 1e6, separate.as_secs_f64() / time.as_secs_f64());
        println!("| {name} | {form} | {ops} | {us:.0} µs | {gain:.1}× |");
    };
    line("separate", ops, separate);
    for (form, merged) in [
        ("flat", flat(graphs)),
        (
            "flat, switched",
            must(
                batch_functions(graphs)
                    .axes([None, None])
                    .switch_ops(SwitchOps::All)
                    .alignment(Alignment::Auto)
                    .build(),
            ),
        ),
        ("banded (8)", banded(graphs, Bands::Count(8))),
        ("banded (auto)", banded(graphs, Bands::Auto)),
    ] {
        let exe = load(&merged);
        let got = must(exe.run(inputs()));
        for (i, exe) in alone.iter().enumerate() {
            let one = must(exe.run(inputs()));
            let row = got.as_slice::<f32>().ok().and_then(|s| s.get(i * 64..(i + 1) * 64));
            let same =
                row.into_iter().flatten().zip(must(one.as_slice::<f32>())).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "program {i} gives other bits");
        }
        line(form, merged.ops().len(), median(|| assert!(exe.run(inputs()).is_ok())));
    }
    println!("{}", flat(graphs).report());
}

fn population(c: &mut Criterion) {
    let chains = chains(32, 10);
    let shrubs = trees(100, 6);
    println!("| population | form | ops | a run | gain |\n|---|---|---|---|---|");
    table("32 chains", &chains);
    table("100 trees", &shrubs);
    let programs = chains_of(100, 50);
    let merging = median(|| drop(flat_variant(&programs)));
    println!("merging 100 programs of 50 ops: {:.1} ms", merging.as_secs_f64() * 1e3);

    let mut group = c.benchmark_group("batch_functions");
    for (name, graphs) in [("chains", &chains), ("trees", &shrubs)] {
        let alone: Vec<Exe> = graphs.iter().map(load).collect();
        group.bench_function(format!("{name}/separate"), |b| {
            b.iter(|| alone.iter().for_each(|e| drop(e.run(inputs()))))
        });
        let exe = load(&flat(graphs));
        group.bench_function(format!("{name}/flat"), |b| b.iter(|| exe.run(inputs())));
        let exe = load(&banded(graphs, Bands::Auto));
        group.bench_function(format!("{name}/banded"), |b| b.iter(|| exe.run(inputs())));
    }
    group.bench_function("merge/100x50", |b| b.iter(|| flat_variant(&programs)));
    group.finish();
}

fn flat_variant(graphs: &[One]) -> BatchedGraph<(Sym, Sym), Sym> {
    must(batch_functions(graphs).axes([None, None]).build())
}

/// Chains of about so many ops in all, constants included.
fn chains_of(n: usize, ops: usize) -> Vec<One> {
    chains(n, ops * 6 / 10)
}

criterion_group!(benches, population);
criterion_main!(benches);
