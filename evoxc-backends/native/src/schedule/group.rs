//! A kernel in the making: its iteration space, and which elements of which values it computes.

use super::guards::is_plain;
use super::index::range;
use crate::uop::{Alu, Arena, AxisKind, Op as UOpKind, Ty, UOp};
use evoxc_core::{Dim, DimStep, OpError, Shape};
use evoxc_ir::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Numbers of elements that depend on symbols are taken for as if every symbol were this much.
pub(super) const TYPICAL: i64 = 256;

/// Indices of one element.
pub(super) type Indices = SmallVec<[UOp; 4]>;

/// Which element of a value is used: an index for each axis, and the gate under which it is read at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Context {
    pub(super) index: Indices,
    pub(super) gate: Option<UOp>,
}

/// A context of a group, each held once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct At(pub(super) u32);

/// An op computed for one element.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The op's place in its region.
    pub(super) op: usize,
    /// The element of its result.
    pub(super) at: At,
    /// The elements of its operands, in their order; fewer where an operand is read by its value.
    pub(super) from: SmallVec<[At; 3]>,
    /// What else the op needs: ranges of a reduction, conditions of a pad or a concatenation.
    pub(super) extra: SmallVec<[UOp; 2]>,
    /// Where a tap of a window is no padding; everywhere if there is nothing.
    pub(super) inside: Option<UOp>,
}

/// An output.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// What is written.
    pub(super) value: Value,
    /// What of: itself, or a part that is put at an offset along an axis.
    pub(super) from: Value,
    pub(super) offset: Option<(usize, Dim)>,
    pub(super) at: At,
    pub(super) reason: String,
}

/// Elements of a value that are kept for one iteration of the loops that its other axes depend on.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) value: Value,
    /// The element that is computed, in a loop over all of its ranges.
    pub(super) fill: At,
    /// The axes of the row.
    pub(super) axes: SmallVec<[usize; 4]>,
}

/// A kernel in the making.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) arena: Arena,
    /// The extents of the iteration space.
    pub(super) shape: Shape,
    /// Its indices: a range each, or 0 where the extent is 1.
    pub(super) index: Indices,
    pub(super) contexts: Vec<Context>,
    known: FxHashMap<Context, At>,
    pub(super) outputs: Vec<Output>,
    /// What is computed, users before what they use.
    pub(super) steps: Vec<Step>,
    /// Which pairs of op and element are among the steps.
    pub(super) stepped: FxHashSet<(usize, At)>,
    /// Which elements of which values are used, and not read from memory for certain.
    pub(super) used: FxHashSet<(Value, At)>,
    /// The extent behind each parameter.
    pub(super) params: Vec<Dim>,
    extents: FxHashMap<Dim, UOp>,
    ranges: u32,
    /// Ranges of reductions, by depth, place and extent.
    reduces: FxHashMap<(u32, u32, UOp), UOp>,
    pub(super) rows: Vec<Row>,
    /// Ranges that an element is computed within although it does not depend on them: it is inside of a reduction that does.
    pub(super) inside: FxHashMap<At, SmallVec<[UOp; 4]>>,
    /// Elements that are indices, and what stands for each until it is known.
    pub(super) pending: Vec<(Value, At, UOp)>,
    /// Sets of loop ranges that reductions depend on: each is part of the next.
    pub(super) nest: Vec<SmallVec<[UOp; 4]>>,
}

impl Group {
    /// A group over the elements of a shape.
    pub(super) fn over(shape: &Shape) -> Result<Group, OpError> {
        let mut g = Group { shape: shape.clone(), ..Group::default() };
        for &d in shape.iter() {
            let extent = g.extent(d)?;
            let r = range(&mut g.arena, g.ranges, AxisKind::Loop, extent);
            g.ranges += 1;
            g.index.push(r);
        }
        Ok(g)
    }
    /// An extent as a node; its symbols are parameters, or its value is.
    pub(super) fn extent(&mut self, d: Dim) -> Result<UOp, OpError> {
        if let Some(&u) = self.extents.get(&d) {
            return Ok(u);
        }
        if let Some(v) = d.as_i64() {
            let u = self.arena.index(v);
            self.extents.insert(d, u);
            return Ok(u);
        }
        if !is_plain(d) {
            // Bounds of quotients and remainders hold for divisors above zero alone; one of two parameters is 0.
            let (above, below) = (self.param(d.max(0)), self.param((-d).max(0)));
            let u = super::index::sub(&mut self.arena, above, below);
            self.extents.insert(d, u);
            return Ok(u);
        }
        let (arena, params) = (&mut self.arena, &mut self.params);
        let u = d.fold(&mut |step| match step {
            DimStep::Constant(v) => arena.index(v),
            DimStep::Symbol(s) => param(arena, params, s),
            DimStep::Add(x, y) => super::index::add(arena, x, y),
            DimStep::Mul(x, y) => super::index::mul(arena, x, y),
            DimStep::Div(x, y) => arena.node(UOpKind::IndexDiv, Ty::INDEX, &[x, y]),
            DimStep::Min(x, y) => arena.alu(Alu::Min, &[x, y]),
            DimStep::Max(x, y) => arena.alu(Alu::Max, &[x, y]),
        });
        let u = u.map_err(|e| OpError::new("schedule", format!("an extent is no number: {e}")))?;
        self.extents.insert(d, u);
        Ok(u)
    }
    fn param(&mut self, d: Dim) -> UOp {
        param(&mut self.arena, &mut self.params, d)
    }
    /// Extents as nodes.
    pub(super) fn extents(&mut self, shape: &[Dim]) -> Result<Indices, OpError> {
        shape.iter().map(|&d| self.extent(d)).collect()
    }
    /// The context of that element.
    pub(super) fn at(&mut self, index: Indices, gate: Option<UOp>) -> At {
        let context = Context { index, gate };
        if let Some(&at) = self.known.get(&context) {
            return at;
        }
        let at = At(self.contexts.len() as u32);
        self.contexts.push(context.clone());
        self.known.insert(context, at);
        at
    }
    /// What a context is.
    pub(super) fn context(&self, at: At) -> Context {
        self.contexts[at.0 as usize].clone()
    }
    /// A range that a reduction of that depth closes. Reductions of one depth cannot be inside of each other, so they
    /// have the same ranges, and may become one loop.
    pub(super) fn reduce_range(&mut self, depth: u32, place: u32, extent: UOp) -> UOp {
        if let Some(&r) = self.reduces.get(&(depth, place, extent)) {
            return r;
        }
        let r = range(&mut self.arena, self.ranges, AxisKind::Reduce, extent);
        self.ranges += 1;
        self.reduces.insert((depth, place, extent), r);
        r
    }
    /// What stands for an element that is used as an index, until the kernel is built.
    pub(super) fn pending(&mut self, v: Value, at: At) -> UOp {
        if let Some((.., u)) = self.pending.iter().find(|(w, a, _)| (*w, *a) == (v, at)) {
            return *u;
        }
        let mut sum = self.arena.index(0);
        for r in self.ranges_of(at) {
            sum = super::index::add(&mut self.arena, sum, r);
        }
        // A load of memory that there is not, so that it depends on the same ranges.
        let memory = UOpKind::Buffer(u32::MAX - self.pending.len() as u32);
        let memory = self.arena.node(memory, Ty::memory(evoxc_core::DType::I64), &[]);
        let u = self.arena.node(UOpKind::Load, Ty::INDEX, &[memory, sum]);
        self.pending.push((v, at, u));
        u
    }
    /// The node of an extent, if there is one.
    pub(super) fn known_extent(&self, d: Dim) -> Option<UOp> {
        self.extents.get(&d).copied()
    }
    /// The depth of the reductions over a range.
    pub(super) fn depth_of(&self, range: UOp) -> Option<u32> {
        self.reduces.iter().find(|(_, r)| **r == range).map(|((depth, ..), _)| *depth)
    }
    /// Roughly how many values ranges take together.
    pub(super) fn iterations(&self, ranges: &[UOp]) -> f64 {
        ranges.iter().map(|&r| self.arena.src(r).first().map_or(1.0, |&n| self.roughly(n))).product()
    }
    /// Roughly the value of an extent.
    fn roughly(&self, n: UOp) -> f64 {
        match (self.arena.as_index(n), self.extents.iter().find(|(_, u)| **u == n)) {
            (Some(v), _) => v as f64,
            (None, Some((d, _))) => rough(*d),
            (None, None) => TYPICAL as f64,
        }
    }
    /// The ranges that an element depends on, each once.
    pub(super) fn ranges_of(&self, at: At) -> SmallVec<[UOp; 4]> {
        let c = &self.contexts[at.0 as usize];
        let mut all: SmallVec<[UOp; 4]> = SmallVec::new();
        for &u in c.index.iter().chain(&c.gate) {
            for &r in self.arena.ranges(u) {
                if !all.contains(&r) {
                    all.push(r);
                }
            }
        }
        all
    }
    /// Adds a step, and what it says of the loops around the elements that it takes.
    pub(super) fn step(&mut self, step: Step) {
        let reduces = |g: &Group, at: At| -> SmallVec<[UOp; 4]> {
            g.ranges_of(at).into_iter().filter(|&r| !g.is_loop(r)).collect()
        };
        let here = reduces(self, step.at);
        for &from in &step.from {
            let below = reduces(self, from);
            if from == step.at || below.is_empty() {
                continue;
            }
            let mut around = self.inside.get(&step.at).cloned().unwrap_or_default();
            // It closes a range: the loop over that is within the loops over all that its own element depends on.
            if below.iter().any(|r| !here.contains(r)) {
                around.extend(self.ranges_of(step.at));
            }
            let all = self.inside.entry(from).or_default();
            for r in around {
                if !all.contains(&r) {
                    all.push(r);
                }
            }
        }
        self.steps.push(step);
    }
    /// The ranges that an element depends on, and those that it is computed within anyway.
    pub(super) fn surroundings(&self, at: At) -> SmallVec<[UOp; 4]> {
        let mut all = self.ranges_of(at);
        for &r in self.inside.get(&at).into_iter().flatten() {
            if !all.contains(&r) {
                all.push(r);
            }
        }
        all
    }
    /// Is the range over elements of the outputs?
    pub(super) fn is_loop(&self, r: UOp) -> bool {
        matches!(self.arena.op(r), UOpKind::Range(_, AxisKind::Loop))
    }
}

fn param(arena: &mut Arena, params: &mut Vec<Dim>, d: Dim) -> UOp {
    let n = params.iter().position(|&p| p == d).unwrap_or_else(|| {
        params.push(d);
        params.len() - 1
    });
    arena.node(UOpKind::Param(n as u32), Ty::INDEX, &[])
}

/// Roughly the value of an extent.
pub(super) fn rough(d: Dim) -> f64 {
    d.as_i64().or_else(|| d.evaluate(&mut |_| Some(TYPICAL)).ok()).unwrap_or(TYPICAL) as f64
}
/// Roughly the number of elements.
pub(super) fn elements(shape: &Shape) -> f64 {
    shape.iter().map(|&d| rough(d)).product()
}
