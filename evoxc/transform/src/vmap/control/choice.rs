//! `cond` and `switch` for all rows.

use super::repeat::choose;
use super::{define, get, marks, safe};
use crate::regions;
use crate::vmap::Vmap;
use evoxc_core::OpError;
use evoxc_ir::{Op, Prim, Region, Value};
use evoxc_trace::{Sym, emitter};

/// All rows take the same branch.
pub(super) fn of_all(walk: &mut Vmap, op: &Op) -> Result<(), OpError> {
    let (rows, _) = marks(walk, op);
    let mut branches = vec![];
    for r in &op.regions {
        branches.push(regions::region("branch", &[], |_| {
            walk.region(r)?;
            Ok(get(walk, &r.results, &rows))
        })?);
    }
    let x: Vec<Sym> = op.operands.iter().map(|&v| walk.get(v).sym).collect();
    let results = regions::emit(op.prim.clone(), &x, branches)?;
    define(walk, &op.results, &results, &rows);
    Ok(())
}

/// Every row takes a branch of its own: all branches run on all rows, and each row selects. See [`safe`] for what the
/// rows that do not take a branch compute in it.
pub(super) fn of_rows(walk: &mut Vmap, op: &Op) -> Result<(), OpError> {
    let Some(pred) = op.operands.first().map(|&v| walk.get(v).sym) else { return Ok(()) };
    let masks = masks(&op.prim, pred, op.regions.len());
    let mut chosen: Option<Vec<Sym>> = None;
    let mut written = vec![];
    for (r, &mask) in op.regions.iter().zip(&masks) {
        written.push(branch(walk, r, mask)?);
    }
    for (values, mask) in written.into_iter().zip(masks).rev() {
        chosen = Some(match chosen {
            None => values,
            Some(rest) => values.iter().zip(rest).map(|(&a, b)| select(mask, a, b)).collect(),
        });
    }
    let results = chosen.unwrap_or_default();
    define(walk, &op.results, &results, &vec![true; op.results.len()]);
    Ok(())
}

/// Which rows take which branch.
fn masks(prim: &Prim, pred: Sym, n: usize) -> Vec<Sym> {
    if matches!(prim, Prim::Cond {}) {
        return vec![pred, !pred];
    }
    let last = i32::try_from(n).unwrap_or(i32::MAX) - 1;
    let mut masks: Vec<Sym> = (0..last).map(|k| pred.eq(k)).collect();
    // Out of range is the last.
    masks.push(pred.lt(0) | pred.ge(last));
    masks
}

fn select(mask: Sym, a: Sym, b: Sym) -> Sym {
    let (x, y): (Option<Value>, Option<Value>) = (emitter::value(a), emitter::value(b));
    if x == y { a } else { choose(mask, a, b) }
}

/// The results of a branch for all rows.
fn branch(walk: &mut Vmap, r: &Region, mask: Sym) -> Result<Vec<Sym>, OpError> {
    let all = vec![true; r.results.len()];
    if !safe::must_be_guarded(r) {
        let before = safe::shield(walk, r, mask, false);
        walk.region(r)?;
        let results = get(walk, &r.results, &all);
        walk.written.extend(before);
        return Ok(results);
    }
    let taken = regions::region("then", &[], |_| {
        let before = safe::shield(walk, r, mask, true);
        walk.region(r)?;
        let results = get(walk, &r.results, &all);
        walk.written.extend(before);
        Ok(results)
    })?;
    let types = super::types(walk, &r.results, &all);
    let not = regions::region("else", &[], |_| Ok(types.iter().map(crate::zeros).collect()))?;
    Ok(regions::emit(Prim::Cond {}, &[mask.any(0)], vec![taken, not])?.to_vec())
}
