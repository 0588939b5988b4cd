//! Writes instructions: what is pure is written once, as far out of the loops as its operands allow.

use super::known::Known;
use crate::lir::{Inst, Memory, Reg, Stride};
use crate::uop::{Alu, LibFn, Ty};
use evoxc_core::DType;
use smallvec::SmallVec;

/// What a pure instruction is, but for where its result goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Pure {
    Const(u64),
    Param(u32),
    Begin,
    End,
    Lanes,
    Alu(Alu),
    Cast,
    Bitcast,
    Splat,
    Across(Alu),
    Call(LibFn),
}

/// A loop or a condition that is open, or the whole.
struct Level {
    /// What opened it: nothing for the whole.
    head: Option<Inst>,
    body: Vec<Inst>,
    /// No two have the same.
    number: u32,
}

const NONE: Reg = Reg(u32::MAX);

/// Instructions being written.
pub(super) struct Builder {
    pub regs: Vec<Ty>,
    /// The level that each register is written in.
    at: Vec<u16>,
    /// The bits of registers that are constants.
    bits: Vec<Option<u64>>,
    levels: Vec<Level>,
    /// How many levels there were.
    opened: u32,
    known: Known,
}

impl Builder {
    pub fn new() -> Builder {
        let whole = Level { head: None, body: Vec::new(), number: 0 };
        Builder {
            regs: Vec::new(),
            at: Vec::new(),
            bits: Vec::new(),
            levels: vec![whole],
            opened: 1,
            known: Known::default(),
        }
    }
    /// The body, once all is closed.
    pub fn finish(mut self) -> (Vec<Ty>, Vec<Inst>) {
        while self.levels.len() > 1 {
            self.close();
        }
        let body = self.levels.pop().map_or_else(Vec::new, |l| l.body);
        (self.regs, body)
    }
    pub fn ty(&self, r: Reg) -> Ty {
        self.regs[r.0 as usize]
    }
    /// How many loops and conditions a register is written in.
    pub fn level(&self, r: Reg) -> u16 {
        self.at[r.0 as usize]
    }
    fn depth(&self) -> u16 {
        (self.levels.len() - 1) as u16
    }
    /// A register that is written where the writing is now.
    pub fn reg(&mut self, ty: Ty) -> Reg {
        let depth = self.depth();
        self.reg_at(ty, depth)
    }
    fn reg_at(&mut self, ty: Ty, level: u16) -> Reg {
        self.regs.push(ty);
        self.at.push(level);
        self.bits.push(None);
        Reg(self.regs.len() as u32 - 1)
    }
    /// An instruction with effects, or that reads what is written more than once.
    pub fn push(&mut self, inst: Inst) {
        if let Some(l) = self.levels.last_mut() {
            l.body.push(inst);
        }
    }
    fn pure(&mut self, what: Pure, ty: Ty, src: &[Reg]) -> Reg {
        let mut key = [NONE; 3];
        key[..src.len()].copy_from_slice(src);
        let key = (what, ty, key);
        let (at, levels) = (&self.at, &self.levels);
        let open = |r: Reg, number| levels.get(usize::from(at[r.0 as usize])).is_some_and(|l| l.number == number);
        let place = match self.known.find(&key, open) {
            Ok(r) => return r,
            Err(place) => place,
        };
        let level = src.iter().map(|r| self.at[r.0 as usize]).max().unwrap_or(0);
        let dst = self.reg_at(ty, level);
        let s = |k: usize| src[k];
        let inst = match what {
            Pure::Const(bits) => Inst::Const { dst, bits },
            Pure::Param(number) => Inst::Param { dst, number },
            Pure::Begin => Inst::Begin { dst },
            Pure::End => Inst::End { dst },
            Pure::Lanes => Inst::Lanes { dst },
            Pure::Alu(op) => Inst::Alu { dst, op, src: SmallVec::from_slice(src) },
            Pure::Cast => Inst::Cast { dst, src: s(0) },
            Pure::Bitcast => Inst::Bitcast { dst, src: s(0) },
            Pure::Splat => Inst::Splat { dst, src: s(0) },
            Pure::Across(op) => Inst::Across { dst, op, src: s(0) },
            Pure::Call(function) => Inst::Call { dst, function, src: SmallVec::from_slice(src) },
        };
        if let Pure::Const(bits) = what {
            self.bits[dst.0 as usize] = Some(bits);
        }
        let l = &mut self.levels[level as usize];
        l.body.push(inst);
        self.known.insert(place, key, dst, l.number);
        dst
    }

    pub fn constant(&mut self, ty: Ty, bits: u64) -> Reg {
        self.pure(Pure::Const(bits), ty, &[])
    }
    pub fn index(&mut self, v: i64) -> Reg {
        self.constant(Ty::INDEX, v as u64)
    }
    pub fn param(&mut self, n: u32) -> Reg {
        self.pure(Pure::Param(n), Ty::INDEX, &[])
    }
    pub fn begin(&mut self) -> Reg {
        self.pure(Pure::Begin, Ty::INDEX, &[])
    }
    pub fn end(&mut self) -> Reg {
        self.pure(Pure::End, Ty::INDEX, &[])
    }
    pub fn lanes(&mut self, ty: Ty) -> Reg {
        self.pure(Pure::Lanes, ty, &[])
    }
    /// Arithmetic; what is known of indices is simplified.
    pub fn alu(&mut self, op: Alu, src: &[Reg]) -> Reg {
        let last = self.ty(src[src.len() - 1]);
        if last == Ty::INDEX
            && let Some(r) = self.folded(op, src)
        {
            return r;
        }
        let ty = if op.is_comparison() { last.with(DType::BOOL) } else { last };
        self.pure(Pure::Alu(op), ty, src)
    }
    /// Arithmetic that reads registers which are written more than once.
    pub fn alu_now(&mut self, op: Alu, src: &[Reg]) -> Reg {
        let last = self.ty(src[src.len() - 1]);
        let dst = self.reg(if op.is_comparison() { last.with(DType::BOOL) } else { last });
        self.push(Inst::Alu { dst, op, src: SmallVec::from_slice(src) });
        dst
    }
    /// The same bits, of a register that is written more than once.
    pub fn bitcast_now(&mut self, ty: Ty, src: Reg) -> Reg {
        let dst = self.reg(ty);
        self.push(Inst::Bitcast { dst, src });
        dst
    }
    pub fn number(&self, r: Reg) -> Option<i64> {
        self.bits[r.0 as usize].map(|b| b as i64)
    }
    fn folded(&mut self, op: Alu, src: &[Reg]) -> Option<Reg> {
        let [a, b] = *src else { return None };
        Some(match (op, self.number(a), self.number(b)) {
            (Alu::Add, Some(x), Some(y)) => self.index(x.wrapping_add(y)),
            (Alu::Sub, Some(x), Some(y)) => self.index(x.wrapping_sub(y)),
            (Alu::Mul, Some(x), Some(y)) => self.index(x.wrapping_mul(y)),
            (Alu::Min, Some(x), Some(y)) => self.index(x.min(y)),
            (Alu::Max, Some(x), Some(y)) => self.index(x.max(y)),
            (Alu::And, Some(x), Some(y)) => self.index(x & y),
            (Alu::Add, Some(0), _) | (Alu::Mul, Some(1), _) => b,
            (Alu::Add | Alu::Sub, _, Some(0)) | (Alu::Mul, _, Some(1)) => a,
            (Alu::Mul, Some(0), _) => a,
            (Alu::Mul, _, Some(0)) => b,
            (Alu::Mul, _, Some(y)) if y > 0 && y.count_ones() == 1 => {
                let count = self.index(y.trailing_zeros().into());
                self.pure(Pure::Alu(Alu::Shl), Ty::INDEX, &[a, count])
            }
            _ => return None,
        })
    }
    pub fn cast(&mut self, to: DType, src: Reg) -> Reg {
        let ty = self.ty(src).with(to);
        if ty == self.ty(src) { src } else { self.pure(Pure::Cast, ty, &[src]) }
    }
    pub fn bitcast(&mut self, to: DType, src: Reg) -> Reg {
        let ty = self.ty(src).with(to);
        if ty == self.ty(src) { src } else { self.pure(Pure::Bitcast, ty, &[src]) }
    }
    pub fn splat(&mut self, src: Reg, lanes: u8) -> Reg {
        let ty = Ty::vector(self.ty(src).dtype, lanes);
        match self.bits[src.0 as usize] {
            Some(bits) => self.constant(ty, bits),
            None => self.pure(Pure::Splat, ty, &[src]),
        }
    }
    pub fn across(&mut self, op: Alu, src: Reg) -> Reg {
        let ty = Ty::scalar(self.ty(src).dtype);
        self.pure(Pure::Across(op), ty, &[src])
    }
    /// All lanes combined, of a register that is written more than once.
    pub fn across_now(&mut self, op: Alu, src: Reg) -> Reg {
        let dst = self.reg(Ty::scalar(self.ty(src).dtype));
        self.push(Inst::Across { dst, op, src });
        dst
    }
    /// One lane of a vector.
    pub fn extract_now(&mut self, src: Reg, lane: u8) -> Reg {
        let dst = self.reg(Ty::scalar(self.ty(src).dtype));
        self.push(Inst::Extract { dst, src, lane });
        dst
    }
    /// Lanes 0 to 7 of 16, or 8 to 15, of a register that is written more than once.
    pub fn half_now(&mut self, src: Reg, upper: bool) -> Reg {
        let dst = self.reg(Ty { lanes: 8, ..self.ty(src) });
        self.push(Inst::Extract { dst, src, lane: if upper { 8 } else { 0 } });
        dst
    }
    pub fn call(&mut self, function: LibFn, src: &[Reg]) -> Reg {
        let ty = self.ty(src[0]);
        self.pure(Pure::Call(function), ty, src)
    }
    /// A call where the writing is now, and not before: under a condition.
    pub fn call_now(&mut self, function: LibFn, src: &[Reg]) -> Reg {
        let dst = self.reg(self.ty(src[0]));
        self.push(Inst::Call { dst, function, src: SmallVec::from_slice(src) });
        dst
    }
    pub fn load(&mut self, ty: Ty, from: Memory, index: Reg, offset: i64, stride: Stride) -> Reg {
        let dst = self.reg(ty);
        self.push(Inst::Load { dst, from, index, offset, stride });
        dst
    }
    /// A register that is written more than once, first here.
    pub fn variable(&mut self, src: Reg) -> Reg {
        let dst = self.reg(self.ty(src));
        self.push(Inst::Copy { dst, src });
        dst
    }
    pub fn set(&mut self, dst: Reg, src: Reg) {
        self.push(Inst::Copy { dst, src });
    }
    fn open(&mut self, head: Inst) {
        self.levels.push(Level { head: Some(head), body: Vec::new(), number: self.opened });
        self.opened += 1;
    }
    /// Opens a loop.
    pub fn open_for(&mut self, from: Reg, to: Reg, step: i64) -> Reg {
        let level = self.levels.len() as u16;
        let var = self.reg_at(Ty::INDEX, level);
        self.open(Inst::For { var, from, to, step });
        var
    }
    /// Opens a condition.
    pub fn open_if(&mut self, condition: Reg) {
        self.open(Inst::If { condition });
    }
    /// Closes what was opened last.
    pub fn close(&mut self) {
        if self.levels.len() < 2 {
            return;
        }
        let Some(l) = self.levels.pop() else { return };
        let tail = match l.head {
            Some(Inst::If { .. }) => Inst::EndIf,
            _ => Inst::EndFor,
        };
        if let Some(outer) = self.levels.last_mut() {
            outer.body.extend(l.head);
            outer.body.extend(l.body);
            outer.body.push(tail);
        }
    }
    pub fn store(&mut self, to: Memory, index: Reg, offset: i64, stride: Stride, src: Reg) {
        self.push(Inst::Store { to, index, offset, stride, src });
    }
    /// `Select`, simplified where the condition is a constant.
    pub fn select(&mut self, c: Reg, a: Reg, b: Reg) -> Reg {
        if a == b { a } else { self.pure(Pure::Alu(Alu::Select), self.ty(b), &[c, a, b]) }
    }
}
