//! Control flow, ops with bodies, and calls for all rows.

mod bodies;
mod call;
mod choice;
mod repeat;
mod safe;
mod scan;

use super::{Mapped, Vmap, batched};
use crate::{depend, regions};
use evoxc_core::{OpError, Shape};
use evoxc_ir::{Op, Prim, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::FxHashSet;

/// Writes one op with regions, or a call.
pub(super) fn op(walk: &mut Vmap, op: &Op) -> Result<(), OpError> {
    if !regions::uses(op).any(|v| walk.batched.contains(&v)) {
        return emitter::replay(op, &mut walk.written);
    }
    match &op.prim {
        Prim::Cond {} | Prim::Switch {} => match op.operands.first() {
            Some(pred) if walk.batched.contains(pred) => choice::of_rows(walk, op),
            _ => choice::of_all(walk, op),
        },
        Prim::WhileLoop {} => repeat::repeat(walk, op),
        Prim::Scan { .. } => scan::scan(walk, op),
        Prim::Call { .. } => call::call(walk, op),
        _ => bodies::op(walk, op),
    }
}

/// Which results of an op will be batched.
fn marks(walk: &Vmap, op: &Op) -> (Vec<bool>, FxHashSet<Value>) {
    let mut set: FxHashSet<Value> = regions::uses(op).filter(|v| walk.batched.contains(v)).collect();
    depend::op(depend::Follow::Every, op, &mut set);
    (op.results.iter().map(|v| set.contains(v)).collect(), set)
}

/// The type with the rows in front.
fn with_rows(walk: &Vmap, ty: &TensorType, rows: bool) -> TensorType {
    if !rows {
        return ty.clone();
    }
    let shape: Shape = std::iter::once(walk.size).chain(ty.shape.iter().copied()).collect();
    evoxc_core::spec(ty.dtype, shape)
}

/// The types of these values, with the rows in front where `rows` says so.
fn types(walk: &Vmap, values: &[Value], rows: &[bool]) -> Vec<TensorType> {
    emitter::types(values).iter().zip(rows).map(|(t, &r)| with_rows(walk, t, r)).collect()
}

/// What stands for these values: for all rows where `rows` says so.
fn get(walk: &Vmap, values: &[Value], rows: &[bool]) -> Vec<Sym> {
    let of = |(&v, &r): (&Value, &bool)| if r { batched(walk.get(v), walk.size) } else { walk.get(v).sym };
    values.iter().zip(rows).map(of).collect()
}

fn define(walk: &mut Vmap, values: &[Value], syms: &[Sym], rows: &[bool]) {
    for ((&v, &sym), &batched) in values.iter().zip(syms).zip(rows) {
        walk.define(v, Mapped { sym, batched });
    }
}

/// Writes a body for all rows: its arguments and results are batched where `args` and `results` say so.
fn body(walk: &mut Vmap, r: &Region, args: &[bool], results: &[bool]) -> Result<Region, OpError> {
    regions::region("body", &types(walk, &r.args, args), |syms| {
        define(walk, &r.args, syms, args);
        walk.region(r)?;
        Ok(get(walk, &r.results, results))
    })
}
