//! Vectorisation: walks a region and writes, for every op that depends on a mapped input, one that works on all rows.
//!
//! A batched value carries the rows on axis 0, always; what does not depend on a mapped input stays as it is.

mod collective;
mod contraction;
mod control;
mod elementwise;
mod indexing;
mod linalg;
mod ordering;
pub(crate) mod parts;
mod reduction;
pub(crate) mod rules;
mod shape;
mod windows;

use crate::jvp::describe;
use evoxc_core::{Dim, OpError, Shape};
use evoxc_ir::{Op, Prim, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The batched results of an op.
pub(crate) type Rows = SmallVec<[Sym; 1]>;

/// An operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped {
    pub sym: Sym,
    /// Does axis 0 hold the rows?
    pub batched: bool,
}

/// An op to be written for all rows: at least one operand is batched.
pub(crate) struct Site<'a> {
    pub prim: &'a Prim,
    pub x: &'a [Mapped],
    /// The types of the results for one row.
    pub y: &'a [TensorType],
    /// The number of rows.
    pub size: Dim,
}

impl Site<'_> {
    /// The results of an op on these operands, which have the rows where it needs them.
    #[track_caller]
    pub fn write(&self, prim: Prim, operands: &[Sym]) -> Result<Rows, OpError> {
        let rows = emitter::emit_regions(prim, operands, vec![]);
        Ok(rows.unwrap_or_else(|| self.y.iter().map(|_| emitter::poison()).collect()))
    }
    /// The operand for all rows: repeated, if it is not batched.
    #[track_caller]
    pub fn rows(&self, i: usize) -> Sym {
        batched(self.x[i], self.size)
    }
    /// The rank of the operand for one row.
    pub fn rank(&self, i: usize) -> usize {
        let m = self.x[i];
        emitter::type_of(m.sym).map_or(0, |t| t.rank().saturating_sub(usize::from(m.batched)))
    }
    /// The extents of the operand for one row.
    pub fn row_shape(&self, i: usize) -> Shape {
        let m = self.x[i];
        parts::shape(m.sym).iter().skip(usize::from(m.batched)).copied().collect()
    }
    /// This shape for all rows.
    pub fn with_rows(&self, shape: &[Dim]) -> Shape {
        std::iter::once(self.size).chain(shape.iter().copied()).collect()
    }
}

/// A value for all rows: repeated along a new axis 0, if it is not batched.
#[track_caller]
pub(crate) fn batched(m: Mapped, size: Dim) -> Sym {
    if m.batched {
        return m.sym;
    }
    let Some(ty) = emitter::type_of(m.sym) else { return m.sym };
    let shape: Shape = std::iter::once(size).chain(ty.shape.iter().copied()).collect();
    let dims = (1..shape.rank()).collect();
    parts::spread(m.sym, shape, dims)
}

/// A walk.
pub(crate) struct Vmap {
    pub size: Dim,
    /// What was written in the place of each value.
    pub written: FxHashMap<Value, Value>,
    /// The values that are batched, under the numbers of the region that is walked.
    pub batched: FxHashSet<Value>,
}

impl Vmap {
    pub fn new(size: Dim) -> Vmap {
        Vmap { size, written: FxHashMap::default(), batched: FxHashSet::default() }
    }
    /// What stands for a value; a value from outside of the walk stands for itself, unbatched.
    pub fn get(&self, v: Value) -> Mapped {
        let sym = emitter::sym(self.written.get(&v).copied().unwrap_or(v));
        Mapped { sym, batched: self.batched.contains(&v) }
    }
    /// Says what stands for a value.
    pub fn define(&mut self, v: Value, m: Mapped) {
        if let Some(w) = emitter::value(m.sym) {
            self.written.insert(v, w);
        }
        if m.batched {
            self.batched.insert(v);
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
        if matches!(op.prim, Prim::Call { .. }) || !op.regions.is_empty() {
            return control::op(self, op);
        }
        if !op.operands.iter().any(|v| self.batched.contains(v)) {
            return emitter::replay(op, &mut self.written);
        }
        let x: SmallVec<[Mapped; 3]> = op.operands.iter().map(|&v| self.get(v)).collect();
        let y = emitter::types(&op.results);
        let rows = rules::rule(&Site { prim: &op.prim, x: &x, y: &y, size: self.size })?;
        for (&v, sym) in op.results.iter().zip(rows) {
            emitter::name(sym, v);
            self.define(v, Mapped { sym, batched: true });
        }
        Ok(())
    }
}
