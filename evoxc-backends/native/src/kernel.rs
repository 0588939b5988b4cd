//! A kernel: one loop nest over the elements of its outputs, as a DAG of expressions, before it has loops.

use crate::uop::{Arena, UOp};
use evoxc_core::DType;

/// What is computed in one pass over memory.
///
/// Every value is an expression of ranges: a store at `[buffer, index, value]` is done for every combination of the ranges
/// of kind [`Loop`](crate::uop::AxisKind::Loop) that `loops` lists, whether its expressions depend on them or not; a range of kind
/// `Reduce` belongs to the `Reduce` and `End` nodes that name it. Nothing else has an order.
///
/// Numbers of buffers, parameters, scratch memories and ranges follow the order in which they first appear, and no name
/// is part of a kernel: kernels that do the same are equal, and are compiled once.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// The nodes.
    pub uops: Arena,
    /// The stores to buffers.
    pub stores: Vec<UOp>,
    /// The ranges over elements of outputs, outermost first. Empty for a kernel that stores one element.
    pub loops: Vec<UOp>,
    /// What `Buffer(n)` points to.
    pub buffers: Vec<BufferDecl>,
    /// What `Scratch(n)` points to.
    pub scratch: Vec<ScratchDecl>,
    /// How many parameters there are.
    pub params: u32,
}

/// A buffer of a kernel. Different buffers never overlap, but for those named by `shares`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferDecl {
    /// What it holds.
    pub dtype: DType,
    /// Is it stored to? Never both loaded and stored within one kernel.
    pub written: bool,
    /// Of a written buffer, the buffers that may be the same memory: every element of them is loaded only by the
    /// iteration of the loops that stores the element of the same index, before it stores.
    pub shares: Vec<u32>,
}

/// Memory that each thread has its own of, such as one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScratchDecl {
    /// What it holds.
    pub dtype: DType,
    /// How many elements: an expression of numbers and parameters.
    pub len: UOp,
}
