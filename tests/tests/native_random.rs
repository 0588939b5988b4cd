//! Random programs on the native compiler: machine code against the interpreter, whatever the number of threads.

use evoxc::Native;
use evoxc_backends::backends;
use evoxc_core::Tensor;
use evoxc_stage::{AnyBackend, Backend};
use evoxc_tests::random_graph::{Program, program};
use evoxc_tests::run::{Failure, execute, same_bits};
use evoxc_tests::tolerance::{Category, compare};

/// `PROGRAMS=n` and `SEED=n` in the environment ask for others. Of these, 20612 and 20656 have kernels that ask for their
/// range of iterations after a call, which does not keep the registers in which that is given.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = number("SEED").unwrap_or(20_510);
    first..first + number("PROGRAMS").unwrap_or(150)
}

fn run(backend: &AnyBackend, seed: u64, p: &Program) -> Vec<Tensor> {
    match execute(backend, &p.module, &p.inputs) {
        Ok(results) => results,
        Err(Failure::Unsupported(e) | Failure::Wrong(e)) => panic!("seed {seed}: {e}\n{}", p.module),
    }
}

#[test]
fn machine_code_is_the_interpreter_whatever_the_number_of_threads() {
    if Native::default().devices().is_empty() {
        eprintln!("skipped: there is no code for this processor, and no C compiler");
        return;
    }
    let interp = backends().into_iter().find(|b| b.name() == "interp").expect("the interpreter is compiled in");
    let natives = [1, 2, 3].map(|n| AnyBackend::new(Native::default().threads(n)));
    let (seeds, mut ran) = (seeds(), 0);
    for seed in seeds.clone() {
        let p = program(seed, 4 + (seed % 29) as usize);
        // Extents that do not fit are found while running; then there is nothing to compare.
        let Ok(expected) = execute(&interp, &p.module, &p.inputs) else { continue };
        ran += 1;
        let [one, two, three] = natives.each_ref().map(|native| run(native, seed, &p));
        assert_eq!(expected.len(), one.len(), "seed {seed}");
        let category = Category::of(&p.module);
        for (i, (e, a)) in expected.iter().zip(&one).enumerate() {
            if let Err(what) = compare(a, e, category) {
                panic!("seed {seed}, result {i}: {what}\n{}", p.module);
            }
        }
        for (threads, results) in [(2, two), (3, three)] {
            if let Err(what) = same_bits(&one, &results) {
                panic!("seed {seed}, {threads} threads: {what}\n{}", p.module);
            }
        }
    }
    println!("{ran} programs ran");
    assert!(ran * 4 >= (seeds.end - seeds.start) * 3, "only {ran} programs run");
}
