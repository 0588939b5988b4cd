//! Which stores go past the caches: those of outputs so large that no one finds them there again, whose addresses are
//! known to be aligned. Memory then is not read before it is written, which is a third of the traffic of a plain chain.

use super::select::lane;
use crate::lir::{Inst, Lir, Memory, Reg, Size, Stride};
use crate::uop::Alu;
use evoxc_core::DType;
use rustc_hash::FxHashSet;

/// What has to hold for the stores to be done so.
pub struct Streams {
    /// Buffers whose address must be a multiple of 4 times 2 to `twos`.
    pub buffers: Vec<u32>,
    /// Buffers that are read: none of the others may be one of these, for then it is in the caches already.
    pub read: Vec<u32>,
    /// The instructions.
    pub stores: FxHashSet<usize>,
    /// Must the first iteration be a multiple of 2 to `twos`?
    pub begin: bool,
    pub twos: u8,
}

/// How many times 2 divides a number.
fn twos(x: i64) -> u8 {
    if x == 0 { 63 } else { x.trailing_zeros() as u8 }
}

/// The stores of a kernel that are worth it: of more than `least` bytes in all.
pub fn streams(lir: &Lir, least: i64) -> Option<Streams> {
    // What is stored at most, so that small kernels take no time here.
    let Size::Const(extent) = lir.extent else { return None };
    // Of each register, how many times 2 divides it: of itself, and where it divides the first iteration as it may have to.
    let mut power = vec![[0u8; 2]; lir.regs.len()];
    let mut known: Vec<Option<i64>> = vec![None; lir.regs.len()];
    let mut trips: Vec<i64> = vec![];
    let first = if lir.regs.iter().any(|r| r.lanes == 16) { 4 } else { 3 };
    let mut found = Streams { buffers: vec![], read: vec![], stores: FxHashSet::default(), begin: false, twos: first };
    for (at, inst) in lir.body.iter().enumerate() {
        let p = |r: &Reg| power.get(r.0 as usize).copied().unwrap_or([0; 2]);
        let k = |r: &Reg| known.get(r.0 as usize).copied().flatten();
        if let Inst::Load { from: Memory::Buffer(n), .. } | Inst::Gather { from: Memory::Buffer(n), .. } = inst
            && !found.read.contains(n)
        {
            found.read.push(*n);
        }
        let mut constant = None;
        let (dst, twos) = match inst {
            Inst::Const { dst, bits } => {
                constant = Some(*bits as i64);
                (*dst, [twos(*bits as i64); 2])
            }
            Inst::Begin { dst } => (*dst, [0, first]),
            Inst::For { var, from, to, step } => {
                trips.push(match (k(from), k(to)) {
                    (Some(from), Some(to)) => to.saturating_sub(from).max(0),
                    // The outermost one, or a part of it; an iteration may stand for a power of two of them.
                    _ if trips.is_empty() => extent.saturating_mul(1 << p(from)[0].min(16)),
                    _ => 1,
                });
                (*var, p(from).map(|n| n.min(twos(*step))))
            }
            Inst::EndFor => {
                trips.pop();
                continue;
            }
            Inst::Alu { dst, op, src } => {
                let (a, b) = (src.first().map_or([0; 2], p), src.get(1).map_or([0; 2], p));
                let shift = src.get(1).and_then(k);
                let n = |a: u8, b: u8| match op {
                    Alu::Add | Alu::Sub | Alu::Min | Alu::Max => a.min(b),
                    Alu::Mul => a.saturating_add(b).min(63),
                    Alu::And => a.max(b),
                    Alu::Shl => a.saturating_add(shift.unwrap_or(0).clamp(0, 63) as u8).min(63),
                    _ => 0,
                };
                (*dst, [n(a[0], b[0]), n(a[1], b[1])])
            }
            Inst::Store { to: Memory::Buffer(to), index, offset, stride: Stride::One, src } => {
                let Some(ty) = lir.regs.get(src.0 as usize) else { continue };
                let size = ty.dtype.size() as i64;
                let bytes = size * i64::from(ty.lanes);
                let direct = lane(ty.dtype) as i64 == size && ty.dtype != DType::BOOL && ty.lanes > 1;
                let all = trips.iter().fold(size, |n, t| n.saturating_mul(*t));
                let enough = |n: u8| i64::from(n.min(twos(*offset))) + i64::from(twos(size)) >= i64::from(twos(bytes));
                let [always, asked] = p(index).map(enough);
                if direct && asked && all >= least {
                    found.begin |= !always;
                    if !found.buffers.contains(to) {
                        found.buffers.push(*to);
                    }
                    found.stores.insert(at);
                }
                continue;
            }
            _ => continue,
        };
        if let Some(slot) = power.get_mut(dst.0 as usize) {
            *slot = twos;
        }
        if let Some(slot) = known.get_mut(dst.0 as usize) {
            *slot = constant;
        }
    }
    (!found.buffers.is_empty()).then_some(found)
}
