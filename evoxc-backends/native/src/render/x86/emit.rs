//! Machine code of [`Mir`] whose registers are assigned.

use super::asm::{Arg, Asm, Bytes, Place};
use super::codes::{STORE, cmov, g3_codes, set};
use super::mir::*;
use super::regs::{ARGUMENT_REGS, Assignment, Loc, RAX, RDX, XLAST, fits_target, ordered};
use super::select::ARGUMENTS;
use super::stream::Streams;
use iced_x86::{Code, Register};

/// The mask register that instructions use between them: none lives in one.
const MASK: Register = Register::K1;
/// Bytes at the bottom of the frame where lane-wise code keeps vectors: two operands and a result.
const AREA: i32 = 96;

pub(super) struct Emit<'a> {
    pub m: &'a Mir,
    pub a: &'a Assignment,
    pub asm: Asm,
    /// Where slots begin.
    slots: i32,
    /// Where registers are kept over rare calls.
    kept: i32,
    /// How many of those there were.
    rare: usize,
    /// What the frame is a multiple of, and room for a vector register.
    align: i32,
    /// How many of the vector registers that are kept for operands in memory hold one.
    taken: u8,
    /// The open blocks: of a loop where it begins, and the jump past its end.
    open: Vec<(usize, Option<usize>)>,
    /// Are there stores past the caches, which are to be done before others read?
    fence: bool,
}

/// The name of an integer register.
pub(super) fn g(number: u8, size: u8) -> Register {
    let n = u32::from(number);
    match size {
        8 => Register::RAX + n,
        4 => Register::EAX + n,
        2 => Register::AX + n,
        _ if n < 4 => Register::AL + n,
        _ => Register::SPL + (n - 4),
    }
}
pub(super) fn x(number: u8, width: u8) -> Register {
    let first = match width {
        64 => Register::ZMM0,
        32 => Register::YMM0,
        _ => Register::XMM0,
    };
    first + u32::from(number)
}
pub(super) fn at(base: Register, disp: i32) -> Place {
    Place::At { base, index: Register::None, scale: 1, disp }
}

/// The size of the integer register that an instruction writes, where that is not the size of the value.
fn written(code: Code, width: u8) -> u8 {
    match code {
        Code::Mov_r32_rm32 | Code::Movsx_r32_rm8 | Code::Movzx_r32_rm8 | Code::Movsx_r32_rm16 => 4,
        Code::Movzx_r32_rm16 | Code::VEX_Vmovd_rm32_xmm | Code::VEX_Vpextrd_rm32_xmm_imm8 => 4,
        _ => width,
    }
}

/// Machine code of a function.
pub fn emit(m: &Mir, a: &Assignment) -> Result<Bytes, String> {
    let mut e =
        Emit { m, a, asm: Asm::new(), slots: 0, kept: 0, rare: 0, align: 32, taken: 0, open: vec![], fence: false };
    e.function();
    e.asm.finish(m.functions)
}

/// Machine code of a function in two forms: one whose stores go past the caches, which runs where what it asks for holds,
/// and the plain one.
pub fn emit_both(past: (&Mir, &Assignment), plain: (&Mir, &Assignment), asks: &Streams) -> Result<Bytes, String> {
    let mut asm = Asm::new();
    let mut jumps = vec![];
    // The first iteration is the fourth argument, the buffers are the first.
    if asks.begin {
        asm.ins(Code::Mov_r32_rm32, &[Arg::R(Register::EAX), Arg::R(Register::ECX)]);
        asm.ins(Code::And_rm32_imm8, &[Arg::R(Register::EAX), Arg::I((1 << asks.twos) - 1)]);
        jumps.push(asm.jump_if(Cc::Ne.number()));
    }
    for n in &asks.buffers {
        let pointer = at(Register::RDI, *n as i32 * 8);
        asm.ins(Code::Mov_r64_rm64, &[Arg::R(Register::RAX), Arg::M(pointer)]);
        for other in &asks.read {
            let other = at(Register::RDI, *other as i32 * 8);
            asm.ins(Code::Cmp_r64_rm64, &[Arg::R(Register::RAX), Arg::M(other)]);
            jumps.push(asm.jump_if(Cc::E.number()));
        }
        asm.ins(Code::And_rm32_imm8, &[Arg::R(Register::EAX), Arg::I((4 << asks.twos) - 1)]);
        jumps.push(asm.jump_if(Cc::Ne.number()));
    }
    let mut e =
        Emit { m: past.0, a: past.1, asm, slots: 0, kept: 0, rare: 0, align: 32, taken: 0, open: vec![], fence: true };
    e.function();
    let mut asm = e.asm;
    for jump in jumps {
        asm.land(jump);
    }
    let mut e = Emit {
        m: plain.0,
        a: plain.1,
        asm,
        slots: 0,
        kept: 0,
        rare: 0,
        align: 32,
        taken: 0,
        open: vec![],
        fence: false,
    };
    e.function();
    e.asm.finish(plain.0.functions)
}

impl Emit<'_> {
    fn function(&mut self) {
        let m = self.m;
        let area = m.code.iter().any(|mi| matches!(mi.op, Op::Call(_) | Op::LaneGather(_) | Op::LaneScatter(_)));
        let calls = m.code.iter().any(|mi| matches!(mi.op, Op::Call(_)));
        let widest = m.regs.iter().map(|r| r.width).max().unwrap_or(0);
        self.align = if widest == 64 { 64 } else { 32 };
        let whole = |bytes: i32| (bytes + self.align - 1) / self.align * self.align;
        self.kept = if area { whole(AREA) } else { 0 };
        let (integers, vectors) = self
            .a
            .rare
            .iter()
            .fold((0, 0), |(g, x), (_, [a, b])| (g.max(a.count_ones() as i32), x.max(b.count_ones() as i32)));
        let wide = widest >= 32 || vectors > 0;
        self.slots = self.kept + vectors * self.align + whole(integers * 8);
        let saved: Vec<u8> = (0..16u8).filter(|r| self.a.saved & (1 << r) != 0).collect();
        for r in &saved {
            self.asm.ins(Code::Push_r64, &[Arg::R(g(*r, 8))]);
        }
        // The frame, at a multiple of 32 or 64, and the stack pointer that was before in its last 8 bytes.
        let bytes = self.slots + self.a.frame as i32;
        let frame = if bytes > 0 || calls { whole(bytes + 8) } else { 0 };
        let rsp = Arg::R(Register::RSP);
        let old = Arg::M(at(Register::RSP, frame - 8));
        if frame > 0 {
            self.asm.ins(Code::Mov_r64_rm64, &[Arg::R(Register::RAX), rsp]);
            self.asm.ins(Code::And_rm64_imm8, &[rsp, Arg::I((-self.align).into())]);
            // Large frames touch every page on the way, as the guard page of a stack expects.
            let mut left = frame;
            while left > 4096 {
                self.asm.ins(Code::Sub_rm64_imm32, &[rsp, Arg::I(4096)]);
                self.asm.ins(Code::Mov_rm64_r64, &[Arg::M(at(Register::RSP, 0)), Arg::R(Register::RAX)]);
                left -= 4096;
            }
            self.asm.ins(Code::Sub_rm64_imm32, &[rsp, Arg::I(left.into())]);
            self.asm.ins(Code::Mov_rm64_r64, &[old, Arg::R(Register::RAX)]);
        }
        for v in 0..ARGUMENTS {
            if m.uses[v as usize] == 0 {
                continue;
            }
            let given = if v == 2 { RDX } else { ARGUMENT_REGS[v as usize] };
            match self.a.loc[v as usize] {
                Loc::Reg(r) if r != given => {
                    self.asm.ins(Code::Mov_r64_rm64, &[Arg::R(g(r, 8)), Arg::R(g(given, 8))]);
                }
                Loc::Slot(s) => {
                    let to = Arg::M(self.slot(s));
                    self.asm.ins(Code::Mov_rm64_r64, &[to, Arg::R(g(given, 8))]);
                }
                Loc::Reg(_) | Loc::Nowhere | Loc::Constant => {}
            }
        }
        let mut constants = self.a.constants.iter().peekable();
        for (k, mi) in m.code.iter().enumerate() {
            while let Some((_, v)) = constants.next_if(|c| c.0 as usize <= k) {
                if let Loc::Reg(r) = self.a.loc[*v as usize] {
                    self.materialise(*v, r, true);
                }
            }
            self.one(k, mi);
        }
        if self.fence {
            self.asm.ins(Code::Sfence, &[]);
        }
        if wide {
            self.asm.ins(Code::VEX_Vzeroupper, &[]);
        }
        if frame > 0 {
            self.asm.ins(Code::Mov_r64_rm64, &[rsp, old]);
        }
        for r in saved.iter().rev() {
            self.asm.ins(Code::Pop_r64, &[Arg::R(g(*r, 8))]);
        }
        self.asm.ins(Code::Retnq, &[]);
    }

    fn slot(&self, offset: u32) -> Place {
        at(Register::RSP, self.slots + offset as i32)
    }

    fn class(&self, v: V) -> Class {
        self.m.regs[v as usize].class
    }
    pub(super) fn width(&self, v: V) -> u8 {
        self.m.regs[v as usize].width
    }

    /// A constant into a register. Between instructions flags may change.
    fn materialise(&mut self, v: V, r: u8, between: bool) {
        let info = self.m.regs[v as usize];
        let Some(c) = info.constant else { return };
        if info.class == Class::G {
            let Constant::Splat(bits, size) = c else { return };
            let value = if size == 8 { bits as i64 } else { i64::from(bits as u32) };
            if value == 0 && between {
                self.asm.ins(Code::Xor_r32_rm32, &[Arg::R(g(r, 4)), Arg::R(g(r, 4))]);
            } else if u32::try_from(value).is_ok() {
                self.asm.ins(Code::Mov_r32_imm32, &[Arg::R(g(r, 4)), Arg::I(value)]);
            } else if i32::try_from(value).is_ok() {
                self.asm.ins(Code::Mov_rm64_imm32, &[Arg::R(g(r, 8)), Arg::I(value)]);
            } else {
                self.asm.ins(Code::Mov_r64_imm64, &[Arg::R(g(r, 8)), Arg::I(value)]);
            }
            return;
        }
        let to = Arg::R(x(r, info.width));
        match c {
            Constant::Splat(0, _) if r > XLAST => {
                self.asm.ins(super::codes::PXOR.2, &[to, to, to]);
            }
            Constant::Splat(0, _) => {
                let low = Arg::R(x(r, 16));
                self.asm.ins(Code::VEX_Vxorps_xmm_xmm_xmmm128, &[low, low, low]);
            }
            Constant::Splat(0xffff_ffff, 4) | Constant::Splat(u64::MAX, 8) if info.width == 64 => {
                let code = Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8;
                self.asm.ins(code, &[to, to, to, Arg::I(0xff)]);
            }
            Constant::Splat(0xffff_ffff, 4) | Constant::Splat(u64::MAX, 8) => {
                self.asm.ins(super::codes::PCMPEQD.at(info.width), &[to, to, to]);
            }
            Constant::Splat(_, size) => {
                let from = Arg::M(self.asm.constant(c, &self.m.tables, size));
                let p = if size == 8 { super::codes::PBROADCASTQ } else { super::codes::PBROADCASTD };
                self.asm.ins(p.at(info.width), &[to, from]);
            }
            Constant::Table(_) => {
                let from = Arg::M(self.asm.constant(c, &self.m.tables, info.width));
                self.asm.ins(super::codes::MOVUPS.at(info.width), &[to, from]);
            }
        }
    }

    /// The register of a value; one that is elsewhere comes to `scratch`.
    pub(super) fn reg(&mut self, v: V, scratch: u8) -> u8 {
        match self.a.loc[v as usize] {
            Loc::Reg(r) => r,
            Loc::Slot(s) => {
                let from = Arg::M(self.slot(s));
                match self.class(v) {
                    Class::G if self.width(v) == 8 => {
                        self.asm.ins(Code::Mov_r64_rm64, &[Arg::R(g(scratch, 8)), from]);
                    }
                    Class::G => self.asm.ins(Code::Mov_r32_rm32, &[Arg::R(g(scratch, 4)), from]),
                    Class::X => {
                        let w = self.width(v);
                        self.asm.ins(super::codes::MOVUPS.at(w), &[Arg::R(x(scratch, w)), from]);
                    }
                }
                scratch
            }
            Loc::Constant | Loc::Nowhere => {
                self.materialise(v, scratch, false);
                scratch
            }
        }
    }

    /// The same of vectors, with a register that no other operand has.
    fn xreg(&mut self, v: V) -> u8 {
        if let Loc::Reg(r) = self.a.loc[v as usize] {
            return r;
        }
        let r = XLAST - self.taken;
        self.taken += 1;
        self.reg(v, r)
    }

    /// The first operand, which comes to the register of the result where it can.
    fn first(&mut self, mi: &Mi) -> u8 {
        match self.a.loc[mi.d as usize] {
            Loc::Reg(d) if fits_target(&self.a.loc, mi, 0) => self.reg(mi.s[0], d),
            _ => self.xreg(mi.s[0]),
        }
    }

    /// A value where memory will do; integers as registers of `w` bytes, vectors of their width.
    pub(super) fn rm(&mut self, v: V, w: u8) -> Arg {
        match (self.a.loc[v as usize], self.m.regs[v as usize].constant) {
            (Loc::Slot(s), _) => Arg::M(self.slot(s)),
            (Loc::Constant, Some(c)) if self.class(v) == Class::X => Arg::M(self.asm.constant(c, &self.m.tables, w)),
            _ => {
                let r = self.reg(v, RDX);
                self.name(v, r, w)
            }
        }
    }

    fn name(&self, v: V, r: u8, w: u8) -> Arg {
        match self.class(v) {
            Class::G => Arg::R(g(r, w)),
            Class::X => Arg::R(x(r, self.width(v))),
        }
    }

    /// The register to write, which [`Emit::done`] moves where the value lives.
    pub(super) fn target(&self, v: V) -> u8 {
        match (self.a.loc[v as usize], self.class(v)) {
            (Loc::Reg(r), _) => r,
            (_, Class::G) => RAX,
            (_, Class::X) => XLAST,
        }
    }
    pub(super) fn done(&mut self, v: V, r: u8) {
        if let Loc::Slot(s) = self.a.loc[v as usize] {
            let to = Arg::M(self.slot(s));
            let w = self.width(v);
            match self.class(v) {
                Class::G if w == 8 => self.asm.ins(Code::Mov_rm64_r64, &[to, Arg::R(g(r, 8))]),
                Class::G => self.asm.ins(Code::Mov_rm32_r32, &[to, Arg::R(g(r, 4))]),
                Class::X => self.asm.ins(STORE.at(w), &[to, Arg::R(x(r, w))]),
            }
        }
    }

    /// An address; uses rax, and rdx where both registers are elsewhere.
    fn address(&mut self, mem: Mem) -> Place {
        let base = self.reg(mem.base, RAX);
        let index = match mem.index {
            NONE => Register::None,
            v => {
                let other = if base == RAX { RDX } else { RAX };
                let r = self.reg(v, other);
                g(r, 8)
            }
        };
        Place::At { base: g(base, 8), index, scale: mem.scale, disp: mem.disp }
    }

    /// The operand that may be memory.
    fn operand(&mut self, mi: &Mi, slot: usize) -> Arg {
        match mi.s[slot] {
            NONE => Arg::M(self.address(mi.mem)),
            v => self.rm(v, mi.w),
        }
    }

    fn with_imm(args: &[Arg], imm: i32) -> smallvec::SmallVec<[Arg; 4]> {
        let mut all: smallvec::SmallVec<[Arg; 4]> = args.iter().copied().collect();
        if imm >= 0 {
            all.push(Arg::I(imm.into()));
        }
        all
    }

    fn one(&mut self, k: usize, mi: &Mi) {
        self.taken = 0;
        let mi = &ordered(&self.a.loc, mi);
        match mi.op {
            Op::Dead => {}
            Op::X2(code) | Op::Load(code) => {
                let s = self.operand(mi, 1);
                let d = self.target(mi.d);
                let to = self.name(mi.d, d, written(code, self.width(mi.d)));
                let args = Self::with_imm(&[to, s], mi.imm);
                self.asm.ins(code, &args);
                self.done(mi.d, d);
            }
            Op::R2(code) => {
                let s = match self.class(mi.s[0]) {
                    Class::G => self.reg(mi.s[0], RDX),
                    Class::X => self.xreg(mi.s[0]),
                };
                let d = self.target(mi.d);
                if matches!(code, Code::VEX_Vmovaps_xmm_xmmm128 | Code::VEX_Vmovaps_ymm_ymmm256) {
                    if s != d {
                        self.asm.ins(Code::VEX_Vmovaps_xmm_xmmm128, &[Arg::R(x(d, 16)), Arg::R(x(s, 16))]);
                    }
                } else if code == Code::EVEX_Vmovaps_ymm_k1z_ymmm256 {
                    if s != d {
                        self.asm.ins(code, &[Arg::R(x(d, 32)), Arg::R(x(s, 32))]);
                    }
                } else {
                    let to = self.name(mi.d, d, written(code, self.width(mi.d)));
                    let from = self.name(mi.s[0], s, mi.w);
                    let args = Self::with_imm(&[to, from], mi.imm);
                    self.asm.ins(code, &args);
                }
                self.done(mi.d, d);
            }
            Op::X3(code) if mi.commutes && mi.s[1] == NONE && !matches!(self.a.loc[mi.s[0] as usize], Loc::Reg(_)) => {
                let d = self.target(mi.d);
                let to = self.name(mi.d, d, self.width(mi.d));
                self.load(to, mi);
                let other = self.rm(mi.s[0], mi.w);
                let args = Self::with_imm(&[to, to, other], mi.imm);
                self.asm.ins(code, &args);
                self.done(mi.d, d);
            }
            Op::X3(code) => {
                let a = self.first(mi);
                let a = self.name(mi.s[0], a, mi.w);
                let b = self.operand(mi, 1);
                let d = self.target(mi.d);
                let to = self.name(mi.d, d, self.width(mi.d));
                let args = Self::with_imm(&[to, a, b], mi.imm);
                self.asm.ins(code, &args);
                self.done(mi.d, d);
            }
            Op::XTest(code) => {
                let a = self.xreg(mi.s[0]);
                self.test(mi, code, a);
            }
            Op::XMask(code) => {
                let a = self.first(mi);
                self.test(mi, code, a);
                let d = self.target(mi.d);
                self.asm.ins(Code::EVEX_Vpmovm2d_zmm_kr, &[Arg::R(x(d, 64)), Arg::R(MASK)]);
                self.done(mi.d, d);
            }
            Op::XBlend => {
                let a = self.first(mi);
                if mi.s[2] != NONE {
                    let c = self.xreg(mi.s[2]);
                    self.asm.ins(Code::EVEX_Vpmovd2m_kr_zmm, &[Arg::R(MASK), Arg::R(x(c, 64))]);
                }
                let b = self.operand(mi, 1);
                let d = self.target(mi.d);
                let args = [Arg::R(x(d, 64)), Arg::R(x(a, 64)), b];
                self.asm.masked(Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, &args, MASK);
                self.done(mi.d, d);
            }
            Op::X4(code) => {
                let a = self.first(mi);
                let c = self.xreg(mi.s[2]);
                let b = self.operand(mi, 1);
                let d = self.target(mi.d);
                let to = self.name(mi.d, d, self.width(mi.d));
                let (a, c) = (self.name(mi.s[0], a, mi.w), self.name(mi.s[2], c, mi.w));
                self.asm.ins(code, &[to, a, b, c]);
                self.done(mi.d, d);
            }
            Op::Fma(codes) => self.fma(mi, codes),
            Op::Store(code) => self.store(mi, code),
            Op::Mov => {
                let (v, w) = (mi.s[0], self.width(mi.d));
                match self.class(mi.d) {
                    Class::X => {
                        let d = self.target(mi.d);
                        let s = self.reg(v, d);
                        if s != d {
                            let code = super::codes::MOVUPS.at(w);
                            self.asm.ins(code, &[Arg::R(x(d, w)), Arg::R(x(s, w))]);
                        }
                        self.done(mi.d, d);
                    }
                    Class::G => {
                        let d = self.target(mi.d);
                        let s = self.reg(v, d);
                        if s != d {
                            self.asm.ins(Code::Mov_r64_rm64, &[Arg::R(g(d, 8)), Arg::R(g(s, 8))]);
                        }
                        self.done(mi.d, d);
                    }
                }
            }
            Op::Const => {
                let d = self.target(mi.d);
                self.materialise(mi.imm as V, d, true);
                self.done(mi.d, d);
            }
            Op::G3(op) => self.g3(mi, op),
            Op::GShift(op) => self.gshift(mi, op),
            Op::GNeg | Op::GNot => {
                let d = self.target(mi.d);
                let s = self.reg(mi.s[0], d);
                self.gmov(d, s);
                let code = match (mi.op, mi.w) {
                    (Op::GNeg, 8) => Code::Neg_rm64,
                    (Op::GNeg, _) => Code::Neg_rm32,
                    (_, 8) => Code::Not_rm64,
                    (_, _) => Code::Not_rm32,
                };
                self.asm.ins(code, &[Arg::R(g(d, mi.w))]);
                self.done(mi.d, d);
            }
            Op::GCmp(cc) => {
                self.compare(mi);
                self.asm.ins(set(cc), &[Arg::R(Register::AL)]);
                let d = self.target(mi.d);
                self.asm.ins(Code::Movzx_r32_rm8, &[Arg::R(g(d, 4)), Arg::R(Register::AL)]);
                self.done(mi.d, d);
            }
            Op::GPick(cc) => {
                let a = self.reg(mi.s[0], RAX);
                let b = self.reg(mi.s[1], RDX);
                let d = self.target(mi.d);
                let code = if mi.w == 8 { Code::Cmp_r64_rm64 } else { Code::Cmp_r32_rm32 };
                self.asm.ins(code, &[Arg::R(g(a, mi.w)), Arg::R(g(b, mi.w))]);
                self.pick(cc, d, a, b, mi.w);
                self.done(mi.d, d);
            }
            Op::GSelect => {
                let c = self.reg(mi.s[0], RAX);
                self.asm.ins(Code::Test_rm32_r32, &[Arg::R(g(c, 4)), Arg::R(g(c, 4))]);
                let a = self.reg(mi.s[1], RAX);
                let b = self.reg(mi.s[2], RDX);
                let d = self.target(mi.d);
                self.pick(Cc::Ne, d, a, b, mi.w);
                self.done(mi.d, d);
            }
            Op::GDiv(signed, remainder) => self.divide(mi, signed, remainder),
            Op::GMulHigh(signed) => {
                let a = self.reg(mi.s[0], RAX);
                self.gmov(RAX, a);
                let b = self.rm(mi.s[1], 8);
                self.asm.ins(if signed { Code::Imul_rm64 } else { Code::Mul_rm64 }, &[b]);
                let d = self.target(mi.d);
                self.gmov(d, RDX);
                self.done(mi.d, d);
            }
            Op::XGather(code) => {
                let w = self.width(mi.d);
                let base = self.reg(mi.mem.base, RAX);
                let d = self.target(mi.d);
                self.taken = u8::from(!matches!(self.a.loc[mi.d as usize], Loc::Reg(_)));
                let mask = self.xreg(mi.s[2]);
                let index = self.xreg(mi.s[0]);
                let otherwise = self.reg(mi.s[1], d);
                if otherwise != d {
                    self.asm.ins(super::codes::MOVUPS.at(w), &[Arg::R(x(d, w)), Arg::R(x(otherwise, w))]);
                }
                let index = x(index, self.width(mi.s[0]));
                let from = Place::At { base: g(base, 8), index, scale: mi.mem.scale, disp: 0 };
                self.asm.ins(code, &[Arg::R(x(d, w)), Arg::M(from), Arg::R(x(mask, w))]);
                self.done(mi.d, d);
            }
            Op::LaneGather(n) => self.lane_gather(mi, n),
            Op::LaneScatter(n) => self.lane_scatter(mi, n),
            Op::Call(size) => {
                let keep = match self.a.rare.get(self.rare) {
                    Some((at, keep)) if *at as usize == k => {
                        self.rare += 1;
                        *keep
                    }
                    _ => [0; 2],
                };
                self.call(mi, size, keep);
            }
            Op::Loop => {
                let d = self.target(mi.d);
                // As in `compare_loop`, small constants are no reads: the register may hold something else here.
                if self.small(mi.s[0]).is_some() {
                    self.materialise(mi.s[0], d, true);
                } else {
                    let from = self.reg(mi.s[0], d);
                    self.gmov(d, from);
                }
                self.done(mi.d, d);
                let runs = match (self.integer(mi.s[0]), self.integer(mi.s[1])) {
                    (Some(from), Some(to)) => from < to,
                    _ => false,
                };
                let exit = if runs {
                    None
                } else {
                    self.compare_loop(mi.d, mi.s[1]);
                    Some(self.asm.jump_if(Cc::Ge.number()))
                };
                self.asm.align();
                self.open.push((self.asm.len, exit));
            }
            Op::EndLoop => {
                let v = mi.s[0];
                let imm = Arg::I(mi.imm.into());
                let code = if i8::try_from(mi.imm).is_ok() { Code::Add_rm64_imm8 } else { Code::Add_rm64_imm32 };
                match self.a.loc[v as usize] {
                    Loc::Slot(s) => {
                        let to = Arg::M(self.slot(s));
                        self.asm.ins(code, &[to, imm]);
                    }
                    _ => {
                        let r = self.reg(v, RAX);
                        self.asm.ins(code, &[Arg::R(g(r, 8)), imm]);
                    }
                }
                self.compare_loop(v, mi.s[1]);
                if let Some((top, exit)) = self.open.pop() {
                    self.asm.jump_back_if(Cc::L.number(), top);
                    if let Some(jump) = exit {
                        self.asm.land(jump);
                    }
                }
            }
            Op::GAny => {
                self.any(mi.s[0]);
                self.asm.ins(set(Cc::Ne), &[Arg::R(Register::AL)]);
                let d = self.target(mi.d);
                self.asm.ins(Code::Movzx_r32_rm8, &[Arg::R(g(d, 4)), Arg::R(Register::AL)]);
                self.done(mi.d, d);
            }
            Op::If => {
                if mi.s[0] == NONE {
                    self.asm.ins(Code::VEX_Kortestw_kr_kr, &[Arg::R(MASK), Arg::R(MASK)]);
                } else if self.class(mi.s[0]) == Class::X {
                    self.any(mi.s[0]);
                } else {
                    let c = self.reg(mi.s[0], RAX);
                    self.asm.ins(Code::Test_rm32_r32, &[Arg::R(g(c, 4)), Arg::R(g(c, 4))]);
                }
                let jump = self.asm.jump_if(Cc::E.number());
                self.open.push((0, Some(jump)));
            }
            Op::EndIf => {
                if let Some((_, Some(jump))) = self.open.pop() {
                    self.asm.land(jump);
                }
            }
        }
    }

    /// A comparison into the mask register.
    fn test(&mut self, mi: &Mi, code: Code, a: u8) {
        let b = self.operand(mi, 1);
        let args = Self::with_imm(&[Arg::R(MASK), Arg::R(x(a, 64)), b], mi.imm);
        self.asm.ins(code, &args);
    }

    /// Flags that say "not equal" where a lane of a mask holds.
    fn any(&mut self, mask: V) {
        let r = self.xreg(mask);
        let r = Arg::R(x(r, self.width(mask)));
        if self.width(mask) == 64 {
            self.asm.ins(Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, &[Arg::R(MASK), r, r]);
            return self.asm.ins(Code::VEX_Kortestw_kr_kr, &[Arg::R(MASK), Arg::R(MASK)]);
        }
        self.asm.ins(super::codes::PTEST.at(self.width(mask)), &[r, r]);
    }

    /// Registers to memory, or back, around a rare call.
    pub(super) fn keep_registers(&mut self, [integers, vectors]: [u32; 2], back: bool) {
        let mut place = self.kept;
        let width = self.align as u8;
        for r in (0..32u8).filter(|r| vectors & (1 << r) != 0) {
            let (to, r) = (Arg::M(at(Register::RSP, place)), Arg::R(x(r, width)));
            if back {
                self.asm.ins(super::codes::MOVUPS.at(width), &[r, to]);
            } else {
                self.asm.ins(STORE.at(width), &[to, r]);
            }
            place += self.align;
        }
        for r in (0..16u8).filter(|r| integers & (1 << r) != 0) {
            let (to, r) = (Arg::M(at(Register::RSP, place)), Arg::R(g(r, 8)));
            if back {
                self.asm.ins(Code::Mov_r64_rm64, &[r, to]);
            } else {
                self.asm.ins(Code::Mov_rm64_r64, &[to, r]);
            }
            place += 8;
        }
    }

    fn integer(&self, v: V) -> Option<i64> {
        match self.m.regs[v as usize].constant {
            Some(Constant::Splat(bits, 8)) => Some(bits as i64),
            _ => None,
        }
    }

    fn small(&self, v: V) -> Option<i32> {
        self.integer(v).and_then(|i| i32::try_from(i).ok())
    }

    fn compare_loop(&mut self, var: V, to: V) {
        let r = self.reg(var, RAX);
        let r = Arg::R(g(r, 8));
        match self.small(to) {
            Some(imm) if i8::try_from(imm).is_ok() => {
                self.asm.ins(Code::Cmp_rm64_imm8, &[r, Arg::I(imm.into())]);
            }
            Some(imm) => self.asm.ins(Code::Cmp_rm64_imm32, &[r, Arg::I(imm.into())]),
            None => {
                let to = self.rm(to, 8);
                self.asm.ins(Code::Cmp_r64_rm64, &[r, to]);
            }
        }
    }

    fn gmov(&mut self, d: u8, s: u8) {
        if d != s {
            self.asm.ins(Code::Mov_r64_rm64, &[Arg::R(g(d, 8)), Arg::R(g(s, 8))]);
        }
    }

    /// `d = cc ? a : b`, of flags that are set.
    fn pick(&mut self, cc: Cc, d: u8, a: u8, b: u8, w: u8) {
        if d == b {
            self.asm.ins(cmov(cc, w), &[Arg::R(g(d, w)), Arg::R(g(a, w))]);
        } else {
            self.gmov(d, a);
            self.asm.ins(cmov(cc.inverse(), w), &[Arg::R(g(d, w)), Arg::R(g(b, w))]);
        }
    }

    fn compare(&mut self, mi: &Mi) {
        let w = mi.w;
        if mi.s[1] == NONE {
            let a = self.rm(mi.s[0], w);
            if mi.imm == 0
                && let Arg::R(r) = a
            {
                let code = if w == 8 { Code::Test_rm64_r64 } else { Code::Test_rm32_r32 };
                return self.asm.ins(code, &[Arg::R(r), Arg::R(r)]);
            }
            let small = i8::try_from(mi.imm).is_ok();
            let code = match (w, small) {
                (8, true) => Code::Cmp_rm64_imm8,
                (8, false) => Code::Cmp_rm64_imm32,
                (_, true) => Code::Cmp_rm32_imm8,
                (_, false) => Code::Cmp_rm32_imm32,
            };
            return self.asm.ins(code, &[a, Arg::I(mi.imm.into())]);
        }
        let a = self.reg(mi.s[0], RAX);
        let b = self.rm(mi.s[1], w);
        let code = if w == 8 { Code::Cmp_r64_rm64 } else { Code::Cmp_r32_rm32 };
        self.asm.ins(code, &[Arg::R(g(a, w)), b]);
    }

    fn g3(&mut self, mi: &Mi, op: G) {
        let w = mi.w;
        let codes = g3_codes(op, w);
        let d = self.target(mi.d);
        let b_in_d = mi.s[1] != NONE && self.a.loc[mi.s[1] as usize] == Loc::Reg(d);
        let a = self.reg(mi.s[0], if b_in_d { RAX } else { d });
        let to = Arg::R(g(d, w));
        if mi.s[1] == NONE {
            let imm = Arg::I(mi.imm.into());
            let code = if i8::try_from(mi.imm).is_ok() { codes[2] } else { codes[3] };
            if op == G::Imul {
                self.asm.ins(code, &[to, Arg::R(g(a, w)), imm]);
            } else if op == G::Add && a != d && w == 8 {
                self.asm.ins(Code::Lea_r64_m, &[to, Arg::M(at(g(a, 8), mi.imm))]);
            } else {
                self.gmov(d, a);
                self.asm.ins(code, &[to, imm]);
            }
            return self.done(mi.d, d);
        }
        let b = self.rm(mi.s[1], w);
        if a == d {
            self.asm.ins(codes[0], &[to, b]);
        } else if b_in_d && mi.commutes {
            self.asm.ins(codes[0], &[to, Arg::R(g(a, w))]);
        } else if let (G::Add, 8, Arg::R(index)) = (op, w, b) {
            let sum = Place::At { base: g(a, 8), index, scale: 1, disp: 0 };
            self.asm.ins(Code::Lea_r64_m, &[to, Arg::M(sum)]);
        } else if b_in_d {
            // a - d, where the result is to be in d.
            self.gmov(RAX, a);
            self.asm.ins(codes[0], &[Arg::R(g(RAX, w)), b]);
            self.gmov(d, RAX);
        } else {
            self.gmov(d, a);
            self.asm.ins(codes[0], &[to, b]);
        }
        self.done(mi.d, d);
    }

    fn gshift(&mut self, mi: &Mi, op: Shift) {
        let w = mi.w;
        let d = self.target(mi.d);
        if mi.s[1] == NONE {
            let a = self.reg(mi.s[0], d);
            self.gmov(d, a);
            let code = match (op, w) {
                (Shift::Shl, 8) => Code::Shl_rm64_imm8,
                (Shift::Shl, _) => Code::Shl_rm32_imm8,
                (Shift::Shr, 8) => Code::Shr_rm64_imm8,
                (Shift::Shr, _) => Code::Shr_rm32_imm8,
                (Shift::Sar, 8) => Code::Sar_rm64_imm8,
                (Shift::Sar, _) => Code::Sar_rm32_imm8,
            };
            self.asm.ins(code, &[Arg::R(g(d, w)), Arg::I(mi.imm.into())]);
        } else {
            let a = match self.a.loc[mi.s[0] as usize] {
                Loc::Slot(s) => Arg::M(self.slot(s)),
                _ => Arg::R(g(self.reg(mi.s[0], RAX), w)),
            };
            let b = self.reg(mi.s[1], RDX);
            let code = match (op, w) {
                (Shift::Shl, 8) => Code::VEX_Shlx_r64_rm64_r64,
                (Shift::Shl, _) => Code::VEX_Shlx_r32_rm32_r32,
                (Shift::Shr, 8) => Code::VEX_Shrx_r64_rm64_r64,
                (Shift::Shr, _) => Code::VEX_Shrx_r32_rm32_r32,
                (Shift::Sar, 8) => Code::VEX_Sarx_r64_rm64_r64,
                (Shift::Sar, _) => Code::VEX_Sarx_r32_rm32_r32,
            };
            self.asm.ins(code, &[Arg::R(g(d, w)), a, Arg::R(g(b, w))]);
        }
        self.done(mi.d, d);
    }

    fn divide(&mut self, mi: &Mi, signed: bool, remainder: bool) {
        let w = mi.w;
        let a = self.reg(mi.s[0], RAX);
        self.gmov(RAX, a);
        // The divisor must not be in rdx, which the dividend needs.
        let b = match (self.a.loc[mi.s[1] as usize], self.m.regs[mi.s[1] as usize].constant) {
            (Loc::Constant, Some(Constant::Splat(bits, size))) => {
                Arg::M(self.asm.constant(Constant::Splat(bits, size), &self.m.tables, w))
            }
            _ => self.rm(mi.s[1], w),
        };
        if signed {
            self.asm.ins(if w == 8 { Code::Cqo } else { Code::Cdq }, &[]);
        } else {
            self.asm.ins(Code::Xor_r32_rm32, &[Arg::R(Register::EDX), Arg::R(Register::EDX)]);
        }
        let code = match (signed, w) {
            (true, 8) => Code::Idiv_rm64,
            (true, _) => Code::Idiv_rm32,
            (false, 8) => Code::Div_rm64,
            (false, _) => Code::Div_rm32,
        };
        self.asm.ins(code, &[b]);
        let d = self.target(mi.d);
        self.gmov(d, if remainder { RDX } else { RAX });
        self.done(mi.d, d);
    }

    fn store(&mut self, mi: &Mi, code: Code) {
        let v = mi.s[0];
        let mut to = self.address(mi.mem);
        let s = if self.class(v) == Class::G {
            // Both registers may be taken by the address: then it is computed first.
            let taken = |r: Register| match to {
                Place::At { base, index, .. } => base == r || index == r,
                Place::Pool(_) | Place::Function(_) => false,
            };
            let free = match (taken(Register::RAX), taken(Register::RDX)) {
                (false, _) => RAX,
                (true, false) => RDX,
                (true, true) => {
                    self.asm.ins(Code::Lea_r64_m, &[Arg::R(Register::RAX), Arg::M(to)]);
                    to = at(Register::RAX, 0);
                    RDX
                }
            };
            let r = self.reg(v, free);
            Arg::R(g(r, mi.w))
        } else {
            let r = self.xreg(v);
            self.name(v, r, mi.w)
        };
        let args = Self::with_imm(&[Arg::M(to), s], mi.imm);
        self.asm.ins(code, &args);
    }

    /// `to = memory` of the instruction.
    fn load(&mut self, to: Arg, mi: &Mi) {
        let from = Arg::M(self.address(mi.mem));
        let code = match mi.w {
            4 => Code::VEX_Vmovss_xmm_m32,
            8 => Code::VEX_Vmovsd_xmm_m64,
            w => super::codes::MOVUPS.at(w),
        };
        self.asm.ins(code, &[to, from]);
    }

    /// `d = a * b + c`. The form that needs no move is taken where there is one.
    fn fma(&mut self, mi: &Mi, [f132, f213, f231]: [Code; 3]) {
        let d = self.target(mi.d);
        let to = self.name(mi.d, d, mi.w);
        let is_d = |e: &Self, v: V| v != NONE && e.a.loc[v as usize] == Loc::Reg(d);
        let [a, b, c] = mi.s;
        if is_d(self, c) {
            let r = self.xreg(a);
            let r = self.name(a, r, mi.w);
            let b = self.operand(mi, 1);
            self.asm.ins(f231, &[to, r, b]);
        } else if is_d(self, a) || is_d(self, b) {
            let other = if is_d(self, a) { 1 } else { 0 };
            // d = d * other + c, with one of them in memory.
            if c != NONE && (b == NONE || matches!(self.a.loc[c as usize], Loc::Reg(_))) {
                let r = self.xreg(c);
                let r = self.name(c, r, mi.w);
                let other = if other == 1 { self.operand(mi, 1) } else { self.rm(a, mi.w) };
                self.asm.ins(f132, &[to, r, other]);
            } else {
                // c is memory, so that the other is not.
                let v = mi.s[other];
                let r = self.xreg(v);
                let r = self.name(v, r, mi.w);
                let c = self.operand(mi, 2);
                self.asm.ins(f213, &[to, r, c]);
            }
        } else {
            // c comes to d first.
            self.taken = u8::from(!matches!(self.a.loc[mi.d as usize], Loc::Reg(_)));
            match c {
                NONE => self.load(to, mi),
                c => {
                    let s = self.reg(c, d);
                    if s != d {
                        let w = self.width(mi.d);
                        self.asm.ins(super::codes::MOVUPS.at(w), &[Arg::R(x(d, w)), Arg::R(x(s, w))]);
                    }
                }
            }
            let r = self.xreg(a);
            let r = self.name(a, r, mi.w);
            let b = self.operand(mi, 1);
            self.asm.ins(f231, &[to, r, b]);
        }
        self.done(mi.d, d);
    }
}
