//! Random bits as arithmetic on the place of each element, bit by bit what the reference draws.

use super::group::Group;
use super::index::{div_mod, flat};
use crate::uop::{Alu, Op as UOpKind, Ty, UOp};
use evoxc_core::{DType, Dim, OpError};
use evoxc_ir::Algorithm;

/// The number of words of a key.
pub(super) fn words(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::SplitMix64 => 1,
        Algorithm::Threefry2x32 => 2,
        Algorithm::Philox4x32 => 4,
    }
}

/// Rough numbers of instructions for one element.
pub(super) fn work(algorithm: Algorithm) -> f64 {
    match algorithm {
        Algorithm::SplitMix64 => 40.0,
        Algorithm::Threefry2x32 => 110.0,
        Algorithm::Philox4x32 => 200.0,
    }
}

/// The element at indices of a shape, which are those of one draw; `key` are the words of its key.
pub(super) fn bits(
    g: &mut Group,
    algorithm: Algorithm,
    key: &[UOp],
    index: &[UOp],
    shape: &[Dim],
    dtype: DType,
) -> Result<UOp, OpError> {
    let extents = g.extents(shape)?;
    let i = flat(&mut g.arena, index, &extents);
    let mut e = Emit { g };
    match (algorithm, key) {
        (Algorithm::SplitMix64, &[key]) => {
            let i = e.convert(i, DType::U64);
            let z = e.splitmix(key, i);
            let high = 64 - dtype.bits() as u64;
            let z = if high == 0 { z } else { e.shift(Alu::Shr, z, high) };
            Ok(e.convert(z, dtype))
        }
        (Algorithm::Threefry2x32, &[k0, k1]) => {
            let (high, low) = e.halves(i);
            let [a, b] = e.threefry([k0, k1], [high, low]);
            Ok(if dtype == DType::U64 {
                e.joined(a, b)
            } else {
                let x = e.alu(Alu::Xor, a, b);
                e.convert(x, dtype)
            })
        }
        (Algorithm::Philox4x32, &[k0, k1, k2, k3]) => {
            let per_block = if dtype == DType::U64 { 2 } else { 4 };
            let n = e.g.arena.index(per_block);
            let (j, place) = div_mod(&mut e.g.arena, i, n);
            let (high, low) = e.halves(j);
            let [a, b, c, d] = e.philox([low, high, k2, k3], [k0, k1]);
            let all = if dtype == DType::U64 { vec![e.joined(b, a), e.joined(d, c)] } else { vec![a, b, c, d] };
            let mut drawn = all[all.len() - 1];
            for (n, &word) in all.iter().enumerate().rev().skip(1) {
                let n = e.g.arena.index(n as i64);
                let here = e.g.arena.alu(Alu::Eq, &[place, n]);
                drawn = e.g.arena.alu(Alu::Select, &[here, word, drawn]);
            }
            Ok(e.convert(drawn, dtype))
        }
        _ => Err(OpError::new("random_bits", "its key has another number of words")),
    }
}

struct Emit<'a> {
    g: &'a mut Group,
}

impl Emit<'_> {
    fn alu(&mut self, op: Alu, x: UOp, y: UOp) -> UOp {
        self.g.arena.alu(op, &[x, y])
    }
    fn u32(&mut self, v: u32) -> UOp {
        self.g.arena.constant(DType::U32, v.into())
    }
    fn convert(&mut self, x: UOp, to: DType) -> UOp {
        if self.g.arena.ty(x).dtype == to {
            return x;
        }
        self.g.arena.node(UOpKind::Convert, Ty::scalar(to), &[x])
    }
    fn shift(&mut self, op: Alu, x: UOp, by: u64) -> UOp {
        let dtype = self.g.arena.ty(x).dtype;
        let by = self.g.arena.constant(dtype, by);
        self.alu(op, x, by)
    }
    fn times(&mut self, x: UOp, by: u64) -> UOp {
        let dtype = self.g.arena.ty(x).dtype;
        let by = self.g.arena.constant(dtype, by);
        self.alu(Alu::Mul, x, by)
    }
    /// The high and the low half of an index.
    fn halves(&mut self, i: UOp) -> (UOp, UOp) {
        let low = self.convert(i, DType::U32);
        if self.g.arena.bounds(i).max < 1 << 32 {
            return (self.u32(0), low);
        }
        let high = self.shift(Alu::Shr, i, 32);
        (self.convert(high, DType::U32), low)
    }
    fn joined(&mut self, high: UOp, low: UOp) -> UOp {
        let (high, low) = (self.convert(high, DType::U64), self.convert(low, DType::U64));
        let high = self.shift(Alu::Shl, high, 32);
        self.alu(Alu::Or, high, low)
    }
    fn splitmix(&mut self, key: UOp, i: UOp) -> UOp {
        let one = self.g.arena.constant(DType::U64, 1);
        let i = self.alu(Alu::Add, i, one);
        let step = self.times(i, 0x9E37_79B9_7F4A_7C15);
        let mut z = self.alu(Alu::Add, key, step);
        for (by, factor) in [(30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB)] {
            let high = self.shift(Alu::Shr, z, by);
            z = self.alu(Alu::Xor, z, high);
            z = self.times(z, factor);
        }
        let high = self.shift(Alu::Shr, z, 31);
        self.alu(Alu::Xor, z, high)
    }
    fn threefry(&mut self, key: [UOp; 2], counter: [UOp; 2]) -> [UOp; 2] {
        const ROTATIONS: [[u64; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
        let parity = self.u32(0x1BD1_1BDA);
        let both = self.alu(Alu::Xor, key[0], key[1]);
        let ks = [key[0], key[1], self.alu(Alu::Xor, both, parity)];
        let mut a = self.alu(Alu::Add, counter[0], ks[0]);
        let mut b = self.alu(Alu::Add, counter[1], ks[1]);
        for round in 0..5usize {
            for r in ROTATIONS[round % 2] {
                a = self.alu(Alu::Add, a, b);
                let (left, right) = (self.shift(Alu::Shl, b, r), self.shift(Alu::Shr, b, 32 - r));
                let turned = self.alu(Alu::Or, left, right);
                b = self.alu(Alu::Xor, turned, a);
            }
            a = self.alu(Alu::Add, a, ks[(round + 1) % 3]);
            let n = self.u32(round as u32 + 1);
            let k = self.alu(Alu::Add, ks[(round + 2) % 3], n);
            b = self.alu(Alu::Add, b, k);
        }
        [a, b]
    }
    fn philox(&mut self, counter: [UOp; 4], key: [UOp; 2]) -> [UOp; 4] {
        let ([mut a, mut b, mut c, mut d], [mut k0, mut k1]) = (counter, key);
        for _ in 0..10 {
            let (m0, m1) = (self.u32(0xD251_1F53), self.u32(0xCD9E_8D57));
            let (h0, l0) = (self.alu(Alu::MulHigh, a, m0), self.alu(Alu::Mul, a, m0));
            let (h1, l1) = (self.alu(Alu::MulHigh, c, m1), self.alu(Alu::Mul, c, m1));
            let (x, y) = (self.alu(Alu::Xor, h1, b), self.alu(Alu::Xor, h0, d));
            (a, b, c, d) = (self.alu(Alu::Xor, x, k0), l1, self.alu(Alu::Xor, y, k1), l0);
            let (s0, s1) = (self.u32(0x9E37_79B9), self.u32(0xBB67_AE85));
            k0 = self.alu(Alu::Add, k0, s0);
            k1 = self.alu(Alu::Add, k1, s1);
        }
        [a, b, c, d]
    }
}
