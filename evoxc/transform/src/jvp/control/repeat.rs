//! Tangents of `while_loop`: for forward mode, since a loop of unknown length cannot be run backwards.

use super::{define, tangents};
use crate::jvp::Jvp;
use crate::regions;
use evoxc_core::OpError;
use evoxc_ir::{Op, Region};
use evoxc_trace::emitter;

/// One loop whose state holds the tangents too.
pub(super) fn fused(walk: &mut Jvp, op: &Op, live: &[bool]) -> Result<(), OpError> {
    let [cond, body] = op.regions.as_slice() else { return Err(OpError::new("", "it has two regions")) };
    let n = op.operands.len();
    let mut init = walk.primals(&op.operands).to_vec();
    init.extend(tangents(walk, &op.operands, live));
    let types: Vec<_> = init.iter().filter_map(|&s| emitter::type_of(s)).collect();
    let enter = |walk: &mut Jvp, r: &Region, args: &[evoxc_trace::Sym]| {
        let mut ts = args.get(n..).unwrap_or_default().iter().copied();
        for ((&v, &a), &l) in r.args.iter().zip(args).zip(live) {
            walk.define(v, a, if l { ts.next() } else { None });
        }
    };
    let cond = regions::region("cond", &types, |args| {
        enter(walk, cond, args);
        regions::replay(cond, &mut walk.primal)
    })?;
    let body = regions::region("body", &types, |args| {
        enter(walk, body, args);
        walk.region(body)?;
        let mut out = walk.primals(&body.results).to_vec();
        out.extend(tangents(walk, &body.results, live));
        Ok(out)
    })?;
    let results = regions::emit(op.prim.clone(), &init, vec![cond, body])?;
    let (y, t) = results.split_at(n);
    define(walk, op, live, y, t);
    Ok(())
}

/// The loop of the values, and beside it one that also gives the tangents. Transposition refuses the latter, unless
/// nothing needs them: if they end at `stop_gradient`, or only the number of steps is used.
pub(super) fn split(walk: &mut Jvp, op: &Op, live: &[bool]) -> Result<(), OpError> {
    // Which does not print again.
    let mut quiet = op.clone();
    quiet.regions.iter_mut().try_for_each(regions::silence)?;
    fused(walk, &quiet, live)?;
    emitter::replay(op, &mut walk.primal)
}
