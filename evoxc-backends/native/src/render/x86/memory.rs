//! Selection of loads and stores: addresses, conversion between memory and lanes, strides, gathers.

use super::codes::*;
use super::mir::*;
use super::select::{Select, lane, malformed};
use crate::lir::{Inst, Memory, Reg, Stride};
use crate::uop::Ty;
use evoxc_core::{DType, Result};
use iced_x86::Code;

/// The code that loads an element into an integer register.
fn load_code(dtype: DType) -> Code {
    match dtype {
        DType::I8 => Code::Movsx_r32_rm8,
        DType::U8 | DType::BOOL => Code::Movzx_r32_rm8,
        DType::I16 => Code::Movsx_r32_rm16,
        DType::U16 | DType::F16 | DType::BF16 => Code::Movzx_r32_rm16,
        DType::I32 | DType::U32 | DType::F32 => Code::Mov_r32_rm32,
        DType::I64 | DType::U64 | DType::F64 | DType::C64 | DType::C128 => Code::Mov_r64_rm64,
    }
}
/// The code that stores one.
fn store_code(dtype: DType) -> Code {
    match dtype.size() {
        1 => Code::Mov_rm8_r8,
        2 => Code::Mov_rm16_r16,
        4 => Code::Mov_rm32_r32,
        _ => Code::Mov_rm64_r64,
    }
}
/// The instruction that widens elements to 32-bit lanes.
fn widening(dtype: DType) -> P {
    match dtype {
        DType::I8 => PMOVSXBD,
        DType::U8 | DType::BOOL => PMOVZXBD,
        DType::I16 => PMOVSXWD,
        _ => PMOVZXWD,
    }
}

impl Select<'_> {
    fn pointer(&self, memory: Memory) -> Result<(V, DType)> {
        let (pointer, dtype) = match memory {
            Memory::Buffer(n) => (self.buffers.get(n as usize), self.lir.buffers.get(n as usize).copied()),
            Memory::Scratch(n) => (self.scratch.get(n as usize), self.lir.scratch.get(n as usize).map(|s| s.0)),
        };
        match (pointer, dtype) {
            (Some(p), Some(d)) if *p != NONE => Ok((*p, d)),
            _ => Err(malformed(format_args!("no memory {memory:?}"))),
        }
    }

    /// The register of an index, and what is to be added to it, in elements.
    fn index(&self, index: Reg, offset: i64) -> Result<(V, i64)> {
        let v = self.get(index)?;
        if let Some(i) = self.integer(v) {
            return Ok((NONE, i.wrapping_add(offset)));
        }
        if let Some((base, more)) = self.sums.get(&v) {
            // The other register must still hold what it held: it is written once, or it is the variable of an open loop.
            let steady = self.m.regs[*base as usize].single || self.open.iter().any(|o| o.0 == *base);
            if let (true, Some(offset)) = (steady, more.checked_add(offset)) {
                return Ok((*base, offset));
            }
        }
        Ok((v, offset))
    }

    /// The address of `base[index + offset]`.
    fn address(&mut self, base: V, index: V, offset: i64, size: u8) -> Mem {
        let bytes = offset.wrapping_mul(size.into());
        // Some room, for lanes beside it.
        if let (Ok(disp), true) = (i32::try_from(bytes), bytes.unsigned_abs() < 1 << 30) {
            return Mem { base, index, scale: size, disp };
        }
        let far = self.cg(offset, 8);
        let index = if index == NONE { self.same_integer(far) } else { self.g3(G::Add, 8, index, far) };
        Mem { base, index, scale: size, disp: 0 }
    }

    fn same_integer(&mut self, v: V) -> V {
        let d = self.m.fresh(Class::G, 8);
        self.m.push(Mi { d, imm: v as i32, ..Mi::new(Op::Const, 8) });
        d
    }

    fn check(&self, ty: Ty, memory: Memory) -> Result<V> {
        let (base, dtype) = self.pointer(memory)?;
        if dtype != ty.dtype {
            return Err(malformed(format_args!("{ty} at memory of {dtype}")));
        }
        Ok(base)
    }

    fn load_x(&mut self, code: Code, w: u8, width: u8, mem: Mem) -> V {
        let d = self.m.fresh(Class::X, width);
        self.m.push(Mi { d, mem, ..Mi::new(Op::Load(code), w) });
        d
    }
    /// As [`Op::X2`], with memory.
    fn load_x2(&mut self, code: Code, w: u8, width: u8, mem: Mem) -> V {
        let d = self.m.fresh(Class::X, width);
        self.m.push(Mi { d, mem, ..Mi::new(Op::X2(code), w) });
        d
    }
    fn put(&mut self, code: Code, w: u8, mem: Mem, s: V, imm: i32) {
        self.m.push(Mi { s: [s, NONE, NONE], mem, imm, ..Mi::new(Op::Store(code), w) });
    }

    fn load_scalar(&mut self, dtype: DType, mem: Mem) -> V {
        match dtype {
            DType::F32 => self.load_x(Code::VEX_Vmovss_xmm_m32, 4, 16, mem),
            DType::F64 => self.load_x(Code::VEX_Vmovsd_xmm_m64, 8, 16, mem),
            _ => {
                let d = self.m.fresh(Class::G, lane(dtype));
                self.m.push(Mi { d, mem, ..Mi::new(Op::Load(load_code(dtype)), dtype.size() as u8) });
                d
            }
        }
    }

    pub fn load(&mut self, ty: Ty, from: Memory, index: Reg, offset: i64, stride: Stride) -> Result<V> {
        let base = self.check(ty, from)?;
        let (_, width) = Self::place(ty)?;
        let size = ty.dtype.size() as u8;
        if let Some(v) = self.loaded.remove(&self.at) {
            return Ok(v);
        }
        if let Stride::Const(step) = stride
            && let Some(v) = self.block(ty, base, from, index, offset, step)?
        {
            return Ok(v);
        }
        let (index, offset) = self.index(index, offset)?;
        let mem = self.address(base, index, offset, size);
        if ty.lanes == 1 {
            return Ok(self.load_scalar(ty.dtype, mem));
        }
        Ok(match stride {
            Stride::One => self.load_near(ty, width, mem),
            Stride::Const(0) => {
                let one = self.load_scalar(ty.dtype, mem);
                self.splat(ty, one)?
            }
            Stride::Const(-1) if width < 64 => {
                let first = self.address(base, index, offset - i64::from(ty.lanes - 1), size);
                let v = self.load_near(ty, width, first);
                self.reversed(ty, v)
            }
            Stride::Const(_) | Stride::Reg(_) => {
                let all = self.lanes_at(mem, index, stride, ty.lanes, size)?;
                if width == 64 {
                    let half = Ty { lanes: 8, ..ty };
                    let (low, high) = (self.load_lanes(half, 32, &all[..8]), self.load_lanes(half, 32, &all[8..]));
                    return Ok(self.joined(low, high));
                }
                self.load_lanes(ty, width, &all)
            }
        })
    }

    fn load_near(&mut self, ty: Ty, width: u8, mem: Mem) -> V {
        match ty.dtype {
            DType::F32 | DType::I32 | DType::U32 | DType::F64 | DType::I64 | DType::U64 => {
                self.load_x(MOVUPS.at(width), width, width, mem)
            }
            DType::F16 | DType::BF16 | DType::U16 | DType::I16 => {
                let code = match width {
                    64 => MOVUPS.1,
                    32 => MOVUPS.0,
                    _ => Code::VEX_Vmovsd_xmm_m64,
                };
                let p = self.load_x(code, width / 2, (width / 2).max(16), mem);
                let v = self.x2(widening(ty.dtype).at(width), width / 2, width, p);
                if ty.dtype == DType::F16 {
                    self.packed.insert(v, p);
                }
                v
            }
            _ => {
                let v = self.load_x2(widening(ty.dtype).at(width), width / 4, width, mem);
                self.loaded(ty.dtype, v)
            }
        }
    }

    /// Loads of columns side by side, as many as they have lanes, are loads of rows and a transposition. Those that follow
    /// are done here too: nothing between them writes what they read, since buffers are not both read and written but by
    /// the iteration that an element belongs to.
    fn block(&mut self, ty: Ty, base: V, from: Memory, index: Reg, offset: i64, step: i64) -> Result<Option<V>> {
        let (n, size) = (ty.lanes as usize, ty.dtype.size());
        if !matches!((n, size), (8, 4) | (4, 4) | (4, 8)) || step.unsigned_abs() < n as u64 || step > 1 << 20 {
            return Ok(None);
        }
        let lir = self.lir;
        let mut columns = [None; 8];
        for (at, inst) in lir.body.iter().enumerate().skip(self.at).take(96) {
            match inst {
                Inst::Load { dst, from: f, index: i, offset: o, stride: Stride::Const(s) }
                    if (*f, *i, *s) == (from, index, step) && self.ty(*dst)? == ty =>
                {
                    let column = o.wrapping_sub(offset);
                    if (0..n as i64).contains(&column) && columns[column as usize].is_none() {
                        columns[column as usize] = Some(at);
                    }
                }
                Inst::Store { to, .. } | Inst::Scatter { to, .. } if *to == from => break,
                Inst::For { .. } | Inst::EndFor | Inst::If { .. } | Inst::EndIf => break,
                // An index that is written again is another one.
                Inst::Copy { dst, .. } if *dst == index => break,
                _ => {}
            }
        }
        if columns[0] != Some(self.at) || columns[..n].iter().any(|c| c.is_none()) {
            return Ok(None);
        }
        let (index, offset) = self.index(index, offset)?;
        let row = |s: &mut Self, k: usize, column: i64| {
            s.address(base, index, offset.wrapping_add(step.wrapping_mul(k as i64)).wrapping_add(column), size as u8)
        };
        let mut out = vec![];
        match (n, size) {
            (4, 8) => {
                let mut rows = [NONE; 4];
                for (k, r) in rows.iter_mut().enumerate() {
                    let mem = row(self, k, 0);
                    *r = self.load_x(MOVUPS.1, 32, 32, mem);
                }
                let low = [self.p3(UNPCKLPD, rows[0], rows[1]), self.p3(UNPCKLPD, rows[2], rows[3])];
                let high = [self.p3(UNPCKHPD, rows[0], rows[1]), self.p3(UNPCKHPD, rows[2], rows[3])];
                let code = Code::VEX_Vperm2f128_ymm_ymm_ymmm256_imm8;
                for imm in [0x20, 0x31] {
                    for [a, b] in [low, high] {
                        out.push(self.x3i(code, 32, a, b, imm));
                    }
                }
            }
            _ => {
                // Four rows at a time, those of the upper lanes above them.
                for column in (0..n as i64).step_by(4) {
                    let mut rows = [NONE; 4];
                    for (k, r) in rows.iter_mut().enumerate() {
                        let mem = row(self, k, column);
                        *r = self.load_x(MOVUPS.0, 16, 16, mem);
                        if n == 8 {
                            let upper = row(self, k + 4, column);
                            *r = self.joined_memory(*r, upper);
                        }
                    }
                    let low = [self.p3(UNPCKLPS, rows[0], rows[1]), self.p3(UNPCKLPS, rows[2], rows[3])];
                    let high = [self.p3(UNPCKHPS, rows[0], rows[1]), self.p3(UNPCKHPS, rows[2], rows[3])];
                    for [a, b] in [low, high] {
                        for imm in [0x44, 0xee] {
                            out.push(self.p3i(SHUFPS, a, b, imm));
                        }
                    }
                }
            }
        }
        for (v, at) in out.iter().zip(columns).skip(1) {
            if let Some(at) = at {
                self.loaded.insert(at, *v);
            }
        }
        Ok(out.first().copied())
    }

    fn joined_memory(&mut self, low: V, upper: Mem) -> V {
        let d = self.m.fresh(Class::X, 32);
        let whole = self.r2(Code::VEX_Vmovaps_ymm_ymmm256, Class::X, 32, low, -1);
        let code = Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8;
        self.m.push(Mi { d, s: [whole, NONE, NONE], mem: upper, imm: 1, ..Mi::new(Op::X3(code), 16) });
        d
    }

    /// Bools are masks in registers.
    fn loaded(&mut self, dtype: DType, v: V) -> V {
        if dtype != DType::BOOL {
            return v;
        }
        let zero = self.zero(self.width(v));
        self.p3(PSUBD, zero, v)
    }

    fn reversed(&mut self, ty: Ty, v: V) -> V {
        if lane(ty.dtype) == 8 {
            return self.x2i(Code::VEX_Vpermq_ymm_ymmm256_imm8, 32, 32, v, 0x1b);
        }
        if ty.lanes == 4 {
            return self.x2i(Code::VEX_Vpshufd_xmm_xmmm128_imm8, 16, 16, v, 0x1b);
        }
        let mut table = [0u8; 64];
        for i in 0..8 {
            table[i * 4] = 7 - i as u8;
        }
        let order = self.ct(table, 32);
        self.x3(Code::VEX_Vpermd_ymm_ymm_ymmm256, 32, order, v)
    }

    /// The address of every lane.
    fn lanes_at(&mut self, first: Mem, index: V, stride: Stride, lanes: u8, size: u8) -> Result<Vec<Mem>> {
        let mut all = vec![first];
        match stride {
            Stride::One => {
                for i in 1..lanes {
                    all.push(Mem { disp: first.disp + i32::from(i) * i32::from(size), ..first });
                }
            }
            Stride::Const(step) => {
                let bytes = step.wrapping_mul(size.into());
                if bytes.unsigned_abs() < 1 << 26 {
                    for i in 1..lanes {
                        all.push(Mem { disp: first.disp + i32::from(i) * bytes as i32, ..first });
                    }
                } else {
                    let step = self.cg(step, 8);
                    self.steps(first, index, step, lanes, &mut all);
                }
            }
            Stride::Reg(step) => {
                let step = self.get(step)?;
                self.steps(first, index, step, lanes, &mut all);
            }
        }
        Ok(all)
    }

    fn steps(&mut self, first: Mem, _: V, step: V, lanes: u8, all: &mut Vec<Mem>) {
        let mut index = first.index;
        for _ in 1..lanes {
            index = match index {
                NONE if self.integer(step).is_some() => self.same_integer(step),
                NONE => step,
                _ => self.g3(G::Add, 8, index, step),
            };
            all.push(Mem { index, ..first });
        }
    }

    fn load_lanes(&mut self, ty: Ty, width: u8, all: &[Mem]) -> V {
        let size = ty.dtype.size() as u8;
        match size {
            8 => {
                let mut halves = [NONE; 2];
                for (half, pair) in halves.iter_mut().zip(all.chunks(2)) {
                    let low = self.load_x(Code::VEX_Vmovsd_xmm_m64, 8, 16, pair[0]);
                    *half = self.insert(Code::VEX_Vmovhps_xmm_xmm_m64, 8, low, pair[1], -1);
                }
                self.joined(halves[0], halves[1])
            }
            4 => {
                let mut halves = [NONE; 2];
                for (half, four) in halves.iter_mut().zip(all.chunks(4)) {
                    let mut v = self.load_x(Code::VEX_Vmovss_xmm_m32, 4, 16, four[0]);
                    for (i, mem) in four.iter().enumerate().skip(1) {
                        v = self.insert(Code::VEX_Vpinsrd_xmm_xmm_rm32_imm8, 4, v, *mem, i as i32);
                    }
                    *half = v;
                }
                if width == 32 { self.joined(halves[0], halves[1]) } else { halves[0] }
            }
            _ => {
                let code = if size == 1 {
                    Code::VEX_Vpinsrb_xmm_xmm_r32m8_imm8
                } else {
                    Code::VEX_Vpinsrw_xmm_xmm_r32m16_imm8
                };
                let mut v = self.zero(16);
                for (i, mem) in all.iter().enumerate() {
                    v = self.insert(code, size, v, *mem, i as i32);
                }
                let wide = self.x2(widening(ty.dtype).at(width), size * (width / 4), width, v);
                if ty.dtype == DType::F16 {
                    self.packed.insert(wide, v);
                }
                self.loaded(ty.dtype, wide)
            }
        }
    }

    fn insert(&mut self, code: Code, w: u8, into: V, mem: Mem, imm: i32) -> V {
        let d = self.m.fresh(Class::X, 16);
        self.m.push(Mi { d, s: [into, NONE, NONE], mem, imm, ..Mi::new(Op::X3(code), w) });
        d
    }

    pub fn joined(&mut self, low: V, high: V) -> V {
        if self.width(low) == 32 {
            let d = self.m.fresh(Class::X, 64);
            let whole = self.r2(Code::EVEX_Vmovaps_ymm_k1z_ymmm256, Class::X, 64, low, -1);
            let code = Code::EVEX_Vinsertf64x4_zmm_k1z_zmm_ymmm256_imm8;
            self.m.push(Mi { d, s: [whole, high, NONE], imm: 1, ..Mi::new(Op::X3(code), 32) });
            return d;
        }
        let d = self.m.fresh(Class::X, 32);
        // The low half under the name of the whole: its upper half is overwritten.
        let whole = self.r2(Code::VEX_Vmovaps_ymm_ymmm256, Class::X, 32, low, -1);
        let code = Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8;
        self.m.push(Mi { d, s: [whole, high, NONE], imm: 1, ..Mi::new(Op::X3(code), 16) });
        d
    }

    pub fn store(&mut self, ty: Ty, to: Memory, index: Reg, offset: i64, stride: Stride, s: V) -> Result<()> {
        let base = self.check(ty, to)?;
        let (_, width) = Self::place(ty)?;
        let size = ty.dtype.size() as u8;
        let (index, offset) = self.index(index, offset)?;
        let mem = self.address(base, index, offset, size);
        if ty.lanes == 1 {
            self.store_scalar(ty.dtype, mem, s);
            return Ok(());
        }
        match stride {
            Stride::One => self.store_near(ty, width, mem, s),
            Stride::Const(-1) if width < 64 => {
                let v = self.reversed(ty, s);
                let first = self.address(base, index, offset - i64::from(ty.lanes - 1), size);
                self.store_near(ty, width, first, v);
            }
            Stride::Const(_) | Stride::Reg(_) => {
                let all = self.lanes_at(mem, index, stride, ty.lanes, size)?;
                if width == 64 {
                    let half = Ty { lanes: 8, ..ty };
                    let (low, high) = self.halves(s);
                    self.store_lanes(half, 32, &all[..8], low);
                    self.store_lanes(half, 32, &all[8..], high);
                } else {
                    self.store_lanes(ty, width, &all, s);
                }
            }
        }
        Ok(())
    }

    fn store_scalar(&mut self, dtype: DType, mem: Mem, s: V) {
        match dtype {
            DType::F32 => self.put(Code::VEX_Vmovss_m32_xmm, 4, mem, s, -1),
            DType::F64 => self.put(Code::VEX_Vmovsd_m64_xmm, 8, mem, s, -1),
            _ => self.put(store_code(dtype), dtype.size() as u8, mem, s, -1),
        }
    }

    /// Elements of 16 bits side by side in the low half of an xmm register (4 or 8 of them).
    fn packed16(&mut self, dtype: DType, width: u8, s: V) -> V {
        if let (DType::F16, Some(p)) = (dtype, self.packed.get(&s)) {
            return *p;
        }
        let p = if matches!(dtype, DType::I16 | DType::I8 | DType::BOOL) { PACKSSDW } else { PACKUSDW };
        if width == 32 {
            let (low, high) = (self.low(s), self.high(s));
            self.p3(p, low, high)
        } else {
            self.p3(p, s, s)
        }
    }

    fn store_near(&mut self, ty: Ty, width: u8, mem: Mem, s: V) {
        match ty.dtype.size() {
            4 | 8 => {
                let past = self.streams.is_some_and(|n| n.stores.contains(&self.at));
                self.put(if past { STREAM } else { STORE }.at(width), width, mem, s, -1);
            }
            2 if width == 64 => match self.packed.get(&s) {
                Some(p) if ty.dtype == DType::F16 => self.put(STORE.1, 32, mem, *p, -1),
                _ => self.put(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, 32, mem, s, -1),
            },
            1 if width == 64 => {
                let s = if ty.dtype == DType::BOOL { self.p2(PABSD, s) } else { s };
                self.put(Code::EVEX_Vpmovdb_xmmm128_k1z_zmm, 16, mem, s, -1);
            }
            2 => {
                let p = self.packed16(ty.dtype, width, s);
                let code = if width == 32 { STORE.0 } else { Code::VEX_Vmovsd_m64_xmm };
                self.put(code, width / 2, mem, p, -1);
            }
            _ => {
                // Masks become 0 and 1 first.
                let s = if ty.dtype == DType::BOOL { self.p2(PABSD, s) } else { s };
                let p = self.packed16(ty.dtype, width, s);
                let bytes = self.p3(if ty.dtype == DType::U8 { PACKUSWB } else { PACKSSWB }, p, p);
                let code = if width == 32 { Code::VEX_Vmovsd_m64_xmm } else { Code::VEX_Vmovss_m32_xmm };
                self.put(code, width / 4, mem, bytes, -1);
            }
        }
    }

    fn store_lanes(&mut self, ty: Ty, width: u8, all: &[Mem], s: V) {
        let s = if ty.dtype == DType::BOOL { self.p2(PABSD, s) } else { s };
        let per = usize::from(16 / lane(ty.dtype));
        let mut halves = vec![if width == 32 { self.low(s) } else { s }];
        if width == 32 {
            halves.push(self.high(s));
        }
        for (half, mems) in halves.iter().zip(all.chunks(per)) {
            for (i, mem) in mems.iter().enumerate() {
                let imm = i as i32;
                match ty.dtype.size() {
                    8 if i == 0 => self.put(Code::VEX_Vmovsd_m64_xmm, 8, *mem, *half, -1),
                    8 => self.put(Code::VEX_Vmovhps_m64_xmm, 8, *mem, *half, -1),
                    4 if i == 0 => self.put(Code::VEX_Vmovss_m32_xmm, 4, *mem, *half, -1),
                    4 => self.put(Code::VEX_Vpextrd_rm32_xmm_imm8, 4, *mem, *half, imm),
                    2 => self.put(Code::VEX_Vpextrw_r32m16_xmm_imm8, 2, *mem, *half, imm * 2),
                    _ => self.put(Code::VEX_Vpextrb_r32m8_xmm_imm8, 1, *mem, *half, imm * 4),
                }
            }
        }
    }

    /// An index in a 64-bit register.
    fn long_index(&mut self, index: Reg) -> Result<V> {
        let ty = self.ty(index)?;
        let v = self.get(index)?;
        match ty.dtype {
            DType::I64 => Ok(v),
            DType::I32 => match self.integer(v) {
                Some(i) => Ok(self.cg(i, 8)),
                None => Ok(self.g2(Code::Movsxd_r64_rm32, 4, 8, v)),
            },
            _ => Err(malformed(format_args!("an index of {ty}"))),
        }
    }

    pub fn gather(&mut self, ty: Ty, from: Memory, index: Reg, gate: Option<(Reg, Reg)>) -> Result<V> {
        let base = self.check(ty, from)?;
        let (class, width) = Self::place(ty)?;
        let size = ty.dtype.size() as u8;
        let gate = match gate {
            Some((g, o)) => Some((self.get(g)?, self.get(o)?)),
            None => None,
        };
        if ty.lanes == 1 {
            let i = self.long_index(index)?;
            let (i, offset) = match self.integer(i) {
                Some(c) => (NONE, c),
                None => (i, 0),
            };
            let Some((gate, otherwise)) = gate else {
                let mem = self.address(base, i, offset, size);
                return Ok(self.load_scalar(ty.dtype, mem));
            };
            let mem = self.address(base, i, offset, size);
            let d = self.m.fresh(class, width);
            self.m.regs[d as usize].single = false;
            let mov = match self.m.regs[otherwise as usize].constant {
                Some(_) => Mi { d, imm: otherwise as i32, ..Mi::new(Op::Const, width) },
                None => Mi { d, s: [otherwise, NONE, NONE], ..Mi::new(Op::Mov, width) },
            };
            self.m.push(mov);
            self.m.push(Mi { s: [gate, NONE, NONE], ..Mi::new(Op::If, 4) });
            let code = match ty.dtype {
                DType::F32 => Code::VEX_Vmovss_xmm_m32,
                DType::F64 => Code::VEX_Vmovsd_xmm_m64,
                _ => load_code(ty.dtype),
            };
            self.m.push(Mi { d, mem, ..Mi::new(Op::Load(code), size) });
            self.m.push(Mi::new(Op::EndIf, 4));
            return Ok(self.same(d));
        }
        let ity = self.ty(index)?;
        let i = self.get(index)?;
        if ity.lanes != ty.lanes || !matches!(ity.dtype, DType::I32 | DType::I64) {
            return Err(malformed(format_args!("an index of {ity} for {ty}")));
        }
        let (gate, otherwise) = gate.unwrap_or((NONE, NONE));
        self.by_halves(ty, [i, gate, otherwise], |e, ty, s| e.gather_lanes(ty, ity.dtype, base, s))
    }

    /// Of an index, a gate and what there is otherwise, both of which may be none.
    fn gather_lanes(&mut self, ty: Ty, index: DType, base: V, [i, gate, otherwise]: [V; 3]) -> Result<V> {
        let (class, width) = Self::place(ty)?;
        let size = ty.dtype.size() as u8;
        if size < 4 {
            let d = self.m.fresh(class, width);
            let number = self.m.lanewise.len() as u32;
            self.m.lanewise.push(Lanewise {
                lanes: ty.lanes,
                size,
                index: lane(index),
                code: load_code(ty.dtype),
                truth: ty.dtype == DType::BOOL,
                lane: 4,
            });
            self.m.push(Mi {
                d,
                s: [i, gate, otherwise],
                mem: Mem::at(base, 0),
                ..Mi::new(Op::LaneGather(number), width)
            });
            return Ok(d);
        }
        let mask = match gate {
            NONE => self.ones(width),
            g if size == 8 => self.wide_mask(g, 32),
            g => g,
        };
        let otherwise = if gate == NONE { self.zero(width) } else { otherwise };
        let code = match (size, lane(index)) {
            (4, 4) => PGATHERDD.at(width),
            (4, _) => PGATHERQD.1,
            (_, 4) => PGATHERDQ.1,
            (_, _) => PGATHERQQ.1,
        };
        let d = self.m.fresh(Class::X, width);
        // The instruction destroys its mask, so it has one of its own.
        let own = self.m.fresh(Class::X, width);
        self.m.regs[own as usize].single = false;
        let mi = match self.m.regs[mask as usize].constant {
            Some(_) => Mi { d: own, imm: mask as i32, ..Mi::new(Op::Const, width) },
            None => Mi { d: own, s: [mask, NONE, NONE], ..Mi::new(Op::Mov, width) },
        };
        self.m.push(mi);
        let mem = Mem { base, index: NONE, scale: size, disp: 0 };
        self.m.push(Mi { d, s: [i, otherwise, own], mem, ..Mi::new(Op::XGather(code), size) });
        Ok(d)
    }

    pub fn scatter(&mut self, to: Memory, index: Reg, src: Reg, gate: Option<Reg>) -> Result<()> {
        let ty = self.ty(src)?;
        let base = self.check(ty, to)?;
        let (_, width) = Self::place(ty)?;
        let size = ty.dtype.size() as u8;
        let s = self.get(src)?;
        let gate = match gate {
            Some(g) => Some(self.get(g)?),
            None => None,
        };
        if ty.lanes == 1 {
            let i = self.long_index(index)?;
            let (i, offset) = match self.integer(i) {
                Some(c) => (NONE, c),
                None => (i, 0),
            };
            let mem = self.address(base, i, offset, size);
            if let Some(g) = gate {
                self.m.push(Mi { s: [g, NONE, NONE], ..Mi::new(Op::If, 4) });
            }
            self.store_scalar(ty.dtype, mem, s);
            if gate.is_some() {
                self.m.push(Mi::new(Op::EndIf, 4));
            }
            return Ok(());
        }
        let ity = self.ty(index)?;
        let i = self.get(index)?;
        if ity.lanes != ty.lanes || !matches!(ity.dtype, DType::I32 | DType::I64) {
            return Err(malformed(format_args!("an index of {ity} for {ty}")));
        }
        let s = if ty.dtype == DType::BOOL { self.p2(PABSD, s) } else { s };
        let all = [i, gate.unwrap_or(NONE), s];
        if width < 64 {
            self.scatter_lanes(ty, ity.dtype, base, all);
            return Ok(());
        }
        let (mut low, mut high) = (all, all);
        for (n, v) in all.into_iter().enumerate().filter(|(_, v)| *v != NONE) {
            (low[n], high[n]) = self.halves(v);
        }
        for half in [low, high] {
            self.scatter_lanes(Ty { lanes: 8, ..ty }, ity.dtype, base, half);
        }
        Ok(())
    }

    fn scatter_lanes(&mut self, ty: Ty, index: DType, base: V, s: [V; 3]) {
        let number = self.m.lanewise.len() as u32;
        self.m.lanewise.push(Lanewise {
            lanes: ty.lanes,
            size: ty.dtype.size() as u8,
            index: lane(index),
            code: store_code(ty.dtype),
            truth: false,
            lane: lane(ty.dtype),
        });
        let width = lane(ty.dtype) * ty.lanes;
        self.m.push(Mi { s, mem: Mem::at(base, 0), ..Mi::new(Op::LaneScatter(number), width) });
    }
}
