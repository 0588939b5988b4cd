//! Every value case of tests/ir/run as the function of one row.

use crate::rows::{like, none, stack, unstack};
use evoxc::prelude::*;
use evoxc_backends::backends;
use evoxc_core::{Dim, Dyn, Shape, TreeDef};
use evoxc_ir::Module;
use evoxc_stage::{AnyBackend, Backend};
use evoxc_tests::case;
use evoxc_tests::run::{execute, load, same_bits};
use evoxc_tests::tolerance::{Category, compare};
use std::collections::BTreeMap;

const ROWS: usize = 3;

/// Which arguments are mapped: every combination of a few; of many all, and each alone.
fn patterns(n: usize) -> Vec<Vec<bool>> {
    if n <= 3 {
        return (1..1usize << n).map(|bits| (0..n).map(|i| bits >> i & 1 == 1).collect()).collect();
    }
    let alone = (0..n).map(|k| (0..n).map(|i| i == k).collect());
    std::iter::once(vec![true; n]).chain(alone).collect()
}

fn interp() -> AnyBackend {
    backends().into_iter().find(|b| b.name() == "interp").expect("the interpreter is compiled in")
}

/// The module that maps `module` over axis 0 of the arguments of a pattern.
fn mapped(module: &Module, pattern: &[bool], size: Dim) -> Result<Module, String> {
    let graph = Graph::from_module(module.clone()).map_err(|e| e.to_string())?;
    let inputs = module.main().map(|m| m.inputs()).unwrap_or_default();
    let specs = inputs.into_iter().zip(pattern).map(|(mut t, &m)| {
        if m {
            t.shape = std::iter::once(size).chain(t.shape.iter().copied()).collect::<Shape>();
        }
        t
    });
    let def = if pattern.len() == 1 { TreeDef::leaf() } else { TreeDef::leaves_tuple(pattern.len()) };
    let specs: Dyn<TensorSpec> = def.unflatten(specs.collect()).map_err(|e| e.to_string())?;
    let axes: Vec<Option<i64>> = pattern.iter().map(|m| m.then_some(0)).collect();
    let all = trace(vmap(&graph).in_axes(axes), specs).map_err(|e| e.to_string())?;
    Ok(all.module().clone())
}

/// How near all rows together are to each alone. Movement and element-wise ops give the same bits; where the sizes of a
/// contraction, and so the order of its sums, change with the rows, its tolerance holds.
fn category(m: &Module) -> Category {
    let of = Category::of(m);
    if of >= Category::Contraction { of } else { Category::Exact }
}

fn check(interp: &AnyBackend, c: &case::Case, size: Dim) -> Result<(), String> {
    let value = load(c)?;
    let category = category(&value.module);
    for pattern in patterns(value.inputs.len()) {
        let at = |e: String| format!("mapped {pattern:?}: {e}");
        let all = mapped(&value.module, &pattern, size).map_err(at)?;
        let rows: Vec<Vec<Tensor>> = (0..ROWS)
            .map(|r| value.inputs.iter().zip(&pattern).map(|(t, &m)| if m { like(t, r) } else { t.clone() }).collect())
            .collect();
        let inputs: Vec<Tensor> = (0..pattern.len())
            .map(|i| {
                if pattern[i] {
                    stack(&rows.iter().map(|r| r[i].clone()).collect::<Vec<_>>())
                } else {
                    rows[0][i].clone()
                }
            })
            .collect();
        let got = execute(interp, &all, &inputs).map_err(|e| at(format!("{e:?}\n{all}")))?;
        let got: Vec<Vec<Tensor>> = got.iter().map(unstack).collect();
        for (r, row) in rows.iter().enumerate() {
            let want = execute(interp, &value.module, row).map_err(|e| at(format!("row {r}: {e:?}")))?;
            let own: Vec<Tensor> = got.iter().map(|g| g[r].clone()).collect();
            let near = match category {
                Category::Exact => same_bits(&want, &own),
                _ => want.iter().zip(&own).try_for_each(|(w, o)| compare(o, w, category)),
            };
            near.map_err(|e| at(format!("row {r}: {e}\n{all}")))?;
        }
        // No rows at all.
        let inputs: Vec<Tensor> =
            value.inputs.iter().zip(&pattern).map(|(t, &m)| if m { none(t) } else { t.clone() }).collect();
        let all = if size.is_const() { mapped(&value.module, &pattern, Dim::constant(0)).map_err(at)? } else { all };
        let got = execute(interp, &all, &inputs).map_err(|e| at(format!("no rows: {e:?}\n{all}")))?;
        if let Some(t) = got.iter().find(|t| t.shape()[0] != 0) {
            return Err(at(format!("no rows: {}", t.spec())));
        }
    }
    Ok(())
}

fn sweep(size: Dim) {
    let interp = interp();
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut ran = 0;
    for file in case::files("run").expect("the cases are there") {
        for c in case::read(&file).expect("the cases can be read") {
            if c.header("input").is_empty() {
                continue;
            }
            ran += 1;
            if let Err(e) = check(&interp, &c, size)
                && !e.contains("it is not written yet")
            {
                failures
                    .entry(file.file_name().unwrap_or_default().to_string_lossy().into_owned())
                    .or_default()
                    .push(format!("{} {e}", c.name()));
            }
        }
    }
    let many = std::env::var_os("ALL").is_some();
    let text: Vec<String> = failures
        .iter()
        .map(|(f, l)| format!("{f}: {} failures\n{}", l.len(), l[..if many { l.len() } else { 1 }].join("\n")))
        .collect();
    assert!(failures.is_empty(), "of {ran} cases\n{}", text.join("\n"));
    assert!(ran > 0, "no case was read");
}

#[test]
fn every_case_is_a_loop_over_rows() {
    sweep(Dim::constant(ROWS as i64));
}

#[test]
fn every_case_is_a_loop_over_a_symbolic_number_of_rows() {
    sweep(dim("ROWS"));
}
