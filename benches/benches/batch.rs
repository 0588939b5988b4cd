//! `batch_functions` on populations: N programs run one by one, merged, and merged in bands; and the time of merging.
//!
//! `cargo bench -p evoxc-benches --bench batch` prints the table that the README shows, then measures.

use criterion::{Criterion, criterion_group, criterion_main};
use evoxc::prelude::*;
use evoxc::{BatchFunctions, Executable};
use evoxc_benches::population::{Step, chains, numbers, shrubs};
use std::time::{Duration, Instant};

/// What runs on tensors in the place of the symbols.
type Exe<I> = Executable<<I as Tree<Sym>>::Map<Tensor>, Tensor>;

fn must<T>(r: evoxc::Result<T>) -> T {
    match r {
        Ok(t) => t,
        Err(e) => panic!("{e}"),
    }
}

fn load<I: Tree<Sym>>(g: &Graph<I, Sym>) -> Exe<I> {
    must(g.lower(&Interp).and_then(|l| l.compile()).and_then(|a| a.load(Device::cpu())))
}

/// All inputs shared by all programs.
fn merging<I: Tree<Sym>>(graphs: &[Graph<I, Sym>]) -> BatchFunctions<'_, I, Sym> {
    let n = graphs.first().map_or(0, |g| g.input_specs().len());
    batch_functions(graphs).axes(vec![None; n])
}

/// The median time of a call.
fn median(mut f: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..401)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Prints a line for each form of a population, after checking its bits; and the report of the flat form.
fn table<I: Tree<Sym>>(name: &str, graphs: &[Graph<I, Sym>], input: impl Fn() -> I::Map<Tensor>) {
    let alone: Vec<Exe<I>> = graphs.iter().map(load).collect();
    let expected: Vec<Tensor> = alone.iter().map(|exe| must(exe.run(input()))).collect();
    let separate = median(|| alone.iter().for_each(|exe| assert!(exe.run(input()).is_ok())));
    let line = |form: &str, ops: usize, time: Duration| {
        let (us, gain) = (time.as_secs_f64() * 1e6, separate.as_secs_f64() / time.as_secs_f64());
        println!("| {name} | {form} | {ops} | {us:.0} µs | {gain:.1}× |");
    };
    line("separate", graphs.iter().map(|g| g.ops().len()).sum(), separate);
    let merge = || merging(graphs);
    let forms = [
        ("flat", merge()),
        ("flat, by occurrence", merge().alignment(Alignment::Occurrence)),
        ("flat, switched", merge().switch_ops(SwitchOps::All)),
        ("8 bands", merge().bands(Bands::Count(8))),
        ("all automatic", merge().bands(Bands::Auto).alignment(Alignment::Auto)),
    ];
    for (form, options) in forms {
        let merged = must(options.build());
        let exe = load(&*merged);
        let rows = must(exe.run(input()));
        let bits = |t: &Tensor| must(t.to_vec::<f32>()).into_iter().map(f32::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(&rows), expected.iter().flat_map(bits).collect::<Vec<_>>(), "{name}, {form}");
        line(form, merged.ops().len(), median(|| assert!(exe.run(input()).is_ok())));
        if form == "flat" || form == "all automatic" {
            eprintln!("{}", merged.report());
        }
    }
}

fn populations(c: &mut Criterion) {
    let vector = |from| must(Tensor::from_vec(numbers(64, from), [64]));
    let (first, second) = (vector(0), vector(17));
    let x = || first.clone();
    let xy = || (first.clone(), second.clone());
    let (add, scale, flip): (Step, Step, Step) = (|y, c| y + c, |y, c| y * c, |y, _| -y);
    let two = chains(32, 10, &[scale, scale, flip]);
    let three = chains(32, 10, &[add, scale, flip]);
    let waves = chains(32, 10, &[add, scale, |y, _| y.sin()]);
    let curves = chains(32, 10, &[add, scale, |y, _| y.tanh()]);
    let long = chains(100, 30, &[add, scale, flip]);
    let shrubs = shrubs(100, 5);
    println!("| population | form | ops | a run | gain |\n|---|---|---|---|---|");
    table("32 chains of `* c`, `-y`", &two, x);
    table("32 chains of `+ c`, `* c`, `-y`", &three, x);
    table("32 chains of `+ c`, `* c`, `sin`", &waves, x);
    table("32 chains of `+ c`, `* c`, `tanh`", &curves, x);
    table("100 trees", &shrubs, xy);
    let ops: usize = long.iter().map(|g| g.ops().len()).sum();
    let time = median(|| assert!(merging(&long).build().is_ok()));
    println!("merging 100 programs of {} ops: {:.1} ms", ops / 100, time.as_secs_f64() * 1e3);

    let mut group = c.benchmark_group("batch_functions");
    let alone: Vec<_> = three.iter().map(load).collect();
    group.bench_function("chains/separate", |b| b.iter(|| alone.iter().for_each(|e| drop(e.run(x())))));
    let exe = load(&*must(merging(&three).build()));
    group.bench_function("chains/flat", |b| b.iter(|| exe.run(x())));
    let alone: Vec<_> = shrubs.iter().map(load).collect();
    group.bench_function("trees/separate", |b| b.iter(|| alone.iter().for_each(|e| drop(e.run(xy())))));
    let exe = load(&*must(merging(&shrubs).build()));
    group.bench_function("trees/flat", |b| b.iter(|| exe.run(xy())));
    let exe = load(&*must(merging(&shrubs).bands(Bands::Auto).build()));
    group.bench_function("trees/banded", |b| b.iter(|| exe.run(xy())));
    group.bench_function("merge/100x50", |b| b.iter(|| merging(&long).build()));
    group.finish();
}

criterion_group!(benches, populations);
criterion_main!(benches);
