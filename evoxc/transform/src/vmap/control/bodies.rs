//! Ops whose combiner or order is a region on scalars, for all rows: one axis more where the region captures nothing
//! that differs from row to row, else row after row.

use super::{define, get};
use crate::regions;
use crate::vmap::parts::up;
use crate::vmap::{Vmap, windows};
use evoxc_core::OpError;
use evoxc_ir::{Op, Prim, TensorType, Value};
use evoxc_trace::emitter;

pub(super) fn op(walk: &mut Vmap, op: &Op) -> Result<(), OpError> {
    let batched = |v: &Value| walk.batched.contains(v);
    let captures = op.regions.iter().flat_map(emitter::captures).any(|v| batched(&v));
    let half = op.operands.len() / 2;
    // The op of all rows, and which operands have them.
    let (prim, rows) = match &op.prim {
        Prim::ReduceBody { axes } => (Prim::ReduceBody { axes: up(axes) }, half),
        Prim::ReduceWindowBody { window } => (Prim::ReduceWindowBody { window: windows::of_rows(window) }, half),
        Prim::SelectAndScatterBody { window } => (Prim::SelectAndScatterBody { window: windows::of_rows(window) }, 2),
        Prim::SortBody { axis, stable } => (Prim::SortBody { axis: axis + 1, stable: *stable }, op.operands.len()),
        Prim::AllReduceBody { .. } => (op.prim.clone(), op.operands.len()),
        Prim::ReduceScatterBody { axis, count, groups } => {
            let (axis, count, groups) = (axis + 1, *count, groups.clone());
            (Prim::ReduceScatterBody { axis, count, groups }, op.operands.len())
        }
        _ => return one_by_one(walk, op),
    };
    if captures || op.operands.iter().skip(rows).any(batched) {
        return one_by_one(walk, op);
    }
    let flags: Vec<bool> = (0..op.operands.len()).map(|i| i < rows).collect();
    let mut env = walk.written.clone();
    regions::bind(&mut env, &op.operands, &get(walk, &op.operands, &flags));
    emitter::replay(&Op { prim, ..op.clone() }, &mut env)?;
    take(walk, op, &env)
}

fn take(walk: &mut Vmap, op: &Op, env: &rustc_hash::FxHashMap<Value, Value>) -> Result<(), OpError> {
    for v in &op.results {
        walk.written.extend(env.get(v).map(|&new| (*v, new)));
        walk.batched.insert(*v);
    }
    Ok(())
}

/// A scan over the rows.
fn one_by_one(walk: &mut Vmap, op: &Op) -> Result<(), OpError> {
    let mut used: Vec<Value> = regions::uses(op).filter(|v| walk.batched.contains(v)).collect();
    used.sort_unstable();
    used.dedup();
    let all = vec![true; used.len()];
    let rows: Vec<TensorType> = emitter::types(&used);
    let body = regions::region("body", &rows, |args| {
        let mut env = walk.written.clone();
        regions::bind(&mut env, &used, args);
        emitter::replay(op, &mut env)?;
        Ok(op.results.iter().map(|v| emitter::sym(env.get(v).copied().unwrap_or(*v))).collect())
    })?;
    let scan = Prim::Scan { carry: 0, length: walk.size, reverse: false };
    let results = regions::emit(scan, &get(walk, &used, &all), vec![body])?;
    define(walk, &op.results, &results, &vec![true; op.results.len()]);
    Ok(())
}
