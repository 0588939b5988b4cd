//! The text of a [`Lir`], for people: one instruction a line, the bodies of loops indented.

use super::{Inst, Lir, Memory, Reg, Size, Stride};
use crate::uop::LibFn;
use evoxc_core::DType;
use half::{bf16, f16};
use std::fmt;

impl fmt::Display for Lir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("kernel(")?;
        for (n, dtype) in self.buffers.iter().enumerate() {
            write!(f, "{}b{n}: {dtype}*", if n > 0 { ", " } else { "" })?;
        }
        for n in 0..self.params {
            write!(f, "{}p{n}", if n > 0 || !self.buffers.is_empty() { ", " } else { "" })?;
        }
        writeln!(f, ") over {} by {} {{", self.extent, self.grain)?;
        for (n, (dtype, len)) in self.scratch.iter().enumerate() {
            writeln!(f, "  s{n}: {dtype}[{len}]")?;
        }
        let mut depth = 1;
        for inst in &self.body {
            if matches!(inst, Inst::EndFor | Inst::EndIf) {
                depth = depth.max(2) - 1;
            }
            writeln!(f, "{:1$}{2}", "", 2 * depth, self.show(inst))?;
            if matches!(inst, Inst::For { .. } | Inst::If { .. }) {
                depth += 1;
            }
        }
        f.write_str("}\n")
    }
}

impl Lir {
    /// One of its instructions as text.
    pub fn show<'a>(&'a self, inst: &'a Inst) -> impl fmt::Display + 'a {
        Shown { lir: self, inst }
    }
}

struct Shown<'a> {
    lir: &'a Lir,
    inst: &'a Inst,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = |r: &Reg| self.lir.regs.get(r.0 as usize);
        if let (Some(dst), false) = (self.inst.dst(), matches!(self.inst, Inst::For { .. })) {
            match ty(&dst) {
                Some(t) => write!(f, "{dst}: {t} = ")?,
                None => write!(f, "{dst} = ")?,
            }
        }
        match self.inst {
            Inst::Const { dst, bits } => match ty(dst) {
                Some(t) => number(f, t.dtype, *bits),
                None => write!(f, "{bits:#x}"),
            },
            Inst::Param { number, .. } => write!(f, "p{number}"),
            Inst::Begin { .. } => f.write_str("begin"),
            Inst::End { .. } => f.write_str("end"),
            Inst::Lanes { .. } => f.write_str("lanes"),
            Inst::Alu { op, src, .. } => {
                word(f, op)?;
                list(f, src)
            }
            Inst::Cast { src, .. } => write!(f, "cast {src}"),
            Inst::Bitcast { src, .. } => write!(f, "bitcast {src}"),
            Inst::Splat { src, .. } => write!(f, "splat {src}"),
            Inst::Extract { src, lane, .. } => write!(f, "extract {src}, {lane}"),
            Inst::Across { op, src, .. } => {
                f.write_str("across_")?;
                word(f, op)?;
                write!(f, " {src}")
            }
            Inst::Load { from, index, offset, stride, .. } => write!(f, "load {}", At(*from, *index, *offset, *stride)),
            Inst::Store { to, index, offset, stride, src } => {
                write!(f, "store {}, {src}", At(*to, *index, *offset, *stride))
            }
            Inst::Gather { from, index, gate, .. } => {
                write!(f, "gather {from}[{index}]")?;
                gate.map_or(Ok(()), |(gate, otherwise)| write!(f, " if {gate} else {otherwise}"))
            }
            Inst::Scatter { to, index, src, gate } => {
                write!(f, "scatter {to}[{index}], {src}")?;
                gate.map_or(Ok(()), |gate| write!(f, " if {gate}"))
            }
            Inst::Call { function, src, .. } => {
                write!(f, "call {function}")?;
                list(f, src)
            }
            Inst::Copy { src, .. } => write!(f, "copy {src}"),
            Inst::For { var, from, to, step } => write!(f, "for {var} in {from}..{to} step {step} {{"),
            Inst::If { condition } => write!(f, "if {condition} {{"),
            Inst::EndFor | Inst::EndIf => f.write_str("}"),
        }
    }
}

/// The name of a variant in lower case.
fn word(f: &mut fmt::Formatter<'_>, name: &impl fmt::Debug) -> fmt::Result {
    f.write_str(&format!("{name:?}").to_lowercase())
}

fn list(f: &mut fmt::Formatter<'_>, regs: &[Reg]) -> fmt::Result {
    regs.iter().enumerate().try_for_each(|(n, r)| write!(f, "{}{r}", if n > 0 { ", " } else { " " }))
}

fn number(f: &mut fmt::Formatter<'_>, dtype: DType, bits: u64) -> fmt::Result {
    match dtype {
        DType::BOOL => write!(f, "{}", bits != 0),
        DType::I8 => write!(f, "{}", bits as i8),
        DType::I16 => write!(f, "{}", bits as i16),
        DType::I32 => write!(f, "{}", bits as i32),
        DType::I64 => write!(f, "{}", bits as i64),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => write!(f, "{bits}"),
        DType::F16 => write!(f, "{:?}", f16::from_bits(bits as u16)),
        DType::BF16 => write!(f, "{:?}", bf16::from_bits(bits as u16)),
        DType::F32 => write!(f, "{:?}", f32::from_bits(bits as u32)),
        DType::F64 => write!(f, "{:?}", f64::from_bits(bits)),
        DType::C64 | DType::C128 => write!(f, "{bits:#x}"),
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Memory::Buffer(n) => write!(f, "b{n}"),
            Memory::Scratch(n) => write!(f, "s{n}"),
        }
    }
}

impl fmt::Display for LibFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LibFn::Unary(op, _) => f.write_str(op.name()),
            LibFn::Binary(op, _) => f.write_str(op.name()),
        }
    }
}

/// A place in memory.
struct At(Memory, Reg, i64, Stride);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let At(memory, index, offset, stride) = self;
        write!(f, "{memory}[{index}")?;
        match offset {
            0 => {}
            1.. => write!(f, " + {offset}")?,
            _ => write!(f, " - {}", offset.unsigned_abs())?,
        }
        match stride {
            Stride::One => f.write_str("]"),
            Stride::Const(n) => write!(f, "; {n}]"),
            Stride::Reg(r) => write!(f, "; {r}]"),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Const(n) => write!(f, "{n}"),
            Size::Param(n) => write!(f, "p{n}"),
            Size::Add(a, b) => write!(f, "({a} + {b})"),
            Size::Mul(a, b) => write!(f, "({a} * {b})"),
            Size::Div(a, b) => write!(f, "({a} / {b})"),
            Size::Min(a, b) => write!(f, "min({a}, {b})"),
            Size::Max(a, b) => write!(f, "max({a}, {b})"),
        }
    }
}
