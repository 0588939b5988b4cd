//! The loops over outputs: which range vectors are along, vector loops and what is left for scalars, and the part of the
//! outermost loop that a call runs.

use super::affine::Step;
use super::analysis::{broken, works_narrow};
use super::emit::{Axes, Emit};
use super::nest::{BlockId, Item};
use super::{Shape, size};
use crate::lir::{Reg, Size};
use crate::uop::{Alu, Op, UOp};
use evoxc_core::{DType, OpError};
use evoxc_ir::Reducer;
use rustc_hash::FxHashMap;

impl Emit<'_> {
    /// Is the block within a loop that vectors may be along?
    pub fn inside(&self, block: BlockId) -> bool {
        self.along.is_some() && self.nest.around(block).any(|b| self.nest.blocks[b].range == self.along)
    }
    /// A block and the loops of reductions in it.
    fn subtree(&self, block: BlockId) -> Vec<BlockId> {
        let mut all = vec![block];
        let mut k = 0;
        while k < all.len() {
            let b = &self.nest.blocks[all[k]];
            all.extend(b.items.iter().filter_map(|i| match i {
                Item::Loop(b) => Some(*b),
                Item::Node(_) => None,
            }));
            all.extend(b.inner);
            k += 1;
        }
        all
    }
    /// Finds the range over outputs that vectors may be along, from the kernel alone.
    pub fn choose(&mut self) {
        let innermost = self.nest.innermost;
        let Some(range) = self.nest.blocks[innermost].range else { return };
        let arena = &self.kernel.uops;
        if arena.as_index(arena.src(range)[0]).is_some_and(|n| n < 4) {
            return;
        }
        let step = |u: UOp| self.step(arena.src(u)[1], range);
        if !self.nest.blocks[innermost].stores.iter().any(|&s| step(s) == Step::Const(1)) {
            return;
        }
        let blocks = self.subtree(innermost);
        if blocks.len() > 1 {
            let mut apart = false;
            for &b in &blocks {
                for &i in &self.nest.blocks[b].items {
                    if let Item::Node(u) = i
                        && arena.op(u) == Op::Load
                        && !matches!(step(u), Step::None | Step::Const(1))
                    {
                        apart = true;
                    }
                }
            }
            let leaves = blocks.iter().filter(|&&b| !self.nest.blocks[b].closers.is_empty());
            let runs = leaves.clone().all(|&b| self.along_memory(b));
            if apart && runs {
                return;
            }
        }
        self.along = Some(range);
    }
    /// How many lanes the target has for what varies with the range in these blocks; 1 where it has not what is needed.
    pub fn lanes(&self, blocks: &[BlockId], range: Option<UOp>) -> u8 {
        let most = self.form.lanes.min(self.target.lanes);
        let Some(range) = range.filter(|_| most >= 4) else { return 1 };
        let arena = &self.kernel.uops;
        let mut wide = false;
        let has = |op: Alu, d: DType| (self.target.alu)(op, d);
        let jumps = |wide: &mut bool, u: UOp| {
            let d = self.index_dtype(u);
            *wide |= d.size() == 8;
            let narrowed = |a: UOp| {
                // What is of 64 bits, and is wanted in 32.
                !arena.depends_on(a, range)
                    || self.an.narrow[a.index()]
                    || d == DType::I64
                    || (self.target.cast)(DType::I64, DType::I32)
            };
            has(Alu::Add, d)
                && has(Alu::Mul, d)
                && self.sums.get(u).terms.iter().flat_map(|t| &t.atoms).all(|&a| narrowed(a))
        };
        let index = |wide: &mut bool, u: UOp| match self.step(u, range) {
            Step::Jumps => jumps(wide, u),
            Step::None | Step::Const(_) | Step::Invariant => true,
        };
        // The dtype that a node is computed in, and whether its operands can be had so.
        let held = |u: UOp| match arena.ty(u).dtype {
            DType::I64 if self.an.narrow[u.index()] => DType::I32,
            d => d,
        };
        for &b in blocks {
            let block = &self.nest.blocks[b];
            for &i in &block.items {
                let Item::Node(u) = i else { continue };
                if !arena.depends_on(u, range) {
                    continue;
                }
                let node = arena.get(u);
                let narrow = works_narrow(arena, self.an, u);
                wide |= held(u).size() == 8;
                let mut operands = true;
                if node.op != Op::Load {
                    for &s in &node.src {
                        let is = arena.ty(s).dtype;
                        let wanted = if narrow && is == DType::I64 { DType::I32 } else { is };
                        wide |= wanted.size() == 8;
                        if arena.depends_on(s, range) && held(s) != wanted {
                            wide |= held(s).size() == 8;
                            operands &= (self.target.cast)(held(s), wanted);
                        }
                    }
                }
                let of =
                    |s: UOp| if narrow && arena.ty(s).dtype == DType::I64 { DType::I32 } else { arena.ty(s).dtype };
                let fits = match node.op {
                    Op::Range(..) => has(Alu::Add, held(u)),
                    Op::Load => {
                        let gated = node.src.len() > 2 && arena.depends_on(node.src[2], range);
                        (!gated || jumps(&mut wide, node.src[1])) && index(&mut wide, node.src[1])
                    }
                    Op::Alu(op) => has(op, node.src.last().map_or(node.ty.dtype, |&s| of(s))),
                    Op::Cast => of(node.src[0]) == held(u) || (self.target.cast)(of(node.src[0]), held(u)),
                    Op::Bitcast => true,
                    Op::IndexDiv | Op::IndexMod => {
                        let n = arena.as_index(node.src[1]).unwrap_or(0);
                        let x = arena.bounds(node.src[0]);
                        let small = n > 0 && n < 1 << 31 && x.min >= 0 && x.max < 1 << 31;
                        let d = held(u);
                        let all = |ops: &[Alu]| ops.iter().all(|&op| has(op, d));
                        if n > 0 && n.count_ones() == 1 {
                            all(&[Alu::Sar, Alu::And])
                        } else if d == DType::I32 {
                            small
                                && has(Alu::MulHigh, DType::U32)
                                && has(Alu::Shr, DType::U32)
                                && all(&[Alu::Mul, Alu::Sub])
                        } else {
                            small && all(&[Alu::Mul, Alu::Shr, Alu::Sub])
                        }
                    }
                    Op::Call(f) => node.src.len() > f.arity() && has(Alu::Select, node.ty.dtype),
                    _ => false,
                };
                if !fits || !operands {
                    return 1;
                }
            }
            for &s in block.stores.iter() {
                let src = arena.src(s);
                let gated = src.len() > 3 && arena.depends_on(src[3], range);
                wide |= arena.ty(src[2]).dtype.size() == 8;
                if arena.depends_on(s, range) && (!index(&mut wide, src[1]) || self.step(src[1], range) == Step::None) {
                    return 1;
                }
                let widened = arena.depends_on(src[2], range) && held(src[2]) != arena.ty(src[2]).dtype;
                if widened && !(self.target.cast)(DType::I32, DType::I64) || gated && !jumps(&mut wide, src[1]) {
                    return 1;
                }
            }
            for &c in &block.closers {
                let Op::Reduce(op) = arena.op(c) else {
                    let store = arena.src(c)[0];
                    let src = arena.src(store);
                    wide |= arena.ty(src[2]).dtype.size() == 8;
                    let steady = matches!(self.step(src[1], range), Step::Const(_) | Step::Invariant);
                    if src.len() > 3 || !steady {
                        return 1;
                    }
                    continue;
                };
                let value = arena.src(c)[0];
                let of = arena.ty(value).dtype;
                if arena.depends_on(value, range) && held(value) != of && !(self.target.cast)(DType::I32, DType::I64) {
                    return 1;
                }
                let d = super::reduce::accumulator(of);
                wide |= d.size() == 8;
                let bits = if d.size() == 8 { DType::I64 } else { DType::I32 };
                let fits = match op {
                    _ if d.is_bool() => has(Alu::Or, d) && has(Alu::And, d),
                    Reducer::Sum => has(Alu::Add, d),
                    Reducer::Prod => has(Alu::Mul, d),
                    Reducer::Max | Reducer::Min if d.is_float() => {
                        has(Alu::Min, d)
                            && has(Alu::Neg, d)
                            && has(Alu::Ne, d)
                            && has(Alu::Select, d)
                            && [Alu::Or, Alu::Min, Alu::Sar, Alu::And, Alu::Xor].iter().all(|&op| has(op, bits))
                    }
                    Reducer::Max => has(Alu::Max, d),
                    Reducer::Min => has(Alu::Min, d),
                    Reducer::And => has(Alu::And, d),
                    Reducer::Or => has(Alu::Or, d),
                };
                if !fits || of != d && !(self.target.cast)(of, d) {
                    return 1;
                }
            }
        }
        let few = arena.as_index(arena.src(range)[0]).is_some_and(|n| n < 16);
        let lanes = match wide {
            true => most.min(self.target.wide),
            false if few || most > 8 && self.form == Shape::default() && self.light(blocks, range) => most.min(8),
            false => most,
        };
        if lanes >= 4 { lanes } else { 1 }
    }

    /// Is there little arithmetic for what comes from memory and goes there? Memory is seldom aligned to vectors of 64 bytes,
    /// each of which then is in two lines of the cache: such loops are no quicker with them. A search may find otherwise.
    fn light(&self, blocks: &[BlockId], range: UOp) -> bool {
        let arena = &self.kernel.uops;
        let (mut work, mut memory) = (0, 0);
        for block in blocks.iter().map(|&b| &self.nest.blocks[b]) {
            for &i in &block.items {
                match i {
                    Item::Node(u) if !arena.depends_on(u, range) => {}
                    Item::Node(u) if arena.op(u) == Op::Load => memory += 1,
                    Item::Node(_) => work += 1,
                    Item::Loop(_) => {}
                }
            }
            memory += block.stores.len();
            for &c in &block.closers {
                match arena.op(c) {
                    Op::End => memory += 1,
                    _ if super::reduce::contraction(self.kernel, c).is_some() => return false,
                    _ => work += 1,
                }
            }
        }
        work <= 3 * memory
    }
    /// Do products share factors along the range?
    fn shares(&self, range: UOp) -> bool {
        let arena = &self.kernel.uops;
        let nest = self.nest;
        self.subtree(nest.innermost).into_iter().any(|b| {
            let block = &nest.blocks[b];
            block.closers.iter().any(|&c| super::reduce::contraction(self.kernel, c).is_some())
                && block.items.iter().any(|i| match i {
                    Item::Node(u) => {
                        arena.op(*u) == Op::Load
                            && !arena.depends_on(*u, range)
                            && self.along.is_none_or(|v| arena.depends_on(*u, v))
                    }
                    Item::Loop(_) => false,
                })
        })
    }
    /// A range along which products share factors, where they do not along the loop around the vectors: to be put there.
    pub fn sharing(&self, loops: &[UOp]) -> Option<UOp> {
        let arena = &self.kernel.uops;
        let [others @ .., _, last] = loops else { return None };
        if self.tile.is_some() || self.along != Some(*last) {
            return None;
        }
        let many = |r: &UOp| arena.as_index(arena.src(*r)[0]).is_none_or(|n| n > 1);
        others.iter().rev().copied().find(|r| many(r) && self.shares(*r))
    }
    /// Finds the range over outputs along which products share factors.
    pub fn tile(&mut self) {
        let nest = self.nest;
        let arena = &self.kernel.uops;
        let innermost = nest.innermost;
        let home = match (self.along, nest.blocks[innermost].parent) {
            (Some(_), Some(parent)) => parent,
            _ => innermost,
        };
        let Some(range) = nest.blocks[home].range else { return };
        // A row that is kept is one iteration's: the copies along a tile have none of their own.
        let kept =
            |u: UOp| matches!(self.kernel.uops.op(arena.src(u)[0]), Op::Scratch(_)) && arena.depends_on(u, range);
        if !self.kernel.scratch.is_empty() && arena.iter().any(|(u, node)| node.op == Op::Store && kept(u)) {
            return;
        }
        let shared = self.shares(range);
        let closers: usize = self.subtree(innermost).iter().map(|&b| nest.blocks[b].closers.len()).sum();
        // What lies across the vectors lies along the loop around them: the same lines of memory serve all copies.
        if let Some(v) = self.along.filter(|_| home != innermost && closers == 0) {
            let across = |i: &Item| match i {
                Item::Node(u) if arena.op(*u) == Op::Load => {
                    let index = arena.src(*u)[1];
                    let far = match self.step(index, v) {
                        Step::Const(n) => n.abs() >= 8,
                        Step::Invariant => true,
                        Step::None | Step::Jumps => false,
                    };
                    far && self.step(index, range) == Step::Const(1)
                }
                _ => false,
            };
            let few = arena.as_index(arena.src(range)[0]).is_some_and(|n| n < 8);
            if !few && nest.blocks[innermost].items.iter().any(across) {
                self.tile = Some(range);
                self.copies = 8;
            }
            return;
        }
        if !shared || closers != 1 || self.form.unroll < 2 {
            return;
        }
        let most = arena.as_index(arena.src(range)[0]).map_or(usize::MAX, |n| n.max(1) as usize);
        self.tile = Some(range);
        self.copies = if self.along.is_some() { most.min(6) } else { most.min(2) };
    }

    /// All of it; how many iterations there are, and how many are worth a thread.
    pub fn whole_kernel(&mut self) -> Result<(Size, Size), OpError> {
        let nest = self.nest;
        self.items(&nest.blocks[0].items)?;
        let (from, to) = (self.b.begin(), self.b.end());
        if let (Some(outer), true) = (nest.blocks[0].inner, self.little()) {
            let extent = nest.blocks[outer].range.map(|r| self.kernel.uops.src(r)[0]);
            let Some(extent) = extent else { return Err(broken("a loop counts a range")) };
            self.b.open_for(from, to, 1);
            let (from, to) = (self.b.index(0), self.get(extent, 0, 0, 1)?);
            self.over(outer, from, to)?;
            self.b.close();
            let (count, _) = self.grid(None)?;
            return Ok((size::min(size::constant(1), count), size::constant(1)));
        }
        let part = self.part();
        match (nest.blocks[0].inner, part) {
            (None, _) => {
                self.b.open_for(from, to, 1);
                for &s in &nest.blocks[0].stores {
                    self.store(s)?;
                }
                self.b.close();
            }
            (Some(outer), Some(part)) => self.in_parts(outer, part, from, to)?,
            (Some(outer), None) => match self.together() {
                Some(group) => self.in_groups(outer, group, from, to)?,
                None => self.over(outer, from, to)?,
            },
        }
        self.grid(part)
    }
    /// The loop of a block over outputs.
    pub fn over(&mut self, block: BlockId, from: Reg, to: Reg) -> Result<(), OpError> {
        let nest = self.nest;
        let Some(range) = nest.blocks[block].range else { return Err(broken("a loop counts a range")) };
        let outer = self.axes;
        let mut from = from;
        if self.tile == Some(range) && self.copies > 1 && outer.tile.is_none() {
            let end = self.whole(from, to, self.copies as i64);
            if !self.nothing(from, end) {
                self.axes = Axes { tile: Some(range), copies: self.copies, ..outer };
                self.pass(block, range, from, end, self.copies as i64)?;
                self.axes = outer;
            }
            from = end;
        }
        if block == nest.innermost && self.along == Some(range) {
            let blocks = self.subtree(block);
            let lanes = self.lanes(&blocks, Some(range));
            self.speed.insert(block, lanes);
            if let Some(leaf) = self.rows(block).filter(|_| lanes > 1) {
                return self.by_rows(block, leaf, range, (from, to), lanes);
            }
            if lanes > 1 {
                let unroll = self.unroll(&blocks, range, lanes);
                let mut steps = vec![(lanes, unroll)];
                // Where it is not known what is left, fewer loops are better than fewer iterations.
                let known = self.b.number(from).is_some() && self.b.number(to).is_some();
                if unroll > 1 && (lanes < 16 || known) {
                    steps.push((lanes, 1));
                }
                if lanes == 16 {
                    steps.push((8, 1));
                }
                let start = from;
                for (lanes, unroll) in steps {
                    let step = unroll as i64 * i64::from(lanes);
                    let end = self.whole(start, to, step);
                    if !self.nothing(from, end) {
                        self.axes = Axes { vector: Some(range), lanes, unroll, ..outer };
                        self.pass(block, range, from, end, step)?;
                        self.axes = outer;
                    }
                    from = end;
                }
            }
        }
        if !self.nothing(from, to) {
            self.pass(block, range, from, to, 1)?;
        }
        Ok(())
    }
    /// Vectors side by side: as many as registers hold, and as there are elements for.
    fn unroll(&self, blocks: &[BlockId], range: UOp, lanes: u8) -> usize {
        let arena = &self.kernel.uops;
        let there = match arena.as_index(arena.src(range)[0]) {
            Some(n) => (n / i64::from(lanes)).max(1) as usize,
            None => usize::MAX,
        };
        let form = usize::from(self.form.unroll.clamp(1, 8));
        let (registers, side) =
            if lanes == 16 { (self.target.more, form.div_ceil(2)) } else { (self.target.registers, form) };
        let sums: usize = blocks.iter().map(|&b| self.nest.blocks[b].closers.len()).sum();
        // Products that are added up, each in a loop of its own: as many sums side by side as hide the time that one takes.
        let product = |c: UOp| super::reduce::contraction(self.kernel, c).is_some();
        let products = sums > 0
            && blocks.iter().all(|&b| match self.nest.blocks[b].closers[..] {
                [] => true,
                [c] => product(c),
                _ => false,
            });
        if products {
            let most = match self.axes.copies {
                1 => 8,
                2 => 4,
                3 => 3,
                _ => 2,
            };
            return (most * form / 4).clamp(1, there);
        }
        if self.axes.copies > 1 {
            return 1;
        }
        let live = blocks.iter().map(|&b| self.live(b, range)).sum::<usize>() + sums;
        let room = usize::from(registers.max(4)) - 2;
        let work: usize = blocks.iter().map(|&b| self.nest.blocks[b].items.len()).sum();
        let mut most = side.min(there);
        // Not worth code of its own.
        if there.saturating_mul(work) < 1000 && sums == 0 {
            most = 1;
        }
        // Nor is code that is long as it is.
        if work > 300 {
            most = if work > 1000 { 1 } else { most.min(2) };
        }
        while most > 1 && most * live > room {
            most /= 2;
        }
        most
    }
    /// The greatest number of values that vary with the range and are held at once, roughly.
    fn live(&self, block: BlockId, range: UOp) -> usize {
        let arena = &self.kernel.uops;
        let mut last: FxHashMap<UOp, usize> = FxHashMap::default();
        let block = &self.nest.blocks[block];
        let nodes: Vec<UOp> = block
            .items
            .iter()
            .filter_map(|i| match i {
                Item::Node(u) if arena.depends_on(*u, range) => Some(*u),
                _ => None,
            })
            .collect();
        for (k, &u) in nodes.iter().enumerate() {
            last.insert(u, k);
            if arena.op(u) != Op::Load {
                for s in arena.src(u) {
                    last.entry(*s).and_modify(|e| *e = k);
                }
            }
        }
        for &s in block.stores.iter() {
            last.entry(arena.src(s)[2]).and_modify(|e| *e = nodes.len());
        }
        for &c in &block.closers {
            last.entry(arena.src(c)[0]).and_modify(|e| *e = nodes.len());
        }
        let mut ends = vec![0usize; nodes.len() + 1];
        let (mut now, mut most) = (0usize, 0usize);
        for (k, u) in nodes.iter().enumerate() {
            now += 1;
            most = most.max(now);
            ends[last.get(u).copied().unwrap_or(k)] += 1;
            now -= ends[k];
        }
        most.max(1)
    }
    fn pass(&mut self, block: BlockId, range: UOp, from: Reg, to: Reg, step: i64) -> Result<(), OpError> {
        let nest = self.nest;
        let mark = self.mark();
        let var = self.b.open_for(from, to, step);
        self.vars[range.index()] = Some(var);
        self.all(block)?;
        if let Some(inner) = nest.blocks[block].inner {
            let extent = nest.blocks[inner].range.map(|r| self.kernel.uops.src(r)[0]);
            let to = match extent {
                Some(e) => self.get(e, 0, 0, 1)?,
                None => return Err(broken("a loop counts a range")),
            };
            let from = self.b.index(0);
            self.over(inner, from, to)?;
            for &s in &nest.blocks[block].stores {
                self.store(s)?;
            }
        }
        if nest.blocks[block].parent == Some(0) {
            self.once(var)?;
        }
        self.b.close();
        self.vars[range.index()] = None;
        self.forget(mark);
        Ok(())
    }
    /// What is the same in all iterations is stored by the first.
    pub fn once(&mut self, var: Reg) -> Result<(), OpError> {
        let nest = self.nest;
        if nest.blocks[0].stores.is_empty() {
            return Ok(());
        }
        let zero = self.b.index(0);
        let first = self.b.alu(Alu::Eq, &[var, zero]);
        self.b.open_if(first);
        for &s in &nest.blocks[0].stores {
            self.store(s)?;
        }
        self.b.close();
        Ok(())
    }
}
