//! The expression DAG of kernels: immutable nodes, each held once.
//!
//! A [`UOp`] is an index into the [`Arena`] of one kernel; equal nodes are the same index. Nothing is global, so kernels
//! are built on any number of threads, and an arena can be sent.

mod alu;
mod arena;
mod bounds;
mod index;
mod kernel;
mod memo;
mod pattern;
mod rewrite;
mod sets;
#[cfg(test)]
mod tests;
mod ty;
mod values;

pub use alu::{Alu, LibFn, alu, cast};
pub use arena::{Arena, Node, UOp};
pub use bounds::Bounds;
pub use index::{affine, simplify_index, simplify_indices, substitute, substitute_all};
pub(crate) use kernel::renumbered;
pub use kernel::{Key, Numbering, Stage, key, renumber, simplify_kernel, verify};
pub use pattern::{Kind, Pattern, Rule, Rules, SLOTS, heads, number, slot};
pub use rewrite::{Rewriter, rewrite, rewrite_top_down};
pub use ty::Ty;
pub use values::{ARITHMETIC, CASTS, LOGIC, NUMBERS, VALUES, simplify_values};

use evoxc_ir::{Binary, Direction, Reducer, SortOrder, Unary};

/// What a range is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AxisKind {
    /// Over elements of the outputs.
    Loop,
    /// Over elements that a reduction combines, or that fill scratch memory.
    Reduce,
}

/// What a node does. Groups: leaves, ops of the IR (gone after `decompose`), machine ops, memory, structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // Leaves.
    /// A number, as the bits of the node's dtype, zero-extended.
    Const(u64),
    /// An `i64` parameter of the kernel: the value of a symbolic extent. Never negative.
    Param(u32),
    /// A pointer to the kernel's buffer of that number.
    Buffer(u32),
    /// A pointer to the kernel's scratch memory of that number, which each thread has its own of.
    Scratch(u32),
    /// An `i64` that counts from 0 to below `src[0]`. The number tells ranges of one kernel apart.
    Range(u32, AxisKind),

    // Ops of the IR, with its meaning, element by element.
    /// One operand.
    Unary(Unary),
    /// Two operands of one dtype.
    Binary(Binary),
    /// Two operands of one dtype, to a bool.
    Compare(Direction, SortOrder),
    /// `convert` of the IR to the node's dtype.
    Convert,
    /// `reduce_precision` of the IR: exponent and mantissa bits.
    ReducePrecision(u32, u32),

    // Machine ops. `Select` of [`Alu`] serves the IR as well: `src` is `[condition, where true, where false]`.
    /// Arithmetic as machines have it: see [`Alu`].
    Alu(Alu),
    /// Numeric conversion to the node's dtype: see [`cast`].
    Cast,
    /// The same bits under another dtype of the same size.
    Bitcast,
    /// Rounds towards negative infinity; `src[1]` is positive. On `i64`, for indices.
    IndexDiv,
    /// What [`Op::IndexDiv`] leaves, from 0 to below `src[1]`. On `i64`, for indices.
    IndexMod,
    /// A library function on one element: `[arguments…]`, or `[arguments…, gate, otherwise]`, whose value is `otherwise`
    /// where the gate (a bool) is false. Gates are rarely true: a vector none of whose lanes has a true gate should pay for
    /// one test and no call.
    Call(LibFn),

    // Memory. Indices are `i64`, in elements.
    /// `[pointer, index]`, or `[pointer, index, gate, otherwise]`: memory is not touched where the gate is false.
    Load,
    /// `[pointer, index, value]`, or with a gate as fourth. Its type is [`Ty::VOID`].
    Store,

    // Structure.
    /// `[value, ranges…]`: the value combined over the ranges, whose order of association the linearisation fixes by sizes.
    /// The dtype is that of the value. Starts at the combiner's identity (that of `max` is -inf, or the least integer).
    Reduce(Reducer),
    /// `[store, ranges…]`: the store, done for all of the ranges. [`Ty::VOID`].
    End,
    /// `[pointer, ends…]`: the pointer, once the stores of `ends` are done.
    After,
}
