//! Reductions and fills: accumulators, and the order in which values are combined.
//!
//! The order depends on sizes, dtypes and the kernel alone, never on lanes or threads. Along a range whose elements lie side
//! by side, element e of a run goes to partial result e mod 32 (16 where the partial results have 64 bits), so that vectors
//! hold the partial results; what is left of a run, in eights, to the first of them, and the last few elements to one of
//! their own. The partial results are combined in halves. Elsewhere, values are combined one after the other. In both
//! forms no partial result takes more than 1024 values of floats before it is added to a total, so that long sums keep
//! their digits.

use super::affine::Step;
use super::analysis::{broken, pointer};
use super::build::Builder;
use super::emit::{Axes, Emit};
use super::nest::{BlockId, Item};
use crate::lir::{Memory, Reg, Size, Stride};
use crate::uop::{Alu, Op, Ty, UOp};
use evoxc_core::{DType, OpError};
use evoxc_ir::Reducer;
use smallvec::SmallVec;

/// Values of floats that a partial result takes.
pub(super) const RUN: i64 = 1024;

/// Products that are rounded one by one: a window of 3 × 3, say.
const FEW: u64 = 9;

/// How values are combined.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Combine {
    /// By an op.
    Op(Alu),
    /// The least of floats: NaN if there is one, and -0 below 0. The greatest is the negative of the least of negatives.
    Least,
}

/// A reduction being done.
#[derive(Clone)]
pub(super) struct Acc {
    pub closer: UOp,
    /// What is combined: a node, or the factors of its product.
    value: UOp,
    factors: Option<(UOp, UOp)>,
    /// Are products rounded before they are added?
    rounded: bool,
    pub how: Combine,
    negated: bool,
    /// What it is done in.
    pub dtype: DType,
    pub identity: u64,
    /// A row for each copy along the tile, a column for each vector; or the first element of memory for each row.
    regs: Vec<Reg>,
    columns: usize,
    /// Where vectors have 16 lanes, the partial results as such, two for each row, before they are in `regs`.
    wide: Vec<Reg>,
    /// Where partial results are memory: its number, for each row.
    memory: Vec<u32>,
    /// The last few elements, for each row.
    tail: Vec<Reg>,
    /// Are there last few elements?
    ragged: bool,
}

fn float(d: DType) -> bool {
    matches!(d, DType::F32 | DType::F64)
}

/// What a reduction of the dtype is done in.
pub(super) fn accumulator(d: DType) -> DType {
    match d {
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        DType::F16 | DType::BF16 => DType::F32,
        d => d,
    }
}

/// Does the order of combination show in the bits of the result?
pub(super) fn ordered(op: Reducer, dtype: DType) -> bool {
    float(accumulator(dtype)) && matches!(op, Reducer::Sum | Reducer::Prod)
}

/// Is it a reduction that is added up by fused products? Its factors come from memory.
pub(super) fn contraction(kernel: &crate::kernel::Kernel, closer: UOp) -> Option<(UOp, UOp)> {
    let arena = &kernel.uops;
    let node = arena.get(closer);
    if node.op != Op::Reduce(Reducer::Sum) || !float(node.ty.dtype) {
        return None;
    }
    let product = arena.get(node.src[0]);
    let loaded = |mut u: UOp| {
        while arena.op(u) == Op::Cast {
            u = arena.src(u)[0];
        }
        arena.op(u) == Op::Load
    };
    match (product.op, &product.src[..]) {
        (Op::Alu(Alu::Mul), &[a, b]) if loaded(a) && loaded(b) => Some((a, b)),
        _ => None,
    }
}

/// Is it known that a reduction takes few values? Of few products that cancel, the roundings are most of the result, and
/// whoever computes it by hand, or as a loop over the taps of a window, rounds them.
fn few(kernel: &crate::kernel::Kernel, closer: UOp) -> bool {
    let arena = &kernel.uops;
    let extent = |&r: &UOp| arena.src(r).first().and_then(|&n| arena.as_const(n));
    let ranges = arena.src(closer).get(1..).unwrap_or_default();
    ranges.iter().map(extent).try_fold(1u64, |all, n| all.checked_mul(n?)).is_some_and(|n| n <= FEW)
}

/// Does the order show in which the values are combined?
pub(super) fn sensitive(a: &Acc) -> bool {
    float(a.dtype) && matches!(a.how, Combine::Op(_))
}

impl Emit<'_> {
    pub fn acc(&self, closer: UOp) -> Result<Acc, OpError> {
        let node = self.kernel.uops.get(closer);
        let Op::Reduce(op) = node.op else { return Err(broken("a fill has no result")) };
        let dtype = accumulator(node.ty.dtype);
        let bits = (dtype.size() * 8) as u32;
        let ones = if dtype == DType::BOOL { 1 } else { u64::MAX >> (64 - bits) };
        let of = |x: f64| match dtype {
            DType::F32 => u64::from((x as f32).to_bits()),
            _ => x.to_bits(),
        };
        let (least, greatest) = if dtype.is_signed_int() { (1 << (bits - 1), ones >> 1) } else { (0, ones) };
        let (how, negated, identity) = match op {
            Reducer::Sum | Reducer::Max | Reducer::Or if dtype.is_bool() => (Combine::Op(Alu::Or), false, 0),
            Reducer::Prod | Reducer::Min | Reducer::And if dtype.is_bool() => (Combine::Op(Alu::And), false, 1),
            Reducer::Sum => (Combine::Op(Alu::Add), false, 0),
            Reducer::Prod => (Combine::Op(Alu::Mul), false, if float(dtype) { of(1.0) } else { 1 }),
            Reducer::Min if float(dtype) => (Combine::Least, false, of(f64::INFINITY)),
            Reducer::Max if float(dtype) => (Combine::Least, true, of(f64::INFINITY)),
            Reducer::Min => (Combine::Op(Alu::Min), false, greatest),
            Reducer::Max => (Combine::Op(Alu::Max), false, least),
            Reducer::And => (Combine::Op(Alu::And), false, ones),
            Reducer::Or => (Combine::Op(Alu::Or), false, 0),
        };
        let factors = contraction(self.kernel, closer).filter(|_| (self.target.alu)(Alu::Fma, dtype));
        Ok(Acc {
            closer,
            value: node.src[0],
            factors,
            rounded: few(self.kernel, closer),
            how,
            negated,
            dtype,
            identity,
            regs: Vec::new(),
            columns: 1,
            wide: Vec::new(),
            memory: Vec::new(),
            tail: Vec::new(),
            ragged: true,
        })
    }
    pub fn combine(&mut self, how: Combine, a: Reg, b: Reg) -> Reg {
        match how {
            Combine::Op(op) => self.b.alu_now(op, &[a, b]),
            Combine::Least => {
                let ty = self.b.ty(a);
                let bits = ty.with(if ty.dtype == DType::F32 { DType::I32 } else { DType::I64 });
                let x = self.b.alu_now(Alu::Min, &[a, b]);
                let y = self.b.alu_now(Alu::Min, &[b, a]);
                let (x, y) = (self.b.bitcast_now(bits, x), self.b.bitcast_now(bits, y));
                let both = self.b.alu_now(Alu::Or, &[x, y]);
                self.b.bitcast_now(ty, both)
            }
        }
    }
    /// The least of the lanes, as [`Combine::Least`] has it: as integers in the same order, NaN first.
    fn least(&mut self, v: Reg) -> Reg {
        let ty = self.b.ty(v);
        let (int, sign, nan) = match ty.dtype {
            DType::F32 => (DType::I32, 31, u64::from(u32::MAX)),
            _ => (DType::I64, 63, u64::MAX),
        };
        let nan = self.b.constant(ty, nan);
        let unordered = self.b.alu_now(Alu::Ne, &[v, v]);
        let v = self.b.alu_now(Alu::Select, &[unordered, nan, v]);
        let bits = self.b.bitcast_now(ty.with(int), v);
        let keys = self.ranked(bits, sign);
        let least = self.b.across_now(Alu::Min, keys);
        let bits = self.ranked(least, sign);
        self.b.bitcast_now(Ty::scalar(ty.dtype), bits)
    }
    /// Bits of floats as integers in the same order, and back.
    fn ranked(&mut self, bits: Reg, sign: u64) -> Reg {
        let ty = self.b.ty(bits);
        let by = self.b.constant(ty, sign);
        let magnitude = self.b.constant(ty, (1 << sign) - 1);
        let negative = self.b.alu_now(Alu::Sar, &[bits, by]);
        let flipped = self.b.alu_now(Alu::And, &[negative, magnitude]);
        self.b.alu_now(Alu::Xor, &[bits, flipped])
    }
    /// What is combined with a partial result, which stands in `before`.
    pub fn next(&mut self, acc: &Acc, before: Reg, row: usize, column: usize, lanes: u8) -> Result<Reg, OpError> {
        if let Some((x, y)) = acc.factors {
            let (x, y) = (self.factor(x, row, column, lanes)?, self.factor(y, row, column, lanes)?);
            if acc.rounded {
                let product = self.b.alu_now(Alu::Mul, &[x, y]);
                return Ok(self.combine(acc.how, before, product));
            }
            return Ok(self.b.alu_now(Alu::Fma, &[x, y, before]));
        }
        let mut x = self.get(acc.value, row, column, lanes)?;
        x = self.b.cast(acc.dtype, x);
        if acc.negated {
            x = self.b.alu(Alu::Neg, &[x]);
        }
        Ok(self.combine(acc.how, before, x))
    }
    /// A factor; one that is loaded only now is loaded once for all vectors.
    fn factor(&mut self, u: UOp, row: usize, column: usize, lanes: u8) -> Result<Reg, OpError> {
        if !self.late(u) {
            return self.get(u, row, column, lanes);
        }
        let column = if self.varies(u) { column } else { 0 };
        let r = match self.loaded {
            Some((v, place, r)) if v == u && place == (row, column) => r,
            _ => self.copy(u, row, column)?,
        };
        self.loaded = Some((u, (row, column), r));
        Ok(if lanes > 1 && self.b.ty(r).lanes == 1 { self.b.splat(r, lanes) } else { r })
    }
    fn extent(&mut self, block: BlockId) -> Result<Reg, OpError> {
        let Some(range) = self.nest.blocks[block].range else { return Err(broken("a loop counts a range")) };
        let extent = self.kernel.uops.src(range)[0];
        self.get(extent, 0, 0, 1)
    }
    /// The greatest multiple of `step` that is no more than `to - from`, from `from`.
    pub fn whole(&mut self, from: Reg, to: Reg, step: i64) -> Reg {
        if step == 1 || self.exact.is_some_and(|(f, t, of)| (f, t) == (from, to) && of % step == 0) {
            return to;
        }
        let zero = self.b.index(0);
        let len = self.b.alu(Alu::Sub, &[to, from]);
        let len = self.b.alu(Alu::Max, &[len, zero]);
        let len = if step.count_ones() == 1 {
            let mask = self.b.index(-step);
            self.b.alu(Alu::And, &[len, mask])
        } else if let Some(n) = self.b.number(len) {
            self.b.index(n / step * step)
        } else {
            let step = self.b.index(step);
            let times = self.b.alu(Alu::IntDiv, &[len, step]);
            self.b.alu(Alu::Mul, &[times, step])
        };
        self.b.alu(Alu::Add, &[from, len])
    }
    /// Is there nothing to do between the two, for sure?
    pub fn nothing(&self, from: Reg, to: Reg) -> bool {
        from == to || matches!((self.b.number(from), self.b.number(to)), (Some(a), Some(b)) if a >= b)
    }

    /// Does the loop run along memory, so that its elements are side by side?
    pub fn along_memory(&self, leaf: BlockId) -> bool {
        let block = &self.nest.blocks[leaf];
        let Some(range) = block.range else { return false };
        let arena = &self.kernel.uops;
        let mut apart = false;
        let mut access = |u: UOp| match self.step(arena.src(u)[1], range) {
            Step::None | Step::Const(1) => {}
            Step::Const(_) | Step::Invariant | Step::Jumps => apart = true,
        };
        for &i in &block.items {
            match i {
                Item::Loop(_) => return false,
                Item::Node(u) if arena.op(u) == Op::Load => access(u),
                Item::Node(_) => {}
            }
        }
        for &c in &block.closers {
            if arena.op(c) == Op::End {
                access(arena.src(c)[0]);
            }
        }
        !apart
    }

    /// The loops of reductions and fills, and their results.
    pub fn group(&mut self, first: BlockId) -> Result<(), OpError> {
        let mut leaf = first;
        while let Some(inner) = self.nest.blocks[leaf].inner {
            leaf = inner;
        }
        let arena = &self.kernel.uops;
        let nest = self.nest;
        let closers = &nest.blocks[leaf].closers;
        let mut accs = Vec::new();
        for &c in closers {
            if matches!(arena.op(c), Op::Reduce(_)) {
                accs.push(self.acc(c)?);
            }
        }
        let ordered = accs.iter().any(sensitive);
        let wide = accs.iter().any(|a| a.dtype.size() == 8 && float(a.dtype));
        let runs = !self.inside(first) && self.along_memory(leaf);
        let partials = match (runs, wide) {
            (false, _) => 1,
            (true, false) => 32,
            (true, true) => 16,
        };
        let mut lanes =
            if runs && self.axes.vector.is_none() { self.lanes(&[leaf], nest.blocks[leaf].range) } else { 1 };
        let run = nest.blocks[leaf].range.and_then(|r| arena.as_index(arena.src(r)[0]));
        // Between runs, partial results stay as they are: then there must be no other form of them.
        if first != leaf && run.is_none_or(|n| n % partials != 0) {
            lanes = lanes.min(8);
        }
        self.speed.insert(leaf, lanes);
        // Long runs are done in blocks.
        let from = self.b.index(0);
        let to = self.extent(first)?;
        let mut inner = 1i64;
        let mut at = first;
        while let Some(next) = nest.blocks[at].inner {
            at = next;
            let e = nest.blocks[at].range.and_then(|r| arena.as_index(arena.src(r)[0])).unwrap_or(i64::MAX);
            inner = inner.saturating_mul(e.max(1));
        }
        let most = RUN * partials;
        let known = self.b.number(to).unwrap_or(i64::MAX);
        let block = (most / inner).max(1);
        let blocks = ordered && known.saturating_mul(inner) > most && known > block;
        let outer = self.axes;
        let mut totals: Vec<Vec<Reg>> = Vec::new();
        let (from, to) = if blocks {
            for a in &accs {
                let (rows, columns) = self.shape(a.closer);
                let lanes = if self.varies(a.closer) { outer.lanes } else { 1 };
                let identity = self.b.constant(Ty::vector(a.dtype, lanes), a.identity);
                totals.push((0..rows * columns).map(|_| self.b.variable(identity)).collect());
            }
            let start = self.b.open_for(from, to, block);
            let size = self.b.index(block);
            let end = self.b.alu(Alu::Add, &[start, size]);
            (start, self.b.alu(Alu::Min, &[end, to]))
        } else {
            (from, to)
        };
        let even = partials > 1
            && run.is_some_and(|n| n % (partials / 4) == 0)
            && (!blocks || block % (partials / 4) == 0 || leaf != first);
        for a in &mut accs {
            a.ragged = !even || lanes == 1;
            self.open(a, partials, lanes);
        }
        let parted = self.chain(first, leaf, from, to, &accs, partials, lanes)?;
        self.axes = outer;
        let mut results = Vec::new();
        for a in &accs {
            results.push(self.result(a, partials, parted)?);
        }
        if blocks {
            for ((a, total), result) in accs.iter().zip(&totals).zip(&mut results) {
                for (&t, r) in total.iter().zip(result.iter_mut()) {
                    let sum = self.combine(a.how, t, *r);
                    self.b.set(t, sum);
                    *r = t;
                }
            }
            self.b.close();
        }
        // Results that wait for those of another loop are not what was added to, so that these alone are in registers.
        let parent = nest.blocks[first].parent.map(|p| &nest.blocks[p].items[..]);
        let loops = parent.unwrap_or_default().iter().filter(|i| matches!(i, Item::Loop(_))).count();
        let waits = loops > 1 && partials == 1 && !blocks && self.axes.unroll > 2;
        for (a, mut result) in accs.iter().zip(results) {
            let (_, columns) = self.shape(a.closer);
            for r in &mut result {
                if waits {
                    *r = self.b.variable(*r);
                }
                *r = self.finished(a, *r);
            }
            self.set(a.closer, &result, columns);
        }
        Ok(())
    }

    /// The value of a reduction, from what was combined.
    pub fn finished(&mut self, a: &Acc, mut r: Reg) -> Reg {
        if a.negated {
            r = self.b.alu(Alu::Neg, &[r]);
        }
        self.b.cast(self.kernel.uops.ty(a.closer).dtype, r)
    }

    /// Partial results at their start.
    fn open(&mut self, a: &mut Acc, partials: i64, lanes: u8) {
        let (rows, columns) = self.shape(a.closer);
        a.regs.clear();
        a.memory.clear();
        a.tail.clear();
        if partials == 1 {
            let lanes = if self.varies(a.closer) { self.axes.lanes } else { 1 };
            let identity = self.b.constant(Ty::vector(a.dtype, lanes), a.identity);
            a.columns = columns;
            a.regs = (0..rows * columns).map(|_| self.b.variable(identity)).collect();
            return;
        }
        let identity = self.b.constant(Ty::scalar(a.dtype), a.identity);
        // Where there are none, any register stands for them.
        a.tail = (0..rows).map(|_| if a.ragged { self.b.variable(identity) } else { identity }).collect();
        a.wide.clear();
        let wide = lanes == 16;
        if wide {
            let identity = self.b.constant(Ty::vector(a.dtype, lanes), a.identity);
            a.wide = (0..rows as i64 * partials / 16).map(|_| self.b.variable(identity)).collect();
        }
        let lanes = lanes.min(8);
        if lanes > 1 {
            a.columns = partials as usize / usize::from(lanes);
            let identity = self.b.constant(Ty::vector(a.dtype, lanes), a.identity);
            // Where there are wider ones, those become these.
            let first = |b: &mut Builder| if wide { b.reg(b.ty(identity)) } else { b.variable(identity) };
            a.regs = (0..rows * a.columns).map(|_| first(&mut self.b)).collect();
        } else if float(a.dtype) && matches!(a.how, Combine::Op(_)) {
            // As vectors would do it.
            for _ in 0..rows {
                let number = self.scratch.len() as u32;
                self.scratch.push((a.dtype, Size::Const(partials)));
                a.memory.push(number);
                let (from, to) = (self.b.index(0), self.b.index(partials));
                let at = self.b.open_for(from, to, 1);
                self.b.store(Memory::Scratch(number), at, 0, Stride::One, identity);
                self.b.close();
            }
        }
    }
    /// The loops from a block to the innermost. Are partial results in vectors of 8 lanes then, where they were in some of 16?
    #[allow(clippy::too_many_arguments)]
    fn chain(
        &mut self,
        block: BlockId,
        leaf: BlockId,
        from: Reg,
        to: Reg,
        accs: &[Acc],
        partials: i64,
        lanes: u8,
    ) -> Result<bool, OpError> {
        let nest = self.nest;
        let Some(range) = nest.blocks[block].range else { return Err(broken("a loop counts a range")) };
        let mark = self.mark();
        let shadowed = self.vars[range.index()];
        let mut parted = false;
        if block == leaf {
            parted = self.leaf(leaf, range, from, to, accs, partials, lanes)?;
        } else {
            let var = self.b.open_for(from, to, 1);
            self.vars[range.index()] = Some(var);
            self.items(&nest.blocks[block].items)?;
            if let Some(inner) = nest.blocks[block].inner {
                let (from, to) = (self.b.index(0), self.extent(inner)?);
                parted = self.chain(inner, leaf, from, to, accs, partials, lanes)?;
            }
            self.b.close();
        }
        self.vars[range.index()] = shadowed;
        self.forget(mark);
        Ok(parted)
    }
    /// Partial results in vectors of 16 lanes as such of 8.
    fn split(&mut self, accs: &[Acc]) {
        for a in accs {
            for (k, &wide) in a.wide.iter().enumerate() {
                for upper in [false, true] {
                    let half = self.b.half_now(wide, upper);
                    self.b.set(a.regs[2 * k + usize::from(upper)], half);
                }
            }
        }
    }
    #[allow(clippy::too_many_arguments)]
    fn leaf(
        &mut self,
        leaf: BlockId,
        range: UOp,
        from: Reg,
        to: Reg,
        accs: &[Acc],
        partials: i64,
        lanes: u8,
    ) -> Result<bool, OpError> {
        let outer = self.axes;
        if partials == 1 {
            let var = self.b.open_for(from, to, 1);
            self.vars[range.index()] = Some(var);
            self.body(leaf, accs, Where::Registers)?;
            self.b.close();
            return Ok(false);
        }
        // Eights; fours of 64 bits.
        let few = partials / 4;
        let many = self.whole(from, to, partials);
        let some = self.whole(from, to, few);
        let mut parted = false;
        for (from, to, step) in [(from, many, partials), (many, some, few)] {
            if self.nothing(from, to) {
                continue;
            }
            let mut lanes = lanes;
            let mut place = Where::Registers;
            if lanes == 16 && step == partials {
                place = Where::Wide;
            } else if lanes == 16 {
                lanes = 8;
                self.split(accs);
                parted = true;
            }
            let start = self.b.open_for(from, to, step);
            if lanes > 1 {
                self.vars[range.index()] = Some(start);
                let unroll = step as usize / usize::from(lanes);
                self.axes = Axes { vector: Some(range), lanes, unroll, ..outer };
                self.body(leaf, accs, place)?;
                self.axes = outer;
            } else {
                let (zero, count) = (self.b.index(0), self.b.index(step));
                let place = self.b.open_for(zero, count, 1);
                let var = self.b.alu(Alu::Add, &[start, place]);
                self.vars[range.index()] = Some(var);
                self.body(leaf, accs, Where::Memory(place))?;
                self.b.close();
            }
            self.b.close();
        }
        let even = accs.iter().any(|a| !a.ragged);
        let left = (!even).then(|| self.overlapping(leaf, [from, some, to], few, lanes)).flatten();
        if let Some((first, left)) = left {
            self.vars[range.index()] = Some(self.b.index(first));
            self.axes = Axes { vector: Some(range), lanes: few as u8, unroll: 1, ..outer };
            self.body(leaf, accs, Where::Last(left))?;
            self.axes = outer;
        } else if !even && !self.nothing(some, to) {
            let var = self.b.open_for(some, to, 1);
            self.vars[range.index()] = Some(var);
            self.body(leaf, accs, Where::Tail)?;
            self.b.close();
        }
        Ok(parted)
    }
    /// The last few elements are the last lanes of a vector that begins before them, where there are enough. Its first lanes
    /// are computed twice, and stored twice where something is stored, so that nothing that is read may be written. Where it
    /// begins, and how many lanes count.
    fn overlapping(&self, leaf: BlockId, [from, some, to]: [Reg; 3], few: i64, lanes: u8) -> Option<(i64, u8)> {
        let number = |r: Reg| self.b.number(r);
        let (from, some, to) = (number(from)?, number(some)?, number(to)?);
        if i64::from(lanes) < few || to - some < 2 || to - few < from {
            return None;
        }
        let arena = &self.kernel.uops;
        let block = &self.nest.blocks[leaf];
        let memory = |u: UOp| pointer(self.kernel, arena.src(u)[0], |_| ()).ok();
        for &c in &block.closers {
            if arena.op(c) == Op::End {
                let Some(to @ Memory::Scratch(_)) = memory(arena.src(c)[0]) else { return None };
                let read = |i: &Item| match *i {
                    Item::Node(u) => arena.op(u) == Op::Load && memory(u) == Some(to),
                    Item::Loop(_) => true,
                };
                if block.items.iter().any(read) {
                    return None;
                }
            }
        }
        Some((to - few, (to - some) as u8))
    }
    /// One pass of the innermost loop.
    fn body(&mut self, leaf: BlockId, accs: &[Acc], place: Where) -> Result<(), OpError> {
        let mark = self.mark();
        let nest = self.nest;
        self.items(&nest.blocks[leaf].items)?;
        self.loaded = None;
        for a in accs {
            let (rows, _) = self.shape(a.closer);
            match place {
                Where::Tail => {
                    for row in 0..rows {
                        let next = self.next(a, a.tail[row], row, 0, 1)?;
                        self.b.set(a.tail[row], next);
                    }
                }
                Where::Memory(at) if !a.memory.is_empty() => {
                    for row in 0..rows {
                        let to = Memory::Scratch(a.memory[row]);
                        let before = self.b.load(Ty::scalar(a.dtype), to, at, 0, Stride::One);
                        let next = self.next(a, before, row, 0, 1)?;
                        self.b.store(to, at, 0, Stride::One, next);
                    }
                }
                // The order does not show.
                Where::Memory(_) => {
                    for row in 0..rows {
                        let next = self.next(a, a.tail[row], row, 0, 1)?;
                        self.b.set(a.tail[row], next);
                    }
                }
                Where::Last(left) => {
                    for row in 0..rows {
                        self.last(a, row, left)?;
                    }
                }
                Where::Wide => {
                    let columns = a.wide.len() / rows;
                    for row in 0..rows {
                        for column in 0..columns {
                            let acc = a.wide[row * columns + column];
                            let next = self.next(a, acc, row, column, 16)?;
                            self.b.set(acc, next);
                        }
                    }
                }
                Where::Registers => {
                    let value = self.axes.unroll;
                    let columns = if a.tail.is_empty() { a.columns } else { value.min(a.columns) };
                    for row in 0..rows {
                        for column in 0..columns {
                            let acc = a.regs[row * a.columns + column];
                            let lanes = self.b.ty(acc).lanes;
                            let next = self.next(a, acc, row, column, lanes)?;
                            self.b.set(acc, next);
                        }
                    }
                }
            }
        }
        for &c in &nest.blocks[leaf].closers {
            if self.kernel.uops.op(c) == Op::End {
                self.store(self.kernel.uops.src(c)[0])?;
            }
        }
        self.forget(mark);
        Ok(())
    }
    /// The last lanes, one after the other.
    fn last(&mut self, a: &Acc, row: usize, left: u8) -> Result<(), OpError> {
        let lanes = self.axes.lanes;
        let (x, y) = match a.factors {
            Some((x, y)) => (self.factor(x, row, 0, lanes)?, Some(self.factor(y, row, 0, lanes)?)),
            None => {
                let x = self.get(a.value, row, 0, lanes)?;
                let x = self.b.cast(a.dtype, x);
                (if a.negated { self.b.alu(Alu::Neg, &[x]) } else { x }, None)
            }
        };
        for lane in lanes - left..lanes {
            let one = self.b.extract_now(x, lane);
            let next = match y {
                Some(y) => {
                    let other = self.b.extract_now(y, lane);
                    self.b.alu_now(Alu::Fma, &[one, other, a.tail[row]])
                }
                None => self.combine(a.how, a.tail[row], one),
            };
            self.b.set(a.tail[row], next);
        }
        Ok(())
    }
    /// Partial results as one, for every row and column of the reduction.
    fn result(&mut self, a: &Acc, partials: i64, parted: bool) -> Result<Vec<Reg>, OpError> {
        if partials == 1 {
            return Ok(a.regs.clone());
        }
        let mut out = Vec::new();
        for (row, &tail) in a.tail.iter().enumerate() {
            if let Some(&memory) = a.memory.get(row) {
                let memory = Memory::Scratch(memory);
                let zero = self.b.index(0);
                let mut half = partials / 2;
                while half > 0 {
                    let to = self.b.index(half);
                    let at = self.b.open_for(zero, to, 1);
                    let x = self.b.load(Ty::scalar(a.dtype), memory, at, 0, Stride::One);
                    let y = self.b.load(Ty::scalar(a.dtype), memory, at, half, Stride::One);
                    let sum = self.combine(a.how, x, y);
                    self.b.store(memory, at, 0, Stride::One, sum);
                    self.b.close();
                    half /= 2;
                }
                let all = self.b.load(Ty::scalar(a.dtype), memory, zero, 0, Stride::One);
                out.push(self.combine(a.how, all, tail));
                continue;
            }
            if a.regs.is_empty() {
                out.push(tail);
                continue;
            }
            let (regs, columns) =
                if a.wide.is_empty() || parted { (&a.regs, a.columns) } else { (&a.wide, a.wide.len() / a.tail.len()) };
            let mut all: SmallVec<[Reg; 8]> = SmallVec::from_slice(&regs[row * columns..][..columns]);
            while all.len() > 1 {
                let half = all.len() / 2;
                for k in 0..half {
                    all[k] = self.combine(a.how, all[k], all[k + half]);
                }
                all.truncate(half);
            }
            let one = match a.how {
                Combine::Op(op) => self.b.across_now(op, all[0]),
                Combine::Least => self.least(all[0]),
            };
            out.push(if a.ragged { self.combine(a.how, one, tail) } else { one });
        }
        Ok(out)
    }
}

/// Where the partial results of a pass are.
#[derive(Clone, Copy)]
enum Where {
    Registers,
    /// Registers of 16 lanes.
    Wide,
    /// At the place that a register says.
    Memory(Reg),
    Tail,
    /// So many last lanes of a vector.
    Last(u8),
}
