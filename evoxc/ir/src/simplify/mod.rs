//! Simplification that keeps every bit of every result: equal subexpressions once, dead code away, exact constants
//! folded, algebraic identities.
//!
//! One pass in execution order builds the new function. Each op sees operands that are already in their final form, so
//! what looks only backwards needs no second pass: rules rewrite the op until none fits, then an equal op before it is
//! taken in its place. A region is rid of its dead ops when it ends. The time is near linear in the number of ops, and
//! only regions recurse.

mod cse;
mod dce;
mod fold;
mod rules;
#[cfg(test)]
mod tests;

use crate::{Func, Literal, Module, Op, Prim, Region, TensorType, Value, ValueInfo};
use cse::Known;
use evoxc_core::Loc;
use rules::{Rewrite, View};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The same program, simplified. What it computes keeps every bit: rules that would change a NaN, the sign of a zero or
/// a rounding are not among them. Ops with an effect stay, in their order. Surviving values keep their names, surviving
/// ops their locations; functions stay even if nothing calls them.
///
/// A module that does not verify comes back as it is.
///
/// ```
/// use evoxc::ir::{Module, simplify};
/// let m = Module::parse("func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = evoxc.neg(%x) : tensor<2xf32>\n  %y = evoxc.neg(%0) : tensor<2xf32>\n  return %y\n}")?;
/// assert_eq!(simplify(&m), Module::parse("func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x\n}")?);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn simplify(m: &Module) -> Module {
    if m.verify().is_err() {
        return m.clone();
    }
    let effects = effectful(m);
    let funcs = m.funcs.iter().map(|f| Graph::new(f, &effects).run()).collect();
    Module { name: m.name.clone(), funcs, statics: m.statics.clone(), notes: m.notes.clone() }
}

/// The functions that have an effect when they are called.
fn effectful(m: &Module) -> FxHashSet<&str> {
    fn any(r: &Region, known: &FxHashSet<&str>) -> bool {
        r.ops.iter().any(|op| has_effect(&op.prim, known) || op.regions.iter().any(|r| any(r, known)))
    }
    // Calls nest to a limited depth, so there are few rounds.
    let mut known = FxHashSet::default();
    loop {
        let before = known.len();
        for f in &m.funcs {
            if !known.contains(f.name.as_str()) && any(&f.body, &known) {
                known.insert(f.name.as_str());
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

fn has_effect(prim: &Prim, functions: &FxHashSet<&str>) -> bool {
    match prim {
        Prim::Call { callee, .. } => functions.contains(callee.0.as_str()),
        p => p.has_effect(),
    }
}

/// Steps of rewriting one op; rules make ops simpler, so this is never reached.
const MAX_STEPS: usize = 32;

/// An op of the new function; its number is its place in [`Graph::nodes`].
struct Node {
    prim: Prim,
    operands: SmallVec<[Value; 3]>,
    results: SmallVec<[Value; 1]>,
    regions: Vec<Block>,
    loc: Option<Loc>,
    effect: bool,
}

/// A region of the new function.
#[derive(Default)]
struct Block {
    args: Vec<Value>,
    ops: Vec<usize>,
    results: Vec<Value>,
    /// Values of the regions around it that it uses.
    captures: Vec<Value>,
}

/// The new function while it is built.
struct Graph<'m> {
    old: &'m Func,
    effects: &'m FxHashSet<&'m str>,
    /// The new value of each old one.
    new: Vec<Value>,
    values: Vec<ValueInfo>,
    /// The op that defines a new value; none for arguments.
    definition: Vec<Option<usize>>,
    nodes: Vec<Node>,
    known: Known,
}

impl<'m> Graph<'m> {
    fn new(old: &'m Func, effects: &'m FxHashSet<&'m str>) -> Graph<'m> {
        let n = old.values.len();
        Graph {
            old,
            effects,
            new: vec![Value(u32::MAX); n],
            values: Vec::with_capacity(n),
            definition: Vec::with_capacity(n),
            nodes: vec![],
            known: Known::default(),
        }
    }
    fn run(mut self) -> Func {
        let body = self.region(&self.old.body);
        let mut out = Func::new(self.old.name.clone());
        let mut number = vec![Value(u32::MAX); self.values.len()];
        out.body = self.finish(body, &mut out, &mut number);
        out
    }

    fn region(&mut self, r: &Region) -> Block {
        self.known.enter();
        let args = r.args.iter().map(|&v| self.define(v, None)).collect();
        let mut ops = vec![];
        self.ops(&r.ops, &mut ops);
        let results = r.results.iter().map(|v| self.new[v.index()]).collect();
        self.known.leave();
        dce::close(self, args, ops, results)
    }
    fn ops(&mut self, list: &[Op], into: &mut Vec<usize>) {
        for op in list {
            self.op(op, into);
        }
    }
    fn op(&mut self, op: &Op, into: &mut Vec<usize>) {
        let mut operands: SmallVec<[Value; 3]> = op.operands.iter().map(|v| self.new[v.index()]).collect();
        if let Some(taken) = self.taken_branch(op, &operands) {
            self.ops(&taken.ops, into);
            for (&old, inner) in op.results.iter().zip(&taken.results) {
                self.alias(old, self.new[inner.index()]);
            }
            return;
        }
        let mut prim = op.prim.clone();
        if let (&[result], true) = (op.results.as_slice(), op.regions.is_empty()) {
            let ty = self.old.ty(result);
            for _ in 0..MAX_STEPS {
                match rules::step(&View { graph: self }, &prim, &operands, ty) {
                    None => break,
                    Some(Rewrite::Value(v)) => return self.alias(result, v),
                    Some(Rewrite::Op(p, o)) => (prim, operands) = (*p, o),
                }
            }
        }
        let regions: Vec<Block> = op.regions.iter().map(|r| self.region(r)).collect();
        let inner = regions.iter().flat_map(|b| &b.ops).any(|&n| self.nodes[n].effect);
        let effect = inner || has_effect(&prim, self.effects);
        let node = Node { prim, operands, results: SmallVec::new(), regions, loc: op.loc, effect };
        // A barrier keeps apart what would otherwise be found equal.
        let key = (!effect && !matches!(node.prim, Prim::OptimizationBarrier {})).then(|| cse::hash(self, &node));
        if let Some(same) = key.and_then(|k| cse::find(self, k, &node, &op.results)) {
            for (i, &old) in op.results.iter().enumerate() {
                self.alias(old, self.nodes[same].results[i]);
            }
            return;
        }
        let id = self.nodes.len();
        self.nodes.push(node);
        let results = op.results.iter().map(|&v| self.define(v, Some(id))).collect();
        self.nodes[id].results = results;
        if let Some(k) = key {
            self.known.add(k, id);
        }
        into.push(id);
    }

    /// The region of a cond or switch whose choice is a constant.
    fn taken_branch<'o>(&self, op: &'o Op, operands: &[Value]) -> Option<&'o Region> {
        let view = View { graph: self };
        let choice = match (&op.prim, operands) {
            (Prim::Cond {}, &[p]) => usize::from(!view.uniform(p)?.as_bool()?),
            (Prim::Switch {}, &[i]) => {
                let last = op.regions.len().checked_sub(1)?;
                usize::try_from(view.uniform(i)?.as_int()?).map_or(last, |i| i.min(last))
            }
            _ => return None,
        };
        op.regions.get(choice)
    }

    /// A new value in place of an old one.
    fn define(&mut self, old: Value, by: Option<usize>) -> Value {
        let v = Value(self.values.len() as u32);
        self.values.push(self.old.values[old.index()].clone());
        self.definition.push(by);
        self.new[old.index()] = v;
        v
    }
    /// An old value is from now on another, which takes over its name if it has none.
    fn alias(&mut self, old: Value, to: Value) {
        self.new[old.index()] = to;
        let target = &mut self.values[to.index()];
        if target.name.is_none() && self.definition[to.index()].is_some() {
            target.name = self.old.values[old.index()].name.clone();
        }
    }
    fn ty(&self, v: Value) -> &TensorType {
        &self.values[v.index()].ty
    }
    fn literal(&self, v: Value) -> Option<&Literal> {
        match &self.nodes[self.definition[v.index()]?].prim {
            Prim::Constant { value } => Some(value),
            _ => None,
        }
    }

    /// Moves a region into the function that is handed out, values numbered in the order of their definition.
    fn finish(&mut self, block: Block, out: &mut Func, number: &mut [Value]) -> Region {
        self.number(&block.args, out, number);
        let mut ops = Vec::with_capacity(block.ops.len());
        for id in block.ops {
            let node = &mut self.nodes[id];
            let prim = std::mem::replace(&mut node.prim, Prim::StopGradient {});
            let (operands, results) = (std::mem::take(&mut node.operands), std::mem::take(&mut node.results));
            let (inner, loc) = (std::mem::take(&mut node.regions), node.loc);
            let operands = operands.iter().map(|v| number[v.index()]).collect();
            let regions = inner.into_iter().map(|b| self.finish(b, out, number)).collect();
            self.number(&results, out, number);
            let results = results.iter().map(|v| number[v.index()]).collect();
            ops.push(Op { prim, operands, results, regions, loc });
        }
        let list = |l: &[Value]| l.iter().map(|v| number[v.index()]).collect();
        Region { args: list(&block.args), ops, results: list(&block.results) }
    }
    fn number(&self, list: &[Value], out: &mut Func, number: &mut [Value]) {
        for &v in list {
            let info = &self.values[v.index()];
            number[v.index()] = out.value(info.ty.clone(), info.name.clone());
        }
    }
}
