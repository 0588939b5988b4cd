//! The laws of vmap.

use super::Tested;
use super::derivative::{epsilon, has_derivative};
use super::excuses::REORDERED;
use super::host::{is_float, near, stack, sum_rows, tangent};
use super::instance::Instance;
use super::program::Program;
use crate::random_graph::Rng;
use crate::run::same_bits;
use crate::tolerance::{Category, compare};
use evoxc_core::{DimLike, Tensor, TensorSpec, dim, spec};

/// The number of rows.
const ROWS: usize = 2;

/// vmap gives what a loop and a stack give: for every pattern of mapped inputs, on axis 0 and on the last, with a static
/// and a symbolic number of rows, with one and no row, and nested.
///
/// # Errors
/// What differs.
pub fn vmap(i: &Instance) -> Result<Tested, String> {
    let reordered = REORDERED.iter().any(|(op, _)| *op == i.op);
    within(i, if reordered { i.category() } else { Category::Exact })
}

/// [`vmap`] with another tolerance.
///
/// # Errors
/// What differs.
pub fn within(i: &Instance, category: Category) -> Result<Tested, String> {
    let f = Program::new(i.graph.clone())?;
    let rows: Vec<Vec<Tensor>> = (0..ROWS as u64).map(|r| i.inputs(r)).collect();
    all_patterns(&f, &rows, category, true)
}

/// See [`vmap`]: of a program on rows of inputs, of which the first row stands for inputs that are not mapped.
///
/// # Errors
/// What differs.
pub fn all_patterns(f: &Program, rows: &[Vec<Tensor>], category: Category, thorough: bool) -> Result<Tested, String> {
    let n = f.graph.input_specs().len();
    if n == 0 {
        return Ok(Tested::Nothing);
    }
    let all = vec![true; n];
    loops(f, rows, &all, false, category)?;
    let patterns: Vec<Vec<bool>> = match n {
        1 => vec![],
        2..=4 => (1..(1usize << n) - 1).map(|m| (0..n).map(|k| m >> k & 1 == 1).collect()).collect(),
        _ => (0..n).flat_map(|k| [true, false].map(|w| (0..n).map(|j| (j == k) == w).collect())).collect(),
    };
    for p in &patterns {
        loops(f, rows, p, false, category).map_err(|e| format!("mapped {p:?}: {e}"))?;
    }
    if thorough {
        loops(f, rows, &all, true, category).map_err(|e| format!("on the last axis: {e}"))?;
        loops(f, &rows[..1], &all, false, category).map_err(|e| format!("one row: {e}"))?;
        none(f, &rows[0]).map_err(|e| format!("no row: {e}"))?;
        symbolic(f, rows, category).map_err(|e| format!("a symbolic number of rows: {e}"))?;
        nested(f, rows, category).map_err(|e| format!("nested: {e}"))?;
    }
    Ok(Tested::Holds)
}

/// Results agree: bit for bit, but for ops whose sums may be taken in another order.
fn agree(got: &[Tensor], want: &[Tensor], category: Category) -> Result<(), String> {
    if category < Category::Reduction {
        return same_bits(want, got);
    }
    if got.len() != want.len() {
        return Err(format!("{} results instead of {}", got.len(), want.len()));
    }
    got.iter().zip(want).try_for_each(|(g, w)| compare(g, w, category))
}

fn columns<'a>(rows: &'a [Vec<Tensor>], k: usize) -> impl Iterator<Item = Tensor> + 'a {
    rows.iter().map(move |r| r[k].clone())
}

/// The rows of every input, stacked.
///
/// # Errors
/// Rows of several shapes.
pub fn stacked(rows: &[Vec<Tensor>], last: bool) -> Result<Vec<Tensor>, String> {
    let n = rows.first().map_or(0, Vec::len);
    let one = |k: usize| {
        let list: Vec<Tensor> = columns(rows, k).collect();
        let axis = if last { list.first().map_or(0, Tensor::rank) } else { 0 };
        stack(&list, axis).ok_or_else(|| format!("result {k} differs in shape from row to row"))
    };
    (0..n).map(one).collect()
}

/// The loop against vmap, for one pattern of mapped inputs.
fn loops(f: &Program, rows: &[Vec<Tensor>], mapped: &[bool], last: bool, category: Category) -> Result<(), String> {
    let own = |r: &Vec<Tensor>| -> Vec<Tensor> {
        mapped.iter().enumerate().map(|(k, m)| if *m { r[k].clone() } else { rows[0][k].clone() }).collect()
    };
    let want = rows.iter().map(|r| f.run(&own(r))).collect::<Result<Vec<_>, _>>()?;
    let all = stacked(rows, last)?;
    let inputs: Vec<Tensor> =
        mapped.iter().enumerate().map(|(k, m)| if *m { all[k].clone() } else { rows[0][k].clone() }).collect();
    let axis = if last { -1 } else { 0 };
    let axes: Vec<Option<i64>> = mapped.iter().map(|m| m.then_some(axis)).collect();
    let specs = specs(f, mapped, rows.len(), last);
    let got = f.vmap(&axes, axis, specs)?.run(&inputs)?;
    agree(&got, &stacked(&want, last)?, category)
}

/// The types of inputs of which some are rows.
pub fn specs(f: &Program, mapped: &[bool], size: impl DimLike, last: bool) -> Vec<TensorSpec> {
    let with = |(t, m): (TensorSpec, &bool)| {
        let mut dims: Vec<_> = t.shape().iter().copied().collect();
        if *m {
            dims.insert(if last { dims.len() } else { 0 }, size.to_dim());
        }
        spec(t.dtype(), dims)
    };
    f.graph.input_specs().into_iter().zip(mapped).map(with).collect()
}

/// Without rows it runs, and the results have the right types.
fn none(f: &Program, row: &[Tensor]) -> Result<(), String> {
    let mapped = vec![true; row.len()];
    let empty = |t: &Tensor| Tensor::zeros(t.dtype(), [&[0], t.shape()].concat().as_slice());
    let inputs: Vec<Tensor> = row.iter().map(empty).collect();
    let got = f.vmap(&vec![Some(0); row.len()], 0, specs(f, &mapped, 0, false))?.run(&inputs)?;
    let want: Vec<Tensor> = f.run(row)?.iter().map(empty).collect();
    // Extents that depend on the symbols of mapped inputs are as in any row.
    same_bits(&want, &got)
}

/// One program for any number of rows.
fn symbolic(f: &Program, rows: &[Vec<Tensor>], category: Category) -> Result<(), String> {
    let n = f.graph.input_specs().len();
    let specs = specs(f, &vec![true; n], dim("Rows"), false);
    let g = f.vmap(&vec![Some(0); n], 0, specs)?;
    for rows in [rows, &rows[..1]] {
        let want = rows.iter().map(|r| f.run(r)).collect::<Result<Vec<_>, _>>()?;
        agree(&g.run(&stacked(rows, false)?)?, &stacked(&want, false)?, category)?;
    }
    Ok(())
}

/// Twice: the inner vmap maps every second input (or the only one), the outer one all.
fn nested(f: &Program, rows: &[Vec<Tensor>], category: Category) -> Result<(), String> {
    let n = f.graph.input_specs().len();
    let inner: Vec<bool> = (0..n).map(|k| k % 2 == 0).collect();
    let axes: Vec<Option<i64>> = inner.iter().map(|m| m.then_some(0)).collect();
    let g = f.vmap(&axes, 0, specs(f, &inner, rows.len(), false))?;
    let all = stacked(rows, false)?;
    let turned: Vec<Vec<Tensor>> = stacked(&rows.iter().rev().cloned().collect::<Vec<_>>(), false).map(|t| vec![t])?;
    let own = |all: &[Tensor], row: &[Tensor]| -> Vec<Tensor> {
        inner.iter().enumerate().map(|(k, m)| if *m { all[k].clone() } else { row[k].clone() }).collect()
    };
    let outer = vec![own(&all, &rows[0]), own(&turned[0], &rows[rows.len() - 1])];
    loops(&g, &outer, &vec![true; n], false, category)
}

/// vmap of vjp gives what vjp of vmap gives: every input mapped, and only the first float. The cotangent of an input that
/// all rows share is the sum over the rows.
///
/// # Errors
/// What differs.
pub fn exchange(i: &Instance) -> Result<Tested, String> {
    let f = Program::new(i.graph.clone())?;
    let rows: Vec<Vec<Tensor>> = (0..ROWS as u64).map(|r| i.inputs(r)).collect();
    exchanged(&f, &rows, 1e-10)
}

/// See [`exchange`].
///
/// # Errors
/// What differs.
pub fn exchanged(f: &Program, rows: &[Vec<Tensor>], tolerance: f64) -> Result<Tested, String> {
    let Some(first) = rows[0].iter().position(|t| is_float(t.dtype())) else { return Ok(Tested::Nothing) };
    if !has_derivative(f, &rows[0]) {
        return Ok(Tested::Nothing);
    }
    let n = rows[0].len();
    let back = f.vjp()?;
    let all = stacked(rows, false)?;
    for mapped in [vec![true; n], (0..n).map(|k| k == first).collect()] {
        let x: Vec<Tensor> =
            mapped.iter().enumerate().map(|(k, m)| if *m { all[k].clone() } else { rows[0][k].clone() }).collect();
        let axes: Vec<Option<i64>> = mapped.iter().map(|m| m.then_some(0)).collect();
        let g = f.vmap(&axes, 0, specs(f, &mapped, rows.len(), false))?;
        let rng = &mut Rng::new(3);
        let u: Vec<Tensor> = g.run(&x)?.iter().map(|y| tangent(rng, y)).collect();
        let want = g.vjp()?.run(&[&x[..], &u].concat())?;
        let flags = [&mapped[..], &vec![true; u.len()]].concat();
        let axes: Vec<Option<i64>> = flags.iter().map(|m| m.then_some(0)).collect();
        let got = back.vmap(&axes, 0, specs(&back, &flags, rows.len(), false))?.run(&[&x[..], &u].concat())?;
        let got: Vec<Tensor> = got
            .into_iter()
            .zip(&mapped)
            .zip(&x)
            .map(|((t, m), x)| match (*m, is_float(x.dtype())) {
                (true, _) => t,
                (false, true) => sum_rows(&t),
                (false, false) => Tensor::zeros(x.dtype(), x.shape()),
            })
            .collect();
        let coarsest = x.iter().map(|t| epsilon(t.dtype())).fold(f64::EPSILON, f64::max) / f64::EPSILON;
        near(&got, &want, tolerance * coarsest).map_err(|e| format!("mapped {mapped:?}: {e}"))?;
    }
    Ok(Tested::Holds)
}
