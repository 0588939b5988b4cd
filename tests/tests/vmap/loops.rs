//! A module mapped over rows against the module run on each row.

use crate::rows::{like, none, stack, unstack};
use evoxc::prelude::*;
use evoxc_core::{Dim, Dyn, Shape, TreeDef};
use evoxc_ir::Module;
use evoxc_stage::AnyBackend;
use evoxc_tests::engines::Engines;
use evoxc_tests::run::{execute, same_bits};
use evoxc_tests::tolerance::{Category, compare};

/// How many rows a mapped argument has.
pub const ROWS: usize = 3;

/// What programs run on.
pub fn engines() -> AnyBackend {
    AnyBackend::new(Engines)
}

/// Which arguments are mapped: every combination of a few; of many all, and each alone.
pub fn patterns(n: usize) -> Vec<Vec<bool>> {
    if n <= 3 {
        return (1..1usize << n).map(|bits| (0..n).map(|i| bits >> i & 1 == 1).collect()).collect();
    }
    let alone = (0..n).map(|k| (0..n).map(|i| i == k).collect());
    std::iter::once(vec![true; n]).chain(alone).collect()
}

/// The module that maps `module` over axis 0 of the arguments of a pattern.
pub fn mapped(module: &Module, pattern: &[bool], size: Dim) -> Result<Module, String> {
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

/// How near all rows together must be to each alone. Movement, element-wise ops, reductions and orders give the same
/// bits; where the sizes of a contraction, and so the order of its sums, change with the rows, its tolerance holds.
pub fn nearness(m: &Module) -> Category {
    let of = Category::of(m);
    if of >= Category::Contraction { of } else { Category::Exact }
}

/// Rows of every argument that a pattern maps: the stacked arguments, and the arguments of each row.
pub fn make_rows(inputs: &[Tensor], pattern: &[bool]) -> (Vec<Tensor>, Vec<Vec<Tensor>>) {
    let rows: Vec<Vec<Tensor>> = (0..ROWS)
        .map(|r| inputs.iter().zip(pattern).map(|(t, &m)| if m { like(t, r) } else { t.clone() }).collect())
        .collect();
    let column = |i: usize| rows.iter().map(|r| r[i].clone()).collect::<Vec<_>>();
    let all = (0..inputs.len()).map(|i| if pattern[i] { stack(&column(i)) } else { inputs[i].clone() }).collect();
    (all, rows)
}

/// Checks one pattern, with rows and without any.
pub fn check_pattern(
    engines: &AnyBackend,
    module: &Module,
    inputs: &[Tensor],
    pattern: &[bool],
    size: Dim,
) -> Result<Module, String> {
    let near = nearness(module);
    let at = |e: String| format!("mapped {pattern:?}: {e}");
    let all = mapped(module, pattern, size).map_err(at)?;
    let (stacked, rows) = make_rows(inputs, pattern);
    let got = execute(engines, &all, &stacked).map_err(|e| at(format!("{e:?}\n{all}")))?;
    let got: Vec<Vec<Tensor>> = got.iter().map(unstack).collect();
    for (r, row) in rows.iter().enumerate() {
        let want = execute(engines, module, row).map_err(|e| at(format!("row {r}: {e:?}")))?;
        let own: Vec<Tensor> = got.iter().map(|g| g[r].clone()).collect();
        let close = match near {
            Category::Exact => same_bits(&want, &own),
            _ => want.iter().zip(&own).try_for_each(|(w, o)| compare(o, w, near)),
        };
        close.map_err(|e| at(format!("row {r}: {e}\n{all}")))?;
    }
    let empty: Vec<Tensor> = inputs.iter().zip(pattern).map(|(t, &m)| if m { none(t) } else { t.clone() }).collect();
    let no_rows = if size.is_const() { mapped(module, pattern, Dim::constant(0)).map_err(at)? } else { all.clone() };
    let got = execute(engines, &no_rows, &empty).map_err(|e| at(format!("no rows: {e:?}\n{no_rows}")))?;
    match got.iter().find(|t| t.shape()[0] != 0) {
        Some(t) => Err(at(format!("no rows: {}", t.spec()))),
        None => Ok(all),
    }
}

/// Checks every pattern.
pub fn check(engines: &AnyBackend, module: &Module, inputs: &[Tensor], size: Dim) -> Result<(), String> {
    patterns(inputs.len()).iter().try_for_each(|p| check_pattern(engines, module, inputs, p, size).map(drop))
}

/// Checks all arguments mapped, and the last alone.
pub fn check_some(engines: &AnyBackend, module: &Module, inputs: &[Tensor], size: Dim) -> Result<(), String> {
    let n = inputs.len();
    let last: Vec<bool> = (0..n).map(|i| i + 1 == n).collect();
    let patterns = if n == 1 { vec![last] } else { vec![vec![true; n], last] };
    patterns.iter().try_for_each(|p| check_pattern(engines, module, inputs, p, size).map(drop))
}

/// [`check_some`] of the module that is mapped over all arguments already: two vmaps, one in the other.
pub fn check_nested(engines: &AnyBackend, module: &Module, inputs: &[Tensor], size: Dim) -> Result<(), String> {
    let all = vec![true; inputs.len()];
    let once = mapped(module, &all, Dim::constant(ROWS as i64))?;
    let (stacked, _) = make_rows(inputs, &all);
    check_some(engines, &once, &stacked, size)
}
