//! Checks that a [`Lir`] has the form that renderers rely on: they check nothing.

use super::{Inst, Lir, Memory, Reg, Size, Stride};
use crate::render::library;
use crate::uop::{Alu, LibFn, Ty};
use evoxc_core::{DType, OpError};

/// Checks the form: registers are there and have types that machines have, instructions agree with the types of their
/// registers and memory, loops and conditions match, and every register is written before it is read, on every path, and
/// once, but by [`Inst::Copy`].
///
/// Indices are not checked against memory, nor is it that [`Alu::IntDiv`] and the shifts are given what they ask for.
///
/// # Errors
/// What is wrong, with the instruction and its number: a fault of the compiler.
pub fn verify(lir: &Lir) -> Result<(), OpError> {
    let fail = |what: String| OpError::new("lir", what).remedy("this is a fault of the compiler: report it");
    header(lir).map_err(fail)?;
    let mut check = Checker {
        lir,
        written: vec![Written::Never; lir.regs.len()],
        ready: vec![false; lir.regs.len()],
        made_ready: vec![],
        open: vec![],
    };
    for (n, inst) in lir.body.iter().enumerate() {
        check.inst(inst).map_err(|e| fail(format!("instruction {n}, `{}`: {e}", lir.show(inst))))?;
    }
    match check.open.len() {
        0 => Ok(()),
        n => Err(fail(format!("{n} loops or conditions are not closed"))),
    }
}

/// The dtypes that registers and memory have.
fn is_machine(dtype: DType) -> bool {
    !matches!(dtype, DType::C64 | DType::C128)
}

fn header(lir: &Lir) -> Result<(), String> {
    for (n, ty) in lir.regs.iter().enumerate() {
        let fits = match ty.lanes {
            1 | 4 => true,
            8 | 16 => ty.dtype.size() <= 4,
            _ => false,
        };
        if ty.pointer || !fits || !is_machine(ty.dtype) {
            return Err(format!("register %{n} has type {ty}, which no machine has"));
        }
    }
    for &dtype in lir.buffers.iter().chain(lir.scratch.iter().map(|(dtype, _)| dtype)) {
        if !is_machine(dtype) {
            return Err(format!("memory of {dtype}, whose parts are to be memory of their own dtype"));
        }
    }
    let mut sizes: Vec<&Size> = vec![&lir.extent, &lir.grain];
    sizes.extend(lir.scratch.iter().map(|(_, len)| len));
    while let Some(size) = sizes.pop() {
        match size {
            Size::Const(_) => {}
            Size::Param(n) if *n < lir.params => {}
            Size::Param(n) => return Err(format!("there is no parameter {n}")),
            Size::Add(a, b) | Size::Mul(a, b) | Size::Div(a, b) | Size::Min(a, b) | Size::Max(a, b) => {
                sizes.extend([&**a, &**b]);
            }
        }
    }
    Ok(())
}

/// What has written a register so far.
#[derive(Clone, Copy, PartialEq)]
enum Written {
    Never,
    Once,
    Copies,
}

struct Checker<'a> {
    lir: &'a Lir,
    written: Vec<Written>,
    /// Has it a value here, whatever path led here?
    ready: Vec<bool>,
    /// What the open loops and conditions made ready, in order: it is not so after them.
    made_ready: Vec<Reg>,
    /// For every open loop (true) or condition, how much of `made_ready` is older.
    open: Vec<(bool, usize)>,
}

impl Checker<'_> {
    fn ty(&self, r: Reg) -> Result<Ty, String> {
        self.lir.regs.get(r.0 as usize).copied().ok_or_else(|| format!("there is no register %{}", r.0))
    }
    fn memory(&self, m: Memory) -> Result<DType, String> {
        match m {
            Memory::Buffer(n) => self.lir.buffers.get(n as usize).copied(),
            Memory::Scratch(n) => self.lir.scratch.get(n as usize).map(|(dtype, _)| *dtype),
        }
        .ok_or_else(|| format!("there is no {m}"))
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), String> {
        let mut unready = None;
        inst.for_each_src(|r| {
            if !self.ready.get(r.0 as usize).copied().unwrap_or(false) {
                unready.get_or_insert(r);
            }
        });
        if let Some(r) = unready {
            self.ty(r)?;
            return Err(format!("%{} is read and has not been written on every path", r.0));
        }
        if let Some(dst) = inst.dst() {
            self.ty(dst)?;
        }
        self.types(inst)?;
        match inst {
            Inst::For { .. } => self.open.push((true, self.made_ready.len())),
            Inst::If { .. } => self.open.push((false, self.made_ready.len())),
            Inst::EndFor => self.close(true)?,
            Inst::EndIf => self.close(false)?,
            _ => {}
        }
        match inst.dst() {
            Some(dst) => self.write(dst, matches!(inst, Inst::Copy { .. })),
            None => Ok(()),
        }
    }

    fn close(&mut self, is_loop: bool) -> Result<(), String> {
        match self.open.pop() {
            Some((was_loop, older)) if was_loop == is_loop => {
                for r in self.made_ready.drain(older..) {
                    self.ready[r.0 as usize] = false;
                }
                Ok(())
            }
            Some((true, _)) => Err("a loop is open here".into()),
            Some((false, _)) => Err("a condition is open here".into()),
            None => Err("nothing is open here".into()),
        }
    }

    fn write(&mut self, dst: Reg, copy: bool) -> Result<(), String> {
        let n = dst.0 as usize;
        match (self.written[n], copy) {
            (Written::Never, false) => self.written[n] = Written::Once,
            (Written::Never | Written::Copies, true) => self.written[n] = Written::Copies,
            (Written::Once, _) | (Written::Copies, false) => {
                return Err(format!("%{} is written twice, not only by copies", dst.0));
            }
        }
        if !self.ready[n] {
            self.ready[n] = true;
            self.made_ready.push(dst);
        }
        Ok(())
    }

    fn types(&self, inst: &Inst) -> Result<(), String> {
        match inst {
            Inst::Const { dst, bits } => {
                let dtype = self.ty(*dst)?.dtype;
                let width = if dtype == DType::BOOL { 1 } else { dtype.size() * 8 };
                ensure(width == 64 || bits >> width == 0, || format!("{bits:#x} has bits that {dtype} has not"))
            }
            Inst::Param { dst, number } => {
                ensure(*number < self.lir.params, || format!("there is no parameter {number}"))?;
                self.index(*dst)
            }
            Inst::Begin { dst } | Inst::End { dst } => self.index(*dst),
            Inst::Lanes { dst } => {
                let ty = self.ty(*dst)?;
                let right = ty.lanes > 1 && matches!(ty.dtype, DType::I32 | DType::I64);
                ensure(right, || format!("{ty} is no vector of i32 or i64"))
            }
            Inst::Alu { dst, op, src } => self.alu(*dst, *op, src),
            Inst::Cast { dst, src } => {
                let (dst, src) = (self.ty(*dst)?, self.ty(*src)?);
                same("lanes", dst.lanes, src.lanes)
            }
            Inst::Bitcast { dst, src } => {
                let (dst, src) = (self.ty(*dst)?, self.ty(*src)?);
                same("lanes", dst.lanes, src.lanes)?;
                same("sizes", dst.dtype.size(), src.dtype.size())?;
                let bool = dst.dtype == DType::BOOL || src.dtype == DType::BOOL;
                ensure(!bool || dst == src, || "a bool has no bits of its own".into())
            }
            Inst::Splat { dst, src } => {
                let (dst, src) = (self.ty(*dst)?, self.ty(*src)?);
                ensure(dst.lanes > 1, || format!("{dst} is no vector"))?;
                same("types", Ty::scalar(dst.dtype), src)
            }
            Inst::Extract { dst, src, lane } => {
                let (dst, src) = (self.ty(*dst)?, self.ty(*src)?);
                ensure(src.lanes > 1 && *lane < src.lanes, || format!("{src} has no lane {lane}"))?;
                let half = src.lanes == 16 && lane % 8 == 0 && dst == Ty::vector(src.dtype, 8);
                if half { Ok(()) } else { same("types", dst, Ty::scalar(src.dtype)) }
            }
            Inst::Across { dst, op, src } => {
                let (dst, src) = (self.ty(*dst)?, self.ty(*src)?);
                ensure(src.lanes > 1, || format!("{src} is no vector"))?;
                same("types", dst, Ty::scalar(src.dtype))?;
                let combines = matches!(op, Alu::Add | Alu::Mul | Alu::Min | Alu::Max | Alu::And | Alu::Or | Alu::Xor);
                ensure(combines, || format!("{op:?} does not combine lanes"))?;
                ensure(takes(*op, src.dtype), || format!("{op:?} is not of {}", src.dtype))
            }
            Inst::Load { dst, from, index, stride, .. } => {
                self.index(*index)?;
                self.stride(*stride)?;
                same("dtypes", self.ty(*dst)?.dtype, self.memory(*from)?)
            }
            Inst::Store { to, index, stride, src, .. } => {
                self.index(*index)?;
                self.stride(*stride)?;
                same("dtypes", self.ty(*src)?.dtype, self.memory(*to)?)
            }
            Inst::Gather { dst, from, index, gate } => {
                let ty = self.ty(*dst)?;
                self.indices(*index, ty.lanes)?;
                same("dtypes", ty.dtype, self.memory(*from)?)?;
                if let Some((gate, otherwise)) = gate {
                    same("types", self.ty(*gate)?, ty.with(DType::BOOL))?;
                    same("types", self.ty(*otherwise)?, ty)?;
                }
                Ok(())
            }
            Inst::Scatter { to, index, src, gate } => {
                let ty = self.ty(*src)?;
                self.indices(*index, ty.lanes)?;
                same("dtypes", ty.dtype, self.memory(*to)?)?;
                match gate {
                    Some(gate) => same("types", self.ty(*gate)?, ty.with(DType::BOOL)),
                    None => Ok(()),
                }
            }
            Inst::Call { dst, function, src } => {
                let (single, arity) = match function {
                    LibFn::Unary(_, single) => (*single, 1),
                    LibFn::Binary(_, single) => (*single, 2),
                };
                let ty = self.ty(*dst)?;
                same("dtypes", ty.dtype, if single { DType::F32 } else { DType::F64 })?;
                same("operands", src.len(), arity)?;
                src.iter().try_for_each(|r| same("types", self.ty(*r)?, ty))?;
                ensure(library::entry(*function).is_some(), || "the library has no such function".into())
            }
            Inst::Copy { dst, src } => same("types", self.ty(*dst)?, self.ty(*src)?),
            Inst::For { var, from, to, step } => {
                [var, from, to].into_iter().try_for_each(|r| self.index(*r))?;
                ensure(*step > 0, || format!("a step of {step} leads nowhere"))
            }
            Inst::If { condition } => same("types", self.ty(*condition)?, Ty::scalar(DType::BOOL)),
            Inst::EndFor | Inst::EndIf => Ok(()),
        }
    }

    fn alu(&self, dst: Reg, op: Alu, src: &[Reg]) -> Result<(), String> {
        let dst = self.ty(dst)?;
        same("operands", src.len(), op.arity())?;
        let Some(&last) = src.last() else { return Ok(()) };
        let ty = self.ty(last)?;
        for (n, r) in src.iter().enumerate() {
            let expected = if op == Alu::Select && n == 0 { ty.with(DType::BOOL) } else { ty };
            same("types", self.ty(*r)?, expected)?;
        }
        ensure(takes(op, ty.dtype), || format!("{op:?} is not of {}", ty.dtype))?;
        same("types", dst, if op.is_comparison() { ty.with(DType::BOOL) } else { ty })
    }
    fn index(&self, r: Reg) -> Result<(), String> {
        same("types", self.ty(r)?, Ty::INDEX)
    }
    fn indices(&self, r: Reg, lanes: u8) -> Result<(), String> {
        let ty = self.ty(r)?;
        same("lanes", ty.lanes, lanes)?;
        ensure(matches!(ty.dtype, DType::I32 | DType::I64), || format!("{} is no dtype of indices", ty.dtype))
    }
    fn stride(&self, s: Stride) -> Result<(), String> {
        match s {
            Stride::Reg(r) => self.index(r),
            Stride::One | Stride::Const(_) => Ok(()),
        }
    }
}

/// Is the op one of operands of that dtype? As [`Alu`] documents.
pub fn takes(op: Alu, dtype: DType) -> bool {
    let float = matches!(dtype, DType::F32 | DType::F64);
    let int = matches!(dtype, DType::I32 | DType::I64 | DType::U32 | DType::U64);
    let bool = dtype == DType::BOOL;
    match op {
        Alu::Add | Alu::Sub | Alu::Mul | Alu::Min | Alu::Max | Alu::Neg | Alu::Lt | Alu::Le => float || int,
        Alu::Div | Alu::Abs | Alu::Sqrt | Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc | Alu::Fma => float,
        Alu::IntDiv | Alu::IntRem | Alu::MulHigh | Alu::Shl | Alu::Shr | Alu::Sar => int,
        Alu::And | Alu::Or | Alu::Xor | Alu::Not => int || bool,
        Alu::Eq | Alu::Ne => float || int || bool,
        Alu::Select => is_machine(dtype),
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
fn same<T: PartialEq + std::fmt::Display>(what: &str, a: T, b: T) -> Result<(), String> {
    ensure(a == b, || format!("{what} differ: {a} and {b}"))
}
