//! Recipes become kernels: numbers choose among the registers that there are, indices stay within memory, and ops get the
//! operands that they ask for.

use super::case::Case;
use super::memory::{Random, Region, mask, patterns};
use super::recipe::{Kind, Recipe, Spot, Stmt, Variable};
use crate::lir::{Inst, Lir, Memory, Reg, Size, Stride, takes};
use crate::render::{Target, library};
use crate::uop::{Alu, LibFn, Ty};
use evoxc_core::DType;
use evoxc_ir::{Binary, Unary};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The dtypes that memory and registers have.
pub(super) const DTYPES: [DType; 13] = [
    DType::F32,
    DType::I32,
    DType::F64,
    DType::I64,
    DType::BOOL,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
];
/// Indices are from 0 to below this.
const INDEX: i64 = 32;
/// Elements before the one that is pointed to, and those from it on: indices, offsets and strides reach no further.
const BELOW: usize = 160;
const ABOVE: usize = 192;
const FAR: i64 = 1 << 33;

/// The library's functions.
pub(super) fn functions() -> Vec<LibFn> {
    let unary = Unary::ALL.iter().flat_map(|&op| [true, false].map(|single| LibFn::Unary(op, single)));
    let binary = Binary::ALL.iter().flat_map(|&op| [true, false].map(|single| LibFn::Binary(op, single)));
    unary.chain(binary).filter(|&f| library::entry(f).is_some()).collect()
}

/// The kernel of a recipe, with memory for it.
pub(super) fn build(recipe: &Recipe, target: &Target) -> Case {
    let lanes = match recipe.half {
        true if recipe.seed.is_multiple_of(2) => target.lanes / 2,
        true => (target.lanes / 4).max(target.lanes.min(4)),
        false => target.lanes,
    };
    let mut b = Builder {
        recipe,
        target,
        lanes: if lanes < 4 { target.lanes } else { lanes },
        regs: vec![],
        body: vec![],
        buffers: vec![],
        memory: FxHashMap::default(),
        scratch: vec![],
        pool: FxHashMap::default(),
        made: vec![],
        indices: vec![],
        variables: vec![],
        read: vec![],
        stores: 0,
        depth: 0,
        functions: functions(),
    };
    b.kernel();
    let mut random = Random(recipe.seed);
    let mut regions = |dtypes: &[DType]| -> Vec<Region> {
        dtypes
            .iter()
            .map(|&dtype| {
                let edges = patterns(dtype);
                let misaligned = [0, 32, dtype.size(), (random.next() % 64) as usize][(random.next() % 4) as usize];
                let bits = (0..BELOW + ABOVE).map(|_| random.element(dtype, &edges)).collect();
                Region { dtype, misaligned, below: BELOW, bits }
            })
            .collect()
    };
    let (buffers, scratch) = (regions(&b.buffers), regions(&b.scratch));
    let extent = i64::from(recipe.extent);
    let split = i64::from(recipe.split) % (extent + 1);
    // A split in the middle of a vector would be no division of the loop.
    let split = if recipe.by_lanes { split / 8 * 8 } else { split };
    let len = Size::Const((BELOW + ABOVE) as i64);
    Case {
        name: String::new(),
        lir: Lir {
            buffers: b.buffers,
            scratch: b.scratch.into_iter().map(|dtype| (dtype, len.clone())).collect(),
            params: 2,
            extent: Size::Const(extent),
            grain: Size::Const(1),
            regs: b.regs,
            body: b.body,
        },
        buffers,
        scratch,
        params: recipe.params.map(i64::from).to_vec(),
        calls: vec![(0, split), (split, extent)],
    }
}

struct Builder<'a> {
    recipe: &'a Recipe,
    target: &'a Target,
    /// Lanes of vectors here; 1 where there are none.
    lanes: u8,
    regs: Vec<Ty>,
    body: Vec<Inst>,
    buffers: Vec<DType>,
    /// Memory by dtype and use: loaded (0), stored (1), both (2).
    memory: FxHashMap<(DType, u8), Memory>,
    scratch: Vec<DType>,
    /// What can be read here, by type.
    pool: FxHashMap<Ty, Vec<Reg>>,
    /// What went into the pool, in order.
    made: Vec<Reg>,
    /// Those of them that are indices.
    indices: Vec<Reg>,
    /// Registers that copies may write here.
    variables: Vec<Reg>,
    /// Has it been read?
    read: Vec<bool>,
    stores: i64,
    depth: u32,
    functions: Vec<LibFn>,
}

/// What was in scope when a loop or condition began.
struct Scope {
    made: usize,
    indices: usize,
    variables: usize,
}

impl Builder<'_> {
    fn kernel(&mut self) {
        let (recipe, n) = (self.recipe, Ty::INDEX);
        let range = |b: &mut Self| (b.put(n, |dst| Inst::Begin { dst }), b.put(n, |dst| Inst::End { dst }));
        let first = (!recipe.late).then(|| range(self));
        for number in 0..2 {
            let param = self.put(n, |dst| Inst::Param { dst, number });
            self.indices.push(param);
        }
        self.stmts(&recipe.before);
        let (begin, end) = first.unwrap_or_else(|| range(self));
        let step = if recipe.by_lanes { i64::from(self.lanes) } else { 1 };
        let scope = self.open(begin, end, step);
        self.stmts(&recipe.body);
        self.close(scope, Inst::EndFor);
        self.stmts(&recipe.after);
        self.flush(0);
    }

    // Registers.

    fn new_reg(&mut self, ty: Ty) -> Reg {
        self.regs.push(ty);
        self.read.push(false);
        Reg(self.regs.len() as u32 - 1)
    }
    fn offer(&mut self, r: Reg) {
        self.pool.entry(self.regs[r.0 as usize]).or_default().push(r);
        self.made.push(r);
    }
    /// A new register, written by an instruction.
    fn put(&mut self, ty: Ty, inst: impl FnOnce(Reg) -> Inst) -> Reg {
        let dst = self.new_reg(ty);
        self.emit(inst(dst));
        self.offer(dst);
        dst
    }
    fn emit(&mut self, inst: Inst) {
        inst.for_each_src(|r| self.read[r.0 as usize] = true);
        self.body.push(inst);
    }
    fn constant(&mut self, ty: Ty, bits: u64) -> Reg {
        self.put(ty, |dst| Inst::Const { dst, bits: bits & mask(ty.dtype) })
    }
    fn alu(&mut self, op: Alu, src: &[Reg]) -> Reg {
        let of = self.regs[src[src.len() - 1].0 as usize];
        let ty = if op.is_comparison() { of.with(DType::BOOL) } else { of };
        let src: SmallVec<[Reg; 3]> = src.into();
        self.put(ty, |dst| Inst::Alu { dst, op, src })
    }
    fn pick(&mut self, ty: Ty, number: u16) -> Reg {
        match self.pool.get(&ty) {
            // One in eight is new.
            Some(all) if !all.is_empty() && number % 8 != 7 => all[all.len() - 1 - usize::from(number / 8) % all.len()],
            _ => match self.indices.last() {
                Some(&index) if number % 3 != 2 => {
                    let from = self.place(ty.dtype, 0);
                    self.put(ty, |dst| Inst::Load {
                        dst,
                        from,
                        index,
                        offset: i64::from(number % 40),
                        stride: Stride::One,
                    })
                }
                _ => self.constant(ty, patterns(ty.dtype)[usize::from(number) % 64]),
            },
        }
    }

    // Types.

    fn dtype(&self, number: u8) -> DType {
        let all = &self.recipe.dtypes;
        let own = all[usize::from(number) % all.len()];
        // One in four is any.
        DTYPES[usize::from(if number % 4 == 3 { number / 4 } else { own }) % DTYPES.len()]
    }
    fn vector(&self, dtype: DType) -> Option<Ty> {
        (self.lanes > 1 && (dtype.size() < 8 || self.lanes == 4)).then(|| Ty::vector(dtype, self.lanes))
    }
    fn ty_of(&self, dtype: DType, vector: bool) -> Ty {
        self.vector(dtype).filter(|_| vector).unwrap_or(Ty::scalar(dtype))
    }
    fn ty(&self, kind: Kind) -> Ty {
        self.ty_of(self.dtype(kind.dtype), kind.vector)
    }
    /// Has the target these ops on such values?
    fn can(&self, ops: &[Alu], ty: Ty) -> bool {
        ty.lanes == 1 || ops.iter().all(|&op| (self.target.alu)(op, ty.dtype))
    }

    // Memory.

    fn place(&mut self, dtype: DType, usage: u8) -> Memory {
        let list = if usage == 2 { &mut self.scratch } else { &mut self.buffers };
        *self.memory.entry((dtype, usage)).or_insert_with(|| {
            list.push(dtype);
            let number = list.len() as u32 - 1;
            if usage == 2 { Memory::Scratch(number) } else { Memory::Buffer(number) }
        })
    }
    fn index(&mut self, number: u16) -> Reg {
        match self.indices.len() {
            0 => self.constant(Ty::INDEX, u64::from(number) % INDEX as u64),
            n => self.indices[n - 1 - usize::from(number) % n],
        }
    }
    fn spot(&mut self, spot: Spot, stored: bool) -> (Reg, i64, Stride) {
        let mut index = self.index(spot.index);
        let mut offset = i64::from(spot.offset);
        if spot.far {
            let back = self.constant(Ty::INDEX, (-FAR) as u64);
            index = self.alu(Alu::Add, &[index, back]);
            offset += FAR;
        }
        let stride = match spot.stride {
            0 => Stride::One,
            n @ 1..128 => match i64::from(n % 11) - 5 {
                1 => Stride::One,
                0 if stored => Stride::Const(2),
                apart => Stride::Const(apart),
            },
            n => {
                let apart = self.pick(Ty::INDEX, u16::from(n));
                let (three, one) = (self.constant(Ty::INDEX, 3), self.constant(Ty::INDEX, 1));
                let mut apart = self.alu(Alu::And, &[apart, three]);
                if stored {
                    apart = self.alu(Alu::Or, &[apart, one]);
                }
                Stride::Reg(apart)
            }
        };
        (index, offset, stride)
    }
    /// Indices of as many lanes as `ty`, all of which are within memory where the gate that comes with them holds.
    fn spots(&mut self, ty: Ty, wide: bool, number: u16, gate: Option<u16>) -> Option<(Reg, Option<Reg>)> {
        let wide = wide && usize::from(ty.lanes) * 8 <= 32;
        let index = ty.with(if wide { DType::I64 } else { DType::I32 });
        let raw = self.pick(index, number);
        let Some(gate) = gate else {
            if !self.can(&[Alu::And], index) {
                return None;
            }
            let mask = self.constant(index, INDEX as u64 - 1);
            return Some((self.alu(Alu::And, &[raw, mask]), None));
        };
        if !self.can(&[Alu::Lt, Alu::Le], index) || !self.can(&[Alu::And], index.with(DType::BOOL)) {
            return None;
        }
        let (low, high) = (self.constant(index, 0), self.constant(index, INDEX as u64));
        let (a, b) = (self.alu(Alu::Le, &[low, raw]), self.alu(Alu::Lt, &[raw, high]));
        let mut inside = self.alu(Alu::And, &[a, b]);
        if gate % 2 == 1 {
            let also = self.pick(ty.with(DType::BOOL), gate);
            inside = self.alu(Alu::And, &[inside, also]);
        }
        Some((raw, Some(inside)))
    }

    // Scopes.

    fn scope(&self) -> Scope {
        Scope { made: self.made.len(), indices: self.indices.len(), variables: self.variables.len() }
    }
    fn open(&mut self, from: Reg, to: Reg, step: i64) -> Scope {
        let scope = self.scope();
        let var = self.put(Ty::INDEX, |var| Inst::For { var, from, to, step });
        self.indices.push(var);
        scope
    }
    fn close(&mut self, scope: Scope, inst: Inst) {
        self.flush(scope.made);
        self.emit(inst);
        for r in self.made.drain(scope.made..) {
            self.pool.get_mut(&self.regs[r.0 as usize]).and_then(Vec::pop);
        }
        self.indices.truncate(scope.indices);
        self.variables.truncate(scope.variables);
    }
    /// Stores what has been made since then and read by nothing, so that no fault stays hidden.
    fn flush(&mut self, since: usize) {
        for n in since..self.made.len() {
            let r = self.made[n];
            if !self.read[r.0 as usize] {
                let to = self.place(self.regs[r.0 as usize].dtype, 1);
                let index = self.index(0);
                self.stores += 5;
                self.emit(Inst::Store { to, index, offset: self.stores % 97 - 48, stride: Stride::One, src: r });
            }
        }
    }
    fn variables(&mut self, all: &[Variable]) -> Vec<Reg> {
        all.iter()
            .map(|v| {
                let ty = self.ty(v.kind);
                let src = self.pick(ty, v.first);
                let dst = self.put(ty, |dst| Inst::Copy { dst, src });
                self.variables.push(dst);
                dst
            })
            .collect()
    }
    fn update(&mut self, all: &[Variable], regs: &[Reg]) {
        for (v, &dst) in all.iter().zip(regs) {
            let ty = self.regs[dst.0 as usize];
            let by = self.pick(ty, v.by);
            let ops = [Alu::Add, Alu::Mul, Alu::Min, Alu::Max, Alu::Xor, Alu::Or, Alu::Sub];
            let op = ops[usize::from(v.op) % ops.len()];
            let src = if takes(op, ty.dtype) && self.can(&[op], ty) { self.alu(op, &[dst, by]) } else { by };
            self.emit(Inst::Copy { dst, src });
        }
    }

    // Statements.

    fn stmts(&mut self, all: &[Stmt]) {
        for stmt in all {
            // What has no form on this target is left out.
            self.stmt(stmt);
        }
    }
    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Const { kind, pattern } => {
                let ty = self.ty(*kind);
                self.constant(ty, patterns(ty.dtype)[usize::from(*pattern) % 64]);
            }
            Stmt::Alu { op, kind, src } => self.any_alu(Alu::ALL[usize::from(*op) % Alu::ALL.len()], *kind, *src),
            Stmt::Cast { from, to, src } => {
                let (mut from, to) = (self.ty(*from), self.dtype(*to));
                if from.lanes > 1 && (self.vector(to).is_none() || !(self.target.cast)(from.dtype, to)) {
                    from = Ty::scalar(from.dtype);
                }
                let src = self.pick(from, *src);
                self.put(from.with(to), |dst| Inst::Cast { dst, src });
            }
            Stmt::Bitcast { kind, to, src } => self.bitcast(self.ty(*kind), *to, *src)?,
            Stmt::Splat { dtype, src } => {
                let ty = self.vector(self.dtype(*dtype))?;
                let src = self.pick(Ty::scalar(ty.dtype), *src);
                self.put(ty, |dst| Inst::Splat { dst, src });
            }
            Stmt::Extract { dtype, src, lane } => {
                let ty = self.vector(self.dtype(*dtype))?;
                let src = self.pick(ty, *src);
                let (mut src, mut ty) = (src, ty);
                if ty.lanes == 16 && lane % 2 == 0 {
                    ty.lanes = 8;
                    let whole = src;
                    src = self.put(ty, |dst| Inst::Extract { dst, src: whole, lane: lane / 2 % 2 * 8 });
                }
                self.put(Ty::scalar(ty.dtype), |dst| Inst::Extract { dst, src, lane: lane % ty.lanes });
            }
            Stmt::Across { dtype, op, src } => {
                let ty = self.vector(self.dtype(*dtype))?;
                let all = [Alu::Add, Alu::Mul, Alu::Min, Alu::Max, Alu::And, Alu::Or, Alu::Xor];
                let all: Vec<Alu> = all.into_iter().filter(|&op| takes(op, ty.dtype) && self.can(&[op], ty)).collect();
                let op = *all.get(usize::from(*op) % all.len().max(1))?;
                let src = self.pick(ty, *src);
                self.put(Ty::scalar(ty.dtype), |dst| Inst::Across { dst, op, src });
            }
            Stmt::Lanes { wide } => {
                let ty = self.vector(if *wide { DType::I64 } else { DType::I32 })?;
                self.put(ty, |dst| Inst::Lanes { dst });
            }
            Stmt::Index { src } => {
                let (src, mask) = (self.pick(Ty::INDEX, *src), self.constant(Ty::INDEX, INDEX as u64 - 1));
                let index = self.alu(Alu::And, &[src, mask]);
                self.indices.push(index);
            }
            Stmt::Load { kind, spot } => {
                let ty = self.ty(*kind);
                let (index, offset, stride) = self.spot(*spot, false);
                let from = self.place(ty.dtype, if spot.scratch { 2 } else { 0 });
                self.put(ty, |dst| Inst::Load { dst, from, index, offset, stride });
            }
            Stmt::Store { kind, src, spot } => {
                let ty = self.ty(*kind);
                let src = self.pick(ty, *src);
                let (index, offset, stride) = self.spot(*spot, true);
                let to = self.place(ty.dtype, if spot.scratch { 2 } else { 1 });
                self.emit(Inst::Store { to, index, offset, stride, src });
            }
            Stmt::Gather { kind, wide, scratch, index, gate } => {
                let ty = self.ty(*kind);
                let (index, inside) = self.spots(ty, *wide, *index, gate.map(|(gate, _)| gate))?;
                let from = self.place(ty.dtype, if *scratch { 2 } else { 0 });
                let gate = match (inside, gate) {
                    (Some(inside), Some((_, otherwise))) => Some((inside, self.pick(ty, *otherwise))),
                    _ => None,
                };
                self.put(ty, |dst| Inst::Gather { dst, from, index, gate });
            }
            Stmt::Scatter { kind, wide, scratch, index, src, gate } => {
                let ty = self.ty(*kind);
                let src = self.pick(ty, *src);
                let (index, gate) = self.spots(ty, *wide, *index, *gate)?;
                let to = self.place(ty.dtype, if *scratch { 2 } else { 1 });
                self.emit(Inst::Scatter { to, index, src, gate });
            }
            Stmt::Call { function, vector, src } => {
                let function = self.functions[usize::from(*function) % self.functions.len()];
                let (LibFn::Unary(_, single) | LibFn::Binary(_, single)) = function;
                let ty = self.ty_of(if single { DType::F32 } else { DType::F64 }, *vector);
                let src = src[..function.arity()].iter().map(|&n| self.pick(ty, n)).collect();
                self.put(ty, |dst| Inst::Call { dst, function, src });
            }
            Stmt::Assign { variable, src } => {
                let dst = *self.variables.get(usize::from(*variable) % self.variables.len().max(1))?;
                let src = self.pick(self.regs[dst.0 as usize], *src);
                self.emit(Inst::Copy { dst, src });
            }
            Stmt::Loop { from, to, step, other_lanes, variables, body } => {
                if self.depth > 2 {
                    return None;
                }
                let lanes = self.lanes;
                if *other_lanes && self.target.lanes >= 8 && self.depth == 0 {
                    self.lanes = if lanes == 4 { self.target.lanes } else { lanes / 2 };
                }
                let regs = self.variables(variables);
                let from = self.constant(Ty::INDEX, u64::from(*from));
                let mut limit = self.constant(Ty::INDEX, u64::from(*to));
                if *to > 8 {
                    // As many as a parameter says.
                    let (mask, param) = (self.constant(Ty::INDEX, 7), self.indices[0]);
                    limit = self.alu(Alu::And, &[param, mask]);
                }
                let scope = self.open(from, limit, i64::from(*step) + 1);
                self.depth += 1;
                self.stmts(body);
                self.update(variables, &regs);
                self.depth -= 1;
                self.close(scope, Inst::EndFor);
                self.lanes = lanes;
            }
            Stmt::If { condition, variables, body } => {
                let regs = self.variables(variables);
                let condition = self.pick(Ty::scalar(DType::BOOL), *condition);
                let scope = self.scope();
                self.emit(Inst::If { condition });
                self.depth += 1;
                self.stmts(body);
                self.update(variables, &regs);
                self.depth -= 1;
                self.close(scope, Inst::EndIf);
            }
        }
        Some(())
    }

    fn any_alu(&mut self, op: Alu, kind: Kind, src: [u16; 3]) {
        let mut dtype = self.dtype(kind.dtype);
        if !takes(op, dtype) {
            let all: Vec<DType> = DTYPES.into_iter().filter(|&d| takes(op, d)).collect();
            dtype = all[usize::from(kind.dtype) % all.len()];
        }
        let mut ty = self.ty_of(dtype, kind.vector);
        if !self.can(&[op], ty) {
            ty = Ty::scalar(dtype);
        }
        let mut regs: SmallVec<[Reg; 3]> = smallvec![];
        for (n, &number) in src[..op.arity()].iter().enumerate() {
            let of = if op == Alu::Select && n == 0 { ty.with(DType::BOOL) } else { ty };
            regs.push(self.pick(of, number));
        }
        let limited = match op {
            Alu::Shl | Alu::Shr | Alu::Sar => Some((8 * dtype.size() as u64 - 1, 0)),
            Alu::IntDiv | Alu::IntRem => {
                let signed = matches!(dtype, DType::I32 | DType::I64);
                Some((if signed { mask(dtype) >> 1 } else { mask(dtype) }, 1))
            }
            _ => None,
        };
        if let Some((and, or)) = limited {
            if self.can(&[Alu::And, Alu::Or], ty) {
                let (and, or) = (self.constant(ty, and), self.constant(ty, or));
                let masked = self.alu(Alu::And, &[regs[1], and]);
                regs[1] = self.alu(Alu::Or, &[masked, or]);
            } else {
                regs[1] = self.constant(ty, 3);
            }
        }
        self.alu(op, &regs);
    }

    fn bitcast(&mut self, mut ty: Ty, to: u8, src: u16) -> Option<()> {
        if ty.dtype == DType::BOOL {
            return None;
        }
        let same: Vec<DType> =
            DTYPES.into_iter().filter(|d| d.size() == ty.dtype.size() && *d != DType::BOOL).collect();
        let to = same[usize::from(to) % same.len()];
        let src = match ty.dtype {
            // The bits of NaN that ops give are no one's promise: they become those of one NaN.
            DType::F32 | DType::F64 => {
                if !self.can(&[Alu::Ne, Alu::Select], ty) {
                    ty = Ty::scalar(ty.dtype);
                }
                let x = self.pick(ty, src);
                let nan = if ty.dtype == DType::F32 { f32::NAN.to_bits().into() } else { f64::NAN.to_bits() };
                let (nan, not) = (self.constant(ty, nan), self.alu(Alu::Ne, &[x, x]));
                self.alu(Alu::Select, &[not, nan, x])
            }
            DType::F16 | DType::BF16 => {
                let (index, from) = (self.index(src), self.place(ty.dtype, 0));
                self.put(ty, |dst| Inst::Load { dst, from, index, offset: 1, stride: Stride::One })
            }
            _ => self.pick(ty, src),
        };
        self.put(ty.with(to), |dst| Inst::Bitcast { dst, src });
        Some(())
    }
}
