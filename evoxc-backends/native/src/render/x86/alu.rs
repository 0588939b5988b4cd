//! Selection of arithmetic: scalar integers, scalar floats, vectors.

use super::codes::*;
use super::mir::*;
use super::select::{Select, is_signed, lane, malformed};
use crate::uop::{Alu, Ty};
use evoxc_core::{DType, Result};
use iced_x86::Code;

/// Is there code for the op on vectors?
pub fn has_vector(op: Alu, dtype: DType) -> bool {
    let wide = dtype.size() == 8;
    match dtype {
        DType::F32 | DType::F64 => {
            let of_bits = matches!(op, Alu::And | Alu::Or | Alu::Xor | Alu::Not | Alu::Shl | Alu::Shr | Alu::Sar);
            !of_bits && !matches!(op, Alu::IntDiv | Alu::IntRem | Alu::MulHigh)
        }
        DType::I32 | DType::U32 | DType::I64 | DType::U64 => match op {
            Alu::MulHigh => !wide,
            Alu::IntDiv | Alu::IntRem => !wide,
            Alu::Div | Alu::Sqrt | Alu::Floor | Alu::Ceil | Alu::RoundEven => false,
            Alu::Trunc | Alu::Fma => false,
            _ => true,
        },
        DType::BOOL => {
            matches!(op, Alu::And | Alu::Or | Alu::Xor | Alu::Not | Alu::Eq | Alu::Ne | Alu::Lt | Alu::Le | Alu::Select)
        }
        DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::F16 | DType::BF16 => op == Alu::Select,
        DType::C64 | DType::C128 => false,
    }
}

/// The predicates of vcmpps.
fn predicate(op: Alu) -> i32 {
    match op {
        Alu::Eq => 0,
        Alu::Ne => 4,
        Alu::Lt => 17,
        _ => 18,
    }
}
/// The modes of vroundps: no exceptions, and downwards, upwards, to even, to zero.
fn rounding(op: Alu) -> i32 {
    match op {
        Alu::Floor => 9,
        Alu::Ceil => 10,
        Alu::RoundEven => 8,
        _ => 11,
    }
}

/// The multiplier and the shift that divide integers of `bits` bits by one of at least 3, no power of 2.
fn magic(by: i64, bits: u32) -> (i64, i32) {
    let d = by as i128;
    let two = 1i128 << (bits - 1);
    // The greatest number that leaves one less than the divisor.
    let limit = two - 1 - two % d;
    let mut p = bits - 1;
    loop {
        p += 1;
        let power = 1i128 << p.min(126);
        if power > limit * (d - power % d) {
            let m = (power + d - power % d) / d;
            let m = if m >= two { m - (two << 1) } else { m };
            return (m as i64, (p - bits) as i32);
        }
    }
}

fn unsupported<T>(op: Alu, dtype: DType) -> Result<T> {
    Err(malformed(format_args!("{op:?} of {dtype}")))
}

impl Select<'_> {
    pub fn scalar_int(&mut self, op: Alu, dtype: DType, s: [V; 3]) -> Result<V> {
        let [a, b, _] = s;
        let (w, signed) = (lane(dtype), is_signed(dtype));
        if op == Alu::Select {
            return Ok(self.gselect(w, a, b, s[2]));
        }
        if dtype.size() < 4 && dtype != DType::BOOL {
            return unsupported(op, dtype);
        }
        let truth = dtype == DType::BOOL;
        let (less, less_equal) = if signed { (Cc::L, Cc::Le) } else { (Cc::B, Cc::Be) };
        Ok(match op {
            Alu::And => self.g3(G::And, w, a, b),
            Alu::Or => self.g3(G::Or, w, a, b),
            Alu::Xor => self.g3(G::Xor, w, a, b),
            Alu::Not if truth => self.g3i(G::Xor, 4, a, 1),
            Alu::Not => self.g1(Op::GNot, w, a),
            Alu::Eq => self.gcmp(Cc::E, w, a, b),
            Alu::Ne => self.gcmp(Cc::Ne, w, a, b),
            Alu::Lt => self.gcmp(less, w, a, b),
            Alu::Le => self.gcmp(less_equal, w, a, b),
            _ if truth => return unsupported(op, dtype),
            Alu::Add | Alu::Sub => {
                let v = self.g3(if op == Alu::Add { G::Add } else { G::Sub }, w, a, b);
                if w == 8 {
                    self.note_sum(op, v, a, b);
                }
                v
            }
            Alu::Mul => match (self.integer(a), self.integer(b)) {
                (Some(i), _) if i > 0 && i & (i - 1) == 0 => self.gshifti(Shift::Shl, w, b, i.trailing_zeros() as i32),
                (_, Some(i)) if i > 0 && i & (i - 1) == 0 => self.gshifti(Shift::Shl, w, a, i.trailing_zeros() as i32),
                _ => self.g3(G::Imul, w, a, b),
            },
            Alu::IntDiv | Alu::IntRem => {
                if let Some(by) = self.integer(b)
                    && let Some(v) = self.divide_by(op, w, signed, a, by)
                {
                    return Ok(v);
                }
                let d = self.m.fresh(Class::G, w);
                self.m.push(Mi { d, s: [a, b, NONE], ..Mi::new(Op::GDiv(signed, op == Alu::IntRem), w) });
                d
            }
            Alu::MulHigh if w == 8 => {
                let d = self.m.fresh(Class::G, w);
                self.m.push(Mi { d, s: [a, b, NONE], ..Mi::new(Op::GMulHigh(signed), w) });
                d
            }
            Alu::MulHigh => {
                let code = if signed { Code::Movsxd_r64_rm32 } else { Code::Mov_r32_rm32 };
                let (a, b) = (self.g2(code, 4, 8, a), self.g2(code, 4, 8, b));
                let product = self.g3(G::Imul, 8, a, b);
                self.gshifti(Shift::Shr, 8, product, 32)
            }
            Alu::Min | Alu::Max => {
                let cc = match (op, signed) {
                    (Alu::Min, true) => Cc::L,
                    (Alu::Min, false) => Cc::B,
                    (_, true) => Cc::G,
                    (_, false) => Cc::A,
                };
                let d = self.m.fresh(Class::G, w);
                self.m.push(Mi { d, s: [a, b, NONE], ..Mi::new(Op::GPick(cc), w) });
                d
            }
            Alu::Shl => self.gshift(Shift::Shl, w, a, b),
            Alu::Shr => self.gshift(Shift::Shr, w, a, b),
            Alu::Sar => self.gshift(Shift::Sar, w, a, b),
            Alu::Neg => self.g1(Op::GNeg, w, a),
            Alu::Abs if signed => {
                let sign = self.gshifti(Shift::Sar, w, a, w as i32 * 8 - 1);
                let flipped = self.g3(G::Xor, w, a, sign);
                self.g3(G::Sub, w, flipped, sign)
            }
            Alu::Abs => self.same(a),
            Alu::Div | Alu::Sqrt | Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc | Alu::Fma | Alu::Select => {
                return unsupported(op, dtype);
            }
        })
    }

    /// Bits of floats that only arithmetic of bits touches stay in vector registers: what of both is not read goes.
    pub fn twin(&mut self, op: Alu, dtype: DType, s: [V; 3], v: V) -> Result<()> {
        if self.twins.is_empty() || !matches!(dtype, DType::I32 | DType::U32 | DType::I64 | DType::U64) {
            return Ok(());
        }
        let by_constant = matches!(op, Alu::Shl | Alu::Shr);
        if !by_constant && !matches!(op, Alu::And | Alu::Or | Alu::Xor | Alu::Not | Alu::Add | Alu::Sub) {
            return Ok(());
        }
        if by_constant && self.integer(s[1]).is_none() {
            return Ok(());
        }
        let size = lane(dtype);
        let mut x = [NONE; 3];
        for i in 0..op.arity() {
            x[i] = match (self.twins.get(&s[i]), self.integer(s[i])) {
                (Some(x), _) => *x,
                (None, Some(c)) => self.cx(if size == 8 { c as u64 } else { c as u32 as u64 }, size, 16),
                (None, None) => return Ok(()),
            };
        }
        let x = self.vector(op, dtype, x)?;
        self.twins.insert(v, x);
        Ok(())
    }

    /// Quotients of 32-bit integers, and what is left: quotients of doubles, truncated, are exact there.
    fn divide_lanes(&mut self, op: Alu, signed: bool, a: V, b: V) -> V {
        let width = self.width(a);
        let quotient = if width == 32 {
            let (al, bl) = (self.low(a), self.low(b));
            let low = self.divide_half(signed, al, bl);
            let (ah, bh) = (self.high(a), self.high(b));
            let high = self.divide_half(signed, ah, bh);
            self.joined(low, high)
        } else {
            self.divide_half(signed, a, b)
        };
        if op == Alu::IntDiv {
            return quotient;
        }
        let product = self.p3c(PMULLD, quotient, b);
        self.p3(PSUBD, a, product)
    }

    fn divide_half(&mut self, signed: bool, a: V, b: V) -> V {
        if signed {
            let (a, b) = (self.x2(CVTDQ2PD.1, 16, 32, a), self.x2(CVTDQ2PD.1, 16, 32, b));
            let q = self.p3(DIVPD, a, b);
            return self.x2(CVTTPD2DQ.1, 32, 16, q);
        }
        let magic = self.cx(4503599627370496f64.to_bits(), 8, 32);
        let mut wide = [a, b];
        for v in &mut wide {
            let x = self.x2(PMOVZXDQ.1, 16, 32, *v);
            let x = self.p3c(POR, x, magic);
            *v = self.p3(SUBPD, x, magic);
        }
        let q = self.p3(DIVPD, wide[0], wide[1]);
        let q = self.p2i(ROUNDPD, q, rounding(Alu::Trunc));
        let q = self.p3c(ADDPD, q, magic);
        self.narrow(q)
    }

    /// Quotients by a constant, without a division; none where that is not worth it.
    fn divide_by(&mut self, op: Alu, w: u8, signed: bool, a: V, by: i64) -> Option<V> {
        let bits = i32::from(w) * 8;
        if by <= 0 {
            return None;
        }
        if by == 1 {
            return Some(if op == Alu::IntDiv { self.same(a) } else { self.cg(0, w) });
        }
        let quotient = if by & (by - 1) == 0 {
            let k = by.trailing_zeros() as i32;
            if signed {
                // Towards zero: negative numbers get what is just short of the divisor first.
                let sign = self.gshifti(Shift::Sar, w, a, bits - 1);
                let more = self.gshifti(Shift::Shr, w, sign, bits - k);
                let sum = self.g3(G::Add, w, a, more);
                self.gshifti(Shift::Sar, w, sum, k)
            } else {
                self.gshifti(Shift::Shr, w, a, k)
            }
        } else if signed {
            // Warren, Hacker's Delight, chapter 10: a multiplier of `bits` bits and a shift.
            let (multiplier, shift) = magic(by, bits as u32);
            let high = self.multiply_high(w, a, multiplier);
            let high = if multiplier < 0 { self.g3(G::Add, w, high, a) } else { high };
            let high = if shift > 0 { self.gshifti(Shift::Sar, w, high, shift) } else { high };
            let sign = self.gshifti(Shift::Shr, w, a, bits - 1);
            self.g3(G::Add, w, high, sign)
        } else {
            return None;
        };
        if op == Alu::IntDiv {
            return Some(quotient);
        }
        let by = self.cg(by, w);
        let product = self.g3(G::Imul, w, quotient, by);
        Some(self.g3(G::Sub, w, a, product))
    }

    fn multiply_high(&mut self, w: u8, a: V, by: i64) -> V {
        if w == 8 {
            let by = self.cg(by, 8);
            let d = self.m.fresh(Class::G, 8);
            self.m.push(Mi { d, s: [a, by, NONE], ..Mi::new(Op::GMulHigh(true), 8) });
            return d;
        }
        let wide = self.g2(Code::Movsxd_r64_rm32, 4, 8, a);
        let by = self.cg(by, 8);
        let product = self.g3(G::Imul, 8, wide, by);
        self.gshifti(Shift::Shr, 8, product, 32)
    }

    /// Remembers that an index is another one plus a constant, for addresses.
    fn note_sum(&mut self, op: Alu, v: V, a: V, b: V) {
        let (base, constant) = match (self.integer(a), self.integer(b)) {
            (Some(c), None) if op == Alu::Add => (b, c),
            (None, Some(c)) if op == Alu::Add => (a, c),
            (None, Some(c)) => (a, c.wrapping_neg()),
            _ => return,
        };
        let (base, more) = self.sums.get(&base).copied().unwrap_or((base, 0));
        if let Some(sum) = more.checked_add(constant) {
            self.sums.insert(v, (base, sum));
        }
    }

    pub fn scalar_float(&mut self, op: Alu, dtype: DType, s: [V; 3]) -> Result<V> {
        let [a, b, c] = s;
        let double = dtype == DType::F64;
        let w = if double { 8 } else { 4 };
        let pick = |single: Code, of_double: Code| if double { of_double } else { single };
        Ok(match op {
            Alu::Add => self.x3c(pick(Code::VEX_Vaddss_xmm_xmm_xmmm32, Code::VEX_Vaddsd_xmm_xmm_xmmm64), w, a, b),
            Alu::Sub => self.x3(pick(Code::VEX_Vsubss_xmm_xmm_xmmm32, Code::VEX_Vsubsd_xmm_xmm_xmmm64), w, a, b),
            Alu::Mul => self.x3c(pick(Code::VEX_Vmulss_xmm_xmm_xmmm32, Code::VEX_Vmulsd_xmm_xmm_xmmm64), w, a, b),
            Alu::Div => self.x3(pick(Code::VEX_Vdivss_xmm_xmm_xmmm32, Code::VEX_Vdivsd_xmm_xmm_xmmm64), w, a, b),
            Alu::Min => self.x3(pick(Code::VEX_Vminss_xmm_xmm_xmmm32, Code::VEX_Vminsd_xmm_xmm_xmmm64), w, a, b),
            Alu::Max => self.x3(pick(Code::VEX_Vmaxss_xmm_xmm_xmmm32, Code::VEX_Vmaxsd_xmm_xmm_xmmm64), w, a, b),
            // The upper lanes of the first operand are not used, and its own is at hand.
            Alu::Sqrt => self.x3(pick(Code::VEX_Vsqrtss_xmm_xmm_xmmm32, Code::VEX_Vsqrtsd_xmm_xmm_xmmm64), w, a, a),
            Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc => {
                let code = pick(Code::VEX_Vroundss_xmm_xmm_xmmm32_imm8, Code::VEX_Vroundsd_xmm_xmm_xmmm64_imm8);
                self.x3i(code, w, a, a, rounding(op))
            }
            Alu::Neg | Alu::Abs => self.sign(op, w, a),
            Alu::Fma => self.fma(if double { FMADDSD } else { FMADDSS }, w, a, b, c),
            Alu::Eq | Alu::Ne | Alu::Lt | Alu::Le => {
                let code = pick(Code::VEX_Vcmpss_xmm_xmm_xmmm32_imm8, Code::VEX_Vcmpsd_xmm_xmm_xmmm64_imm8);
                let mask = self.x3i(code, w, a, b, predicate(op));
                let bits = self.bits_of(4, mask);
                let truth = self.g3i(G::And, 4, bits, 1);
                self.masks.insert(truth, (mask, w));
                truth
            }
            Alu::Select => {
                let mask = match self.masks.get(&a) {
                    Some((mask, size)) if *size >= w => *mask,
                    _ => {
                        let code = Code::Mov_r32_rm32;
                        let wide = if w == 8 { self.g2(code, 4, 8, a) } else { a };
                        let bits = self.g1(Op::GNeg, w, wide);
                        let mask = self.of_bits(w, bits);
                        self.masks.insert(a, (mask, w));
                        self.lazy.push(a);
                        mask
                    }
                };
                self.blend(w, mask, b, c)
            }
            Alu::IntDiv | Alu::IntRem | Alu::MulHigh | Alu::And | Alu::Or | Alu::Xor | Alu::Not => {
                return unsupported(op, dtype);
            }
            Alu::Shl | Alu::Shr | Alu::Sar => return unsupported(op, dtype),
        })
    }

    /// The sign flipped, or cleared, of scalars and vectors of floats.
    fn sign(&mut self, op: Alu, size: u8, a: V) -> V {
        let width = self.width(a);
        let top = 1u64 << (size * 8 - 1);
        match op {
            Alu::Neg => {
                let bits = self.cx(top, size, width);
                self.p3c(XORPS, a, bits)
            }
            _ => {
                let bits = self.cx(top - 1, size, width);
                self.p3c(ANDPS, a, bits)
            }
        }
    }

    pub fn fma(&mut self, codes: [Code; 3], w: u8, a: V, b: V, c: V) -> V {
        let d = self.m.fresh(Class::X, self.width(a));
        let constant = self.m.regs[a as usize].constant.is_some();
        let (a, b) = if constant { (b, a) } else { (a, b) };
        self.m.push(Mi { d, s: [a, b, c], ..Mi::new(Op::Fma(codes), w) });
        d
    }

    pub fn vector(&mut self, op: Alu, dtype: DType, s: [V; 3]) -> Result<V> {
        if !has_vector(op, dtype) {
            return unsupported(op, dtype);
        }
        if self.width(s[0]) == 64 && matches!(op, Alu::MulHigh | Alu::IntDiv | Alu::IntRem) {
            return self.by_halves(Ty::vector(dtype, 16), s, |e, ty, s| e.vector(op, ty.dtype, s));
        }
        if op == Alu::Select {
            let [c, yes, no] = s;
            let size = lane(dtype);
            let mask = if size == 8 { self.wide_mask(c, self.width(no)) } else { c };
            return Ok(self.blend(size, mask, yes, no));
        }
        match dtype {
            DType::F32 | DType::F64 => self.vector_float(op, dtype, s),
            DType::BOOL => self.vector_bool(op, s),
            DType::I32 | DType::U32 => self.vector_int(op, dtype, s),
            _ => self.vector_long(op, dtype, s),
        }
    }

    /// A mask of 64-bit lanes, of a bool.
    pub fn wide_mask(&mut self, c: V, width: u8) -> V {
        if let Some((mask, 8)) = self.masks.get(&c) {
            return *mask;
        }
        let mask = self.x2(PMOVSXDQ.at(width), width / 2, width, c);
        self.masks.insert(c, (mask, 8));
        self.lazy.push(c);
        mask
    }

    /// A bool of a mask of 64-bit lanes.
    pub fn narrow_mask(&mut self, mask: V) -> V {
        let v = self.narrow(mask);
        self.masks.insert(v, (mask, 8));
        v
    }

    /// The low halves of four 64-bit lanes side by side.
    pub fn narrow(&mut self, v: V) -> V {
        let (low, high) = (self.low(v), self.high(v));
        self.p3i(SHUFPS, low, high, 0x88)
    }

    /// The lower 128 bits: the same register under another name.
    pub fn low(&mut self, v: V) -> V {
        self.r2(Code::VEX_Vmovaps_xmm_xmmm128, Class::X, 16, v, -1)
    }

    /// The upper 128 bits.
    pub fn high(&mut self, v: V) -> V {
        self.r2(Code::VEX_Vextracti128_xmmm128_ymm_imm8, Class::X, 16, v, 1)
    }

    fn vector_float(&mut self, op: Alu, dtype: DType, s: [V; 3]) -> Result<V> {
        let [a, b, c] = s;
        let double = dtype == DType::F64;
        let pick = |single: P, of_double: P| if double { of_double } else { single };
        Ok(match op {
            Alu::Add => self.p3c(pick(ADDPS, ADDPD), a, b),
            Alu::Sub => self.p3(pick(SUBPS, SUBPD), a, b),
            Alu::Mul => self.p3c(pick(MULPS, MULPD), a, b),
            Alu::Div => self.p3(pick(DIVPS, DIVPD), a, b),
            Alu::Min => self.p3(pick(MINPS, MINPD), a, b),
            Alu::Max => self.p3(pick(MAXPS, MAXPD), a, b),
            Alu::Sqrt => self.p2(pick(SQRTPS, SQRTPD), a),
            Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc => self.p2i(pick(ROUNDPS, ROUNDPD), a, rounding(op)),
            Alu::Neg | Alu::Abs => self.sign(op, lane(dtype), a),
            Alu::Fma => {
                let w = self.width(a);
                let codes = if double { FMADDPD[usize::from(w == 32)] } else { FMADDPS[row(w)] };
                self.fma(codes, w, a, b, c)
            }
            Alu::Eq | Alu::Ne | Alu::Lt | Alu::Le => {
                let mask = self.p3i(pick(CMPPS, CMPPD), a, b, predicate(op));
                if double { self.narrow_mask(mask) } else { mask }
            }
            _ => return unsupported(op, dtype),
        })
    }

    fn vector_bool(&mut self, op: Alu, s: [V; 3]) -> Result<V> {
        let [a, b, _] = s;
        Ok(match op {
            Alu::And => self.p3c(PAND, a, b),
            Alu::Or => self.p3c(POR, a, b),
            Alu::Xor | Alu::Ne => self.p3c(PXOR, a, b),
            Alu::Not => self.not(a),
            Alu::Eq => self.p3c(PCMPEQD, a, b),
            Alu::Lt => self.p3(PANDN, a, b),
            Alu::Le => {
                let more = self.p3(PANDN, b, a);
                self.not(more)
            }
            _ => return unsupported(op, DType::BOOL),
        })
    }

    fn vector_int(&mut self, op: Alu, dtype: DType, s: [V; 3]) -> Result<V> {
        let [a, b, _] = s;
        let signed = dtype == DType::I32;
        let width = self.width(a);
        Ok(match op {
            Alu::Add => self.p3c(PADDD, a, b),
            Alu::Sub => self.p3(PSUBD, a, b),
            Alu::Mul => self.p3c(PMULLD, a, b),
            Alu::MulHigh => {
                // Products of even lanes and of odd lanes; their upper halves.
                let p = if signed { PMULDQ } else { PMULUDQ };
                let even = self.p3c(p, a, b);
                let even = self.shift(PSRLQI, even, 32);
                let (a, b) = (self.shift(PSRLQI, a, 32), self.shift(PSRLQI, b, 32));
                let odd = self.p3c(p, a, b);
                self.p3i(PBLENDD, even, odd, 0xaa)
            }
            Alu::IntDiv | Alu::IntRem => self.divide_lanes(op, signed, a, b),
            Alu::Min => self.p3c(if signed { PMINSD } else { PMINUD }, a, b),
            Alu::Max => self.p3c(if signed { PMAXSD } else { PMAXUD }, a, b),
            Alu::And => self.p3c(PAND, a, b),
            Alu::Or => self.p3c(POR, a, b),
            Alu::Xor => self.p3c(PXOR, a, b),
            Alu::Not => self.not(a),
            Alu::Shl | Alu::Shr | Alu::Sar => {
                let (by_number, by_lane) = match op {
                    Alu::Shl => (PSLLDI, PSLLVD),
                    Alu::Shr => (PSRLDI, PSRLVD),
                    _ => (PSRADI, PSRAVD),
                };
                match self.bits(b, Ty::scalar(dtype)) {
                    Some(count) => self.shift(by_number, a, (count & 31) as i32),
                    None => self.p3(by_lane, a, b),
                }
            }
            Alu::Neg => {
                let zero = self.zero(width);
                self.p3(PSUBD, zero, a)
            }
            Alu::Abs if signed => self.p2(PABSD, a),
            Alu::Abs => self.same(a),
            Alu::Eq => self.p3c(PCMPEQD, a, b),
            Alu::Ne => {
                let equal = self.p3c(PCMPEQD, a, b);
                self.not(equal)
            }
            Alu::Lt if signed => self.p3(PCMPGTD, b, a),
            Alu::Le if signed => {
                let more = self.p3(PCMPGTD, a, b);
                self.not(more)
            }
            Alu::Lt => {
                // Not b <= a.
                let least = self.p3c(PMINUD, a, b);
                let not_less = self.p3c(PCMPEQD, least, b);
                self.not(not_less)
            }
            Alu::Le => {
                let least = self.p3c(PMINUD, a, b);
                self.p3c(PCMPEQD, least, a)
            }
            _ => return unsupported(op, dtype),
        })
    }

    /// A mask of where `a > b`, of 64-bit lanes.
    pub fn greater(&mut self, signed: bool, a: V, b: V) -> V {
        if signed {
            return self.p3(PCMPGTQ, a, b);
        }
        let top = self.cx(1 << 63, 8, self.width(a));
        let (a, b) = (self.p3c(PXOR, a, top), self.p3c(PXOR, b, top));
        self.p3(PCMPGTQ, a, b)
    }

    fn vector_long(&mut self, op: Alu, dtype: DType, s: [V; 3]) -> Result<V> {
        let [a, b, _] = s;
        let signed = dtype == DType::I64;
        let width = self.width(a);
        Ok(match op {
            Alu::Add => self.p3c(PADDQ, a, b),
            Alu::Sub => self.p3(PSUBQ, a, b),
            Alu::Mul => {
                // low * low + ((high * low + low * high) << 32)
                let (ah, bh) = (self.shift(PSRLQI, a, 32), self.shift(PSRLQI, b, 32));
                let (x, y) = (self.p3c(PMULUDQ, ah, b), self.p3c(PMULUDQ, bh, a));
                let cross = self.p3c(PADDQ, x, y);
                let cross = self.shift(PSLLQI, cross, 32);
                let low = self.p3c(PMULUDQ, a, b);
                self.p3c(PADDQ, low, cross)
            }
            Alu::Min | Alu::Max => {
                let more = self.greater(signed, a, b);
                if op == Alu::Min { self.blend(8, more, b, a) } else { self.blend(8, more, a, b) }
            }
            Alu::And => self.p3c(PAND, a, b),
            Alu::Or => self.p3c(POR, a, b),
            Alu::Xor => self.p3c(PXOR, a, b),
            Alu::Not => self.not(a),
            Alu::Shl | Alu::Shr => {
                let (by_number, by_lane) = if op == Alu::Shl { (PSLLQI, PSLLVQ) } else { (PSRLQI, PSRLVQ) };
                match self.bits(b, Ty::scalar(dtype)) {
                    Some(count) => self.shift(by_number, a, (count & 63) as i32),
                    None => self.p3(by_lane, a, b),
                }
            }
            Alu::Sar => {
                // Of negative numbers the complement is shifted.
                let zero = self.zero(width);
                let sign = self.p3(PCMPGTQ, zero, a);
                let flipped = self.p3c(PXOR, a, sign);
                let shifted = self.p3(PSRLVQ, flipped, b);
                self.p3c(PXOR, shifted, sign)
            }
            Alu::Neg => {
                let zero = self.zero(width);
                self.p3(PSUBQ, zero, a)
            }
            Alu::Abs if signed => {
                let zero = self.zero(width);
                let sign = self.p3(PCMPGTQ, zero, a);
                let flipped = self.p3c(PXOR, a, sign);
                self.p3(PSUBQ, flipped, sign)
            }
            Alu::Abs => self.same(a),
            Alu::Eq => {
                let mask = self.p3c(PCMPEQQ, a, b);
                self.narrow_mask(mask)
            }
            Alu::Ne => {
                let mask = self.p3c(PCMPEQQ, a, b);
                let mask = self.not(mask);
                self.narrow_mask(mask)
            }
            Alu::Lt => {
                let mask = self.greater(signed, b, a);
                self.narrow_mask(mask)
            }
            Alu::Le => {
                let mask = self.greater(signed, a, b);
                let mask = self.not(mask);
                self.narrow_mask(mask)
            }
            _ => return unsupported(op, dtype),
        })
    }

    pub fn splat(&mut self, to: Ty, s: V) -> Result<V> {
        let (_, width) = Self::place(to)?;
        let size = lane(to.dtype);
        let x = match to.dtype {
            DType::F32 | DType::F64 => s,
            DType::BOOL => {
                let bits = self.g1(Op::GNeg, 4, s);
                self.of_bits(4, bits)
            }
            _ => self.of_bits(size, s),
        };
        let p = if size == 8 { PBROADCASTQ } else { PBROADCASTD };
        Ok(self.x2(p.at(width), size, width, x))
    }

    pub fn extract(&mut self, ty: Ty, s: V, at: u8) -> Result<V> {
        let size = lane(ty.dtype);
        if ty.lanes == 1 {
            return Ok(self.same(s));
        }
        if self.width(s) == 64 {
            let (low, high) = self.halves(s);
            let half = Ty { lanes: 8, ..ty };
            return self.extract(half, if at < 8 { low } else { high }, at % 8);
        }
        let half = 16 / size;
        let s = match self.width(s) {
            32 if at >= half => self.high(s),
            32 => self.low(s),
            _ => s,
        };
        let at = i32::from(at % half);
        if matches!(ty.dtype, DType::F32 | DType::F64) {
            let shuffle =
                if size == 8 { [0x44, 0xee][at as usize & 1] } else { [0, 0x55, 0xaa, 0xff][at as usize & 3] };
            return Ok(self.x2i(Code::VEX_Vpshufd_xmm_xmmm128_imm8, 16, 16, s, shuffle));
        }
        let v = match (size, at) {
            (_, 0) => self.bits_of(size, s),
            (8, _) => self.r2(Code::VEX_Vpextrq_rm64_xmm_imm8, Class::G, 8, s, at),
            _ => self.r2(Code::VEX_Vpextrd_rm32_xmm_imm8, Class::G, 4, s, at),
        };
        Ok(if ty.dtype == DType::BOOL { self.g3i(G::And, 4, v, 1) } else { v })
    }

    pub fn across(&mut self, op: Alu, ty: Ty, s: V) -> Result<V> {
        let dtype = ty.dtype;
        if ty.lanes == 1 {
            return Ok(self.same(s));
        }
        if !has_vector(op, dtype) || op.is_comparison() && dtype != DType::BOOL || op.arity() != 2 {
            return self.across_scalars(op, ty, s);
        }
        if (op, dtype) == (Alu::Or, DType::BOOL) {
            let any = self.g1(Op::GAny, self.width(s), s);
            self.m.regs[any as usize].width = 4;
            if self.m.regs[s as usize].single {
                self.anys.insert(any, s);
            }
            return Ok(any);
        }
        let mut v = s;
        if self.width(v) == 64 {
            let (low, high) = self.halves(v);
            v = self.vector(op, dtype, [low, high, NONE])?;
        }
        if self.width(v) == 32 {
            let (low, high) = (self.low(v), self.high(v));
            v = self.vector(op, dtype, [low, high, NONE])?;
        }
        let size = lane(dtype);
        let high = self.x2i(Code::VEX_Vpshufd_xmm_xmmm128_imm8, 16, 16, v, 0xee);
        v = self.vector(op, dtype, [v, high, NONE])?;
        if size == 4 {
            let high = self.x2i(Code::VEX_Vpshufd_xmm_xmmm128_imm8, 16, 16, v, 0x55);
            v = self.vector(op, dtype, [v, high, NONE])?;
        }
        if matches!(dtype, DType::F32 | DType::F64) {
            return Ok(v);
        }
        let g = self.bits_of(size, v);
        Ok(if dtype == DType::BOOL { self.g3i(G::And, 4, g, 1) } else { g })
    }

    fn across_scalars(&mut self, op: Alu, ty: Ty, s: V) -> Result<V> {
        let mut all = vec![];
        for i in 0..ty.lanes {
            all.push(self.extract(ty, s, i)?);
        }
        while all.len() > 1 {
            let half = all.len() / 2;
            for i in 0..half {
                let s = [all[i], all[i + half], NONE];
                all[i] = match ty.dtype {
                    DType::F32 | DType::F64 => self.scalar_float(op, ty.dtype, s)?,
                    _ => self.scalar_int(op, ty.dtype, s)?,
                };
            }
            all.truncate(half);
        }
        all.first().copied().ok_or_else(|| malformed("a vector of no lanes"))
    }
}
