//! Random programs on the native compiler: machine code against the interpreter, whatever the number of threads.

use evoxc::Native;
use evoxc_backends::{Edge, backends};
use evoxc_core::Tensor;
use evoxc_stage::{AnyBackend, Backend};
use evoxc_tests::conditioning::nudged;
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

fn run(backend: &AnyBackend, p: &Program) -> Result<Vec<Tensor>, String> {
    execute(backend, &p.module, &p.inputs).map_err(|e| match e {
        Failure::Unsupported(e) | Failure::Wrong(e) => e,
    })
}

/// Is a result the same where every rounding of the program was another one?
fn well_conditioned(interp: &AnyBackend, p: &Program, expected: &[Tensor], i: usize, category: Category) -> bool {
    [true, false].into_iter().all(|up| match execute(interp, &nudged(&p.module, up), &p.inputs) {
        Ok(others) => compare(&others[i], &expected[i], category).is_ok(),
        Err(Failure::Unsupported(e) | Failure::Wrong(e)) => panic!("the program with other roundings: {e}"),
    })
}

/// The backends that are compared.
struct Engines {
    interp: AnyBackend,
    /// On 1, 2 and 3 threads.
    natives: [AnyBackend; 3],
    narrow: Option<AnyBackend>,
    /// With every value beside a page that nobody may touch: after it, and before it.
    fenced: Vec<AnyBackend>,
}

impl Engines {
    /// How many results of a program say nothing; none if it does not run. What is wrong is the error.
    fn check(&self, p: &Program) -> Result<Option<usize>, String> {
        // Extents that do not fit are found while running; then there is nothing to compare.
        let Ok(expected) = execute(&self.interp, &p.module, &p.inputs) else { return Ok(None) };
        let [one, two, three] = self.natives.each_ref().map(|native| run(native, p));
        let one = one?;
        if expected.len() != one.len() {
            return Err(format!("{} results, not {}", one.len(), expected.len()));
        }
        let (category, mut ill) = (Category::of(&p.module), 0);
        for (i, (e, a)) in expected.iter().zip(&one).enumerate() {
            let Err(what) = compare(a, e, category) else { continue };
            if well_conditioned(&self.interp, p, &expected, i, category) {
                return Err(format!("result {i}: {what}"));
            }
            ill += 1;
        }
        // The width of vectors does not show either.
        let narrow = self.narrow.as_ref().map(|native| ("vectors of 256 bits", run(native, p)));
        // Nor where values are, and what was there before.
        let fenced = self.fenced.iter().map(|native| ("beside guard pages", run(native, p)));
        for (form, results) in [("2 threads", two), ("3 threads", three)].into_iter().chain(narrow).chain(fenced) {
            same_bits(&one, &results?).map_err(|what| format!("{form}: {what}"))?;
        }
        Ok(Some(ill))
    }
}

#[test]
fn machine_code_is_the_interpreter_whatever_the_number_of_threads() {
    if Native::default().devices().is_empty() {
        eprintln!("skipped: there is no code for this processor, and no C compiler");
        return;
    }
    let engines = Engines {
        interp: backends().into_iter().find(|b| b.name() == "interp").expect("the interpreter is compiled in"),
        natives: [1, 2, 3].map(|n| AnyBackend::new(Native::default().threads(n))),
        fenced: match cfg!(unix) {
            true => [Edge::End, Edge::Start].map(|e| AnyBackend::new(Native::default().threads(3).fenced(e))).into(),
            false => vec![],
        },
        narrow: Some(Native::avx2()).filter(|n| !n.devices().is_empty()).map(AnyBackend::new),
    };
    let (seeds, mut ran, mut ill) = (seeds(), 0, 0);
    for seed in seeds.clone() {
        let ops = 4 + (seed % 29) as usize;
        match engines.check(&program(seed, ops)) {
            Ok(found) => {
                ran += u64::from(found.is_some());
                ill += found.unwrap_or(0) as u64;
            }
            // The first ops of a program are those of a shorter one: the shortest that fails is shown.
            Err(what) => {
                let short = (1..ops).find_map(|n| Some((n, engines.check(&program(seed, n)).err()?)));
                let (n, what) = short.unwrap_or((ops, what));
                panic!("seed {seed}, {n} of {ops} ops: {what}\n{}", program(seed, n).module);
            }
        }
    }
    println!("{ran} programs ran; {ill} results say nothing, for other roundings change them as well");
    assert!(ill <= 1 + ran / 50, "{ill} results that say nothing");
    assert!(ran * 4 >= (seeds.end - seeds.start) * 3, "only {ran} programs run");
}

/// Logarithms next to 1, orders of NaN by its sign, a product that underflows: and most programs have none of that.
#[test]
fn what_other_roundings_change_is_told_apart() {
    let interp = backends().into_iter().find(|b| b.name() == "interp").expect("the interpreter is compiled in");
    let conditions = |seed: u64| -> Vec<bool> {
        let p = program(seed, 4 + (seed % 29) as usize);
        let Ok(expected) = execute(&interp, &p.module, &p.inputs) else { return vec![] };
        let category = Category::of(&p.module);
        (0..expected.len()).map(|i| well_conditioned(&interp, &p, &expected, i, category)).collect()
    };
    for seed in [449, 2134, 2980, 3670, 8938, 12_700, 13_743] {
        assert!(conditions(seed).contains(&false), "seed {seed}");
    }
    let all: Vec<bool> = (20_510..20_560).flat_map(conditions).collect();
    let well = all.iter().filter(|&&w| w).count();
    assert!(well * 10 > all.len() * 8, "{well} of {}", all.len());
}
