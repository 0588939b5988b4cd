//! What makes kernels equal, as bytes.

use super::{in_order, roots};
use crate::kernel::Kernel;
use crate::uop::{LibFn, Op, Ty};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The structure of a kernel: two kernels have equal keys exactly if they are the same but for the order in which
/// their nodes were made, and for nodes that nothing uses. It hashes fast, by a number that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    hash: u64,
    bytes: Box<[u8]>,
}

impl Key {
    /// The structure, for files; the same on every run of one version of this crate.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// The key of a kernel, as it is numbered: see [`renumber`](super::renumber).
pub fn key(kernel: &Kernel) -> Key {
    let arena = &kernel.uops;
    let order = in_order(arena, roots(kernel));
    let mut places = vec![0u32; arena.len()];
    let mut out = Bytes(Vec::with_capacity(order.len() * 8 + 64));
    out.number(order.len() as u64);
    for (n, &u) in order.iter().enumerate() {
        places[u.index()] = n as u32;
        let node = arena.get(u);
        out.op(node.op);
        out.ty(node.ty);
        out.number(node.src.len() as u64);
        for s in &node.src {
            out.number(n as u64 - u64::from(places[s.index()]));
        }
    }
    for list in [&kernel.stores, &kernel.loops] {
        out.number(list.len() as u64);
        list.iter().for_each(|u| out.number(places[u.index()].into()));
    }
    out.number(kernel.buffers.len() as u64);
    for b in &kernel.buffers {
        out.0.extend([b.dtype as u8, b.written.into()]);
        out.number(b.shares.len() as u64);
        b.shares.iter().for_each(|&s| out.number(s.into()));
    }
    out.number(kernel.scratch.len() as u64);
    for s in &kernel.scratch {
        out.0.push(s.dtype as u8);
        out.number(places[s.len.index()].into());
    }
    out.number(kernel.params.into());
    let mut hasher = FxHasher::default();
    out.0.hash(&mut hasher);
    Key { hash: hasher.finish(), bytes: out.0.into_boxed_slice() }
}

struct Bytes(Vec<u8>);

impl Bytes {
    /// Seven bits a byte, the least first.
    fn number(&mut self, mut v: u64) {
        while v >= 128 {
            self.0.push(v as u8 | 128);
            v >>= 7;
        }
        self.0.push(v as u8);
    }
    fn ty(&mut self, ty: Ty) {
        self.0.extend([ty.dtype as u8, ty.lanes << 1 | u8::from(ty.pointer)]);
    }
    fn op(&mut self, op: Op) {
        match op {
            Op::Const(v) => {
                self.0.push(0);
                self.number(v);
            }
            Op::Param(n) => self.numbered(1, n),
            Op::Buffer(n) => self.numbered(2, n),
            Op::Scratch(n) => self.numbered(3, n),
            Op::Range(n, kind) => {
                self.numbered(4, n);
                self.0.push(kind as u8);
            }
            Op::Unary(op) => self.0.extend([5, op as u8]),
            Op::Binary(op) => self.0.extend([6, op as u8]),
            Op::Compare(direction, order) => self.0.extend([7, direction as u8, order as u8]),
            Op::Convert => self.0.push(8),
            Op::ReducePrecision(exponent, mantissa) => {
                self.numbered(9, exponent);
                self.number(mantissa.into());
            }
            Op::Alu(op) => self.0.extend([10, op as u8]),
            Op::Cast => self.0.push(11),
            Op::Bitcast => self.0.push(12),
            Op::IndexDiv => self.0.push(13),
            Op::IndexMod => self.0.push(14),
            Op::Call(LibFn::Unary(op, single)) => self.0.extend([15, op as u8, single.into()]),
            Op::Call(LibFn::Binary(op, single)) => self.0.extend([16, op as u8, single.into()]),
            Op::Load => self.0.push(17),
            Op::Store => self.0.push(18),
            Op::Reduce(reducer) => self.0.extend([19, reducer as u8]),
            Op::End => self.0.push(20),
            Op::After => self.0.push(21),
        }
    }
    fn numbered(&mut self, tag: u8, n: u32) {
        self.0.push(tag);
        self.number(n.into());
    }
}
