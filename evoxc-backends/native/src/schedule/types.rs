//! What a schedule is made of.

use crate::kernel::Kernel;
use evoxc_core::{DType, Dim, Loc};
use evoxc_ir::{Op, TensorType, Value};

/// A module as kernels and other steps over values in memory.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// One for each function that is called at run time; the first is the entry.
    pub routines: Vec<Routine>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Routine {
    /// Its name.
    pub name: String,
    /// The type of every value, by [`Value::index`]. Values may be added to those of the IR's function.
    pub types: Vec<TensorType>,
    /// Values that are constants: their data is an [`evoxc_ir::Prim::Constant`] op.
    pub constants: Vec<Op>,
    /// What it does.
    pub body: Block,
}

/// A region: items between arguments and results. Values of the blocks around it may be read.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Arguments, each a value in memory.
    pub args: Vec<Value>,
    /// What must hold of symbolic extents before anything of this is done.
    pub guards: Vec<Guard>,
    /// Items, in an order that respects what they read and write.
    pub items: Vec<Item>,
    /// Results, each a value in memory: an argument, a constant, or what an item writes. One may be named twice.
    pub results: Vec<Value>,
}

/// Bounds of an extent, or of a number of elements.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The extent.
    pub extent: Dim,
    /// It is at least that.
    pub least: i64,
    /// It is at most that.
    pub most: i64,
    /// The op that asks for it, without its regions.
    pub op: Box<Op>,
}

/// One step. Every value is a dense row-major tensor in memory of its own, unless a plan finds that two may share.
#[derive(Clone, Debug)]
pub enum Item {
    /// A kernel.
    Kernel(Box<KernelItem>),
    /// An op that a library runs.
    Library(Box<LibraryItem>),
    /// A product of matrices, in batches.
    Matmul(Box<MatmulItem>),
    /// The value under another shape: no data moves.
    View {
        /// What is viewed.
        from: Value,
        /// The value under the other shape.
        to: Value,
    },
    /// `cond`, `switch`, `while_loop`, `scan`: the op's own regions are empty, `blocks` are these. A scan's body sees one
    /// entry of each `xs` as its argument, and writes one of each `ys`.
    Control {
        /// The op, with its operands and results.
        op: Box<Op>,
        /// Its regions.
        blocks: Vec<Block>,
    },
    /// A call of a routine that was not inlined; its symbols are bound anew.
    Call {
        /// The op.
        op: Box<Op>,
        /// The routine.
        routine: usize,
    },
}

/// A kernel and what it works on.
#[derive(Clone, Debug)]
pub struct KernelItem {
    /// What it does.
    pub kernel: Kernel,
    /// The value behind each of its buffers.
    pub buffers: Vec<Value>,
    /// The extent behind each of its parameters.
    pub params: Vec<Dim>,
    /// What it was made of, for people: `softmax`-like chains as `exp, sub, reduce_max`.
    pub label: String,
    /// Why each written buffer exists, in the order of `buffers`; empty for those that are read.
    pub reasons: Vec<String>,
    /// Where the user wrote its last op.
    pub loc: Option<Loc>,
    /// The loop that it is, if it is one: `kernel` then has nothing but buffers.
    pub repeat: Option<Box<Repeat>>,
}

/// A loop whose body is small, as one kernel: what it carries stays in registers or in memory of its own.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// How often, of a scan; a while loop goes on as long as `truth` holds.
    pub length: Option<Length>,
    /// The kernels that say whether a while loop goes on.
    pub cond: Vec<Part>,
    /// The bool that they make.
    pub truth: Option<Slot>,
    /// The kernels of an iteration.
    pub body: Vec<Part>,
    /// Memory of the loop's own: dtype and elements.
    pub own: Vec<(DType, i64)>,
    /// What is carried and changes.
    pub states: Vec<Carried>,
    /// What an iteration adds to results: from there, to the entry of this iteration.
    pub copies: Vec<(Slot, Slot)>,
}

/// How often a scan's body runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// A number, or the extent behind the only parameter.
    pub known: Option<i64>,
    /// Is the last entry the first?
    pub reverse: bool,
}

/// A kernel of a loop.
#[derive(Clone, Debug)]
pub struct Part {
    /// The kernel; it has no parameters.
    pub item: KernelItem,
    /// Where each of its buffers is.
    pub at: Vec<Slot>,
}

/// Where a value of a loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A buffer of the loop.
    Buffer(u32),
    /// The entry of this iteration in a buffer of the loop: so many elements.
    Entry(u32, i64),
    /// Memory of the loop's own.
    Own(u32),
}

/// A value that a loop carries and changes.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// Where an iteration finds it.
    pub own: u32,
    /// The buffer with its first value.
    pub init: u32,
    /// The buffer for its last value.
    pub result: u32,
    /// Where the next value is at the end of an iteration.
    pub next: Slot,
}

/// An op that no kernel expresses, with its regions as they are in the IR.
#[derive(Clone, Debug)]
pub struct LibraryItem {
    /// The op. Values that its regions capture are read from memory too.
    pub op: Op,
    /// What its regions capture.
    pub captures: Vec<Value>,
    /// Why it is a library's, for people.
    pub reason: &'static str,
}

/// `out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]`, for a `dot` that is no kernel. `out` is dense, in this order of
/// axes; the operands may have any strides, in elements.
#[derive(Clone, Debug)]
pub struct MatmulItem {
    /// The operands and the result.
    pub lhs: Value,
    /// The right operand.
    pub rhs: Value,
    /// The result.
    pub out: Value,
    /// The extents: batch, m, n, k. Each may be a product of several axes.
    pub extents: [Dim; 4],
    /// Strides of the left operand along batch, m, k.
    pub lhs_strides: [Dim; 3],
    /// Strides of the right operand along batch, k, n.
    pub rhs_strides: [Dim; 3],
    /// Where the user wrote it.
    pub loc: Option<Loc>,
}
