//! Reductions down the columns of wide arrays: rows are read one after the other, as they lie, and their elements are
//! combined with a row of partial results in the nearest cache. The order of combination is that of accumulators in
//! registers, which would read a narrow strip of every row.

use super::affine::Step;
use super::emit::{Axes, Emit};
use super::nest::{BlockId, Item};
use super::reduce::{Acc, RUN, sensitive};
use crate::lir::{Memory, Reg, Size, Stride};
use crate::uop::{Alu, Op, Ty, UOp};
use evoxc_core::OpError;

/// Partial results of one row.
const ROW: i64 = 1024;
/// Elements that rows are apart, and elements that there are in all, for it to be worth while.
const FAR: i64 = 512;
const MANY: i64 = 1 << 17;

impl Emit<'_> {
    /// The loop of the reductions of a block, if they are better done row by row.
    pub fn rows(&self, block: BlockId) -> Option<BlockId> {
        let nest = self.nest;
        let arena = &self.kernel.uops;
        let b = &nest.blocks[block];
        let Some(&Item::Loop(leaf)) = b.items.first() else { return None };
        let single = b.items[1..].iter().all(|i| matches!(i, Item::Node(_)));
        let l = &nest.blocks[leaf];
        let plain = l.inner.is_none() && l.items.iter().all(|i| matches!(i, Item::Node(_)));
        let sums = l.closers.iter().all(|&c| matches!(arena.op(c), Op::Reduce(_)));
        if !single || !plain || !sums || self.tile.is_some() {
            return None;
        }
        let count = arena.as_index(arena.src(l.range?)[0])?;
        let far = l.items.iter().any(|i| match *i {
            Item::Node(u) if arena.op(u) == Op::Load => match self.step(arena.src(u)[1], l.range.unwrap_or(u)) {
                Step::Const(n) => n.abs() >= FAR && n.abs().saturating_mul(count) >= MANY,
                Step::None | Step::Invariant | Step::Jumps => false,
            },
            Item::Node(_) | Item::Loop(_) => false,
        });
        far.then_some(leaf)
    }
    /// Vectors along a range, and scalars for what is left.
    fn each(
        &mut self,
        range: UOp,
        (from, to): (Reg, Reg),
        (lanes, unroll): (u8, usize),
        f: &mut dyn FnMut(&mut Self, Reg) -> Result<(), OpError>,
    ) -> Result<(), OpError> {
        let outer = self.axes;
        let shadowed = self.vars[range.index()];
        let mut at = from;
        for (lanes, unroll) in [(lanes, unroll), (lanes.min(8), 1), (1, 1)] {
            let step = i64::from(lanes) * unroll as i64;
            let end = self.whole(from, to, step);
            if !self.nothing(at, end) {
                let var = self.b.open_for(at, end, step);
                self.vars[range.index()] = Some(var);
                let vector = (lanes > 1).then_some(range);
                self.axes = Axes { vector, lanes, unroll, ..outer };
                let mark = self.mark();
                f(self, var)?;
                self.forget(mark);
                self.axes = outer;
                self.b.close();
            }
            at = end;
        }
        self.vars[range.index()] = shadowed;
        Ok(())
    }
    /// All of a block whose reductions are done row by row.
    pub fn by_rows(
        &mut self,
        block: BlockId,
        leaf: BlockId,
        range: UOp,
        (from, to): (Reg, Reg),
        lanes: u8,
    ) -> Result<(), OpError> {
        let nest = self.nest;
        let arena = &self.kernel.uops;
        let Some(down) = nest.blocks[leaf].range else { return Ok(()) };
        let mut accs: Vec<(Acc, Memory, Memory)> = Vec::new();
        let mut ordered = false;
        for &c in &nest.blocks[leaf].closers {
            let a = self.acc(c)?;
            ordered |= sensitive(&a);
            let mut memory = || {
                self.scratch.push((a.dtype, Size::Const(ROW)));
                Memory::Scratch(self.scratch.len() as u32 - 1)
            };
            let (part, total) = (memory(), memory());
            accs.push((a, part, total));
        }
        let (fixed, moving): (Vec<Item>, Vec<Item>) = nest.blocks[leaf].items.iter().partition(|i| match i {
            Item::Node(u) => !arena.depends_on(*u, range),
            Item::Loop(_) => false,
        });
        let size = self.b.index(ROW);
        let start = self.b.open_for(from, to, ROW);
        let end = self.b.alu(Alu::Add, &[start, size]);
        let end = self.b.alu(Alu::Min, &[end, to]);
        let strip = (start, end);
        let form = (lanes, if lanes == 16 { 2 } else { 4 });
        let blocks = ordered && arena.as_index(arena.src(down)[0]).is_none_or(|n| n > RUN);
        // Partial results, and totals, at their start.
        self.each(range, strip, form, &mut |e, var| {
            let at = e.b.alu(Alu::Sub, &[var, start]);
            for (a, part, total) in &accs {
                let identity = e.b.constant(Ty { lanes: e.axes.lanes, ..Ty::scalar(a.dtype) }, a.identity);
                for k in 0..e.axes.unroll {
                    let place = k as i64 * i64::from(e.axes.lanes);
                    e.b.store(*part, at, place, Stride::One, identity);
                    if blocks {
                        e.b.store(*total, at, place, Stride::One, identity);
                    }
                }
            }
            Ok(())
        })?;
        let zero = self.b.index(0);
        let count = self.get(arena.src(down)[0], 0, 0, 1)?;
        let (first, last) = if blocks {
            let run = self.b.index(RUN);
            let first = self.b.open_for(zero, count, RUN);
            let last = self.b.alu(Alu::Add, &[first, run]);
            (first, self.b.alu(Alu::Min, &[last, count]))
        } else {
            (zero, count)
        };
        let mark = self.mark();
        let row = self.b.open_for(first, last, 1);
        self.vars[down.index()] = Some(row);
        self.items(&fixed)?;
        self.each(range, strip, form, &mut |e, var| {
            e.items(&moving)?;
            e.loaded = None;
            let at = e.b.alu(Alu::Sub, &[var, start]);
            let lanes = e.axes.lanes;
            for (a, part, _) in &accs {
                for k in 0..e.axes.unroll {
                    let place = k as i64 * i64::from(lanes);
                    let ty = Ty { lanes, ..Ty::scalar(a.dtype) };
                    let before = e.b.load(ty, *part, at, place, Stride::One);
                    let next = e.next(a, before, 0, k, lanes)?;
                    e.b.store(*part, at, place, Stride::One, next);
                }
            }
            Ok(())
        })?;
        self.b.close();
        self.vars[down.index()] = None;
        self.forget(mark);
        if blocks {
            self.each(range, strip, form, &mut |e, var| {
                let at = e.b.alu(Alu::Sub, &[var, start]);
                for (a, part, total) in &accs {
                    let ty = Ty { lanes: e.axes.lanes, ..Ty::scalar(a.dtype) };
                    let identity = e.b.constant(ty, a.identity);
                    for k in 0..e.axes.unroll {
                        let place = k as i64 * i64::from(e.axes.lanes);
                        let all = e.b.load(ty, *total, at, place, Stride::One);
                        let some = e.b.load(ty, *part, at, place, Stride::One);
                        let sum = e.combine(a.how, all, some);
                        e.b.store(*total, at, place, Stride::One, sum);
                        e.b.store(*part, at, place, Stride::One, identity);
                    }
                }
                Ok(())
            })?;
            self.b.close();
        }
        // What follows the reductions.
        self.each(range, strip, (lanes, 1), &mut |e, var| {
            let at = e.b.alu(Alu::Sub, &[var, start]);
            for (a, part, total) in &accs {
                let ty = Ty { lanes: e.axes.lanes, ..Ty::scalar(a.dtype) };
                let result = e.b.load(ty, if blocks { *total } else { *part }, at, 0, Stride::One);
                let result = e.finished(a, result);
                e.set(a.closer, &[result], 1);
            }
            e.items(&nest.blocks[block].items[1..])?;
            for &s in &nest.blocks[block].stores {
                e.store(s)?;
            }
            if nest.blocks[block].parent == Some(0) {
                e.once(var)?;
            }
            Ok(())
        })?;
        self.b.close();
        Ok(())
    }
}
