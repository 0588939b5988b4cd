//! Linearisation: a region becomes the ops of its values, written where they are needed, and a region of those that are
//! linear in the tangents, to be transposed.

use crate::jvp::{Jvp, Mode};
use crate::{depend, depend::Follow};
use evoxc_core::OpError;
use evoxc_ir::{Op, Region, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::FxHashSet;

/// What [`linearize`] gives.
pub(crate) struct Linearized {
    /// The results' values.
    pub primals: Vec<Sym>,
    /// The results' tangents, as values of `linear`; absent where they are zero.
    pub tangents: Vec<Option<Value>>,
    /// The linear ops; the arguments are the tangents of those inputs that were asked for.
    pub linear: Region,
}

/// Writes the ops of a region on these arguments and gives what maps the tangents of the `active` ones to those of the
/// results. `None` when a value is poisoned.
///
/// # Errors
/// An op without a rule.
pub(crate) fn linearize(r: &Region, args: &[Sym], active: &[bool]) -> Result<Option<Linearized>, OpError> {
    let wanted: Vec<Value> = r.args.iter().zip(active).filter(|(_, a)| **a).map(|(v, _)| *v).collect();
    let tangents = emitter::open_region(&emitter::types(&wanted));
    let inputs = tangents.iter().copied();
    let mut walk = Jvp::new(Mode::Split);
    for (&v, &x) in r.args.iter().zip(args) {
        walk.define(v, x, None);
    }
    walk.tangent.extend(wanted.iter().copied().zip(inputs));
    let done = walk.region(r);
    let live: Vec<Option<Sym>> = r.results.iter().map(|v| walk.tangent.get(v).copied()).collect();
    let results: Vec<Sym> = live.iter().copied().flatten().collect();
    let region = emitter::close_region("linearize", if done.is_ok() { &results } else { &[] });
    done?;
    let Some(mut region) = region else { return Ok(None) };
    let mut values = region.results.iter().copied();
    let tangents = live.iter().map(|t| t.and_then(|_| values.next())).collect();
    emitter::adopt(take_known(&mut region));
    let primals = r.results.iter().map(|v| walk.primal(*v)).collect();
    Ok(Some(Linearized { primals, tangents, linear: region }))
}

/// Takes out of a region the ops that do not depend on its arguments.
pub(crate) fn take_known(r: &mut Region) -> Vec<Op> {
    let mut linear = r.args.iter().copied().collect();
    take(r, &mut linear)
}

/// Takes out of a region the ops that do not depend on values of `linear`, to which the results of the others are added.
pub(crate) fn take(r: &mut Region, linear: &mut FxHashSet<Value>) -> Vec<Op> {
    let (mut known, mut kept) = (vec![], vec![]);
    for op in std::mem::take(&mut r.ops) {
        if depends(&op, linear) { kept.push(op) } else { known.push(op) }
    }
    r.ops = kept;
    known
}

/// Does an op depend on linear values? If so its results become linear too.
pub(crate) fn depends(op: &Op, linear: &mut FxHashSet<Value>) -> bool {
    depend::op(Follow::Every, op, linear);
    let captured = || op.regions.iter().any(|r| emitter::captures(r).iter().any(|v| linear.contains(v)));
    let hit = op.operands.iter().any(|v| linear.contains(v)) || captured();
    if hit {
        // Results of an op that is linear in part may be absent from the set; the op as a whole is linear.
        linear.extend(op.results.iter().copied());
    }
    hit
}
