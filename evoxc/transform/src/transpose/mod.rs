//! Reverse mode: walks a region of linear ops backwards and gives the cotangents of its linear inputs.
//!
//! A linear op is transposed as it stands, without conjugation, as in JAX: complex gradients follow its convention.

mod collective;
mod contraction;
mod control;
mod convolution;
mod elementwise;
mod indexing;
mod linalg;
mod reduction;
mod rules;
mod shape;
mod windows;

use crate::jvp::describe;
use crate::linear;
use evoxc_core::OpError;
use evoxc_ir::{Op, Prim, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The cotangents of an op's operands; absent ones are zero or belong to known operands.
pub(crate) type Cotangents = SmallVec<[Option<Sym>; 3]>;

/// An operand of a linear op.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// The op is linear in it; only its type is known.
    Linear(TensorType),
    /// A value.
    Known(Sym),
}

impl Input {
    pub fn is_linear(&self) -> bool {
        matches!(self, Input::Linear(_))
    }
    pub fn known(&self) -> Option<Sym> {
        if let Input::Known(s) = self { Some(*s) } else { None }
    }
    /// The type of either.
    pub fn ty(&self) -> Option<TensorType> {
        match self {
            Input::Linear(t) => Some(t.clone()),
            Input::Known(s) => emitter::type_of(*s),
        }
    }
}

/// An op to be transposed: at least one operand is linear, at least one result has a cotangent.
pub(crate) struct Site<'a> {
    pub op: &'a Op,
    pub x: &'a [Input],
    /// The cotangents of the results.
    pub ct: &'a [Option<Sym>],
}

/// A walk backwards.
pub(crate) struct Transpose {
    /// The cotangents so far.
    pub cotangent: FxHashMap<Value, Sym>,
    /// What stands in the place of known values of the region.
    pub known: FxHashMap<Value, Value>,
    /// The values that depend on linear inputs.
    pub linear: FxHashSet<Value>,
}

impl Transpose {
    /// A walk whose linear inputs are these values; `known` says what stands for known values that are not visible here.
    pub fn new(inputs: impl IntoIterator<Item = Value>, known: FxHashMap<Value, Value>) -> Transpose {
        Transpose { cotangent: FxHashMap::default(), known, linear: inputs.into_iter().collect() }
    }
    /// Writes the transpose of a region whose results have these cotangents.
    pub fn region(&mut self, r: &Region, results: &[(Value, Sym)]) -> Result<(), OpError> {
        let mut linear_ops = Vec::with_capacity(r.ops.len());
        for op in &r.ops {
            if linear::depends(op, &mut self.linear) {
                linear_ops.push(op);
            } else {
                emitter::replay(op, &mut self.known)?;
            }
        }
        for &(v, ct) in results {
            self.add(v, ct);
        }
        for op in linear_ops.into_iter().rev() {
            let ct: Cotangents = op.results.iter().map(|v| self.cotangent.remove(v)).collect();
            if ct.iter().all(Option::is_none) {
                continue;
            }
            let _at = emitter::at(op.loc);
            self.op(op, &ct).map_err(|e| describe(e, op))?;
        }
        Ok(())
    }
    /// The cotangent of an input.
    pub fn of(&self, v: Value) -> Option<Sym> {
        self.cotangent.get(&v).copied()
    }
    /// Adds to the cotangent of a value, if it is linear.
    pub fn add(&mut self, v: Value, ct: Sym) {
        if !self.linear.contains(&v) {
            return;
        }
        let sum = self.cotangent.get(&v).map_or(ct, |&before| before + ct);
        self.cotangent.insert(v, sum);
    }
    /// How an operand stands.
    pub fn input(&self, v: Value) -> Input {
        if self.linear.contains(&v) {
            Input::Linear(emitter::ty(v))
        } else {
            Input::Known(emitter::sym(self.known.get(&v).copied().unwrap_or(v)))
        }
    }
    fn op(&mut self, op: &Op, ct: &[Option<Sym>]) -> Result<(), OpError> {
        if let Prim::ReduceWindowBody { window } = &op.prim {
            return windows::pairs(self, op, window, ct);
        }
        if matches!(op.prim, Prim::Call { .. }) || !op.regions.is_empty() {
            return control::op(self, op, ct);
        }
        let x: SmallVec<[Input; 3]> = op.operands.iter().map(|&v| self.input(v)).collect();
        let cotangents = rules::rule(&Site { op, x: &x, ct })?;
        for (&v, ct) in op.operands.iter().zip(cotangents) {
            if let Some(ct) = ct {
                self.add(v, ct);
            }
        }
        Ok(())
    }
}
