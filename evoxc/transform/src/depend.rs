//! Which values depend on which: what has a tangent, or what is batched, before anything is written.

use crate::{differentiable, jvp};
use evoxc_ir::{Op, Prim, Region, Value};
use evoxc_trace::emitter;
use rustc_hash::FxHashSet;

/// What is followed through a graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    /// Tangents: they end at values that are not floating-point, and at ops whose derivative is zero.
    Tangent,
    /// Batch axes, and linear dependence: they end nowhere.
    Every,
}

/// Adds to `set` the values of the region that depend on those in it; says for each result whether it does.
pub(crate) fn region(follow: Follow, r: &Region, set: &mut FxHashSet<Value>) -> Vec<bool> {
    for o in &r.ops {
        op(follow, o, set);
    }
    r.results.iter().map(|v| set.contains(v)).collect()
}

/// Adds to `set` the results of the op that depend on values in it.
pub(crate) fn op(follow: Follow, op: &Op, set: &mut FxHashSet<Value>) {
    let hit: Vec<bool> = op.operands.iter().map(|v| set.contains(v)).collect();
    let any = hit.contains(&true);
    let results = match &op.prim {
        Prim::Cond {} | Prim::Switch {} => {
            let mut out = vec![any; op.results.len()];
            for r in &op.regions {
                out.iter_mut().zip(region(follow, r, set)).for_each(|(o, d)| *o |= d);
            }
            out
        }
        Prim::WhileLoop {} => match op.regions.as_slice() {
            [cond, body] => loop_state(follow, Some(cond), body, hit, set),
            _ => vec![any; op.results.len()],
        },
        Prim::Scan { carry, .. } => match op.regions.as_slice() {
            [body] => {
                let mut xs = hit;
                let init = xs.drain(..(*carry).min(xs.len())).collect();
                mark(&body.args[body.args.len().saturating_sub(xs.len())..], &xs, set);
                loop_state(follow, None, body, init, set)
            }
            _ => vec![any; op.results.len()],
        },
        prim => {
            let order = follow == Follow::Tangent && matches!(prim, Prim::SortBody { .. });
            let inner = !order && op.regions.iter().any(|r| emitter::captures(r).iter().any(|v| set.contains(v)));
            let ends = follow == Follow::Tangent && jvp::ends_tangents(prim);
            vec![(any || inner) && !ends; op.results.len()]
        }
    };
    let types = (follow == Follow::Tangent).then(|| emitter::types(&op.results));
    for (i, &v) in op.results.iter().enumerate() {
        let kept = types.as_ref().is_none_or(|t| differentiable(t[i].dtype));
        if results.get(i).copied().unwrap_or(any) && kept {
            set.insert(v);
        }
    }
}

fn mark(vs: &[Value], hit: &[bool], set: &mut FxHashSet<Value>) {
    set.extend(vs.iter().zip(hit).filter(|(_, h)| **h).map(|(v, _)| *v));
}

/// Grows the state that depends until the body adds nothing; gives what depends of all results of the body.
fn loop_state(
    follow: Follow,
    cond: Option<&Region>,
    body: &Region,
    mut state: Vec<bool>,
    set: &mut FxHashSet<Value>,
) -> Vec<bool> {
    // A body that has been followed before starts from what was found then, so that nested loops take few passes.
    state.iter_mut().zip(&body.args).for_each(|(s, a)| *s |= set.contains(a));
    loop {
        mark(&body.args, &state, set);
        let mut next = region(follow, body, set);
        if let Some(c) = cond {
            mark(&c.args, &state, set);
            // A loop that ends at another step for every row has a state of its own for every row.
            if region(follow, c, set).contains(&true) {
                next.iter_mut().for_each(|n| *n = true);
            }
        }
        let grown: Vec<bool> = state.iter().zip(&next).map(|(a, b)| *a || *b).collect();
        if grown == state {
            next.iter_mut().zip(&state).for_each(|(n, s)| *n |= *s);
            return next;
        }
        state = grown;
    }
}

/// Adds to `set` the values that a region needs for those in it: what gets a cotangent if they do.
pub(crate) fn needed(r: &Region, set: &mut FxHashSet<Value>) {
    for op in r.ops.iter().rev() {
        if op.results.iter().any(|v| set.contains(v)) {
            set.extend(op.operands.iter().copied());
            set.extend(op.regions.iter().flat_map(emitter::captures));
        }
    }
}
