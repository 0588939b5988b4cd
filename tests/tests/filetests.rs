//! The file tests of tests/ir, and that together they cover the table of ops.

use evoxc_backends::backends;
use evoxc_ir::{
    Algorithm, CumOp, Direction, FftKind, Module, Rank, Reducer, Region, ScatterOp, SelectOp, SortOrder, TABLE,
};
use evoxc_stage::Backend;
use evoxc_tests::{case, filetest};
use std::collections::BTreeSet;

fn report(failures: &[String]) {
    let shown = failures
        .iter()
        .take(if std::env::var_os("ALL").is_some() { usize::MAX } else { 40 })
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(failures.is_empty(), "{} failures\n{shown}", failures.len());
}

#[test]
fn roundtrip() {
    report(&filetest::roundtrip());
}

#[test]
fn verify() {
    report(&filetest::verify());
}

#[test]
fn simplify() {
    report(&filetest::simplified());
}

#[test]
fn transforms() {
    report(&filetest::transformed());
}

#[test]
fn stablehlo() {
    report(&filetest::stablehlo());
}

#[test]
fn run() {
    let list = backends();
    assert!(!list.is_empty(), "no backend is compiled in");
    let failures: Vec<String> = list.iter().filter(|b| !b.devices().is_empty()).flat_map(filetest::values).collect();
    report(&failures);
}

#[test]
fn programs_keep_their_bits() {
    let list = backends();
    let interp = list.iter().find(|b| b.name() == "interp").expect("the interpreter is compiled in");
    report(&filetest::preserved(interp));
}

/// The names of the ops of a region and the regions inside, and what their attributes choose.
fn collect(r: &Region, names: &mut BTreeSet<String>) {
    for op in &r.ops {
        names.insert(op.prim.name());
        for (attribute, value) in op.prim.attributes() {
            if let evoxc_ir::AttrValue::Word(w) = value {
                names.insert(format!("{} {attribute} = {w}", op.prim.name()));
            }
        }
        op.regions.iter().for_each(|r| collect(r, names));
    }
}

#[test]
fn every_op_has_a_value_case() {
    let mut have = BTreeSet::new();
    for file in case::files("run").unwrap() {
        for c in case::read(&file).unwrap() {
            if let Ok(m) = Module::parse(&c.program) {
                m.funcs.iter().for_each(|f| collect(&f.body, &mut have));
            }
        }
    }
    let kinds = |stem: &str| -> Vec<&'static str> {
        match stem {
            "scatter_" => ScatterOp::ALL.iter().map(|k| k.word()).collect(),
            "reduce_" | "reduce_window_" | "all_reduce_" | "reduce_scatter_" => {
                Reducer::ALL.iter().map(|k| k.word()).collect()
            }
            "select_and_scatter_" => SelectOp::ALL.iter().map(|k| k.word()).collect(),
            "cumulative_" => CumOp::ALL.iter().map(|k| k.word()).collect(),
            _ => vec![""],
        }
    };
    let mut want: BTreeSet<String> =
        TABLE.iter().flat_map(|row| kinds(row.name).into_iter().map(move |k| format!("{}{k}", row.name))).collect();
    want.extend(FftKind::ALL.iter().map(|k| format!("fft kind = {}", k.word())));
    want.extend(Algorithm::ALL.iter().map(|k| format!("random_bits algorithm = {}", k.word())));
    want.extend(Rank::ALL.iter().map(|k| format!("rank_index of = {}", k.word())));
    want.extend(Direction::ALL.iter().map(|k| format!("compare direction = {}", k.word())));
    want.extend(SortOrder::ALL.iter().map(|k| format!("compare order = {}", k.word())));
    let missing: Vec<&String> = want.difference(&have).collect();
    assert!(missing.is_empty(), "no value case for {missing:?}");
}
