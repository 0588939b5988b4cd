//! Where nodes live: each once, found by its contents.

use super::{Alu, Op, Ty};
use evoxc_core::DType;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::fmt;

/// A node of an [`Arena`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UOp(u32);

impl UOp {
    /// Its place among the nodes of its arena. Sources come before what uses them.
    pub const fn index(self) -> usize {
        self.0 as usize
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

/// The nodes of one kernel.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    nodes: Vec<Node>,
    known: FxHashMap<Node, UOp>,
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
        let node = Node { op, ty, src: SmallVec::from_slice(src) };
        if let Some(&u) = self.known.get(&node) {
            return u;
        }
        let u = UOp(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.known.insert(node, u);
        u
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
