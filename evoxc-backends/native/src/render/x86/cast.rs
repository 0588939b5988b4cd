//! Selection of conversions. What x86-64 lacks (unsigned integers, 64-bit integers in vectors, saturation, `bf16`) is
//! composed; every result is rounded once.

use super::codes::*;
use super::mir::*;
use super::select::{Select, extended, is_signed, lane, malformed};
use crate::uop::Ty;
use evoxc_core::{DType, Result};
use iced_x86::Code;

/// Is there code for the conversion between vectors?
pub fn has_vector(from: DType, to: DType) -> bool {
    let complex = |d| matches!(d, DType::C64 | DType::C128);
    if complex(from) || complex(to) {
        return false;
    }
    true
}

/// The least and the greatest number of an integer dtype of up to 32 bits.
fn range(to: DType) -> (f64, f64) {
    match to {
        DType::I8 => (-128.0, 127.0),
        DType::I16 => (-32768.0, 32767.0),
        DType::U8 => (0.0, 255.0),
        DType::U16 => (0.0, 65535.0),
        DType::U32 => (0.0, 4294967295.0),
        _ => (-2147483648.0, 2147483647.0),
    }
}

const TWO_31: f32 = 2147483648.0;
const TWO_32: f32 = 4294967296.0;
const TWO_52: f64 = 4503599627370496.0;
const TWO_63: f64 = 9223372036854775808.0;
const TWO_64: f64 = 18446744073709551616.0;
const TWO_84: f64 = 19342813113834066795298816.0;
const ORDERED: i32 = 7;
const UNORDERED: i32 = 3;
const GREATER_EQUAL: i32 = 29;

impl Select<'_> {
    fn f32s(&mut self, x: f32, width: u8) -> V {
        self.cx(x.to_bits().into(), 4, width)
    }
    fn f64s(&mut self, x: f64, width: u8) -> V {
        self.cx(x.to_bits(), 8, width)
    }

    /// Between dtypes of the same size.
    pub fn bitcast(&mut self, from: Ty, to: Ty, s: V) -> Result<V> {
        if from.dtype.size() != to.dtype.size() || from.lanes != to.lanes {
            return Err(malformed(format_args!("a bitcast of {from} to {to}")));
        }
        let size = lane(to.dtype);
        if from.lanes == 1 {
            let (class, _) = Self::place(from)?;
            let (target, _) = Self::place(to)?;
            return Ok(match (class, target) {
                (Class::X, Class::G) => {
                    let v = self.bits_of(size, s);
                    if self.m.regs[s as usize].single {
                        self.twins.insert(v, s);
                    }
                    v
                }
                (Class::G, Class::X) => match self.twins.get(&s) {
                    Some(x) => *x,
                    None => self.of_bits(size, s),
                },
                (Class::X, Class::X) => self.same(s),
                (Class::G, Class::G) => self.wrap(to.dtype, s),
            });
        }
        match (from.dtype == DType::BOOL, to.dtype == DType::BOOL) {
            (true, false) => {
                let v = self.shift(PSRLDI, s, 31);
                self.wrap_vector(DType::BOOL, to.dtype, v)
            }
            (false, true) => self.truth_of_ints(s),
            _ => self.wrap_vector(from.dtype, to.dtype, s),
        }
    }

    /// The low bits of an integer register, extended as the dtype is. Wider registers are narrowed.
    fn wrap(&mut self, to: DType, s: V) -> V {
        let code = match to {
            DType::I8 => Code::Movsx_r32_rm8,
            DType::U8 => Code::Movzx_r32_rm8,
            DType::I16 => Code::Movsx_r32_rm16,
            DType::U16 | DType::F16 | DType::BF16 => Code::Movzx_r32_rm16,
            DType::I32 | DType::U32 if self.width(s) == 8 => Code::Mov_r32_rm32,
            _ => return self.same(s),
        };
        self.g2(code, to.size() as u8, 4, s)
    }

    /// The same of vectors of 32-bit lanes.
    fn wrap_vector(&mut self, from: DType, to: DType, s: V) -> Result<V> {
        let inside = match (from, to) {
            (DType::BOOL, _) => true,
            (DType::U8, DType::I16 | DType::U16) => true,
            (DType::I8, DType::I16) => true,
            _ => from == to,
        };
        if inside {
            return Ok(self.same(s));
        }
        Ok(match to {
            DType::I8 | DType::I16 => {
                let by = if to == DType::I8 { 24 } else { 16 };
                let up = self.shift(PSLLDI, s, by);
                self.shift(PSRADI, up, by)
            }
            DType::U8 => {
                let ones = self.cx(0xff, 4, self.width(s));
                self.p3c(PAND, s, ones)
            }
            DType::U16 | DType::F16 | DType::BF16 => {
                let ones = self.cx(0xffff, 4, self.width(s));
                self.p3c(PAND, s, ones)
            }
            _ => self.same(s),
        })
    }

    fn truth_of_ints(&mut self, s: V) -> Result<V> {
        let zero = self.zero(self.width(s));
        let none = self.p3c(PCMPEQD, s, zero);
        Ok(self.not(none))
    }

    // Scalars.

    pub fn scalar_cast(&mut self, from: DType, to: DType, s: V) -> Result<V> {
        if from == to {
            return Ok(self.same(s));
        }
        match from {
            DType::F16 => {
                let x = self.of_bits(4, s);
                let f = self.x2(CVTPH2PS.0, 8, 16, x);
                self.scalar_cast(DType::F32, to, f)
            }
            DType::BF16 => {
                let bits = self.gshifti(Shift::Shl, 4, s, 16);
                let f = self.of_bits(4, bits);
                self.scalar_cast(DType::F32, to, f)
            }
            DType::F32 => self.scalar_from_f32(to, s),
            DType::F64 => self.scalar_from_f64(to, s),
            _ => self.scalar_from_int(from, to, s),
        }
    }

    fn half_of(&mut self, f: V) -> V {
        let x = self.r2(CVTPS2PH.0, Class::X, 16, f, 0);
        let g = self.bits_of(4, x);
        self.wrap(DType::F16, g)
    }

    fn brain_of(&mut self, f: V) -> Result<V> {
        let x = self.bf16_lanes(f);
        let g = self.bits_of(4, x);
        Ok(g)
    }

    fn scalar_from_f32(&mut self, to: DType, s: V) -> Result<V> {
        Ok(match to {
            DType::F32 => s,
            DType::F16 => self.half_of(s),
            DType::BF16 => self.brain_of(s)?,
            DType::BOOL => self.nonzero(s, 4),
            _ => {
                let wide = self.x3(Code::VEX_Vcvtss2sd_xmm_xmm_xmmm32, 4, s, s);
                return self.scalar_from_f64(to, wide);
            }
        })
    }

    fn nonzero(&mut self, s: V, w: u8) -> V {
        let zero = self.zero(16);
        let code = if w == 8 { Code::VEX_Vcmpsd_xmm_xmm_xmmm64_imm8 } else { Code::VEX_Vcmpss_xmm_xmm_xmmm32_imm8 };
        let mask = self.x3i(code, w, s, zero, 4);
        let bits = self.bits_of(4, mask);
        let truth = self.g3i(G::And, 4, bits, 1);
        self.masks.insert(truth, (mask, w));
        truth
    }

    fn scalar_from_f64(&mut self, to: DType, s: V) -> Result<V> {
        let compare = Code::VEX_Vcmpsd_xmm_xmm_xmmm64_imm8;
        Ok(match to {
            DType::F64 => s,
            DType::F32 => self.x3(Code::VEX_Vcvtsd2ss_xmm_xmm_xmmm64, 8, s, s),
            DType::F16 | DType::BF16 => {
                let odd = self.odd(s);
                if to == DType::F16 { self.half_of(odd) } else { self.brain_of(odd)? }
            }
            DType::BOOL => self.nonzero(s, 8),
            DType::I64 => {
                let ordered = self.x3i(compare, 8, s, s, ORDERED);
                let s = self.p3c(ANDPS, s, ordered);
                let limit = self.f64s(TWO_63, 16);
                let beyond = self.x3i(compare, 8, s, limit, GREATER_EQUAL);
                // Beyond the range it gives the least integer, which the mask flips to the greatest.
                let t = self.g2(Code::VEX_Vcvttsd2si_r64_xmmm64, 8, 8, s);
                let flip = self.bits_of(8, beyond);
                self.g3(G::Xor, 8, t, flip)
            }
            DType::U64 => {
                let zero = self.zero(16);
                let s = self.x3(Code::VEX_Vmaxsd_xmm_xmm_xmmm64, 8, s, zero);
                let (half, limit) = (self.f64s(TWO_63, 16), self.f64s(TWO_64, 16));
                let upper = self.x3i(compare, 8, s, half, GREATER_EQUAL);
                let beyond = self.x3i(compare, 8, s, limit, GREATER_EQUAL);
                let less = self.p3c(ANDPS, upper, half);
                let rest = self.x3(Code::VEX_Vsubsd_xmm_xmm_xmmm64, 8, s, less);
                let t = self.g2(Code::VEX_Vcvttsd2si_r64_xmmm64, 8, 8, rest);
                let upper = self.bits_of(8, upper);
                let top = self.gshifti(Shift::Shl, 8, upper, 63);
                let t = self.g3(G::Xor, 8, t, top);
                let beyond = self.bits_of(8, beyond);
                self.g3(G::Or, 8, t, beyond)
            }
            _ => {
                let ordered = self.x3i(compare, 8, s, s, ORDERED);
                let s = self.p3c(ANDPS, s, ordered);
                let (least, greatest) = range(to);
                let (least, greatest) = (self.f64s(least, 16), self.f64s(greatest, 16));
                let s = self.x3(Code::VEX_Vmaxsd_xmm_xmm_xmmm64, 8, s, least);
                let s = self.x3(Code::VEX_Vminsd_xmm_xmm_xmmm64, 8, s, greatest);
                let t = self.g2(Code::VEX_Vcvttsd2si_r64_xmmm64, 8, 8, s);
                self.g2(Code::Mov_r32_rm32, 4, 4, t)
            }
        })
    }

    /// An `f64` rounded to odd as an `f32`, in lane 0: rounding that once more is rounding once.
    fn odd(&mut self, s: V) -> V {
        // The nearest, and back.
        let near = self.x3(Code::VEX_Vcvtsd2ss_xmm_xmm_xmmm64, 8, s, s);
        let back = self.x3(Code::VEX_Vcvtss2sd_xmm_xmm_xmmm32, 4, near, near);
        let compare = Code::VEX_Vcmpsd_xmm_xmm_xmmm64_imm8;
        // Unordered counts as exact: a NaN stays as it is.
        let inexact = self.x3i(compare, 8, back, s, 12);
        let magnitude = self.cx(!(1 << 63), 8, 16);
        let (abs_back, abs) = (self.p3c(ANDPS, back, magnitude), self.p3c(ANDPS, s, magnitude));
        let beyond = self.x3i(compare, 8, abs_back, abs, 30);
        let infinite = self.f64s(f64::INFINITY, 16);
        let finite = self.x3i(compare, 8, abs_back, infinite, 17);
        self.odd_step(near, inexact, beyond, finite)
    }

    /// One less where beyond, then odd where inexact, and nothing where not finite; the masks have 32-bit lanes where it counts.
    fn odd_step(&mut self, near: V, inexact: V, beyond: V, finite: V) -> V {
        let inexact = self.p3c(PAND, inexact, finite);
        let beyond = self.p3c(PAND, beyond, inexact);
        let less = self.p3c(PADDD, near, beyond);
        let one = self.cx(1, 4, self.width(near));
        let one = self.p3c(PAND, inexact, one);
        self.p3c(POR, less, one)
    }

    fn scalar_from_int(&mut self, from: DType, to: DType, s: V) -> Result<V> {
        let signed = is_signed(from);
        if from.size() == 8 {
            return self.scalar_from_long(signed, to, s);
        }
        Ok(match to {
            DType::BOOL => {
                let zero = self.cg(0, 4);
                self.gcmp(Cc::Ne, 4, s, zero)
            }
            DType::I64 | DType::U64 if signed => self.g2(Code::Movsxd_r64_rm32, 4, 8, s),
            DType::I64 | DType::U64 => self.g2(Code::Mov_r32_rm32, 4, 8, s),
            DType::F32 | DType::F64 if from == DType::U32 => {
                let wide = self.g2(Code::Mov_r32_rm32, 4, 8, s);
                self.int_to_float(to == DType::F64, 8, wide)
            }
            DType::F32 | DType::F64 => self.int_to_float(to == DType::F64, 4, s),
            DType::F16 | DType::BF16 => {
                let code = if signed { Code::Movsxd_r64_rm32 } else { Code::Mov_r32_rm32 };
                let wide = self.g2(code, 4, 8, s);
                let f = self.int_to_float(true, 8, wide);
                self.scalar_from_f64(to, f)?
            }
            _ => self.wrap(to, s),
        })
    }

    fn int_to_float(&mut self, double: bool, w: u8, s: V) -> V {
        let zero = self.zero(16);
        let code = match (double, w) {
            (true, 8) => Code::VEX_Vcvtsi2sd_xmm_xmm_rm64,
            (true, _) => Code::VEX_Vcvtsi2sd_xmm_xmm_rm32,
            (false, 8) => Code::VEX_Vcvtsi2ss_xmm_xmm_rm64,
            (false, _) => Code::VEX_Vcvtsi2ss_xmm_xmm_rm32,
        };
        self.x3(code, w, zero, s)
    }

    fn scalar_from_long(&mut self, signed: bool, to: DType, s: V) -> Result<V> {
        Ok(match to {
            DType::BOOL => {
                let zero = self.cg(0, 8);
                self.gcmp(Cc::Ne, 8, s, zero)
            }
            DType::I64 | DType::U64 => self.same(s),
            DType::F32 | DType::F64 if signed => self.int_to_float(to == DType::F64, 8, s),
            DType::F32 | DType::F64 => {
                // Halved with a sticky last bit where the top bit is set, and doubled again.
                let half = self.gshifti(Shift::Shr, 8, s, 1);
                let last = self.g3i(G::And, 8, s, 1);
                let half = self.g3(G::Or, 8, half, last);
                let zero = self.cg(0, 8);
                let upper = self.gcmp(Cc::L, 8, s, zero);
                let small = self.gselect(8, upper, half, s);
                let f = self.int_to_float(to == DType::F64, 8, small);
                let dtype = to;
                let twice = self.scalar_float(crate::uop::Alu::Add, dtype, [f, f, NONE])?;
                self.scalar_float(crate::uop::Alu::Select, dtype, [upper, twice, f])?
            }
            DType::F16 | DType::BF16 => {
                // From 2^40 on the last 16 bits only tell whether there is more: no middle of two results is that fine.
                let high = self.g3i(G::And, 8, s, -65536);
                let low = self.g2(Code::Movzx_r32_rm16, 2, 4, s);
                let zero = self.cg(0, 4);
                let some = self.gcmp(Cc::Ne, 4, low, zero);
                let sticky = self.gshifti(Shift::Shl, 4, some, 15);
                let sticky = self.g2(Code::Mov_r32_rm32, 4, 8, sticky);
                let rough = self.g3(G::Or, 8, high, sticky);
                let magnitude = if signed {
                    let sign = self.gshifti(Shift::Sar, 8, s, 63);
                    self.g3(G::Xor, 8, s, sign)
                } else {
                    s
                };
                let limit = self.gshifti(Shift::Shr, 8, magnitude, 40);
                let zero = self.cg(0, 8);
                let large = self.gcmp(Cc::Ne, 8, limit, zero);
                let exact = self.gselect(8, large, rough, s);
                let f = self.scalar_from_long(signed, DType::F64, exact)?;
                self.scalar_from_f64(to, f)?
            }
            _ => self.wrap(to, s),
        })
    }

    // Vectors.

    /// `bf16` in the low half of 32-bit lanes, of `f32`: to nearest even, NaN quiet.
    fn bf16_lanes(&mut self, f: V) -> V {
        let width = self.width(f);
        let up = self.shift(PSRLDI, f, 16);
        let one = self.cx(1, 4, width);
        let last = self.p3c(PAND, up, one);
        let most = self.cx(0x7fff, 4, width);
        let rounded = self.p3c(PADDD, f, most);
        let rounded = self.p3c(PADDD, rounded, last);
        let rounded = self.shift(PSRLDI, rounded, 16);
        let quiet = self.cx(0x40, 4, width);
        let nan = self.p3c(POR, up, quiet);
        let unordered = self.p3i(CMPPS, f, f, UNORDERED);
        self.blend(4, unordered, nan, rounded)
    }

    fn pack16(&mut self, v: V) -> V {
        if let Some(p) = self.packed.get(&v) {
            return *p;
        }
        let p = match self.width(v) {
            64 => self.r2(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, Class::X, 32, v, -1),
            32 => {
                let (low, high) = (self.low(v), self.high(v));
                self.p3(PACKUSDW, low, high)
            }
            _ => self.p3(PACKUSDW, v, v),
        };
        self.packed.insert(v, p);
        self.lazy.push(v);
        p
    }

    pub fn vector_cast(&mut self, from: DType, to: DType, lanes: u8, s: V) -> Result<V> {
        if from == to {
            return Ok(self.same(s));
        }
        if !has_vector(from, to) {
            return Err(malformed(format_args!("vectors of {from} to {to}")));
        }
        let width = 4 * lanes;
        match from {
            DType::F16 => {
                let p = self.pack16(s);
                let f = self.x2(CVTPH2PS.at(width), width / 2, width, p);
                if to == DType::F32 { Ok(f) } else { self.vector_from_f32(to, lanes, f) }
            }
            DType::BF16 => {
                let f = self.shift(PSLLDI, s, 16);
                if to == DType::F32 { Ok(f) } else { self.vector_from_f32(to, lanes, f) }
            }
            DType::F32 => self.vector_from_f32(to, lanes, s),
            DType::F64 => self.vector_from_f64(to, s),
            DType::I64 | DType::U64 => self.vector_from_long(from, to, s),
            DType::BOOL => match to {
                DType::F32 | DType::F16 | DType::BF16 => {
                    let one = self.cx(extended(to, crate::uop::cast(DType::BOOL, to, 1)), 4, width);
                    Ok(self.p3c(PAND, s, one))
                }
                _ => {
                    let v = self.shift(PSRLDI, s, 31);
                    self.vector_from_int(DType::U8, to, lanes, v)
                }
            },
            _ => self.vector_from_int(from, to, lanes, s),
        }
    }

    fn vector_to_f16(&mut self, f: V) -> V {
        let width = self.width(f);
        let p = self.r2(CVTPS2PH.at(width), Class::X, (width / 2).max(16), f, 0);
        let v = self.x2(PMOVZXWD.at(width), width / 2, width, p);
        self.packed.insert(v, p);
        v
    }

    fn vector_from_f32(&mut self, to: DType, lanes: u8, s: V) -> Result<V> {
        let width = 4 * lanes;
        Ok(match to {
            DType::F32 => s,
            DType::F64 => self.x2(CVTPS2PD.at(32), 16, 32, s),
            DType::F16 => self.vector_to_f16(s),
            DType::BF16 => self.bf16_lanes(s),
            DType::BOOL => {
                let zero = self.zero(width);
                self.p3i(CMPPS, s, zero, 4)
            }
            DType::I64 | DType::U64 => {
                let wide = self.x2(CVTPS2PD.at(32), 16, 32, s);
                self.long_of_f64(to, wide)
            }
            DType::I32 => {
                let limit = self.f32s(TWO_31, width);
                let beyond = self.p3i(CMPPS, s, limit, GREATER_EQUAL);
                // Beyond the range it gives the least integer, which the mask flips to the greatest.
                let t = self.p2(CVTTPS2DQ, s);
                let t = self.p3c(PXOR, t, beyond);
                let ordered = self.p3i(CMPPS, s, s, ORDERED);
                self.p3c(PAND, t, ordered)
            }
            DType::U32 => {
                let zero = self.zero(width);
                let s = self.p3(MAXPS, s, zero);
                let (half, limit) = (self.f32s(TWO_31, width), self.f32s(TWO_32, width));
                let upper = self.p3i(CMPPS, s, half, GREATER_EQUAL);
                let beyond = self.p3i(CMPPS, s, limit, GREATER_EQUAL);
                let less = self.p3c(ANDPS, upper, half);
                let rest = self.p3(SUBPS, s, less);
                let t = self.p2(CVTTPS2DQ, rest);
                let top = self.shift(PSLLDI, upper, 31);
                let t = self.p3c(PXOR, t, top);
                self.p3c(POR, t, beyond)
            }
            _ => {
                let (least, greatest) = range(to);
                let ordered = self.p3i(CMPPS, s, s, ORDERED);
                let s = self.p3c(ANDPS, s, ordered);
                let (least, greatest) = (self.f32s(least as f32, width), self.f32s(greatest as f32, width));
                let s = self.p3(MAXPS, s, least);
                let s = self.p3(MINPS, s, greatest);
                self.p2(CVTTPS2DQ, s)
            }
        })
    }

    fn vector_from_f64(&mut self, to: DType, s: V) -> Result<V> {
        Ok(match to {
            DType::F64 => s,
            DType::F32 => self.x2(CVTPD2PS.at(32), 32, 16, s),
            DType::F16 | DType::BF16 => {
                let near = self.x2(CVTPD2PS.at(32), 32, 16, s);
                let back = self.x2(CVTPS2PD.at(32), 16, 32, near);
                let inexact = self.p3i(CMPPD, back, s, 12);
                let magnitude = self.cx(!(1 << 63), 8, 32);
                let (abs_back, abs) = (self.p3c(ANDPS, back, magnitude), self.p3c(ANDPS, s, magnitude));
                let beyond = self.p3i(CMPPD, abs_back, abs, 30);
                let infinite = self.f64s(f64::INFINITY, 32);
                let finite = self.p3i(CMPPD, abs_back, infinite, 17);
                let (inexact, beyond, finite) = (self.narrow(inexact), self.narrow(beyond), self.narrow(finite));
                let odd = self.odd_step(near, inexact, beyond, finite);
                self.vector_from_f32(to, 4, odd)?
            }
            DType::BOOL => {
                let zero = self.zero(32);
                let mask = self.p3i(CMPPD, s, zero, 4);
                self.narrow_mask(mask)
            }
            DType::I64 | DType::U64 => self.long_of_f64(to, s),
            _ => {
                let (least, greatest) = range(to);
                let ordered = self.p3i(CMPPD, s, s, ORDERED);
                let s = self.p3c(ANDPS, s, ordered);
                let (least, greatest) = (self.f64s(least, 32), self.f64s(greatest, 32));
                let s = self.p3(MAXPD, s, least);
                let s = self.p3(MINPD, s, greatest);
                if to == DType::U32 {
                    // The low bits of 2^52 and the number.
                    let s = self.p2i(ROUNDPD, s, 11);
                    let magic = self.f64s(TWO_52, 32);
                    let sum = self.p3c(ADDPD, s, magic);
                    self.narrow(sum)
                } else {
                    self.x2(CVTTPD2DQ.at(32), 32, 16, s)
                }
            }
        })
    }

    fn u32_to_f32(&mut self, s: V) -> V {
        let width = self.width(s);
        let high = self.shift(PSRLDI, s, 16);
        let ones = self.cx(0xffff, 4, width);
        let low = self.p3c(PAND, s, ones);
        let (high, low) = (self.p2(CVTDQ2PS, high), self.p2(CVTDQ2PS, low));
        let scale = self.f32s(65536.0, width);
        self.fma(FMADDPS[row(width)], width, high, scale, low)
    }

    /// Of 32-bit lanes that hold numbers of `from`.
    fn vector_from_int(&mut self, from: DType, to: DType, lanes: u8, s: V) -> Result<V> {
        let width = 4 * lanes;
        let signed = is_signed(from);
        Ok(match to {
            DType::BOOL => self.truth_of_ints(s)?,
            DType::F32 if from == DType::U32 => self.u32_to_f32(s),
            DType::F32 => self.p2(CVTDQ2PS, s),
            DType::F64 if from == DType::U32 => {
                let wide = self.x2(PMOVZXDQ.at(32), 16, 32, s);
                let magic = self.f64s(TWO_52, 32);
                let sum = self.p3c(POR, wide, magic);
                self.p3(SUBPD, sum, magic)
            }
            DType::F64 => self.x2(CVTDQ2PD.at(32), 16, 32, s),
            DType::F16 => {
                // Beyond 2^20 all are infinite; up to there an f32 holds them.
                let s = match from {
                    DType::I32 => {
                        let (least, most) =
                            (self.cx(-(1i32 << 20) as u32 as u64, 4, width), self.cx(1 << 20, 4, width));
                        let s = self.p3c(PMAXSD, s, least);
                        self.p3c(PMINSD, s, most)
                    }
                    DType::U32 => {
                        let most = self.cx(1 << 20, 4, width);
                        self.p3c(PMINUD, s, most)
                    }
                    _ => s,
                };
                let f = self.p2(CVTDQ2PS, s);
                self.vector_to_f16(f)
            }
            DType::BF16 => {
                let s = if from.size() == 4 { self.coarse(from, s) } else { s };
                let f = if from == DType::U32 { self.u32_to_f32(s) } else { self.p2(CVTDQ2PS, s) };
                self.bf16_lanes(f)
            }
            DType::I64 | DType::U64 => {
                let p = if signed { PMOVSXDQ } else { PMOVZXDQ };
                self.x2(p.at(32), 16, 32, s)
            }
            _ => self.wrap_vector(from, to, s)?,
        })
    }

    /// Integers of 32 bits that an `f32` holds, and that round to the same `bf16`: from 2^24 on the last 10 bits only tell
    /// whether there is more, for no middle of two results is that fine.
    fn coarse(&mut self, from: DType, s: V) -> V {
        let width = self.width(s);
        let zero = self.zero(width);
        let low_bits = self.cx(0x3ff, 4, width);
        let high_bits = self.cx(!0x3ffu32 as u64, 4, width);
        let low = self.p3c(PAND, s, low_bits);
        let high = self.p3c(PAND, s, high_bits);
        let none = self.p3c(PCMPEQD, low, zero);
        let half = self.cx(0x200, 4, width);
        let sticky = self.p3(PANDN, none, half);
        let rough = self.p3c(POR, high, sticky);
        let magnitude = if from == DType::I32 { self.p2(PABSD, s) } else { s };
        let large = self.shift(PSRLDI, magnitude, 24);
        let small = self.p3c(PCMPEQD, large, zero);
        self.blend(4, small, s, rough)
    }

    /// The same of 64 bits, for `f64` and any narrower float: from 2^53 on the last 16 bits.
    fn coarse_long(&mut self, from: DType, s: V) -> V {
        let zero = self.zero(32);
        let low_bits = self.cx(0xffff, 8, 32);
        let high_bits = self.cx(!0xffff, 8, 32);
        let low = self.p3c(PAND, s, low_bits);
        let high = self.p3c(PAND, s, high_bits);
        let none = self.p3c(PCMPEQQ, low, zero);
        let half = self.cx(0x8000, 8, 32);
        let sticky = self.p3(PANDN, none, half);
        let rough = self.p3c(POR, high, sticky);
        let magnitude = if from == DType::I64 {
            let sign = self.p3(PCMPGTQ, zero, s);
            self.p3c(PXOR, s, sign)
        } else {
            s
        };
        let large = self.shift(PSRLQI, magnitude, 53);
        let small = self.p3c(PCMPEQQ, large, zero);
        self.blend(8, small, s, rough)
    }

    /// Truncated and saturated, NaN to 0: the upper and the lower 32 bits each by way of 2^52.
    fn long_of_f64(&mut self, to: DType, s: V) -> V {
        let signed = to == DType::I64;
        let magic = self.f64s(TWO_52, 32);
        let scale = self.f64s(1.0 / TWO_32 as f64, 32);
        let step = self.f64s(-(TWO_32 as f64), 32);
        let zero = self.zero(32);
        let s = if signed {
            let ordered = self.p3i(CMPPD, s, s, ORDERED);
            self.p3c(ANDPS, s, ordered)
        } else {
            self.p3(MAXPD, s, zero)
        };
        let whole = self.p2i(ROUNDPD, s, 11);
        let high = self.p3c(MULPD, whole, scale);
        let high = self.p2i(ROUNDPD, high, 9);
        // Exact: it is what the division leaves.
        let low = self.fma(FMADDPD[1], 32, high, step, whole);
        let low = self.p3c(ADDPD, low, magic);
        let low = self.p3c(PXOR, low, magic);
        // The upper half modulo 2^32, with 3 * 2^51 for those below 0: what is above is shifted out.
        let offset = self.f64s(1.5 * TWO_52, 32);
        let high = self.p3c(ADDPD, high, offset);
        let high = self.shift(PSLLQI, high, 32);
        let sum = self.p3c(POR, high, low);
        let limit = self.f64s(if signed { TWO_63 } else { TWO_64 }, 32);
        let beyond = self.p3i(CMPPD, s, limit, GREATER_EQUAL);
        let most = self.cx(if signed { i64::MAX as u64 } else { u64::MAX }, 8, 32);
        let sum = self.blend(8, beyond, most, sum);
        if !signed {
            return sum;
        }
        let limit = self.f64s(-TWO_63, 32);
        let below = self.p3i(CMPPD, s, limit, 17);
        let least = self.cx(1 << 63, 8, 32);
        self.blend(8, below, least, sum)
    }

    fn vector_from_long(&mut self, from: DType, to: DType, s: V) -> Result<V> {
        if matches!(to, DType::F32 | DType::F16 | DType::BF16) {
            let s = self.coarse_long(from, s);
            let f = self.vector_from_long(from, DType::F64, s)?;
            return self.vector_from_f64(to, f);
        }
        Ok(match to {
            DType::I64 | DType::U64 => self.same(s),
            DType::BOOL => {
                let zero = self.zero(32);
                let none = self.p3c(PCMPEQQ, s, zero);
                let mask = self.not(none);
                self.narrow_mask(mask)
            }
            DType::F64 if from == DType::U64 => {
                // 2^84 and the high half, 2^52 and the low half; then both powers go, and the sum rounds once.
                let (high, low) = (self.shift(PSRLQI, s, 32), self.cx(TWO_84.to_bits(), 8, 32));
                let high = self.p3c(POR, high, low);
                let magic = self.f64s(TWO_52, 32);
                let low = self.p3i(PBLENDW, s, magic, 0xcc);
                let both = self.f64s(TWO_84 + TWO_52, 32);
                let high = self.p3(SUBPD, high, both);
                self.p3c(ADDPD, high, low)
            }
            DType::F64 => {
                // The same of the upper 48 bits with their sign, on 3 * 2^67, and the lower 16 bits.
                let high = self.shift(PSRADI, s, 16);
                let zero = self.zero(32);
                let high = self.p3i(PBLENDW, high, zero, 0x33);
                let three = 442721857769029238784.0f64;
                let magic = self.f64s(three, 32);
                let high = self.p3c(PADDQ, high, magic);
                let magic = self.f64s(TWO_52, 32);
                let low = self.p3i(PBLENDW, s, magic, 0x88);
                let both = self.f64s(three + TWO_52, 32);
                let high = self.p3(SUBPD, high, both);
                self.p3c(ADDPD, high, low)
            }
            _ => {
                let v = self.narrow(s);
                self.wrap_vector(DType::I32, to, v)?
            }
        })
    }
}
