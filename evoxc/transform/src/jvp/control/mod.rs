//! Tangents of ops with regions, and of calls.

mod bodies;
mod branch;
mod call;
mod repeat;
mod scan;

use super::{Jvp, Mode};
use crate::{depend, linear, regions};
use evoxc_core::OpError;
use evoxc_ir::{Op, Prim, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::FxHashSet;

/// Writes one op with regions, or a call.
pub(super) fn op(walk: &mut Jvp, op: &Op) -> Result<(), OpError> {
    let live = live(walk, op);
    if !live.contains(&true) {
        return emitter::replay(op, &mut walk.primal);
    }
    match (&op.prim, walk.mode) {
        (Prim::Cond {} | Prim::Switch {}, Mode::Fused) => branch::fused(walk, op, &live),
        (Prim::Cond {} | Prim::Switch {}, Mode::Split) => branch::split(walk, op, &live),
        (Prim::Scan { .. }, Mode::Fused) => scan::fused(walk, op, &live),
        (Prim::Scan { .. }, Mode::Split) => scan::split(walk, op, &live),
        (Prim::WhileLoop {}, Mode::Fused) => repeat::fused(walk, op, &live),
        (Prim::WhileLoop {}, Mode::Split) => repeat::split(walk, op, &live),
        (Prim::Call { .. }, _) => call::call(walk, op, &live),
        _ => bodies::op(walk, op),
    }
}

/// Which results of an op may have tangents.
fn live(walk: &Jvp, op: &Op) -> Vec<bool> {
    let mut set: FxHashSet<Value> = regions::uses(op).filter(|v| walk.tangent.contains_key(v)).collect();
    if set.is_empty() {
        return vec![false; op.results.len()];
    }
    depend::op(depend::Follow::Tangent, op, &mut set);
    op.results.iter().map(|v| set.contains(v)).collect()
}

/// The tangents that the regions of an op use from around them.
fn captured(walk: &Jvp, op: &Op) -> FxHashSet<Value> {
    let used = op.regions.iter().flat_map(emitter::captures);
    used.filter_map(|v| walk.tangent.get(&v)).filter_map(|&t| emitter::value(t)).collect()
}

/// The tangents of those results that are `live`, zeros where there is none.
fn tangents(walk: &Jvp, results: &[Value], live: &[bool]) -> Vec<Sym> {
    let chosen = results.iter().zip(live).filter(|(_, l)| **l);
    chosen.map(|(v, _)| crate::instantiate(walk.tangent.get(v).copied(), walk.primal(*v))).collect()
}

/// Notes what was written for the results of an op: the primals, then the tangents of those that are `live`.
fn define(walk: &mut Jvp, op: &Op, live: &[bool], primals: &[Sym], tangents: &[Sym]) {
    let mut ts = tangents.iter().copied();
    for ((&v, &p), &l) in op.results.iter().zip(primals).zip(live) {
        walk.define(v, p, if l { ts.next() } else { None });
    }
}

/// The two halves of a body: its primal ops go into the innermost open region; its linear ops are given as a closed
/// region whose arguments are `tangents` (which `enter` says the values of), and whose results are the `live` tangents.
/// `roots` are the tangents around the body.
fn halves(
    walk: &mut Jvp,
    body: &Region,
    tangents: &[TensorType],
    roots: FxHashSet<Value>,
    live: &[bool],
    enter: impl FnOnce(&mut Jvp, &[Sym]),
) -> Result<Halves, OpError> {
    let args = emitter::open_region(tangents);
    enter(walk, &args);
    let done = walk.region(body);
    let results = if done.is_ok() { self::tangents(walk, &body.results, live) } else { vec![] };
    let mut all = walk.primals(&body.results).to_vec();
    all.extend(&results);
    emitter::prune(0, &all);
    let closed = emitter::close_region("tangents", &results);
    done?;
    let Some(mut linear) = closed else { return Err(OpError::new("", "a tangent could not be computed")) };
    let mut set = roots;
    set.extend(linear.args.iter().copied());
    let known = linear::take(&mut linear, &mut set);
    let made = regions::made(&known);
    let used = emitter::captures(&linear);
    emitter::adopt(known);
    Ok(Halves { linear, made, used })
}

/// See [`halves`].
struct Halves {
    linear: Region,
    /// The values made by the primal ops.
    made: FxHashSet<Value>,
    /// What the linear ops use from around them.
    used: Vec<Value>,
}
