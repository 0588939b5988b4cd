//! Random programs as functions of one row.

use crate::loops::{ROWS, check_nested, check_pattern, engines};
use evoxc::prelude::*;
use evoxc_core::Dim;
use evoxc_ir::{Func, Module, Op, Prim, Region};
use evoxc_tests::random_graph::program;
use evoxc_tests::run::execute;

/// Does it hold a complex dot? How products with infinities come out of one depends on the algorithm, which depends on
/// the sizes, and the tolerance does not cover that.
fn has_complex_dot(m: &Module) -> bool {
    let dot = |f: &Func, op: &Op| {
        matches!(op.prim, Prim::Dot { .. }) && op.results.iter().any(|&r| f.ty(r).dtype().is_complex())
    };
    fn any(r: &Region, found: &dyn Fn(&Op) -> bool) -> bool {
        r.ops.iter().any(|op| found(op) || op.regions.iter().any(|r| any(r, found)))
    }
    m.funcs.iter().any(|f| any(&f.body, &|op| dot(f, op)))
}

#[test]
fn random_programs_are_loops_over_rows() {
    let n = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let first = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let engines = engines();
    let mut ran = 0;
    for seed in first..first + n {
        let p = program(seed, 4 + (seed % 17) as usize);
        // Extents that do not fit are found while running; then there is nothing to compare.
        if has_complex_dot(&p.module) || execute(&engines, &p.module, &p.inputs).is_err() {
            continue;
        }
        let k = p.inputs.len();
        let pattern: Vec<bool> = (0..k).map(|i| seed % 4 == 0 || i as u64 == seed / 4 % k as u64).collect();
        let size = if seed % 3 == 0 { dim("ROWS") } else { Dim::constant(ROWS as i64) };
        let nested = seed % 5 == 0;
        check_pattern(&engines, &p.module, &p.inputs, &pattern, size)
            .and_then(|_| if nested { check_nested(&engines, &p.module, &p.inputs, size) } else { Ok(()) })
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", p.module));
        ran += 1;
    }
    println!("{ran} programs");
    assert!(ran > 100, "only {ran} programs run");
}
