//! Properties of random well-typed programs.

use evoxc_ir::{Module, Region, simplify};
use evoxc_stage::AnyBackend;
use evoxc_tests::engines::Engines;
use evoxc_tests::random_graph::{Program, program};
use evoxc_tests::run::{execute, same_bits};

/// The number of programs; `PROGRAMS=n` in the environment asks for more.
fn programs() -> impl Iterator<Item = (u64, Program)> {
    let n = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let first = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    (first..first + n).map(|seed| (seed, program(seed, 4 + (seed % 17) as usize)))
}

fn engines() -> AnyBackend {
    AnyBackend::new(Engines)
}

#[test]
fn what_infer_accepts_verifies() {
    for (seed, p) in programs() {
        p.module.verify().unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", p.module));
    }
}

#[test]
fn print_and_parse_is_the_identity() {
    for (seed, p) in programs() {
        let text = p.module.to_string();
        let again = Module::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert!(again == p.module, "seed {seed}: parses to another module\n{text}\n{again}");
        assert_eq!(again.to_string(), text, "seed {seed}");
        assert_eq!(again.structural_hash(), p.module.structural_hash(), "seed {seed}\n{text}");
    }
}

fn strip(r: &mut Region) {
    for op in &mut r.ops {
        op.loc = None;
        op.regions.iter_mut().for_each(strip);
    }
}

#[test]
fn names_and_locations_are_no_part_of_a_program() {
    for (seed, p) in programs() {
        let mut bare = p.module.clone();
        bare.name = "other".into();
        bare.notes.push("a remark".into());
        bare.statics.push(("heads".into(), "4".into()));
        for f in &mut bare.funcs {
            f.values.iter_mut().for_each(|v| v.name = None);
            strip(&mut f.body);
        }
        assert!(bare == p.module, "seed {seed}");
        assert_eq!(bare.structural_hash(), p.module.structural_hash(), "seed {seed}");
    }
}

#[test]
fn different_programs_have_different_hashes() {
    let mut seen = std::collections::BTreeMap::new();
    for (seed, p) in programs() {
        if let Some((other, q)) = seen.insert(p.module.structural_hash(), (seed, p.module.clone())) {
            let _: u64 = other;
            assert!(q == p.module, "seeds {seed} and {other} have the same hash, but differ");
        }
    }
}

#[test]
fn simplification_preserves_bits() {
    let engines = engines();
    let (mut ran, mut smaller) = (0, 0);
    for (seed, p) in programs() {
        let simple = simplify(&p.module);
        simple.verify().unwrap_or_else(|e| panic!("seed {seed}: simplified: {e}\n{}\n{simple}", p.module));
        smaller += usize::from(simple != p.module);
        // Extents that do not fit are found while running; then there is nothing to compare.
        let Ok(before) = execute(&engines, &p.module, &p.inputs) else { continue };
        ran += 1;
        let after = execute(&engines, &simple, &p.inputs);
        let after = after.unwrap_or_else(|e| panic!("seed {seed}: simplified: {e:?}\n{}\n{simple}", p.module));
        same_bits(&before, &after).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}\n{simple}", p.module));
    }
    println!("{ran} programs ran, {smaller} became simpler");
    assert!(ran > 100, "only {ran} programs run");
}

#[test]
fn simplification_is_stable() {
    for (seed, p) in programs() {
        let once = simplify(&p.module);
        let twice = simplify(&once);
        assert!(once == twice, "seed {seed}: simplifying again changes it\n{once}\n{twice}");
    }
}

#[test]
fn two_runs_give_the_same_bits() {
    let engines = engines();
    for (seed, p) in programs().take(100) {
        let Ok(a) = execute(&engines, &p.module, &p.inputs) else { continue };
        let b = execute(&engines, &p.module, &p.inputs).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        assert!(a.iter().zip(&b).all(|(x, y)| x.bit_eq(y)), "seed {seed}");
    }
}
