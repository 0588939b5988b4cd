//! What one call runs: the outermost loop, or the outermost and parts of the next where it has few iterations; how many
//! iterations there are, and how many are worth a thread.

use super::analysis::broken;
use super::emit::Emit;
use super::nest::{BlockId, Item};
use super::size;
use crate::lir::{Reg, Size};
use crate::uop::{Alu, Op, UOp};
use evoxc_core::OpError;

/// Outer loops of fewer iterations are not enough for threads.
const FEW: i64 = 16;
/// Elements of the innermost loop that are done together, where they are not all.
const PART: i64 = 4096;
/// Elements of the outermost loop that are one iteration where vectors are along it: more than any vectors side by side.
const TOGETHER: i64 = 64;
/// Units of work worth a thread: about 50 µs.
const WORTH: i64 = 120_000;

impl Emit<'_> {
    fn extent_of(&self, block: BlockId) -> Result<UOp, OpError> {
        let range = self.nest.blocks[block].range.ok_or_else(|| broken("a loop counts a range"))?;
        Ok(self.kernel.uops.src(range)[0])
    }
    fn size_of(&self, block: BlockId) -> Result<Size, OpError> {
        let extent = self.extent_of(block)?;
        size::size(self.kernel, extent).ok_or_else(|| broken("an extent of an output is no number"))
    }
    /// How many iterations of the second loop go with one of the first, if not all of them.
    pub fn part(&self) -> Option<i64> {
        let nest = self.nest;
        let outer = nest.blocks[0].inner?;
        let inner = nest.blocks[outer].inner?;
        let arena = &self.kernel.uops;
        let known = |b: BlockId| arena.as_index(arena.src(nest.blocks[b].range?)[0]);
        let few = known(outer).is_some_and(|n| n < FEW);
        let light = nest.blocks[outer].items.iter().all(|i| matches!(i, Item::Node(_)));
        if !few || !light || self.tile.is_some_and(|r| nest.blocks[outer].range == Some(r)) {
            return None;
        }
        let part = match nest.blocks[inner].range {
            _ if inner == nest.innermost && self.along.is_some() => PART,
            r if r.is_some() && r == self.tile => 16,
            _ => 1,
        };
        // Where all is known, and little, one loop is simpler.
        let mut all = 1i64;
        let mut at = Some(outer);
        while let Some(b) = at {
            all = all.saturating_mul(known(b).unwrap_or(i64::MAX));
            at = nest.blocks[b].inner;
        }
        let groups = nest.blocks.iter().any(|b| !b.closers.is_empty());
        (groups || all > PART).then_some(part)
    }
    /// How many elements of the outermost loop are one iteration, where vectors are along it: parts of it then start where
    /// vectors do, and if this divides the extent there is nothing left for scalars.
    pub fn together(&self) -> Option<i64> {
        let outer = self.nest.blocks[0].inner?;
        if outer != self.nest.innermost || self.along.is_none() {
            return None;
        }
        let arena = &self.kernel.uops;
        let extent = arena.as_index(arena.src(self.nest.blocks[outer].range?)[0]);
        Some(extent.filter(|n| n % 8 == 0).map_or(TOGETHER, |n| TOGETHER.min(1 << n.trailing_zeros().min(62))))
    }
    /// The outermost loop, several elements an iteration.
    pub fn in_groups(&mut self, outer: BlockId, group: i64, from: Reg, to: Reg) -> Result<(), OpError> {
        let extent = self.extent_of(outer)?;
        let size = self.b.index(group);
        let from = self.b.alu(Alu::Mul, &[from, size]);
        let mut to = self.b.alu(Alu::Mul, &[to, size]);
        if self.kernel.uops.as_index(extent).is_some_and(|n| n % group == 0) {
            self.exact = Some((from, to, group));
        } else {
            let n = self.get(extent, 0, 0, 1)?;
            to = self.b.alu(Alu::Min, &[to, n]);
        }
        self.over(outer, from, to)
    }
    /// Is there so little to do that it is one iteration? Loops then run from and to numbers, and need no scalars where
    /// these are multiples of lanes.
    pub fn little(&self) -> bool {
        let Some(outer) = self.nest.blocks[0].inner else { return false };
        let known = |s: Result<Size, OpError>| match s {
            Ok(Size::Const(n)) => Some(n),
            _ => None,
        };
        match (known(self.size_of(outer)), known(self.work(outer))) {
            (Some(n), Some(work)) => n.saturating_mul(work) < 2 * WORTH,
            _ => false,
        }
    }
    /// How many iterations there are, and how many are worth a thread.
    pub fn grid(&self, part: Option<i64>) -> Result<(Size, Size), OpError> {
        let nest = self.nest;
        let Some(outer) = nest.blocks[0].inner else { return Ok((Size::Const(1), Size::Const(1))) };
        let mut count = self.size_of(outer)?;
        let mut at = nest.blocks[outer].inner;
        let mut work = self.work(outer)?;
        if let (Some(part), Some(inner)) = (part, at) {
            let n = self.size_of(inner)?;
            let parts = size::div(size::add(n, size::constant(part - 1)), size::constant(part));
            work = size::div(work, size::max(size::constant(1), parts.clone()));
            count = size::mul(count, parts);
            at = nest.blocks[inner].inner;
        }
        while let Some(b) = at {
            count = size::mul(count, size::min(size::constant(1), self.size_of(b)?));
            at = nest.blocks[b].inner;
        }
        let grain = size::div(size::constant(WORTH), size::max(size::constant(1), work));
        let grain = size::max(size::constant(1), grain);
        let groups = |n: Size, of: i64| size::div(size::add(n, size::constant(of - 1)), size::constant(of));
        Ok(match self.together() {
            Some(of) => (groups(count, of), groups(grain, of)),
            None => (count, grain),
        })
    }
    /// Units of work of one iteration of a block: 0.4 ns, roughly.
    fn work(&self, block: BlockId) -> Result<Size, OpError> {
        let arena = &self.kernel.uops;
        let b = &self.nest.blocks[block];
        let mut nodes = 4 * b.stores.len() as i64 + 2 * b.closers.len() as i64 + 1;
        let mut children = Vec::new();
        for &i in &b.items {
            match i {
                Item::Node(u) if arena.op(u) == Op::Load => nodes += 4,
                Item::Node(_) => nodes += 1,
                Item::Loop(c) => children.push(c),
            }
        }
        children.extend(b.inner);
        let lanes = i64::from(self.speed.get(&block).copied().unwrap_or(1));
        let mut all = size::constant(nodes);
        for c in children {
            // An extent that ranges decide is taken for something.
            let times = self.size_of(c).unwrap_or(Size::Const(64));
            all = size::add(all, size::mul(times, self.work(c)?));
        }
        Ok(if lanes > 1 { size::max(size::constant(1), size::div(all, size::constant(lanes))) } else { all })
    }
    /// The outermost loop in parts of the next.
    pub fn in_parts(&mut self, outer: BlockId, part: i64, from: Reg, to: Reg) -> Result<(), OpError> {
        let nest = self.nest;
        let (Some(range), Some(inner)) = (nest.blocks[outer].range, nest.blocks[outer].inner) else {
            return Err(broken("a loop counts a range"));
        };
        let extent = self.extent_of(inner)?;
        let mark = self.mark();
        let at = self.b.open_for(from, to, 1);
        let n = self.get(extent, 0, 0, 1)?;
        let size = self.b.index(part);
        let parts = if part == 1 {
            n
        } else {
            let more = self.b.index(part - 1);
            let up = self.b.alu(Alu::Add, &[n, more]);
            match self.b.number(up) {
                Some(up) => self.b.index(up / part),
                None => self.b.alu(Alu::IntDiv, &[up, size]),
            }
        };
        let one = self.b.index(1);
        let some = self.b.alu(Alu::Max, &[parts, one]);
        let i = self.b.alu(Alu::IntDiv, &[at, some]);
        let back = self.b.alu(Alu::Mul, &[i, some]);
        let k = self.b.alu(Alu::Sub, &[at, back]);
        self.vars[range.index()] = Some(i);
        self.items(&nest.blocks[outer].items)?;
        let start = self.b.alu(Alu::Mul, &[k, size]);
        let end = self.b.alu(Alu::Add, &[start, size]);
        let end = self.b.alu(Alu::Min, &[end, n]);
        self.over(inner, start, end)?;
        for (block, which) in [(outer, k), (0, at)] {
            if nest.blocks[block].stores.is_empty() {
                continue;
            }
            let zero = self.b.index(0);
            let first = self.b.alu(Alu::Eq, &[which, zero]);
            self.b.open_if(first);
            for &s in &nest.blocks[block].stores {
                self.store(s)?;
            }
            self.b.close();
        }
        self.b.close();
        self.vars[range.index()] = None;
        self.forget(mark);
        Ok(())
    }
}
