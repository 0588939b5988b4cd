//! Removal of dead ops that a transform left behind, and of the parts of control flow whose results nothing uses: results
//! of branches, stacked results and carries of a scan, states of a loop, operands that no body reads.

use evoxc_ir::{Func, Op, Prim, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};

/// The ops that the `live` values need, and those with effects. To `live` is added all that these use.
pub(crate) fn prune(ops: Vec<Op>, live: &mut FxHashSet<Value>, callees: &[Func]) -> Vec<Op> {
    needed(ops, live, &Effects::new(callees))
}

fn needed(ops: Vec<Op>, live: &mut FxHashSet<Value>, effects: &Effects) -> Vec<Op> {
    let mut kept = Vec::with_capacity(ops.len());
    for mut op in ops.into_iter().rev() {
        if op.results.iter().any(|r| live.contains(r)) || effects.of(&op) {
            narrow(&mut op, live, effects);
            live.extend(op.operands.iter().copied());
            op.regions.iter().for_each(|r| uses(r, live));
            kept.push(op);
        }
    }
    kept.reverse();
    kept
}

/// Removes the parts of an op with regions that `live` does not need.
fn narrow(op: &mut Op, live: &FxHashSet<Value>, effects: &Effects) {
    match &mut op.prim {
        Prim::Cond {} | Prim::Switch {} => {
            let wanted: Vec<bool> = op.results.iter().map(|v| live.contains(v)).collect();
            keep(&mut op.results, &wanted);
            op.regions.iter_mut().for_each(|r| keep(&mut r.results, &wanted));
        }
        Prim::WhileLoop {} => {
            let [cond, body] = op.regions.as_mut_slice() else { return };
            let mut read = FxHashSet::default();
            uses(cond, &mut read);
            let wanted = op.results.iter().zip(&cond.args).map(|(v, a)| live.contains(v) || read.contains(a));
            let wanted = grown(body, wanted.collect(), &[], effects);
            keep(&mut op.results, &wanted);
            keep(&mut op.operands, &wanted);
            keep(&mut cond.args, &wanted);
            keep(&mut body.args, &wanted);
            keep(&mut body.results, &wanted);
        }
        Prim::Scan { carry, .. } => {
            let [body] = op.regions.as_mut_slice() else { return };
            let mut wanted: Vec<bool> = op.results.iter().map(|v| live.contains(v)).collect();
            let ys = wanted.split_off((*carry).min(wanted.len()));
            let carries = grown(body, wanted, &ys, effects);
            let results = [&carries[..], &ys].concat();
            keep(&mut op.results, &results);
            keep(&mut body.results, &results);
            // What is scanned is kept if the ops that are left read it.
            let mut read: FxHashSet<Value> = body.results.iter().copied().collect();
            body.ops = needed(std::mem::take(&mut body.ops), &mut read, effects);
            let xs = body.args.iter().skip(carries.len()).map(|a| read.contains(a));
            let args: Vec<bool> = carries.iter().copied().chain(xs).collect();
            keep(&mut op.operands, &args);
            keep(&mut body.args, &args);
            *carry = carries.iter().filter(|c| **c).count();
            return;
        }
        _ => return,
    }
    for r in &mut op.regions {
        let mut read: FxHashSet<Value> = r.results.iter().copied().collect();
        r.ops = needed(std::mem::take(&mut r.ops), &mut read, effects);
    }
}

/// The carries that are needed if these and the other results `ys` are: those that a step reads for them.
fn grown(body: &Region, mut carries: Vec<bool>, ys: &[bool], effects: &Effects) -> Vec<bool> {
    loop {
        let wanted = carries.iter().chain(ys).zip(&body.results).filter(|(w, _)| **w).map(|(_, v)| *v);
        let mut read: FxHashSet<Value> = wanted.collect();
        for op in body.ops.iter().rev() {
            if op.results.iter().any(|v| read.contains(v)) || effects.of(op) {
                read.extend(op.operands.iter().copied());
                op.regions.iter().for_each(|r| uses(r, &mut read));
            }
        }
        let next: Vec<bool> = carries.iter().zip(&body.args).map(|(c, a)| *c || read.contains(a)).collect();
        if next == carries {
            return carries;
        }
        carries = next;
    }
}

/// Keeps the elements that are wanted, and those beyond.
fn keep<L: Retain>(list: &mut L, wanted: &[bool]) {
    let mut at = 0;
    list.retain_if(|| {
        at += 1;
        wanted.get(at - 1).copied().unwrap_or(true)
    });
}

/// Lists of values of either kind.
trait Retain {
    fn retain_if(&mut self, f: impl FnMut() -> bool);
}
impl Retain for Vec<Value> {
    fn retain_if(&mut self, mut f: impl FnMut() -> bool) {
        self.retain(|_| f());
    }
}
impl<const N: usize> Retain for smallvec::SmallVec<[Value; N]>
where
    [Value; N]: smallvec::Array<Item = Value>,
{
    fn retain_if(&mut self, mut f: impl FnMut() -> bool) {
        self.retain(|_| f());
    }
}

/// Adds all values that a region uses.
fn uses(region: &Region, into: &mut FxHashSet<Value>) {
    for op in &region.ops {
        into.extend(op.operands.iter().copied());
        op.regions.iter().for_each(|r| uses(r, into));
    }
    into.extend(region.results.iter().copied());
}

/// Which functions have an effect when they are called: each is looked at once, for calls of calls multiply.
struct Effects<'f> {
    index: OnceCell<FxHashMap<&'f str, &'f Func>>,
    callees: &'f [Func],
    known: RefCell<FxHashMap<&'f str, bool>>,
}

impl<'f> Effects<'f> {
    fn new(callees: &'f [Func]) -> Effects<'f> {
        Effects { index: OnceCell::new(), callees, known: RefCell::default() }
    }
    /// Does an op, or one in its regions or in what it calls, have an effect?
    fn of(&self, op: &Op) -> bool {
        let called = || match &op.prim {
            Prim::Call { callee, .. } => self.called(&callee.0),
            _ => false,
        };
        op.prim.has_effect() || op.regions.iter().any(|r| self.inside(r)) || called()
    }
    fn inside(&self, r: &Region) -> bool {
        r.ops.iter().any(|op| self.of(op))
    }
    fn called(&self, name: &str) -> bool {
        let index = self.index.get_or_init(|| self.callees.iter().map(|f| (f.name.as_str(), f)).collect());
        let Some((&name, &f)) = index.get_key_value(name) else { return false };
        let known = self.known.borrow().get(name).copied();
        known.unwrap_or_else(|| {
            let effect = self.inside(&f.body);
            self.known.borrow_mut().insert(name, effect);
            effect
        })
    }
}
