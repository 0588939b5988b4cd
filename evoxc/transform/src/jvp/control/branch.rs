//! Tangents of `cond` and `switch`.

use super::{Halves, captured, define, halves, tangents};
use crate::jvp::Jvp;
use crate::{regions, zeros};
use evoxc_core::OpError;
use evoxc_ir::{Op, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::{FxHashMap, FxHashSet};

/// One op whose branches give the tangents too.
pub(super) fn fused(walk: &mut Jvp, op: &Op, live: &[bool]) -> Result<(), OpError> {
    let mut branches = vec![];
    for r in &op.regions {
        branches.push(regions::region("branch", &[], |_| {
            walk.region(r)?;
            let mut out = walk.primals(&r.results).to_vec();
            out.extend(tangents(walk, &r.results, live));
            Ok(out)
        })?);
    }
    let results = regions::emit(op.prim.clone(), &walk.primals(&op.operands), branches)?;
    let (y, t) = results.split_at(op.results.len());
    define(walk, op, live, y, t);
    Ok(())
}

/// An op of the primals, which also gives what the branches of the linear op need: a slot for a value of each type, as
/// many as the branch with most of them has.
pub(super) fn split(walk: &mut Jvp, op: &Op, live: &[bool]) -> Result<(), OpError> {
    let roots = captured(walk, op);
    let (mut primal, mut parts) = (vec![], vec![]);
    for r in &op.regions {
        let mut part = None;
        let n = r.results.len();
        let mut region = regions::region("branch", &[], |_| {
            let h = part.insert(halves(walk, r, &[], roots.clone(), live, |_, _| {})?);
            let mut out = walk.primals(&r.results).to_vec();
            out.extend(h.used.iter().filter(|v| h.made.contains(v)).map(|&v| emitter::sym(v)));
            Ok(out)
        })?;
        let stored = region.results.split_off(n.min(region.results.len()));
        let Some(part) = part else { continue };
        parts.push(Branch::new(&region, part, stored));
        primal.push(region);
    }
    let slots = fill(&mut primal, &mut parts);
    let x = walk.primals(&op.operands);
    let results = regions::emit(op.prim.clone(), &x, primal)?;
    let (y, stored) = results.split_at(results.len() - slots);
    let mut linear = vec![];
    for part in &parts {
        linear.push(regions::region("branch", &[], |_| {
            let mut env = FxHashMap::default();
            part.again.iter().try_for_each(|op| emitter::replay(op, &mut env))?;
            for &(v, slot) in &part.stored {
                regions::bind(&mut env, &[v], &stored[slot..=slot]);
            }
            regions::replay(&part.linear, &mut env)
        })?);
    }
    let t = regions::emit(op.prim.clone(), &x, linear)?;
    define(walk, op, live, y, &t);
    Ok(())
}

/// The linear half of a branch.
struct Branch {
    linear: Region,
    /// Primal ops without operands, which are cheaper written again than stored.
    again: Vec<Op>,
    /// Primal values that it needs, each with its slot.
    stored: Vec<(Value, usize)>,
}

impl Branch {
    fn new(primal: &Region, half: Halves, needed: Vec<Value>) -> Branch {
        let free = |op: &&Op| op.operands.is_empty() && op.regions.is_empty();
        let wanted: FxHashSet<Value> = needed.iter().copied().collect();
        let needs = |op: &&Op| op.results.iter().any(|v| wanted.contains(v));
        let again: Vec<Op> = primal.ops.iter().filter(free).filter(needs).cloned().collect();
        let made = regions::made(&again);
        let stored = needed.into_iter().filter(|v| !made.contains(v)).map(|v| (v, 0)).collect();
        Branch { linear: half.linear, again, stored }
    }
}

/// Gives every stored value a slot, and every branch a result for every slot (zeros where it has none to store); says
/// how many slots there are.
fn fill(primal: &mut [Region], parts: &mut [Branch]) -> usize {
    let mut slots: Vec<(TensorType, Vec<usize>)> = vec![];
    let mut count = 0;
    let mut by_branch: Vec<FxHashMap<usize, Value>> = vec![];
    for part in parts.iter_mut() {
        let mut used = vec![0; slots.len()];
        let mut taken = FxHashMap::default();
        for (v, slot) in &mut part.stored {
            let ty = emitter::ty(*v);
            let kind = slots.iter().position(|(t, _)| *t == ty).unwrap_or_else(|| {
                slots.push((ty, vec![]));
                used.push(0);
                slots.len() - 1
            });
            let of_type = &mut slots[kind].1;
            if used[kind] == of_type.len() {
                of_type.push(count);
                count += 1;
            }
            *slot = of_type[used[kind]];
            used[kind] += 1;
            taken.insert(*slot, *v);
        }
        by_branch.push(taken);
    }
    let mut kinds = vec![0; count];
    for (kind, (_, of_type)) in slots.iter().enumerate() {
        of_type.iter().for_each(|&slot| kinds[slot] = kind);
    }
    let mut zero: Vec<Option<Sym>> = vec![None; slots.len()];
    for (region, taken) in primal.iter_mut().zip(by_branch) {
        for (slot, &kind) in kinds.iter().enumerate() {
            let v = taken.get(&slot).copied();
            let v = v.or_else(|| emitter::value(*zero[kind].get_or_insert_with(|| zeros(&slots[kind].0))));
            region.results.extend(v);
        }
    }
    count
}
