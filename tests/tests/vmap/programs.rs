//! Random programs as functions of one row.

use crate::loops::{ROWS, check_pattern, interp};
use evoxc::prelude::*;
use evoxc_core::Dim;
use evoxc_ir::{Module, Region};
use evoxc_tests::random_graph::program;
use evoxc_tests::run::execute;

/// Has it an op with a region? These run all branches and more steps for some rows, which changes no value, but the
/// tests of control flow own them.
fn control(m: &Module) -> bool {
    fn inside(r: &Region) -> bool {
        r.ops.iter().any(|op| !op.regions.is_empty())
    }
    m.funcs.iter().any(|f| inside(&f.body))
}

#[test]
fn random_programs_are_loops_over_rows() {
    let n = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let first = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let interp = interp();
    let (mut ran, mut with_control) = (0, 0);
    for seed in first..first + n {
        let p = program(seed, 4 + (seed % 17) as usize);
        // Extents that do not fit are found while running; then there is nothing to compare.
        if execute(&interp, &p.module, &p.inputs).is_err() {
            continue;
        }
        let k = p.inputs.len();
        let pattern: Vec<bool> = (0..k).map(|i| seed % 4 == 0 || i as u64 == seed / 4 % k as u64).collect();
        let size = if seed % 3 == 0 { dim("ROWS") } else { Dim::constant(ROWS as i64) };
        match check_pattern(&interp, &p.module, &p.inputs, &pattern, size) {
            Ok(_) => ran += 1,
            Err(_) if control(&p.module) => with_control += 1,
            Err(e) => panic!("seed {seed}: {e}\n{}", p.module),
        }
    }
    println!("{ran} programs, {with_control} with control flow left out");
    assert!(ran > 100, "only {ran} programs run");
}
