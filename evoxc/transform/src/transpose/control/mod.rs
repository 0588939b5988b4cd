//! Transposes of ops with regions, and of calls.

mod branch;
mod call;
mod scan;

use super::Transpose;
use crate::{no_rule, regions};
use evoxc_core::OpError;
use evoxc_ir::{Op, Prim, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes the transpose of one op with regions, or of a call, whose results have these cotangents.
pub(super) fn op(walk: &mut Transpose, op: &Op, ct: &[Option<Sym>]) -> Result<(), OpError> {
    match &op.prim {
        Prim::Cond {} | Prim::Switch {} => branch::branch(walk, op, ct),
        Prim::Scan { carry, length, reverse } => scan::scan(walk, op, ct, *carry, *length, *reverse),
        Prim::Call { callee, vjp, .. } => call::call(walk, op, ct, callee, vjp.as_ref()),
        Prim::WhileLoop {} => Err(not_reversible(walk, op)),
        _ => Err(no_rule(&op.prim, "it is not linear, so it cannot be transposed", "report this: a jvp rule wrote it")),
    }
}

/// What reverse mode says of a loop that the derivative depends on.
fn not_reversible(walk: &Transpose, op: &Op) -> OpError {
    let state: Vec<Value> = op.operands.iter().copied().filter(|v| !walk.linear.contains(v)).collect();
    no_rule(
        &op.prim,
        "reverse mode runs loops backwards, and the number of steps of this one is not known",
        "use `fori_loop` or `scan`, which have a static number of steps; or forward mode: `jvp`, `jacfwd`",
    )
    .operands(emitter::types(&state))
}

/// The linear values that the regions of an op use from around them, each once.
fn captured(walk: &Transpose, op: &Op) -> Vec<Value> {
    let mut seen = FxHashSet::default();
    let used = op.regions.iter().flat_map(emitter::captures);
    used.filter(|v| walk.linear.contains(v) && seen.insert(*v)).collect()
}

/// What stands for a known operand.
fn known(walk: &Transpose, v: Value) -> Result<Sym, OpError> {
    match walk.input(v) {
        super::Input::Known(s) => Ok(s),
        super::Input::Linear(_) => {
            Err(OpError::new("", "it is not linear in this operand").remedy("report this: a jvp rule wrote it"))
        }
    }
}

/// The cotangents in place of those that are absent: zeros.
fn zeros_for(op: &Op, ct: &[Option<Sym>]) -> Vec<Sym> {
    ct.iter().zip(emitter::types(&op.results)).map(|(c, ty)| c.unwrap_or_else(|| crate::zeros(&ty))).collect()
}

/// Writes the known ops of a region again, and its linear ones backwards, in a new walk.
fn inner(
    walk: &Transpose,
    region: &evoxc_ir::Region,
    inputs: impl IntoIterator<Item = Value>,
    known: &[(Value, Sym)],
    cts: &[(Value, Sym)],
) -> Result<Transpose, OpError> {
    let used = emitter::captures(region);
    let mut env: FxHashMap<Value, Value> = used.iter().filter_map(|v| walk.known.get(v).map(|&k| (*v, k))).collect();
    for &(v, s) in known {
        regions::bind(&mut env, &[v], &[s]);
    }
    let mut inner = Transpose::new(inputs, env);
    inner.region(region, cts)?;
    Ok(inner)
}
