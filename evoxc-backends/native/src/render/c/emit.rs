//! The C function of a LIR, instruction by instruction: a register is a variable.

use super::types::{mask, mask_sizes, scalar, stored};
use super::{alu, cast};
use crate::lir::{Inst, Lir, Memory, Reg, Stride};
use crate::uop::{Alu, LibFn, Ty};
use evoxc_core::DType;
use std::fmt::Write;

/// A function of C, without its name.
pub(super) struct Function {
    /// What follows the name: parameters and body.
    pub text: String,
    /// The library functions that it expects in its table, in their order.
    pub library: Vec<LibFn>,
}

/// The function of a LIR that has been verified.
pub(super) fn function(lir: &Lir) -> Function {
    let mut e =
        Emitter { lir, out: String::with_capacity(64 * lir.body.len()), masks: mask_sizes(lir), library: vec![] };
    e.out.push_str("(char *const *b, const i64 *p, char *const *s, i64 begin, i64 end, void *const *lib) {\n");
    for n in 0..lir.buffers.len() {
        e.line(1, format_args!("char *b{n} = b[{n}];"));
    }
    for n in 0..lir.scratch.len() {
        e.line(1, format_args!("char *s{n} = s[{n}];"));
    }
    for n in 0..lir.regs.len() {
        let reg = Reg(n as u32);
        e.line(1, format_args!("{} r{n};", e.type_of(reg)));
    }
    let mut depth = 1;
    for inst in &lir.body {
        if matches!(inst, Inst::EndFor | Inst::EndIf) {
            depth -= 1;
        }
        e.inst(depth, inst);
        if matches!(inst, Inst::For { .. } | Inst::If { .. }) {
            depth += 1;
        }
    }
    e.out.push_str("}\n");
    Function { text: e.out, library: e.library }
}

struct Emitter<'a> {
    lir: &'a Lir,
    out: String,
    masks: Vec<u8>,
    library: Vec<LibFn>,
}

impl Emitter<'_> {
    fn ty(&self, r: Reg) -> Ty {
        self.lir.regs[r.0 as usize]
    }
    fn mask_size(&self, r: Reg) -> usize {
        self.masks[r.0 as usize].into()
    }
    fn is_mask(&self, r: Reg) -> bool {
        self.ty(r).dtype == DType::BOOL && self.ty(r).lanes > 1
    }
    /// The C type of a register.
    fn type_of(&self, r: Reg) -> String {
        if self.is_mask(r) { mask(self.mask_size(r), self.ty(r).lanes) } else { stored(self.ty(r)) }
    }
    /// A register; a mask with lanes of that many bytes.
    fn masked(&self, r: Reg, size: usize) -> String {
        match self.is_mask(r) {
            true => cast::masked(self.mask_size(r), size, self.ty(r).lanes, &name(r)),
            false => name(r),
        }
    }
    /// One lane of a register, as memory holds it.
    fn lane(&self, r: Reg, lane: u8) -> String {
        match self.ty(r).lanes {
            1 => name(r),
            _ if self.is_mask(r) => format!("(u8)({}[{lane}] & 1)", name(r)),
            _ => format!("{}[{lane}]", name(r)),
        }
    }

    fn line(&mut self, depth: usize, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "{:1$}{text}", "", 2 * depth);
    }
    fn set(&mut self, depth: usize, dst: Reg, value: &str) {
        self.line(depth, format_args!("r{} = {value};", dst.0));
    }
    /// Sets a register lane by lane; of a bool each is 0 or 1.
    fn set_lanes(&mut self, depth: usize, dst: Reg, lane: impl Fn(u8) -> String) {
        let lanes = self.ty(dst).lanes;
        if lanes == 1 {
            return self.set(depth, dst, &lane(0));
        }
        let sign = if self.is_mask(dst) { "-(i32)" } else { "" };
        let all: Vec<String> = (0..lanes).map(|n| format!("{sign}({})", lane(n))).collect();
        self.set(depth, dst, &format!("({}){{{}}}", self.type_of(dst), all.join(", ")));
    }

    fn inst(&mut self, d: usize, inst: &Inst) {
        match inst {
            Inst::Const { dst, bits } => {
                let value = constant(self.ty(*dst).dtype, *bits);
                self.set_lanes(d, *dst, |_| value.clone());
            }
            Inst::Param { dst, number } => self.set(d, *dst, &format!("p[{number}]")),
            Inst::Begin { dst } => self.set(d, *dst, "begin"),
            Inst::End { dst } => self.set(d, *dst, "end"),
            Inst::Lanes { dst } => self.set_lanes(d, *dst, |n| n.to_string()),
            Inst::Alu { dst, op, src } => self.alu(d, *dst, *op, src),
            Inst::Cast { dst, src } => {
                let (from, to) = (self.ty(*src), self.ty(*dst).dtype);
                let value = match from.lanes {
                    1 => cast::of_scalar(from.dtype, to, &name(*src)),
                    _ => cast::of_vector(from, to, self.mask_size(*src), &name(*src)),
                };
                self.set(d, *dst, &value);
            }
            Inst::Bitcast { dst, src } => {
                let (from, to) = (self.ty(*src), self.ty(*dst));
                let x = name(*src);
                let value = match (from.lanes, from.dtype, to.dtype) {
                    (1, DType::F32 | DType::F64, DType::F32 | DType::F64) => x,
                    (1, f @ (DType::F32 | DType::F64), to) => format!("({})bits_{f}({x})", scalar(to)),
                    (1, _, t @ (DType::F32 | DType::F64)) => format!("{t}_of({x})"),
                    (_, DType::BOOL, _) => self.masked(*src, self.mask_size(*dst)),
                    _ => format!("({}){x}", stored(to)),
                };
                self.set(d, *dst, &value);
            }
            Inst::Splat { dst, src } => self.set_lanes(d, *dst, |_| name(*src)),
            Inst::Extract { dst, src, lane } => {
                let value = self.lane(*src, *lane);
                self.set(d, *dst, &value);
            }
            Inst::Across { dst, op, src } => self.across(d, *dst, *op, *src),
            Inst::Load { dst, from, index, offset, stride } => self.load(d, *dst, *from, *index, *offset, *stride),
            Inst::Store { to, index, offset, stride, src } => self.store(d, *to, *index, *offset, *stride, *src),
            Inst::Gather { dst, from, index, gate } => {
                let dtype = self.ty(*dst).dtype;
                let lanes: Vec<String> = (0..self.ty(*dst).lanes)
                    .map(|n| {
                        let element = format!("ld_{}({})", scalar(dtype), at(*from, dtype, &self.lane(*index, n), 0));
                        match gate {
                            None => element,
                            Some((gate, otherwise)) => {
                                format!("{} ? {element} : {}", self.lane(*gate, n), self.lane(*otherwise, n))
                            }
                        }
                    })
                    .collect();
                self.set_lanes(d, *dst, |n| lanes[usize::from(n)].clone());
            }
            Inst::Scatter { to, index, src, gate } => {
                let ty = self.ty(*src);
                for n in 0..ty.lanes {
                    let place = at(*to, ty.dtype, &self.lane(*index, n), 0);
                    let condition = gate.map(|g| format!("if ({}) ", self.lane(g, n))).unwrap_or_default();
                    let value = self.lane(*src, n);
                    self.line(d, format_args!("{condition}st_{}({place}, {value});", scalar(ty.dtype)));
                }
            }
            Inst::Call { dst, function, src } => {
                let number = self.library.iter().position(|f| f == function).unwrap_or_else(|| {
                    self.library.push(*function);
                    self.library.len() - 1
                });
                let t = scalar(self.ty(*dst).dtype);
                let lanes: Vec<String> = (0..self.ty(*dst).lanes)
                    .map(|n| {
                        let arguments: Vec<String> = src.iter().map(|&r| self.lane(r, n)).collect();
                        let types = vec![t; src.len()].join(", ");
                        format!("(({t} (*)({types}))lib[{number}])({})", arguments.join(", "))
                    })
                    .collect();
                self.set_lanes(d, *dst, |n| lanes[usize::from(n)].clone());
            }
            Inst::Copy { dst, src } => {
                let value = self.masked(*src, self.mask_size(*dst));
                self.set(d, *dst, &value);
            }
            Inst::For { var, from, to, step } => {
                let (v, from, to) = (var.0, from.0, to.0);
                self.line(d, format_args!("for (r{v} = r{from}; r{v} < r{to}; r{v} += {step}) {{"));
            }
            Inst::If { condition } => self.line(d, format_args!("if (r{}) {{", condition.0)),
            Inst::EndFor | Inst::EndIf => self.line(d, format_args!("}}")),
        }
    }

    fn alu(&mut self, d: usize, dst: Reg, op: Alu, src: &[Reg]) {
        let Some(&last) = src.last() else { return };
        let ty = self.ty(last);
        // Masks of bool ops have the lanes of the result's; that of a selection those of what it selects.
        let size = match ty.dtype {
            DType::BOOL => self.mask_size(dst),
            dtype => dtype.size(),
        };
        let names: Vec<String> = src.iter().map(|&r| self.masked(r, size)).collect();
        let names = std::array::from_fn(|n| names.get(n).map_or("", String::as_str));
        let value = match ty.lanes {
            1 => alu::of_scalars(op, ty.dtype, names),
            _ => alu::of_vectors(op, ty, size, names),
        };
        self.set(d, dst, &value);
    }

    fn across(&mut self, d: usize, dst: Reg, op: Alu, src: Reg) {
        let ty = self.ty(src);
        let t = scalar(ty.dtype);
        let mut half = ty.lanes / 2;
        self.line(d, format_args!("{{"));
        for n in 0..ty.lanes {
            let value = self.lane(src, n);
            self.line(d + 1, format_args!("{t} t{n} = {value};"));
        }
        while half > 0 {
            for n in 0..half {
                let (low, high) = (format!("t{n}"), format!("t{}", n + half));
                let value = alu::of_scalars(op, ty.dtype, [&low, &high, ""]);
                self.line(d + 1, format_args!("t{n} = {value};"));
            }
            half /= 2;
        }
        self.set(d + 1, dst, "t0");
        self.line(d, format_args!("}}"));
    }

    fn load(&mut self, d: usize, dst: Reg, from: Memory, index: Reg, offset: i64, stride: Stride) {
        let ty = self.ty(dst);
        if ty.lanes == 1 || stride == Stride::One {
            let value = format!("ld_{}({})", stored(ty), at(from, ty.dtype, &name(index), offset));
            let value = match self.is_mask(dst) {
                true => {
                    let wide = cast::integer(self.mask_size(dst));
                    format!("-{}", cast::resized(DType::U8, wide, ty.lanes, value))
                }
                false => value,
            };
            return self.set(d, dst, &value);
        }
        self.set_lanes(d, dst, |n| {
            format!("ld_{}({})", scalar(ty.dtype), strided(from, ty.dtype, index, offset, stride, n))
        });
    }

    fn store(&mut self, d: usize, to: Memory, index: Reg, offset: i64, stride: Stride, src: Reg) {
        let ty = self.ty(src);
        if ty.lanes == 1 || stride == Stride::One {
            let value = match self.is_mask(src) {
                true => {
                    let wide = cast::integer(self.mask_size(src));
                    cast::resized(wide, DType::U8, ty.lanes, format!("-r{}", src.0))
                }
                false => name(src),
            };
            let place = at(to, ty.dtype, &name(index), offset);
            return self.line(d, format_args!("st_{}({place}, {value});", stored(ty)));
        }
        for n in 0..ty.lanes {
            let (place, value) = (strided(to, ty.dtype, index, offset, stride, n), self.lane(src, n));
            self.line(d, format_args!("st_{}({place}, {value});", scalar(ty.dtype)));
        }
    }
}

fn name(r: Reg) -> String {
    format!("r{}", r.0)
}

/// The address of an element.
fn at(memory: Memory, dtype: DType, index: &str, offset: i64) -> String {
    let index = match offset {
        0 => format!("(i64){index}"),
        i64::MIN => format!("((i64){index} + (i64)0x8000000000000000ull)"),
        n => format!("((i64){index} + {n}ll)"),
    };
    format!("{memory} + {index} * {}", dtype.size())
}

/// The address of the element of a lane.
fn strided(memory: Memory, dtype: DType, index: Reg, offset: i64, stride: Stride, lane: u8) -> String {
    let lane = i64::from(lane);
    match stride {
        Stride::One => at(memory, dtype, &name(index), offset.wrapping_add(lane)),
        Stride::Const(n) => at(memory, dtype, &name(index), offset.wrapping_add(n.wrapping_mul(lane))),
        Stride::Reg(r) => at(memory, dtype, &format!("(r{} + r{} * {lane})", index.0, r.0), offset),
    }
}

/// One element.
fn constant(dtype: DType, bits: u64) -> String {
    match dtype {
        DType::BOOL | DType::U8 | DType::U16 | DType::F16 | DType::BF16 => bits.to_string(),
        DType::I8 => (bits as i8).to_string(),
        DType::I16 => (bits as i16).to_string(),
        DType::I32 => format!("(i32){:#x}u", bits as u32),
        DType::U32 => format!("{bits}u"),
        DType::I64 if bits < 1 << 32 => format!("{bits}ll"),
        DType::I64 => format!("(i64){bits:#x}ull"),
        DType::U64 => format!("{bits:#x}ull"),
        DType::F32 => float(f32::from_bits(bits as u32).into()).map_or(format!("f32_of({bits:#x}u)"), |x| x + "f"),
        DType::F64 => float(f64::from_bits(bits)).unwrap_or(format!("f64_of({bits:#x}ull)")),
        DType::C64 | DType::C128 => "0".into(),
    }
}

/// A short number as people write it; of others their bits are clearer.
fn float(x: f64) -> Option<String> {
    let text = format!("{x:?}");
    (x.is_finite() && x.abs() < 1e6 && text.len() < 9 && x.is_sign_positive()).then_some(text)
}
