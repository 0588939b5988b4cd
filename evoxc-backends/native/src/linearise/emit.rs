//! Instructions for nodes: one for each lane and copy that a node differs in.

use super::Shape;
use super::affine::{Step, Sums};
use super::analysis::{Analysis, broken, fits, pointer, works_narrow};
use super::build::Builder;
use super::nest::{BlockId, Item, Nest};
use crate::kernel::Kernel;
use crate::lir::{Inst, Memory, Reg, Stride};
use crate::render::Target;
use crate::uop::{Alu, Op, Ty, UOp};
use evoxc_core::{DType, OpError};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Which ranges are done several at a time where the writing is now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Axes {
    /// The range that lanes are along, and copies of vectors.
    pub vector: Option<UOp>,
    pub lanes: u8,
    pub unroll: usize,
    /// The range that copies are along which share what does not depend on it.
    pub tile: Option<UOp>,
    pub copies: usize,
}

impl Axes {
    pub const SCALAR: Axes = Axes { vector: None, lanes: 1, unroll: 1, tile: None, copies: 1 };
}

/// The registers of a node: a row for each copy along the tile, a column for each vector; one where it does not differ.
#[derive(Clone, Copy, Default)]
pub(super) struct Val {
    first: u32,
    pub rows: u8,
    pub columns: u8,
}

/// An index: `register + number`, and what a lane adds.
struct Address {
    index: Reg,
    offset: i64,
    stride: Stride,
}

/// The writing of one kernel.
pub(super) struct Emit<'a> {
    pub kernel: &'a Kernel,
    pub an: &'a Analysis,
    pub sums: &'a mut Sums,
    pub nest: &'a Nest,
    pub b: Builder,
    pub axes: Axes,
    vals: Vec<Val>,
    /// The nodes that have registers, to be forgotten at the end of their block.
    set: Vec<UOp>,
    pool: Vec<Reg>,
    /// The factor that was loaded last, and for which copy.
    pub loaded: Option<(UOp, (usize, usize), Reg)>,
    /// The variable of every range that a loop is over now.
    pub vars: Vec<Option<Reg>>,
    /// The range over outputs that vectors may be along: whether they are does not change how reductions combine.
    pub along: Option<UOp>,
    /// The range over outputs of which several are done at once because they share what they load, and how many.
    pub tile: Option<UOp>,
    pub copies: usize,
    /// From where to where the outermost loop runs, and what the number of its elements is a multiple of.
    pub exact: Option<(Reg, Reg, i64)>,
    /// The lanes that blocks got.
    pub speed: FxHashMap<BlockId, u8>,
    pub target: Target,
    pub form: Shape,
    /// Memory that the linearisation itself needs.
    pub scratch: Vec<(DType, crate::lir::Size)>,
}

impl<'a> Emit<'a> {
    pub fn new(
        kernel: &'a Kernel,
        an: &'a Analysis,
        sums: &'a mut Sums,
        nest: &'a Nest,
        scratch: Vec<(DType, crate::lir::Size)>,
        target: Target,
        form: Shape,
    ) -> Emit<'a> {
        let n = kernel.uops.len();
        Emit {
            kernel,
            an,
            sums,
            nest,
            b: Builder::new(),
            axes: Axes::SCALAR,
            vals: vec![Val::default(); n],
            set: Vec::new(),
            pool: Vec::new(),
            loaded: None,
            vars: vec![None; n],
            along: None,
            exact: None,
            speed: FxHashMap::default(),
            tile: None,
            copies: 1,
            target,
            form,
            scratch,
        }
    }
    /// Does the node differ between lanes?
    pub fn varies(&self, u: UOp) -> bool {
        self.axes.vector.is_some_and(|r| self.kernel.uops.depends_on(u, r))
    }
    fn tiled(&self, u: UOp) -> bool {
        self.axes.tile.is_some_and(|r| self.kernel.uops.depends_on(u, r))
    }
    /// How many rows and columns a node has.
    pub fn shape(&self, u: UOp) -> (usize, usize) {
        let rows = if self.tiled(u) { self.axes.copies } else { 1 };
        let columns = if self.varies(u) { self.axes.unroll } else { 1 };
        (rows, columns)
    }
    pub fn set(&mut self, u: UOp, regs: &[Reg], columns: usize) {
        let val =
            Val { first: self.pool.len() as u32, rows: (regs.len() / columns.max(1)) as u8, columns: columns as u8 };
        self.pool.extend_from_slice(regs);
        self.vals[u.index()] = val;
        self.set.push(u);
    }
    /// Where the registers of nodes stand, to [`forget`](Emit::forget) back to.
    pub fn mark(&self) -> (usize, usize) {
        (self.set.len(), self.pool.len())
    }
    pub fn forget(&mut self, mark: (usize, usize)) {
        for u in self.set.drain(mark.0..) {
            self.vals[u.index()] = Val::default();
        }
        self.pool.truncate(mark.1);
    }
    /// The register of a node for one copy, with as many lanes as are asked for.
    pub fn get(&mut self, u: UOp, row: usize, column: usize, lanes: u8) -> Result<Reg, OpError> {
        let r = match self.kernel.uops.op(u) {
            // Constants are known everywhere.
            Op::Const(bits) => {
                let ty = Ty { lanes, ..self.kernel.uops.ty(u) };
                return Ok(self.b.constant(ty, bits));
            }
            _ => {
                let val = self.vals[u.index()];
                if val.rows == 0 {
                    return Err(broken(format!("{u:?} ({:?}) is needed and was not made", self.kernel.uops.op(u))));
                }
                let row = if val.rows > 1 { row } else { 0 };
                let column = if val.columns > 1 { column } else { 0 };
                self.pool[val.first as usize + row * val.columns as usize + column]
            }
        };
        let dtype = self.kernel.uops.ty(u).dtype;
        let r = if lanes > 1 && self.b.ty(r).lanes == 1 { self.b.splat(r, lanes) } else { r };
        // What was computed in 32 bits.
        Ok(self.b.cast(dtype, r))
    }
    /// The lanes of a node of 64 bits, in 32.
    fn get_narrow(&mut self, u: UOp, row: usize, column: usize, lanes: u8) -> Result<Reg, OpError> {
        if let Op::Const(bits) = self.kernel.uops.op(u) {
            return Ok(self.b.constant(Ty::vector(DType::I32, lanes), bits & 0xffff_ffff));
        }
        let val = self.vals[u.index()];
        if val.rows == 0 {
            return Err(broken(format!("{u:?} is needed and was not made")));
        }
        let row = if val.rows > 1 { row } else { 0 };
        let column = if val.columns > 1 { column } else { 0 };
        let r = self.pool[val.first as usize + row * val.columns as usize + column];
        let r = self.b.cast(DType::I32, r);
        Ok(if self.b.ty(r).lanes == 1 { self.b.splat(r, lanes) } else { r })
    }
    /// The variable of a range.
    fn var(&self, range: UOp) -> Result<Reg, OpError> {
        self.vars[range.index()].ok_or_else(|| broken(format!("{range:?} is not counted here")))
    }
    /// An index as a scalar for a row, and the number that the row's and column's place adds to it.
    fn atom(&mut self, a: UOp, row: usize) -> Result<(Reg, i64), OpError> {
        if matches!(self.kernel.uops.op(a), Op::Range(..)) {
            let place = if self.axes.tile == Some(a) { row as i64 } else { 0 };
            return Ok((self.var(a)?, place));
        }
        Ok((self.get(a, row, 0, 1)?, 0))
    }
    /// A product, from what changes least to what changes most, so that most of it is done outside of loops.
    fn product(&mut self, factor: i64, mut of: SmallVec<[Reg; 4]>) -> Reg {
        of.sort_unstable_by_key(|&r| (self.b.level(r), r));
        let mut out = self.b.index(factor);
        for r in of {
            out = self.b.alu(Alu::Mul, &[r, out]);
        }
        out
    }
    fn total(&mut self, mut of: SmallVec<[Reg; 4]>) -> Reg {
        of.sort_unstable_by_key(|&r| (self.b.level(r), r));
        let mut out = self.b.index(0);
        for r in of {
            out = self.b.alu(Alu::Add, &[out, r]);
        }
        out
    }
    /// The address of an index for a row and a column. Nothing if it jumps along the vector's range.
    fn address(&mut self, index: UOp, row: usize, column: usize) -> Result<Option<Address>, OpError> {
        let vector = self.axes.vector;
        let sum = self.sums.get(index).clone();
        let mut offset = sum.number;
        let mut parts: SmallVec<[Reg; 4]> = SmallVec::new();
        let mut strides: SmallVec<[Reg; 4]> = SmallVec::new();
        let mut stride = 0i64;
        let place = column as i64 * i64::from(self.axes.lanes);
        for t in &sum.terms {
            let mut moves = false;
            let mut of: SmallVec<[Reg; 4]> = SmallVec::new();
            let mut lone = None;
            for &a in &t.atoms {
                if vector == Some(a) && !moves {
                    moves = true;
                    continue;
                }
                if self.varies(a) {
                    return Ok(None);
                }
                let (r, more) = self.atom(a, row)?;
                if more == 0 {
                    of.push(r);
                } else if t.atoms.len() == 1 {
                    lone = Some(more);
                    of.push(r);
                } else {
                    let more = self.b.index(more);
                    of.push(self.b.alu(Alu::Add, &[r, more]));
                }
            }
            if let Some(more) = lone {
                offset = offset.wrapping_add(t.factor.wrapping_mul(more));
            }
            if !moves {
                let p = self.product(t.factor, of);
                parts.push(p);
                continue;
            }
            let Some(v) = vector else { continue };
            let v = self.var(v)?;
            if of.is_empty() {
                stride = stride.wrapping_add(t.factor);
                offset = offset.wrapping_add(t.factor.wrapping_mul(place));
                let p = self.product(t.factor, SmallVec::from_slice(&[v]));
                parts.push(p);
            } else {
                let s = self.product(t.factor, of);
                strides.push(s);
                let place = self.b.index(place);
                let at = self.b.alu(Alu::Add, &[v, place]);
                let p = self.b.alu(Alu::Mul, &[at, s]);
                parts.push(p);
            }
        }
        let index = self.total(parts);
        let stride = if vector.is_none() {
            Stride::One
        } else if strides.is_empty() {
            if stride == 1 { Stride::One } else { Stride::Const(stride) }
        } else {
            let known = self.b.index(stride);
            strides.push(known);
            Stride::Reg(self.total(strides))
        };
        Ok(Some(Address { index, offset, stride }))
    }
    /// The dtype of indices that jump: what wraps on the way does not show.
    pub fn index_dtype(&self, index: UOp) -> DType {
        if fits(&self.kernel.uops, index) { DType::I32 } else { DType::I64 }
    }
    /// The indices of all lanes, where they jump.
    fn indices(&mut self, index: UOp, row: usize, column: usize) -> Result<Reg, OpError> {
        let lanes = self.axes.lanes;
        let dtype = self.index_dtype(index);
        let sum = self.sums.get(index).clone();
        let mut scalars: SmallVec<[Reg; 4]> = SmallVec::new();
        let mut vectors: SmallVec<[Reg; 4]> = SmallVec::new();
        scalars.push(self.b.index(sum.number));
        for t in &sum.terms {
            let mut of: SmallVec<[Reg; 4]> = SmallVec::new();
            let mut wide: SmallVec<[Reg; 4]> = SmallVec::new();
            for &a in &t.atoms {
                if self.varies(a) {
                    wide.push(match (self.axes.vector, dtype) {
                        (Some(v), _) if v == a => self.counted(v, column, dtype)?,
                        (_, DType::I32) => self.get_narrow(a, row, column, lanes)?,
                        _ => self.get(a, row, column, lanes)?,
                    });
                } else {
                    let (r, more) = self.atom(a, row)?;
                    let more = self.b.index(more);
                    of.push(self.b.alu(Alu::Add, &[r, more]));
                }
            }
            let p = self.product(t.factor, of);
            if wide.is_empty() {
                scalars.push(p);
            } else {
                let mut all = wide[0];
                for &w in &wide[1..] {
                    all = self.b.alu(Alu::Mul, &[all, w]);
                }
                if self.b.number(p) != Some(1) {
                    let p = self.b.cast(dtype, p);
                    let p = self.b.splat(p, lanes);
                    all = self.b.alu(Alu::Mul, &[all, p]);
                }
                vectors.push(all);
            }
        }
        let base = self.total(scalars);
        let mut out = match (vectors.pop(), self.b.number(base)) {
            (Some(v), Some(0)) => v,
            (v, _) => {
                let base = self.b.cast(dtype, base);
                let base = self.b.splat(base, lanes);
                match v {
                    Some(v) => self.b.alu(Alu::Add, &[v, base]),
                    None => base,
                }
            }
        };
        for v in vectors {
            out = self.b.alu(Alu::Add, &[out, v]);
        }
        Ok(out)
    }
    /// The values of the vector's range in the lanes of a column.
    fn counted(&mut self, range: UOp, column: usize, dtype: DType) -> Result<Reg, OpError> {
        let lanes = self.axes.lanes;
        let place = self.b.index(column as i64 * i64::from(lanes));
        let var = self.var(range)?;
        let first = self.b.alu(Alu::Add, &[var, place]);
        let first = self.b.cast(dtype, first);
        let first = self.b.splat(first, lanes);
        let each = self.b.lanes(Ty::vector(dtype, lanes));
        Ok(self.b.alu(Alu::Add, &[first, each]))
    }

    /// Is the load done where the product is that it is a factor of?
    pub fn late(&self, u: UOp) -> bool {
        let many = if self.axes.copies > 1 { self.tiled(u) } else { self.axes.unroll > 2 && self.varies(u) };
        many && self.nest.factors.contains(&u)
    }
    /// The registers of a node.
    pub fn node(&mut self, u: UOp) -> Result<(), OpError> {
        if matches!(self.kernel.uops.op(u), Op::Const(_)) || self.late(u) {
            return Ok(());
        }
        let (rows, columns) = self.shape(u);
        let mut out: SmallVec<[Reg; 8]> = SmallVec::new();
        for row in 0..rows {
            for column in 0..columns {
                out.push(self.copy(u, row, column)?);
            }
        }
        self.set(u, &out, columns);
        Ok(())
    }
    /// One copy of a node.
    pub fn copy(&mut self, u: UOp, row: usize, column: usize) -> Result<Reg, OpError> {
        let kernel = self.kernel;
        let node = kernel.uops.get(u);
        let lanes = if self.varies(u) { self.axes.lanes } else { 1 };
        Ok(match node.op {
            Op::Param(n) => self.b.param(n),
            Op::Range(..) if self.axes.vector == Some(u) => {
                let dtype = if self.an.narrow[u.index()] { DType::I32 } else { DType::I64 };
                self.counted(u, column, dtype)?
            }
            Op::Range(..) => {
                let (r, more) = self.atom(u, row)?;
                let more = self.b.index(more);
                self.b.alu(Alu::Add, &[r, more])
            }
            Op::Load => self.load(u, row, column, lanes)?,
            Op::Alu(_) | Op::Cast | Op::Bitcast | Op::IndexDiv | Op::IndexMod | Op::Call(_) => {
                let mut src: SmallVec<[Reg; 4]> = SmallVec::new();
                let narrow = lanes > 1 && works_narrow(&kernel.uops, self.an, u);
                for &s in &node.src {
                    src.push(if narrow && kernel.uops.ty(s).dtype == DType::I64 {
                        self.get_narrow(s, row, column, lanes)?
                    } else {
                        self.get(s, row, column, lanes)?
                    });
                }
                self.value(u, &src)?
            }
            Op::Unary(_) | Op::Binary(_) | Op::Compare(..) | Op::Convert | Op::ReducePrecision(..) => {
                return Err(broken(format!("{:?} is to be decomposed first", node.op)));
            }
            Op::Const(_) | Op::Reduce(_) | Op::End | Op::After | Op::Store | Op::Buffer(_) | Op::Scratch(_) => {
                return Err(broken(format!("{:?} is no value here", node.op)));
            }
        })
    }
    fn value(&mut self, u: UOp, src: &[Reg]) -> Result<Reg, OpError> {
        let node = self.kernel.uops.get(u);
        Ok(match (node.op, src) {
            (Op::Alu(Alu::Select), &[c, a, b]) => self.b.select(c, a, b),
            (Op::Alu(op), _) if src.len() == op.arity() => self.b.alu(op, src),
            (Op::Cast, &[a]) if self.b.ty(a).lanes > 1 && self.an.narrow[u.index()] => self.b.cast(DType::I32, a),
            (Op::Cast, &[a]) => self.b.cast(node.ty.dtype, a),
            (Op::Bitcast, &[a]) => self.b.bitcast(node.ty.dtype, a),
            (Op::IndexDiv, &[a, d]) => self.divide(node.src[0], node.src[1], a, d).0,
            (Op::IndexMod, &[a, d]) => self.divide(node.src[0], node.src[1], a, d).1,
            (Op::Call(f), _) if src.len() == f.arity() => self.b.call(f, src),
            (Op::Call(f), _) if src.len() == f.arity() + 2 => {
                let (gate, otherwise) = (src[f.arity()], src[f.arity() + 1]);
                let out = self.b.variable(otherwise);
                let any = if self.b.ty(gate).lanes > 1 { self.b.across(Alu::Or, gate) } else { gate };
                self.b.open_if(any);
                let called = self.b.call_now(f, &src[..f.arity()]);
                let kept = self.b.alu_now(Alu::Select, &[gate, called, otherwise]);
                self.b.set(out, kept);
                self.b.close();
                out
            }
            _ => return Err(broken(format!("{:?} has {} operands", node.op, src.len()))),
        })
    }
    /// The quotient, rounded down, and what is left. The divisor is positive wherever the result is used; it may be 0 where
    /// it is not.
    fn divide(&mut self, a: UOp, d: UOp, x: Reg, y: Reg) -> (Reg, Reg) {
        let arena = &self.kernel.uops;
        let bounds = arena.bounds(a);
        let ty = self.b.ty(x);
        let number =
            |e: &mut Self, v: i64| e.b.constant(ty, if ty.dtype == DType::I32 { v as u32 as u64 } else { v as u64 });
        let known = arena.as_index(d);
        if let Some(n) = known.filter(|n| *n > 0 && n.count_ones() == 1) {
            let (count, mask) = (number(self, n.trailing_zeros().into()), number(self, n - 1));
            return (self.b.alu(Alu::Sar, &[x, count]), self.b.alu(Alu::And, &[x, mask]));
        }
        let quotient = match known {
            // A product with a rounded reciprocal is exact for numbers of 31 bits.
            Some(n) if n > 2 && n < 1 << 31 && bounds.min >= 0 && bounds.max < 1 << 31 => {
                let shift = 31 + i64::from(64 - (n - 1).leading_zeros());
                let times = ((1i128 << shift) + i128::from(n) - 1) / i128::from(n);
                if ty.dtype == DType::I32 {
                    let x = self.b.bitcast(DType::U32, x);
                    let times = self.b.constant(ty.with(DType::U32), times as u64);
                    let shift = self.b.constant(ty.with(DType::U32), shift as u64 - 32);
                    let p = self.b.alu(Alu::MulHigh, &[x, times]);
                    let p = self.b.alu(Alu::Shr, &[p, shift]);
                    self.b.bitcast(DType::I32, p)
                } else {
                    let (times, shift) = (number(self, times as i64), number(self, shift));
                    let p = self.b.alu(Alu::Mul, &[x, times]);
                    self.b.alu(Alu::Shr, &[p, shift])
                }
            }
            _ => {
                let one = number(self, 1);
                let y = if known.is_some_and(|n| n > 0) { y } else { self.b.alu(Alu::Max, &[y, one]) };
                let x = if bounds.min >= 0 {
                    x
                } else {
                    let zero = number(self, 0);
                    let below = self.b.alu(Alu::Lt, &[x, zero]);
                    let less = self.b.alu(Alu::Sub, &[y, one]);
                    let down = self.b.alu(Alu::Sub, &[x, less]);
                    self.b.select(below, down, x)
                };
                self.b.alu(Alu::IntDiv, &[x, y])
            }
        };
        let back = self.b.alu(Alu::Mul, &[quotient, y]);
        (quotient, self.b.alu(Alu::Sub, &[x, back]))
    }
    fn load(&mut self, u: UOp, row: usize, column: usize, lanes: u8) -> Result<Reg, OpError> {
        let kernel = self.kernel;
        let node = kernel.uops.get(u);
        let ty = Ty { lanes, ..node.ty };
        let from = pointer(kernel, node.src[0], |_| ())?;
        let (index, gate) = match *node.src {
            [_, index] => (index, None),
            [_, index, gate, otherwise] => (index, Some((gate, otherwise))),
            _ => return Err(broken("a load has 2 or 4 operands")),
        };
        let varying = gate.is_some_and(|(g, _)| self.varies(g));
        let address = if varying { None } else { self.address(index, row, column)? };
        let Some(Address { index: at, offset, stride }) = address else {
            let index = self.indices(index, row, column)?;
            let gate = match gate {
                Some((g, o)) => Some((self.get(g, row, column, lanes)?, self.get(o, row, column, lanes)?)),
                None => None,
            };
            let dst = self.b.reg(ty);
            self.b.push(Inst::Gather { dst, from, index, gate });
            return Ok(dst);
        };
        let Some((gate, otherwise)) = gate else { return Ok(self.b.load(ty, from, at, offset, stride)) };
        let gate = self.get(gate, row, 0, 1)?;
        let otherwise = self.get(otherwise, row, column, lanes)?;
        let out = self.b.variable(otherwise);
        self.b.open_if(gate);
        let loaded = self.b.load(ty, from, at, offset, stride);
        self.b.set(out, loaded);
        self.b.close();
        Ok(out)
    }
    /// Writes a store for every copy.
    pub fn store(&mut self, u: UOp) -> Result<(), OpError> {
        let (rows, columns) = self.shape(u);
        for row in 0..rows {
            for column in 0..columns {
                self.store_copy(u, row, column)?;
            }
        }
        Ok(())
    }
    fn store_copy(&mut self, u: UOp, row: usize, column: usize) -> Result<(), OpError> {
        let kernel = self.kernel;
        let src = kernel.uops.src(u);
        let to: Memory = pointer(kernel, src[0], |_| ())?;
        let (index, value, gate) = match *src {
            [_, index, value] => (index, value, None),
            [_, index, value, gate] => (index, value, Some(gate)),
            _ => return Err(broken("a store has 3 or 4 operands")),
        };
        let lanes = if self.varies(u) { self.axes.lanes } else { 1 };
        let varying = gate.is_some_and(|g| self.varies(g));
        let address = if varying { None } else { self.address(index, row, column)? };
        let src = self.get(value, row, column, lanes)?;
        let Some(Address { index: at, offset, stride }) = address else {
            let index = self.indices(index, row, column)?;
            let gate = match gate {
                Some(g) => Some(self.get(g, row, column, lanes)?),
                None => None,
            };
            self.b.push(Inst::Scatter { to, index, src, gate });
            return Ok(());
        };
        let gate = match gate {
            Some(g) => Some(self.get(g, row, 0, 1)?),
            None => None,
        };
        if let Some(g) = gate {
            self.b.open_if(g);
        }
        self.b.store(to, at, offset, stride, src);
        if gate.is_some() {
            self.b.close();
        }
        Ok(())
    }
    /// What stands in a block before its inner loop, and its stores where it has no inner loop.
    pub fn all(&mut self, block: BlockId) -> Result<(), OpError> {
        let nest = self.nest;
        let b = &nest.blocks[block];
        let copies = self.axes.copies * self.axes.unroll;
        let after = b.items.iter().rposition(|i| matches!(i, Item::Loop(_))).map_or(0, |k| k + 1);
        if b.inner.is_some() || copies <= 2 || (after == 0 && self.axes.copies == 1) {
            self.items(&b.items)?;
            if b.inner.is_none() {
                for &s in &b.stores {
                    self.store(s)?;
                }
            }
            return Ok(());
        }
        self.items(&b.items[..after])?;
        self.few_at_a_time(&b.items[after..], &b.stores)
    }
    /// Nodes and stores, but for all copies of some nodes, all nodes for some copies: there are not enough registers for more.
    fn few_at_a_time(&mut self, items: &[Item], stores: &[UOp]) -> Result<(), OpError> {
        const SOME: usize = 2;
        let mut nodes: Vec<UOp> = Vec::with_capacity(items.len());
        for &i in items {
            let Item::Node(u) = i else { continue };
            if matches!(self.kernel.uops.op(u), Op::Const(_)) || self.late(u) {
                continue;
            }
            let (rows, columns) = self.shape(u);
            let all: SmallVec<[Reg; 16]> = SmallVec::from_elem(Reg(u32::MAX), rows * columns);
            self.set(u, &all, columns);
            nodes.push(u);
        }
        let rows = if self.axes.tile.is_some() { self.axes.copies } else { 1 };
        let columns = if self.axes.vector.is_some() { self.axes.unroll } else { 1 };
        for row in 0..rows {
            for first in (0..columns).step_by(SOME) {
                let some = first..columns.min(first + SOME);
                for &u in &nodes {
                    let (r, c) = self.shape(u);
                    if row >= r {
                        continue;
                    }
                    for column in some.clone().filter(|k| *k < c) {
                        let reg = self.copy(u, row, column)?;
                        let at = self.vals[u.index()].first as usize + row * c + column;
                        self.pool[at] = reg;
                    }
                }
                for &s in stores {
                    let (r, c) = self.shape(s);
                    if row < r {
                        for column in some.clone().filter(|k| *k < c) {
                            self.store_copy(s, row, column)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
    /// How an index moves along the range of lanes.
    pub fn step(&self, index: UOp, range: UOp) -> Step {
        self.sums.step(&self.kernel.uops, index, range)
    }
    /// What stands in a block, in order.
    pub fn items(&mut self, items: &[Item]) -> Result<(), OpError> {
        for &item in items {
            match item {
                Item::Node(u) => self.node(u)?,
                Item::Loop(b) => self.group(b)?,
            }
        }
        Ok(())
    }
}
