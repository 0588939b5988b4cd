//! Every value case of tests/ir/run as the function of one row.

use crate::loops::{ROWS, check, check_nested, check_some, engines};
use evoxc::prelude::*;
use evoxc_core::Dim;
use evoxc_ir::Module;
use evoxc_stage::AnyBackend;
use evoxc_tests::case;
use evoxc_tests::run::load;
use std::collections::{BTreeMap, BTreeSet};

/// What is refused, by file and a part of what is said: rows whose roots differ come from several processes at once.
const REFUSED: &[(&str, &str)] = &[("collective_broadcast.evx", "rows that have roots of their own")];

fn sweep(f: impl Fn(&AnyBackend, &Module, &[Tensor]) -> Result<(), String>) {
    let engines = engines();
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut ran = 0;
    let mut needed: BTreeSet<usize> = BTreeSet::new();
    for file in case::files("run").expect("the cases are there") {
        for c in case::read(&file).expect("the cases can be read") {
            // Programs without arguments have nothing to map.
            if c.header("input").is_empty() {
                continue;
            }
            ran += 1;
            let result = load(&c).and_then(|v| f(&engines, &v.module, &v.inputs));
            if let Err(e) = result {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if let Some(i) = REFUSED.iter().position(|(f, m)| *f == name && e.contains(m)) {
                    needed.insert(i);
                    continue;
                }
                failures.entry(name).or_default().push(format!("{} {e}", c.name()));
            }
        }
    }
    let shown = if std::env::var_os("ALL").is_some() { usize::MAX } else { 1 };
    let text: Vec<String> = failures
        .iter()
        .map(|(f, l)| format!("{f}: {} failures\n{}", l.len(), l[..l.len().min(shown)].join("\n")))
        .collect();
    assert!(failures.is_empty(), "of {ran} cases\n{}", text.join("\n"));
    assert!(ran > 0, "no case was read");
    assert_eq!(needed.len(), REFUSED.len(), "of what is listed as refused, only {needed:?} is");
}

#[test]
fn every_case_is_a_loop_over_rows() {
    sweep(|b, m, x| check(b, m, x, Dim::constant(ROWS as i64)));
}

#[test]
fn every_case_is_a_loop_over_a_symbolic_number_of_rows() {
    sweep(|b, m, x| check_some(b, m, x, dim("ROWS")));
}

#[test]
fn every_case_is_two_loops() {
    sweep(|b, m, x| check_nested(b, m, x, dim("ROWS")));
}
