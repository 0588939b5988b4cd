//! The meaning of a DAG without loops, by `alu` and `cast`.

use crate::uop::index::reachable;
use crate::uop::{Alu, Arena, Op, Ty, UOp, alu, cast};
use evoxc_core::DType;
use half::{bf16, f16};
use rustc_hash::FxHashMap;

/// Random numbers from a seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub(super) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
    /// The bits of an element: often a special one.
    pub(super) fn bits(&mut self, d: DType) -> u64 {
        let ones = u64::MAX >> (64 - d.bits());
        let special =
            [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.7, -2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e30, 1e-40];
        match (d, self.below(3)) {
            (DType::BOOL, _) => self.next() & 1,
            (DType::F64, 0) => self.of(&special).to_bits(),
            (DType::F32, 0) => (self.of(&special) as f32).to_bits().into(),
            (DType::F16, 0) => f16::from_f64(self.of(&special)).to_bits().into(),
            (DType::BF16, 0) => bf16::from_f64(self.of(&special)).to_bits().into(),
            (_, 0) => self.of(&[0, 1, 2, ones, ones >> 1, (ones >> 1) + 1, 7, 8]) & ones,
            (_, 1) => self.next() >> self.below(64) & ones,
            _ => self.next() & ones,
        }
    }
}

/// The value of a node, or none where a division or a shift has no meaning. Loads are given by the buffer's number, ranges and
/// parameters by theirs.
pub(super) fn eval(a: &Arena, root: UOp, loads: &[u64], numbers: &[i64]) -> Option<u64> {
    let mut known: FxHashMap<UOp, u64> = FxHashMap::default();
    for u in reachable(a, &[root], 0) {
        let node = a.get(u);
        let src = |n: usize| known[&node.src[n]];
        let on = node.src.last().map_or(Ty::VOID, |&s| a.ty(s)).dtype;
        let v = match node.op {
            Op::Const(v) => v,
            Op::Buffer(n) => u64::from(n),
            Op::Range(n, _) | Op::Param(n) => numbers[n as usize] as u64,
            Op::Load => loads[src(0) as usize],
            Op::IndexDiv => (src(0) as i64).div_euclid((src(1) as i64).max(1)) as u64,
            Op::IndexMod => (src(0) as i64).rem_euclid((src(1) as i64).max(1)) as u64,
            Op::Alu(op) => {
                let mut bits = [0; 3];
                (0..node.src.len()).for_each(|n| bits[n] = src(n));
                let minus_one = on.is_signed_int() && bits[1] == u64::MAX >> (64 - on.bits());
                match op {
                    Alu::IntDiv | Alu::IntRem if bits[1] == 0 || minus_one => return None,
                    Alu::Shl | Alu::Shr | Alu::Sar if bits[1] >= on.bits() as u64 => return None,
                    _ => alu(op, on, bits),
                }
            }
            Op::Cast => cast(on, node.ty.dtype, src(0)),
            Op::Bitcast => src(0),
            op => panic!("{op:?}"),
        };
        let (b, d) = (a.bounds(u), node.ty.dtype);
        if d.is_int() && d != DType::U64 && !node.ty.pointer {
            let shift = 64 - d.bits();
            let v = if d.is_unsigned() { v as i64 } else { ((v << shift) as i64) >> shift };
            assert!(b.holds(v), "{:?} is {v}, not within {b:?}", node);
        }
        known.insert(u, v);
    }
    Some(known[&root])
}

/// Are they the same element, whatever NaN it is?
pub(super) fn same(d: DType, x: u64, y: u64) -> bool {
    let nan = |v: u64| match d {
        DType::F32 => f32::from_bits(v as u32).is_nan(),
        DType::F64 => f64::from_bits(v).is_nan(),
        DType::F16 => f16::from_bits(v as u16).is_nan(),
        DType::BF16 => bf16::from_bits(v as u16).is_nan(),
        _ => false,
    };
    x == y || nan(x) && nan(y)
}
