//! LIR becomes [`Mir`]: instruction selection. What the machine lacks is composed of what it has.

use super::codes::*;
use super::mir::*;
use super::stream::Streams;
use crate::lir::{Inst, Lir, Memory, Reg};
use crate::uop::{Alu, LibFn, Ty, alu, cast};
use evoxc_core::{BackendError, DType, OpError, Result};
use iced_x86::Code;
use rustc_hash::FxHashMap;

/// Registers that a function is given: the pointer to pointers of buffers, to parameters, to pointers of scratch memory,
/// and the range of iterations. Those are the first virtual registers.
pub const ARGUMENTS: u32 = 5;

pub(super) struct Select<'a> {
    pub lir: &'a Lir,
    pub m: Mir,
    /// The register of each of the LIR's.
    pub map: Vec<V>,
    /// Of an `i64` that is another one plus a constant: that.
    pub sums: FxHashMap<V, (V, i64)>,
    /// Of a bool, its mask in lanes of so many bytes.
    pub masks: FxHashMap<V, (V, u8)>,
    /// Of an integer that is the bits of a float, or made of such, the same in a vector register.
    pub twins: FxHashMap<V, V>,
    /// Of 16-bit lanes, the vector of them side by side.
    pub packed: FxHashMap<V, V>,
    /// Of a mask that a comparison of vectors of 64 bytes made: that comparison.
    pub tests: FxHashMap<V, Mi>,
    /// Of a bool that says whether a lane of a mask holds, the mask.
    pub anys: FxHashMap<V, V>,
    /// Loads that a block of loads before them has done: by the number of their instruction.
    pub loaded: FxHashMap<usize, V>,
    /// The number of the instruction.
    pub at: usize,
    /// Which stores go past the caches.
    pub streams: Option<&'a Streams>,
    pub constants: FxHashMap<(u64, u8, Class, u8), V>,
    pub tables: FxHashMap<([u8; 64], u8), V>,
    pub buffers: Vec<V>,
    pub scratch: Vec<V>,
    pub params: Vec<V>,
    pub functions: Vec<LibFn>,
    /// Forms of values that were made in an inner block, and where the blocks begin: they end with it.
    pub lazy: Vec<V>,
    pub blocks: Vec<usize>,
    /// Variables of open loops.
    pub open: Vec<(V, V, i64)>,
}

/// The functions that a kernel calls, in the order of first appearance: the order of its table of addresses.
pub fn functions(lir: &Lir) -> Vec<LibFn> {
    let mut out = vec![];
    for inst in &lir.body {
        if let Inst::Call { function, .. } = inst
            && !out.contains(function)
        {
            out.push(*function);
        }
    }
    out
}

/// What breaks the form.
pub fn malformed(what: impl std::fmt::Display) -> evoxc_core::Error {
    BackendError { backend: "native".into(), op: OpError::new("x86-64", what.to_string()) }.into()
}

/// Is it a float that scalars hold in vector registers?
pub fn is_xfloat(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// Bytes of a lane in a vector register.
pub fn lane(dtype: DType) -> u8 {
    if dtype.size() == 8 { 8 } else { 4 }
}

/// Is it an integer with a sign?
pub fn is_signed(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// What an element is in a 32 or 64 bit lane.
pub fn extended(dtype: DType, bits: u64) -> u64 {
    match dtype {
        DType::I8 => bits as i8 as u32 as u64,
        DType::I16 => bits as i16 as u32 as u64,
        DType::U8 => bits as u8 as u64,
        DType::U16 | DType::F16 | DType::BF16 => bits as u16 as u64,
        DType::BOOL => u64::from(bits != 0),
        DType::I32 | DType::U32 | DType::F32 => bits as u32 as u64,
        DType::I64 | DType::U64 | DType::F64 | DType::C64 | DType::C128 => bits,
    }
}

impl<'a> Select<'a> {
    pub fn new(lir: &'a Lir) -> Select<'a> {
        let n = lir.body.len();
        let mut m = Mir::default();
        m.code.reserve(n * 2);
        m.regs.reserve(n * 2);
        m.uses.reserve(n * 2);
        for _ in 0..ARGUMENTS {
            m.fresh(Class::G, 8);
        }
        Select {
            lir,
            m,
            map: vec![NONE; lir.regs.len()],
            sums: FxHashMap::default(),
            masks: FxHashMap::default(),
            twins: FxHashMap::default(),
            packed: FxHashMap::default(),
            tests: FxHashMap::default(),
            anys: FxHashMap::default(),
            loaded: FxHashMap::default(),
            at: 0,
            streams: None,
            constants: FxHashMap::default(),
            tables: FxHashMap::default(),
            buffers: vec![NONE; lir.buffers.len()],
            scratch: vec![NONE; lir.scratch.len()],
            params: vec![NONE; lir.params as usize],
            functions: functions(lir),
            lazy: vec![],
            blocks: vec![],
            open: vec![],
        }
    }

    fn enter(&mut self) {
        self.blocks.push(self.lazy.len());
    }
    fn leave(&mut self) {
        let start = self.blocks.pop().unwrap_or(0);
        for v in self.lazy.drain(start.min(self.lazy.len())..) {
            self.masks.remove(&v);
            self.packed.remove(&v);
        }
    }

    pub fn ty(&self, r: Reg) -> Result<Ty> {
        self.lir.regs.get(r.0 as usize).copied().ok_or_else(|| malformed(format_args!("no register {}", r.0)))
    }

    /// The class and the width of a type.
    pub fn place(ty: Ty) -> Result<(Class, u8)> {
        if ty.pointer || matches!(ty.dtype, DType::C64 | DType::C128) {
            return Err(malformed(format_args!("registers of {ty}")));
        }
        match ty.lanes {
            1 if is_xfloat(ty.dtype) => Ok((Class::X, 16)),
            1 => Ok((Class::G, lane(ty.dtype))),
            4 => Ok((Class::X, 4 * lane(ty.dtype))),
            8 if lane(ty.dtype) == 4 => Ok((Class::X, 32)),
            16 if lane(ty.dtype) == 4 => Ok((Class::X, 64)),
            _ => Err(malformed(format_args!("registers of {ty}"))),
        }
    }

    /// What a register holds.
    pub fn get(&self, r: Reg) -> Result<V> {
        match self.map.get(r.0 as usize) {
            Some(v) if *v != NONE => Ok(*v),
            _ => Err(malformed(format_args!("register {} is read before it is written", r.0))),
        }
    }

    pub fn set(&mut self, r: Reg, v: V) -> Result<()> {
        let slot = self.map.get_mut(r.0 as usize).ok_or_else(|| malformed("no such register"))?;
        if *slot != NONE {
            return Err(malformed(format_args!("register {} is written twice", r.0)));
        }
        *slot = v;
        Ok(())
    }

    pub fn width(&self, v: V) -> u8 {
        self.m.regs[v as usize].width
    }

    // Constants.

    /// The same bits in elements of `size` bytes.
    pub fn cx(&mut self, bits: u64, size: u8, width: u8) -> V {
        let m = &mut self.m;
        *self
            .constants
            .entry((bits, size, Class::X, width))
            .or_insert_with(|| m.constant(Class::X, width, Constant::Splat(bits, size)))
    }
    /// An integer.
    pub fn cg(&mut self, value: i64, width: u8) -> V {
        let m = &mut self.m;
        *self
            .constants
            .entry((value as u64, width, Class::G, width))
            .or_insert_with(|| m.constant(Class::G, width, Constant::Splat(value as u64, width)))
    }
    pub fn ct(&mut self, table: [u8; 64], width: u8) -> V {
        let m = &mut self.m;
        *self.tables.entry((table, width)).or_insert_with(|| {
            m.tables.push(table);
            let number = (m.tables.len() - 1) as u32;
            m.constant(Class::X, width, Constant::Table(number))
        })
    }
    /// A constant's value, of integers.
    pub fn integer(&self, v: V) -> Option<i64> {
        let info = &self.m.regs[v as usize];
        match (info.class, info.constant) {
            (Class::G, Some(Constant::Splat(bits, 8))) => Some(bits as i64),
            (Class::G, Some(Constant::Splat(bits, _))) => Some(bits as u32 as i32 as i64),
            _ => None,
        }
    }
    pub fn immediate(&self, v: V) -> Option<i32> {
        self.integer(v).and_then(|i| i32::try_from(i).ok())
    }

    // Instructions.

    pub fn x2(&mut self, code: Code, w: u8, width: u8, s: V) -> V {
        self.x2i(code, w, width, s, -1)
    }
    pub fn x2i(&mut self, code: Code, w: u8, width: u8, s: V, imm: i32) -> V {
        let d = self.m.fresh(Class::X, width);
        self.m.push(Mi { d, s: [NONE, s, NONE], imm, ..Mi::new(Op::X2(code), w) });
        d
    }
    pub fn x3(&mut self, code: Code, w: u8, a: V, b: V) -> V {
        self.x3i(code, w, a, b, -1)
    }
    /// The result is as wide as the first operand.
    pub fn x3i(&mut self, code: Code, w: u8, a: V, b: V, imm: i32) -> V {
        let d = self.m.fresh(Class::X, self.width(a));
        self.m.push(Mi { d, s: [a, b, NONE], imm, ..Mi::new(self.of_three(code, w), w) });
        self.note_test(d);
        d
    }
    pub fn x3c(&mut self, code: Code, w: u8, a: V, b: V) -> V {
        let d = self.m.fresh(Class::X, self.width(a));
        let constant = self.m.regs[a as usize].constant.is_some();
        let (a, b) = if constant { (b, a) } else { (a, b) };
        self.m.push(Mi { d, s: [a, b, NONE], commutes: true, ..Mi::new(self.of_three(code, w), w) });
        self.note_test(d);
        d
    }
    fn of_three(&self, code: Code, w: u8) -> Op {
        if w == 64 && makes_mask(code) { Op::XMask(code) } else { Op::X3(code) }
    }
    /// Comparisons are done again where their masks are asked for: that takes no longer than to get them out of vectors.
    fn note_test(&mut self, d: V) {
        if let Some(mi) = self.m.code.last()
            && let Op::XMask(code) = mi.op
            && mi.s[..2].iter().all(|v| self.m.regs[*v as usize].single)
        {
            self.tests.insert(d, Mi { op: Op::XTest(code), d: NONE, ..*mi });
        }
    }
    /// The mask of a vector where the next instruction finds it, or else the vector.
    fn tested(&mut self, mask: V) -> V {
        match self.tests.get(&mask) {
            Some(test) => {
                self.m.push(*test);
                NONE
            }
            None => mask,
        }
    }
    /// Of a pair, as wide as the operands.
    pub fn p3(&mut self, p: P, a: V, b: V) -> V {
        let w = self.width(a);
        self.x3(p.at(w), w, a, b)
    }
    pub fn p3c(&mut self, p: P, a: V, b: V) -> V {
        let w = self.width(a);
        self.x3c(p.at(w), w, a, b)
    }
    pub fn p3i(&mut self, p: P, a: V, b: V, imm: i32) -> V {
        let w = self.width(a);
        self.x3i(p.at(w), w, a, b, imm)
    }
    pub fn p2(&mut self, p: P, a: V) -> V {
        let w = self.width(a);
        self.x2(p.at(w), w, w, a)
    }
    pub fn p2i(&mut self, p: P, a: V, imm: i32) -> V {
        let w = self.width(a);
        self.x2i(p.at(w), w, w, a, imm)
    }
    /// Shifts by a number: these take no memory.
    pub fn shift(&mut self, p: P, a: V, count: i32) -> V {
        let w = self.width(a);
        let d = self.m.fresh(Class::X, w);
        self.m.push(Mi { d, s: [a, NONE, NONE], imm: count, ..Mi::new(Op::R2(p.at(w)), w) });
        d
    }
    /// `mask ? yes : no`, by the sign bits of lanes of `size` bytes.
    pub fn blend(&mut self, size: u8, mask: V, yes: V, no: V) -> V {
        let w = self.width(no);
        let d = self.m.fresh(Class::X, w);
        let p = if size == 8 { BLENDVPD } else { BLENDVPS };
        let (op, mask) = if w == 64 { (Op::XBlend, self.tested(mask)) } else { (Op::X4(p.at(w)), mask) };
        self.m.push(Mi { d, s: [no, yes, mask], ..Mi::new(op, w) });
        d
    }
    pub fn zero(&mut self, width: u8) -> V {
        self.cx(0, 4, width)
    }
    pub fn ones(&mut self, width: u8) -> V {
        self.cx(0xffff_ffff, 4, width)
    }
    pub fn not(&mut self, a: V) -> V {
        let ones = self.ones(self.width(a));
        self.p3c(PXOR, a, ones)
    }
    /// Registers to registers of either class.
    pub fn r2(&mut self, code: Code, class: Class, width: u8, s: V, imm: i32) -> V {
        let d = self.m.fresh(class, width);
        self.m.push(Mi { d, s: [s, NONE, NONE], imm, ..Mi::new(Op::R2(code), width) });
        d
    }
    /// An integer register from what may be memory.
    pub fn g2(&mut self, code: Code, w: u8, width: u8, s: V) -> V {
        let d = self.m.fresh(Class::G, width);
        self.m.push(Mi { d, s: [NONE, s, NONE], ..Mi::new(Op::X2(code), w) });
        d
    }
    pub fn g3(&mut self, op: G, w: u8, a: V, b: V) -> V {
        let (mut a, mut b) = (a, b);
        if op != G::Sub && self.immediate(a).is_some() {
            (a, b) = (b, a);
        }
        let d = self.m.fresh(Class::G, w);
        let mut mi = Mi { d, s: [a, b, NONE], commutes: op != G::Sub, ..Mi::new(Op::G3(op), w) };
        if let Some(imm) = self.immediate(b) {
            mi.s[1] = NONE;
            mi.imm = imm;
        }
        self.m.push(mi);
        d
    }
    pub fn g3i(&mut self, op: G, w: u8, a: V, imm: i32) -> V {
        let d = self.m.fresh(Class::G, w);
        self.m.push(Mi { d, s: [a, NONE, NONE], imm, ..Mi::new(Op::G3(op), w) });
        d
    }
    pub fn gshift(&mut self, op: Shift, w: u8, a: V, b: V) -> V {
        let d = self.m.fresh(Class::G, w);
        let mut mi = Mi { d, s: [a, b, NONE], ..Mi::new(Op::GShift(op), w) };
        if let Some(imm) = self.immediate(b) {
            mi.s[1] = NONE;
            mi.imm = imm & (w as i32 * 8 - 1);
        }
        self.m.push(mi);
        d
    }
    pub fn gshifti(&mut self, op: Shift, w: u8, a: V, imm: i32) -> V {
        let d = self.m.fresh(Class::G, w);
        self.m.push(Mi { d, s: [a, NONE, NONE], imm, ..Mi::new(Op::GShift(op), w) });
        d
    }
    pub fn g1(&mut self, op: Op, w: u8, a: V) -> V {
        let d = self.m.fresh(Class::G, w);
        self.m.push(Mi { d, s: [a, NONE, NONE], ..Mi::new(op, w) });
        d
    }
    pub fn gcmp(&mut self, cc: Cc, w: u8, a: V, b: V) -> V {
        let d = self.m.fresh(Class::G, 4);
        let mut mi = Mi { d, s: [a, b, NONE], ..Mi::new(Op::GCmp(cc), w) };
        if let Some(imm) = self.immediate(b) {
            mi.s[1] = NONE;
            mi.imm = imm;
        }
        self.m.push(mi);
        d
    }
    pub fn gselect(&mut self, w: u8, c: V, yes: V, no: V) -> V {
        let d = self.m.fresh(Class::G, w);
        self.m.push(Mi { d, s: [c, yes, no], ..Mi::new(Op::GSelect, w) });
        d
    }
    /// The low lane of a vector register as an integer, and back.
    pub fn bits_of(&mut self, w: u8, s: V) -> V {
        let code = if w == 8 { Code::VEX_Vmovq_rm64_xmm } else { Code::VEX_Vmovd_rm32_xmm };
        self.r2(code, Class::G, w, s, -1)
    }
    pub fn of_bits(&mut self, w: u8, s: V) -> V {
        if let Some(i) = self.integer(s) {
            let bits = if w == 8 { i as u64 } else { i as u32 as u64 };
            return self.cx(bits, w, 16);
        }
        let code = if w == 8 { Code::VEX_Vmovq_xmm_rm64 } else { Code::VEX_Vmovd_xmm_rm32 };
        self.x2(code, w, 16, s)
    }
    /// The same value under another name, which must not change with it.
    pub fn same(&mut self, v: V) -> V {
        let info = self.m.regs[v as usize];
        if info.single {
            return v;
        }
        let d = self.m.fresh(info.class, info.width);
        self.m.push(Mi { d, s: [v, NONE, NONE], ..Mi::new(Op::Mov, info.width) });
        d
    }

    /// Lanes 0 to 7 and 8 to 15 of 16.
    pub fn halves(&mut self, v: V) -> (V, V) {
        if let Some(Constant::Splat(bits, size)) = self.m.regs[v as usize].constant {
            let half = self.cx(bits, size, 32);
            return (half, half);
        }
        let low = self.r2(Code::EVEX_Vmovaps_ymm_k1z_ymmm256, Class::X, 32, v, -1);
        (low, self.r2(Code::EVEX_Vextractf64x4_ymmm256_k1z_zmm_imm8, Class::X, 32, v, 1))
    }

    /// What is done on vectors of up to 32 bytes alone: twice where there are 16 lanes.
    pub fn by_halves(&mut self, ty: Ty, s: [V; 3], mut f: impl FnMut(&mut Self, Ty, [V; 3]) -> Result<V>) -> Result<V> {
        if ty.lanes < 16 {
            return f(self, ty, s);
        }
        let half = Ty { lanes: 8, ..ty };
        let (mut low, mut high) = (s, s);
        for i in 0..3 {
            if s[i] != NONE {
                (low[i], high[i]) = self.halves(s[i]);
            }
        }
        let (low, high) = (f(self, half, low)?, f(self, half, high)?);
        Ok(self.joined(low, high))
    }

    // The walk.

    pub fn run(mut self) -> Result<Mir> {
        self.entry()?;
        let lir = self.lir;
        for (at, inst) in lir.body.iter().enumerate() {
            self.at = at;
            self.inst(inst)?;
        }
        if !self.open.is_empty() {
            return Err(malformed("a loop without its end"));
        }
        self.m.functions = self.functions.len();
        Ok(self.m)
    }

    /// Everything that is given is loaded first, so that the registers of arguments are free early.
    fn entry(&mut self) -> Result<()> {
        let lir = self.lir;
        for inst in &lir.body {
            let (memory, param) = match inst {
                Inst::Load { from, .. } | Inst::Gather { from, .. } => (Some(*from), None),
                Inst::Store { to, .. } | Inst::Scatter { to, .. } => (Some(*to), None),
                Inst::Param { number, .. } => (None, Some(*number)),
                Inst::Copy { dst, .. } | Inst::For { var: dst, .. } => {
                    let (class, width) = Self::place(self.ty(*dst)?)?;
                    if self.map[dst.0 as usize] == NONE {
                        let v = self.m.fresh(class, width);
                        self.m.regs[v as usize].single = false;
                        self.map[dst.0 as usize] = v;
                    }
                    (None, None)
                }
                _ => (None, None),
            };
            let (argument, number, table) = match (memory, param) {
                (Some(Memory::Buffer(n)), _) => (0, n, &mut self.buffers),
                (Some(Memory::Scratch(n)), _) => (2, n, &mut self.scratch),
                (None, Some(n)) => (1, n, &mut self.params),
                (None, None) => continue,
            };
            let slot = table.get_mut(number as usize).ok_or_else(|| malformed(format_args!("no memory {number}")))?;
            if *slot == NONE {
                let d = self.m.fresh(Class::G, 8);
                *slot = d;
                let mem = Mem::at(argument, i32::try_from(number).unwrap_or(0) * 8);
                self.m.push(Mi { d, mem, ..Mi::new(Op::Load(Code::Mov_r64_rm64), 8) });
            }
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst) -> Result<()> {
        match inst {
            Inst::Const { dst, bits } => {
                let ty = self.ty(*dst)?;
                let v = self.constant(ty, *bits)?;
                self.set(*dst, v)
            }
            Inst::Param { dst, number } => {
                let v = self.params[*number as usize];
                self.set(*dst, v)
            }
            Inst::Begin { dst } => self.argument(*dst, 3),
            Inst::End { dst } => self.argument(*dst, 4),
            Inst::Lanes { dst } => {
                let ty = self.ty(*dst)?;
                let (_, width) = Self::place(ty)?;
                let mut table = [0u8; 64];
                let size = lane(ty.dtype) as usize;
                for i in 0..64 / size {
                    table[i * size] = i as u8;
                }
                let v = self.ct(table, width);
                self.set(*dst, v)
            }
            Inst::Alu { dst, op, src } => {
                let ty = self.ty(*dst)?;
                if src.len() != op.arity() {
                    return Err(malformed(format_args!("{op:?} of {} operands", src.len())));
                }
                let mut s = [NONE; 3];
                for (slot, r) in s.iter_mut().zip(src) {
                    *slot = self.get(*r)?;
                }
                // The operands' dtype: of a comparison the result has another, of a select the first.
                let dtype = self.ty(*src.last().unwrap_or(dst))?.dtype;
                let v = self.alu(*op, ty.with(dtype), s)?;
                self.set(*dst, v)
            }
            Inst::Cast { dst, src } => {
                let (from, to) = (self.ty(*src)?, self.ty(*dst)?);
                let s = self.get(*src)?;
                let v = match self.bits(s, from) {
                    Some(bits) => self.constant(to, cast(from.dtype, to.dtype, bits))?,
                    None if from.lanes == 1 => self.scalar_cast(from.dtype, to.dtype, s)?,
                    None => self.vector_cast(from.dtype, to.dtype, from.lanes, s)?,
                };
                self.set(*dst, v)
            }
            Inst::Bitcast { dst, src } => {
                let (from, to) = (self.ty(*src)?, self.ty(*dst)?);
                let s = self.get(*src)?;
                let v = match self.bits(s, from) {
                    Some(bits) => self.constant(to, bits)?,
                    None => self.bitcast(from, to, s)?,
                };
                self.set(*dst, v)
            }
            Inst::Splat { dst, src } => {
                let (from, to) = (self.ty(*src)?, self.ty(*dst)?);
                let s = self.get(*src)?;
                let v = match self.bits(s, from) {
                    Some(bits) => self.constant(to, bits)?,
                    None => self.splat(to, s)?,
                };
                self.set(*dst, v)
            }
            Inst::Extract { dst, src, lane } => {
                let (ty, to) = (self.ty(*src)?, self.ty(*dst)?);
                let s = self.get(*src)?;
                let v = match (to.lanes, *lane) {
                    (1, lane) => self.extract(ty, s, lane)?,
                    (8, 0) if ty.lanes == 16 => self.halves(s).0,
                    (8, 8) if ty.lanes == 16 => self.halves(s).1,
                    (_, lane) => return Err(malformed(format_args!("{to} from lane {lane} of {ty}"))),
                };
                self.set(*dst, v)
            }
            Inst::Across { dst, op, src } => {
                let ty = self.ty(*src)?;
                let s = self.get(*src)?;
                let v = self.across(*op, ty, s)?;
                self.set(*dst, v)
            }
            Inst::Load { dst, from, index, offset, stride } => {
                let ty = self.ty(*dst)?;
                let v = self.load(ty, *from, *index, *offset, *stride)?;
                self.set(*dst, v)
            }
            Inst::Store { to, index, offset, stride, src } => {
                let ty = self.ty(*src)?;
                let s = self.get(*src)?;
                self.store(ty, *to, *index, *offset, *stride, s)
            }
            Inst::Gather { dst, from, index, gate } => {
                let v = self.gather(self.ty(*dst)?, *from, *index, *gate)?;
                self.set(*dst, v)
            }
            Inst::Scatter { to, index, src, gate } => self.scatter(*to, *index, *src, *gate),
            Inst::Call { dst, function, src } => {
                let ty = self.ty(*dst)?;
                let number = self.functions.iter().position(|f| f == function).unwrap_or(0);
                let mut s = [NONE; 3];
                for (slot, r) in s.iter_mut().zip(src) {
                    *slot = self.get(*r)?;
                }
                let d = self.by_halves(ty, s, |e, ty, s| {
                    let (class, width) = Self::place(ty)?;
                    let d = e.m.fresh(class, width);
                    let w = ty.lanes * lane(ty.dtype);
                    e.m.push(Mi { d, s, imm: number as i32, ..Mi::new(Op::Call(lane(ty.dtype)), w) });
                    Ok(d)
                })?;
                self.set(*dst, d)
            }
            Inst::Copy { dst, src } => {
                let (d, s) = (self.get(*dst)?, self.get(*src)?);
                let info = self.m.regs[s as usize];
                let mi = match info.constant {
                    Some(_) => Mi { d, imm: s as i32, ..Mi::new(Op::Const, info.width) },
                    None => Mi { d, s: [s, NONE, NONE], ..Mi::new(Op::Mov, info.width) },
                };
                self.m.push(mi);
                Ok(())
            }
            Inst::For { var, from, to, step } => {
                let (d, from, to) = (self.get(*var)?, self.get(*from)?, self.get(*to)?);
                self.open.push((d, to, *step));
                self.enter();
                self.m.push(Mi { d, s: [from, to, NONE], ..Mi::new(Op::Loop, 8) });
                Ok(())
            }
            Inst::EndFor => {
                let Some((var, to, step)) = self.open.pop() else { return Err(malformed("an end without its loop")) };
                self.leave();
                let Ok(imm) = i32::try_from(step) else { return Err(malformed("a step beyond 32 bits")) };
                self.m.push(Mi { s: [var, to, NONE], imm, ..Mi::new(Op::EndLoop, 8) });
                Ok(())
            }
            Inst::If { condition } => {
                let c = self.get(*condition)?;
                let c = match self.anys.get(&c) {
                    Some(&mask) => self.tested(mask),
                    None => c,
                };
                self.m.push(Mi { s: [c, NONE, NONE], ..Mi::new(Op::If, 4) });
                self.enter();
                Ok(())
            }
            Inst::EndIf => {
                self.leave();
                self.m.push(Mi::new(Op::EndIf, 4));
                Ok(())
            }
        }
    }

    fn argument(&mut self, dst: Reg, number: V) -> Result<()> {
        let d = self.m.fresh(Class::G, 8);
        self.m.push(Mi { d, s: [number, NONE, NONE], ..Mi::new(Op::Mov, 8) });
        self.set(dst, d)
    }

    pub fn constant(&mut self, ty: Ty, bits: u64) -> Result<V> {
        let (class, width) = Self::place(ty)?;
        let bits = extended(ty.dtype, bits);
        Ok(match class {
            Class::G if width == 8 => self.cg(bits as i64, 8),
            Class::G => self.cg(bits as u32 as i32 as i64, 4),
            Class::X if ty.lanes > 1 && ty.dtype == DType::BOOL => {
                self.cx(if bits != 0 { 0xffff_ffff } else { 0 }, 4, width)
            }
            Class::X => self.cx(bits, lane(ty.dtype), width),
        })
    }

    /// The bits of a constant of that type, whose elements are all equal.
    pub fn bits(&self, v: V, ty: Ty) -> Option<u64> {
        match self.m.regs[v as usize].constant? {
            Constant::Splat(bits, size) if self.m.regs[v as usize].class == Class::G || size == lane(ty.dtype) => {
                let bits = if size == 8 { bits } else { bits as u32 as u64 };
                Some(match ty.dtype.size() {
                    1 => bits & if ty.dtype == DType::BOOL { 1 } else { 0xff },
                    2 => bits & 0xffff,
                    _ => bits,
                })
            }
            Constant::Splat(..) | Constant::Table(_) => None,
        }
    }

    fn alu(&mut self, op: Alu, ty: Ty, s: [V; 3]) -> Result<V> {
        if op != Alu::Select && ty.lanes == 1 {
            let mut bits = [0u64; 3];
            let known = (0..op.arity()).all(|i| self.bits(s[i], ty).map(|b| bits[i] = b).is_some());
            if known {
                let to = if op.is_comparison() { DType::BOOL } else { ty.dtype };
                return self.constant(Ty::scalar(to), alu(op, ty.dtype, bits));
            }
        }
        match (ty.lanes, is_xfloat(ty.dtype)) {
            (1, true) => self.scalar_float(op, ty.dtype, s),
            (1, false) => {
                let v = self.scalar_int(op, ty.dtype, s)?;
                self.twin(op, ty.dtype, s, v)?;
                Ok(v)
            }
            _ => self.vector(op, ty.dtype, s),
        }
    }
}
