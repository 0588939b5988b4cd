//! Machine code of what goes lane by lane: gathers and scatters of small elements, and calls of functions. Vectors go
//! through an area at the bottom of the frame.

use super::asm::{Arg, Place};
use super::codes::{MOVUPS, STORE};
use super::emit::{Emit, at, g, x};
use super::mir::*;
use super::regs::{Loc, RDX, XLAST};
use iced_x86::{Code, Register};

impl Emit<'_> {
    fn keep(&mut self, v: V, place: i32) {
        let r = self.reg(v, XLAST);
        let w = self.width(v);
        self.asm.ins(STORE.at(w), &[Arg::M(at(Register::RSP, place)), Arg::R(x(r, w))]);
    }

    /// Skips what follows unless the lane of the mask that was kept at 32 holds.
    fn gate(&mut self, lane: u8) -> usize {
        let mask = Arg::M(at(Register::RSP, 32 + i32::from(lane) * 4));
        self.asm.ins(Code::Cmp_rm32_imm8, &[mask, Arg::I(0)]);
        self.asm.jump_if(Cc::E.number())
    }

    /// The address of the element of a lane, whose index was kept at 0. Changes rax.
    fn element(&mut self, base: V, how: &Lanewise, lane: u8) -> Place {
        let index = Arg::M(at(Register::RSP, i32::from(lane) * i32::from(how.index)));
        let code = if how.index == 8 { Code::Mov_r64_rm64 } else { Code::Movsxd_r64_rm32 };
        self.asm.ins(code, &[Arg::R(Register::RAX), index]);
        match self.a.loc[base as usize] {
            Loc::Reg(r) => Place::At { base: g(r, 8), index: Register::RAX, scale: how.size, disp: 0 },
            _ => {
                let base = self.rm(base, 8);
                if how.size > 1 {
                    let by = how.size.trailing_zeros();
                    self.asm.ins(Code::Shl_rm64_imm8, &[Arg::R(Register::RAX), Arg::I(by.into())]);
                }
                self.asm.ins(Code::Add_r64_rm64, &[Arg::R(Register::RAX), base]);
                at(Register::RAX, 0)
            }
        }
    }

    pub(super) fn lane_gather(&mut self, mi: &Mi, n: u32) {
        let how = self.m.lanewise[n as usize];
        let [index, gate, otherwise] = mi.s;
        self.keep(index, 0);
        if gate != NONE {
            self.keep(gate, 32);
            self.keep(otherwise, 64);
        }
        for lane in 0..how.lanes {
            let skip = if gate != NONE { Some(self.gate(lane)) } else { None };
            let from = self.element(mi.mem.base, &how, lane);
            let size = if how.size == 8 { 8 } else { 4 };
            self.asm.ins(how.code, &[Arg::R(g(RDX, size)), Arg::M(from)]);
            if how.truth {
                self.asm.ins(Code::Neg_rm32, &[Arg::R(Register::EDX)]);
            }
            let to = Arg::M(at(Register::RSP, 64 + i32::from(lane) * i32::from(how.lane)));
            self.asm.ins(Code::Mov_rm32_r32, &[to, Arg::R(Register::EDX)]);
            if let Some(jump) = skip {
                self.asm.land(jump);
            }
        }
        let d = self.target(mi.d);
        let w = self.width(mi.d);
        self.asm.ins(MOVUPS.at(w), &[Arg::R(x(d, w)), Arg::M(at(Register::RSP, 64))]);
        self.done(mi.d, d);
    }

    pub(super) fn lane_scatter(&mut self, mi: &Mi, n: u32) {
        let how = self.m.lanewise[n as usize];
        let [index, gate, s] = mi.s;
        self.keep(index, 0);
        if gate != NONE {
            self.keep(gate, 32);
        }
        self.keep(s, 64);
        for lane in 0..how.lanes {
            let skip = if gate != NONE { Some(self.gate(lane)) } else { None };
            let to = self.element(mi.mem.base, &how, lane);
            let from = Arg::M(at(Register::RSP, 64 + i32::from(lane) * i32::from(how.lane)));
            if how.size == 8 {
                self.asm.ins(Code::Mov_r64_rm64, &[Arg::R(Register::RDX), from]);
            } else {
                self.asm.ins(Code::Mov_r32_rm32, &[Arg::R(Register::EDX), from]);
            }
            self.asm.ins(how.code, &[Arg::M(to), Arg::R(g(RDX, how.size))]);
            if let Some(jump) = skip {
                self.asm.land(jump);
            }
        }
    }

    /// No vector register keeps its value over a call. Values that live on are in the frame, or in the registers to keep.
    pub(super) fn call(&mut self, mi: &Mi, size: u8, keep: [u32; 2]) {
        let lanes = (mi.w / size).max(1);
        let operands = mi.s.iter().take_while(|v| **v != NONE).count();
        for (i, v) in mi.s.iter().enumerate().take(operands) {
            self.keep(*v, i as i32 * 32);
        }
        self.keep_registers(keep, false);
        let load = if size == 8 { Code::VEX_Vmovsd_xmm_m64 } else { Code::VEX_Vmovss_xmm_m32 };
        let store = if size == 8 { Code::VEX_Vmovsd_m64_xmm } else { Code::VEX_Vmovss_m32_xmm };
        if lanes > 1 {
            self.asm.ins(Code::VEX_Vzeroupper, &[]);
        }
        for lane in 0..lanes {
            let offset = i32::from(lane) * i32::from(size);
            for i in 0..operands {
                let from = Arg::M(at(Register::RSP, i as i32 * 32 + offset));
                self.asm.ins(load, &[Arg::R(x(i as u8, 16)), from]);
            }
            self.asm.ins(Code::Call_rm64, &[Arg::M(Place::Function(mi.imm as u32))]);
            self.asm.ins(store, &[Arg::M(at(Register::RSP, 64 + offset)), Arg::R(Register::XMM0)]);
        }
        self.keep_registers(keep, true);
        let d = self.target(mi.d);
        let w = self.width(mi.d);
        let load = match lanes {
            1 => load,
            _ => MOVUPS.at(w),
        };
        self.asm.ins(load, &[Arg::R(x(d, w)), Arg::M(at(Register::RSP, 64))]);
        self.done(mi.d, d);
    }
}
