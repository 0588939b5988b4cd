//! Where nodes live: each once, found by its contents; and what is known of each from its sources alone.

use super::bounds::{self, Bounds};
use super::sets::{SetId, Sets};
use super::{Alu, Op, Ty};
use evoxc_core::DType;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A node of an [`Arena`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UOp(u32);

impl UOp {
    /// Its place among the nodes of its arena. Sources come before what uses them.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
impl UOp {
    pub(super) const fn from_index(n: u32) -> UOp {
        UOp(n)
    }
}
impl fmt::Debug for UOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "u{}", self.0)
    }
}

/// An op, its type, and what it works on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The op.
    pub op: Op,
    /// The type of its value.
    pub ty: Ty,
    /// What it works on.
    pub src: SmallVec<[UOp; 3]>,
}

/// What follows from a node and the facts of its sources.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Of its contents down to the leaves, whatever the order in which nodes were made.
    hash: u64,
    pub(super) bounds: Bounds,
    ranges: SetId,
}

/// The nodes of one kernel.
///
/// ```
/// use evoxc_native::uop::{Alu, Arena, AxisKind, Op, Ty};
/// let mut a = Arena::new();
/// let eight = a.index(8);
/// let row = a.node(Op::Range(0, AxisKind::Loop), Ty::INDEX, &[eight]);
/// let twice = a.alu(Alu::Add, &[row, row]);
/// assert_eq!(twice, a.alu(Alu::Add, &[row, row])); // the same node
/// assert_eq!((a.bounds(twice).min, a.bounds(twice).max), (0, 14));
/// assert_eq!(a.ranges(twice), [row]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Arena {
    nodes: Vec<Node>,
    facts: Vec<Facts>,
    /// Open addressing: the high half of a node's hash, and its index plus one. At most half full.
    table: Vec<(u32, u32)>,
    sets: Sets,
}

impl Arena {
    /// No nodes.
    pub fn new() -> Arena {
        Arena::default()
    }
    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// No nodes?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// The node, which is made if there is no equal one.
    pub fn node(&mut self, op: Op, ty: Ty, src: &[UOp]) -> UOp {
        let hash = self.hash_of(op, ty, src);
        if self.table.len() <= self.nodes.len() * 2 {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut at = hash as usize & mask;
        loop {
            let (t, index) = self.table[at];
            if index == 0 {
                break;
            }
            if t == tag {
                let node = &self.nodes[index as usize - 1];
                if node.op == op && node.ty == ty && node.src.as_slice() == src {
                    return UOp(index - 1);
                }
            }
            at = (at + 1) & mask;
        }
        let u = UOp(self.nodes.len() as u32);
        self.table[at] = (tag, u.0 + 1);
        let bounds = bounds::of(self, op, ty, src);
        let ranges = self.ranges_of(u, op, src);
        self.nodes.push(Node { op, ty, src: SmallVec::from_slice(src) });
        self.facts.push(Facts { hash, bounds, ranges });
        u
    }
    fn hash_of(&self, op: Op, ty: Ty, src: &[UOp]) -> u64 {
        let mut h = FxHasher::default();
        op.hash(&mut h);
        h.write_u32(u32::from_le_bytes([ty.dtype as u8, ty.lanes, ty.pointer.into(), src.len() as u8]));
        for &s in src {
            h.write_u64(self.facts[s.index()].hash);
        }
        h.finish()
    }
    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(64);
        self.table.clear();
        self.table.resize(size, (0, 0));
        for (n, facts) in self.facts.iter().enumerate() {
            let mut at = facts.hash as usize & (size - 1);
            while self.table[at].1 != 0 {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = ((facts.hash >> 32) as u32, n as u32 + 1);
        }
    }
    /// The ranges that a node still depends on: those of its sources, but for those it closes.
    fn ranges_of(&mut self, u: UOp, op: Op, src: &[UOp]) -> SetId {
        let mut all = SetId::EMPTY;
        for &s in src {
            let of = self.facts[s.index()].ranges;
            all = self.sets.union(all, of);
        }
        match op {
            Op::Range(..) => self.sets.with(all, u),
            Op::Reduce(_) | Op::End => match src {
                [_, closed @ ..] => self.sets.without(all, closed),
                [] => all,
            },
            _ => all,
        }
    }
    /// What a node is.
    pub fn get(&self, u: UOp) -> &Node {
        &self.nodes[u.index()]
    }
    /// Its op.
    pub fn op(&self, u: UOp) -> Op {
        self.get(u).op
    }
    /// Its type.
    pub fn ty(&self, u: UOp) -> Ty {
        self.get(u).ty
    }
    /// What it works on.
    pub fn src(&self, u: UOp) -> &[UOp] {
        &self.get(u).src
    }
    /// Every node with its contents; sources come before what uses them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (UOp, &Node)> {
        self.nodes.iter().enumerate().map(|(n, node)| (UOp(n as u32), node))
    }
    /// What the value of an integer or a bool lies between, as a number of its dtype. [`Bounds::ALL`] says nothing, and is
    /// what floats and pointers have, and `u64` where it may exceed an `i64`. Arithmetic that may wrap has the
    /// bounds of its dtype.
    pub fn bounds(&self, u: UOp) -> Bounds {
        self.facts[u.index()].bounds
    }
    /// The ranges that the value of a node depends on, those of ranges' own sizes included, in the order of their index. A
    /// `Reduce` or an `End` depends no more on the ranges that it names.
    pub fn ranges(&self, u: UOp) -> &[UOp] {
        self.sets.members(self.facts[u.index()].ranges)
    }
    /// Is the range among [`Arena::ranges`]?
    pub fn depends_on(&self, u: UOp, range: UOp) -> bool {
        self.ranges(u).binary_search(&range).is_ok()
    }
    /// A number that depends on the node's contents down to its leaves, and not on the order in which nodes were made.
    /// Different nodes have different ones, but for accidents.
    pub fn structural_hash(&self, u: UOp) -> u64 {
        self.facts[u.index()].hash
    }
    /// The bits of a number.
    pub fn as_const(&self, u: UOp) -> Option<u64> {
        match self.op(u) {
            Op::Const(bits) => Some(bits),
            _ => None,
        }
    }
    /// An index that is a number.
    pub fn as_index(&self, u: UOp) -> Option<i64> {
        match self.get(u) {
            Node { op: Op::Const(bits), ty: Ty::INDEX, .. } => Some(*bits as i64),
            _ => None,
        }
    }
    /// An index that is a number.
    pub fn index(&mut self, v: i64) -> UOp {
        self.constant(DType::I64, v as u64)
    }
    /// A number of any dtype, by its bits.
    pub fn constant(&mut self, dtype: DType, bits: u64) -> UOp {
        self.node(Op::Const(bits), Ty::scalar(dtype), &[])
    }
    /// A machine op; the type is that of the last operand, or bool for a comparison.
    pub fn alu(&mut self, op: Alu, src: &[UOp]) -> UOp {
        let last = src.last().map_or(Ty::VOID, |&u| self.ty(u));
        let ty = if op.is_comparison() { last.with(DType::BOOL) } else { last };
        self.node(Op::Alu(op), ty, src)
    }
}
