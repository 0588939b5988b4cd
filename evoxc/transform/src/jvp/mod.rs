//! Forward mode: walks a region and writes, beside every op, the op of its tangent.
//!
//! In [`Mode::Split`] an op with regions is written as two, one of the primal values (which also gives what the other
//! needs) and one that is linear in the tangents: so the ops that depend on tangents can be taken apart from the others
//! and transposed.

mod collective;
mod contraction;
mod control;
mod cumulative;
mod elementwise;
mod indexing;
mod linalg;
mod ordering;
mod reduction;
pub(crate) mod rules;
mod shape;
mod special;
mod windows;

use crate::differentiable;
use evoxc_core::OpError;
use evoxc_ir::{FuncRef, Op, Prim, Region, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(crate) use elementwise::sum;
pub(crate) use rules::ends_tangents;

/// The tangents of values; absent ones are zero.
pub(crate) type Tangents = SmallVec<[Option<Sym>; 3]>;

/// How ops with regions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Values and tangents in one op: forward mode, which stores nothing.
    Fused,
    /// Values in one op, tangents in another: what reverse mode transposes.
    Split,
}

/// An op whose derivative is asked for: at least one operand has a tangent.
pub(crate) struct Site<'a> {
    pub op: &'a Op,
    /// The operands, as written.
    pub x: &'a [Sym],
    /// The results, as written.
    pub y: &'a [Sym],
    /// The tangents of the operands.
    pub t: &'a [Option<Sym>],
    /// Is the tangent to be transposed?
    pub mode: Mode,
}

impl Site<'_> {
    /// The op itself, applied to tangents: for ops that are linear.
    #[track_caller]
    pub fn same(&self, operands: &[Sym]) -> Sym {
        emitter::emit(self.op.prim.clone(), operands)
    }
}

/// A walk in forward mode.
pub(crate) struct Jvp {
    pub mode: Mode,
    /// What was written in the place of each value.
    pub primal: FxHashMap<Value, Value>,
    /// The tangents that are not zero.
    pub tangent: FxHashMap<Value, Sym>,
    /// The custom rules that are being written, each within another.
    rules: Vec<FuncRef>,
}

impl Jvp {
    pub fn new(mode: Mode) -> Jvp {
        Jvp { mode, primal: FxHashMap::default(), tangent: FxHashMap::default(), rules: vec![] }
    }
    /// A walk of a function that is called here.
    fn within(&self) -> Jvp {
        Jvp { rules: self.rules.clone(), ..Jvp::new(self.mode) }
    }
    /// What was written for a value; a value from outside of the walk stands for itself.
    pub fn primal(&self, v: Value) -> Sym {
        emitter::sym(self.primal.get(&v).copied().unwrap_or(v))
    }
    pub fn primals(&self, vs: &[Value]) -> SmallVec<[Sym; 3]> {
        vs.iter().map(|&v| self.primal(v)).collect()
    }
    pub fn tangents(&self, vs: &[Value]) -> Tangents {
        vs.iter().map(|v| self.tangent.get(v).copied()).collect()
    }
    /// Says what stands for a value, and its tangent.
    pub fn define(&mut self, v: Value, primal: Sym, tangent: Option<Sym>) {
        if let Some(p) = emitter::value(primal) {
            self.primal.insert(v, p);
        }
        if let Some(t) = tangent {
            self.tangent.insert(v, t);
        }
    }
    /// Writes the ops of a region.
    pub fn region(&mut self, r: &Region) -> Result<(), OpError> {
        r.ops.iter().try_for_each(|op| {
            let _at = emitter::at(op.loc);
            self.op(op).map_err(|e| describe(e, op))
        })
    }
    fn op(&mut self, op: &Op) -> Result<(), OpError> {
        if let Prim::Sort { axis, .. } | Prim::SortBody { axis, .. } = op.prim {
            // What only the order depends on, such as a value that a comparator captures, has no part in the derivative.
            return match op.operands.iter().any(|v| self.tangent.contains_key(v)) {
                true => ordering::sort(self, op, axis),
                false => emitter::replay(op, &mut self.primal),
            };
        }
        if matches!(op.prim, Prim::Call { .. }) || !op.regions.is_empty() {
            return control::op(self, op);
        }
        emitter::replay(op, &mut self.primal)?;
        let t = self.tangents(&op.operands);
        if t.iter().all(Option::is_none) || ends_tangents(&op.prim) {
            return Ok(());
        }
        let (x, y) = (self.primals(&op.operands), self.primals(&op.results));
        let tangents = rules::rule(&Site { op, x: &x, y: &y, t: &t, mode: self.mode })?;
        for ((&v, &y), t) in op.results.iter().zip(&y).zip(tangents) {
            // Integers have none.
            if let (Some(t), Some(ty)) = (t, emitter::type_of(y))
                && differentiable(ty.dtype)
            {
                self.tangent.insert(v, t);
            }
        }
        Ok(())
    }
}

/// An error of a rule with the op, its operands and its place.
pub(crate) fn describe(mut e: OpError, op: &Op) -> OpError {
    if e.op.is_empty() {
        e.op = op.prim.name();
    }
    if e.operands.is_empty() {
        e = e.operands(emitter::types(&op.operands));
    }
    e.at(op.loc)
}
