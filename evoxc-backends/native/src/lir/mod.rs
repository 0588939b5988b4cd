//! The form that all renderers share: loops, order, loads and stores, and virtual registers with lanes.
//!
//! A [`Lir`] is one function over a part of its outermost loop. It is what runs: renderers add nothing and leave nothing
//! out, so that all of them give the same bits (but for the payloads of NaN).

mod print;
mod regs;
mod verify;

pub use verify::{takes, verify};

use crate::uop::{Alu, LibFn, Ty};
use evoxc_core::DType;
use smallvec::SmallVec;

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A kernel in its last form before code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lir {
    /// Memory that it is given; number n is [`Memory::Buffer`] of n.
    pub buffers: Vec<DType>,
    /// Memory of its own, for each thread.
    pub scratch: Vec<(DType, Size)>,
    /// How many `i64` parameters it takes.
    pub params: u32,
    /// How many iterations its outermost loop has in all: the function runs those from [`Inst::Begin`] to below
    /// [`Inst::End`]. Iterations may run on different threads, in any order.
    pub extent: Size,
    /// Iterations that are worth a thread of their own.
    pub grain: Size,
    /// The type of every register. Lanes are 1, or one number for all vectors of a loop: 4, 8 or 16 (4 where a dtype of
    /// 64 bits is among them). Dtypes are as [`Alu`]
    /// says; `f16`, `bf16` and the small integers are only loaded, stored, cast, bitcast, selected and copied. No pointers.
    pub regs: Vec<Ty>,
    /// What it does, in order. Every register is written before it is read, and once, but for [`Inst::Copy`].
    pub body: Vec<Inst>,
}

/// A number that is known when the kernel is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Always the same.
    Const(i64),
    /// A parameter.
    Param(u32),
    /// A sum.
    Add(Box<Size>, Box<Size>),
    /// A product.
    Mul(Box<Size>, Box<Size>),
    /// A quotient, rounded towards negative infinity, of a positive divisor (0 gives 0).
    Div(Box<Size>, Box<Size>),
    /// The lesser.
    Min(Box<Size>, Box<Size>),
    /// The greater.
    Max(Box<Size>, Box<Size>),
}

impl Size {
    /// Its value; overflow saturates.
    pub fn value(&self, params: &[i64]) -> i64 {
        match self {
            Size::Const(v) => *v,
            Size::Param(n) => params.get(*n as usize).copied().unwrap_or(0),
            Size::Add(a, b) => a.value(params).saturating_add(b.value(params)),
            Size::Mul(a, b) => a.value(params).saturating_mul(b.value(params)),
            Size::Div(a, b) => match b.value(params) {
                0 => 0,
                d => a.value(params).div_euclid(d),
            },
            Size::Min(a, b) => a.value(params).min(b.value(params)),
            Size::Max(a, b) => a.value(params).max(b.value(params)),
        }
    }
    /// Its value; nothing where a step overflows or divides by what is not above zero.
    pub fn checked(&self, params: &[i64]) -> Option<i64> {
        let two = |a: &Size, b: &Size| Some((a.checked(params)?, b.checked(params)?));
        match self {
            Size::Const(v) => Some(*v),
            Size::Param(n) => params.get(*n as usize).copied(),
            Size::Add(a, b) => two(a, b).and_then(|(a, b)| a.checked_add(b)),
            Size::Mul(a, b) => two(a, b).and_then(|(a, b)| a.checked_mul(b)),
            Size::Div(a, b) => two(a, b).filter(|&(_, b)| b > 0).map(|(a, b)| a.div_euclid(b)),
            Size::Min(a, b) => two(a, b).map(|(a, b)| a.min(b)),
            Size::Max(a, b) => two(a, b).map(|(a, b)| a.max(b)),
        }
    }
}

/// Where elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// A buffer of the kernel.
    Buffer(u32),
    /// Scratch memory of the thread.
    Scratch(u32),
}

/// Where the lanes of a vector are, in elements from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// Side by side.
    One,
    /// So many apart: a constant other than 1.
    Const(i64),
    /// So many apart: an `i64` register.
    Reg(Reg),
}

/// One instruction.
#[allow(missing_docs)] // the fields are documented in the instruction's own line
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inst {
    /// The bits in every lane.
    Const { dst: Reg, bits: u64 },
    /// A parameter, an `i64`.
    Param { dst: Reg, number: u32 },
    /// The first iteration of the outermost loop to run, an `i64`.
    Begin { dst: Reg },
    /// The iteration of the outermost loop not to run any more, an `i64`.
    End { dst: Reg },
    /// 0, 1, 2 … in the lanes of an `i32` or `i64` vector.
    Lanes { dst: Reg },
    /// Arithmetic, lane by lane; operands have the lanes of `dst`.
    Alu { dst: Reg, op: Alu, src: SmallVec<[Reg; 3]> },
    /// Numeric conversion, as [`cast`](crate::uop::cast).
    Cast { dst: Reg, src: Reg },
    /// The same bits under a dtype of the same size.
    Bitcast { dst: Reg, src: Reg },
    /// A scalar in every lane.
    Splat { dst: Reg, src: Reg },
    /// One lane of a vector, a scalar; or the lanes from that one on of a vector of 16, as 8.
    Extract { dst: Reg, src: Reg, lane: u8 },
    /// All lanes of a vector combined to a scalar: lane i with lane i + n/2 for the first half, and so on until one is left.
    /// The operands of each step are (low, high).
    Across { dst: Reg, op: Alu, src: Reg },
    /// `dst[lane] = memory[index + offset + lane * stride]`; a bool is a byte, 0 or 1. `index` is a scalar `i64`.
    Load { dst: Reg, from: Memory, index: Reg, offset: i64, stride: Stride },
    /// The inverse of [`Inst::Load`].
    Store { to: Memory, index: Reg, offset: i64, stride: Stride, src: Reg },
    /// `dst[lane] = memory[index[lane]]` where the gate (a bool vector or scalar, as `dst`) holds, else `otherwise[lane]`.
    /// Nothing is read where it does not. `index` is `i32` or `i64`, with the lanes of `dst`.
    Gather { dst: Reg, from: Memory, index: Reg, gate: Option<(Reg, Reg)> },
    /// `memory[index[lane]] = src[lane]` where the gate holds, lane 0 first.
    Scatter { to: Memory, index: Reg, src: Reg, gate: Option<Reg> },
    /// A library function, lane by lane, on `f64` or `f32`.
    Call { dst: Reg, function: LibFn, src: SmallVec<[Reg; 2]> },
    /// `dst = src`: registers that are written more than once, such as accumulators, are written by this alone.
    Copy { dst: Reg, src: Reg },
    /// Runs up to the matching [`Inst::EndFor`] while `var < to`, from `from`, by `step`. All are scalar `i64`; `var` is
    /// written by the loop alone.
    For { var: Reg, from: Reg, to: Reg, step: i64 },
    /// Closes a loop.
    EndFor,
    /// Runs up to the matching [`Inst::EndIf`] if the scalar bool holds.
    If { condition: Reg },
    /// Closes a condition.
    EndIf,
}
