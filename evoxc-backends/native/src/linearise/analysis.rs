//! What the arena does not know of a kernel's nodes: how many loops must be done before each, one after the other.

use crate::kernel::Kernel;
use crate::uop::{Alu, Arena, Op, UOp};
use evoxc_core::{DType, OpError};

/// What the rest of the linearisation asks about nodes.
pub(super) struct Analysis {
    /// The greatest number of reductions and fills, one after the other, among what a node is made of.
    pub stage: Vec<u32>,
    /// Integers of 64 bits that are the same in 32, made of such: indices, mostly.
    pub narrow: Vec<bool>,
}

/// Is the value of a 64-bit integer always one of 32 bits?
pub(super) fn fits(arena: &Arena, u: UOp) -> bool {
    let b = arena.bounds(u);
    b.min >= i32::MIN.into() && b.max <= i32::MAX.into()
}

/// Can it be computed in 32 bits, but for how its operands are?
fn narrow(arena: &Arena, u: UOp) -> bool {
    let node = arena.get(u);
    if node.ty.dtype != DType::I64 || node.ty.pointer || !fits(arena, u) {
        return false;
    }
    match node.op {
        Op::Range(..) | Op::Const(_) => true,
        Op::Alu(Alu::Add | Alu::Sub | Alu::Mul | Alu::Neg | Alu::Min | Alu::Max | Alu::And | Alu::Or | Alu::Xor) => {
            node.src.iter().all(|&s| fits(arena, s))
        }
        Op::Alu(Alu::Select) => node.src[1..].iter().all(|&s| fits(arena, s)),
        Op::IndexDiv | Op::IndexMod => {
            let n = arena.as_index(node.src[1]).unwrap_or(0);
            let power = n > 0 && n.count_ones() == 1;
            n > 0 && n <= i32::MAX.into() && fits(arena, node.src[0]) && (power || arena.bounds(node.src[0]).min >= 0)
        }
        Op::Cast => arena.ty(node.src[0]).dtype.size() <= 4 && !arena.ty(node.src[0]).dtype.is_float(),
        _ => false,
    }
}

/// Does it compute on integers of 64 bits that may as well be of 32?
pub(super) fn works_narrow(arena: &Arena, an: &Analysis, u: UOp) -> bool {
    let node = arena.get(u);
    let wide = |s: &UOp| arena.ty(*s).dtype == DType::I64;
    match node.op {
        Op::Alu(op) if op.is_comparison() => node.src.iter().all(|s| wide(s) && fits(arena, *s)),
        Op::Cast if wide(&node.src[0]) => fits(arena, node.src[0]),
        _ => an.narrow[u.index()],
    }
}

/// A kernel that breaks the form.
pub(super) fn broken(message: impl Into<String>) -> OpError {
    OpError::new("linearise", message)
}

impl Analysis {
    /// In one pass over the nodes.
    pub fn new(kernel: &Kernel) -> Result<Analysis, OpError> {
        let mut stages = Vec::with_capacity(kernel.uops.len());
        let mut narrowed = Vec::with_capacity(kernel.uops.len());
        for (u, node) in kernel.uops.iter() {
            let closes = matches!(node.op, Op::Reduce(_) | Op::End);
            let mut stage = 0;
            for s in &node.src {
                match stages.get(s.index()) {
                    Some(&of) => stage = stage.max(of),
                    None => return Err(broken(format!("{u:?} uses what comes after it"))),
                }
            }
            if closes && node.src[1..].iter().any(|&r| !matches!(kernel.uops.op(r), Op::Range(..))) {
                return Err(broken(format!("{u:?} is over what is no range")));
            }
            stages.push(stage + u32::from(closes));
            narrowed.push(narrow(&kernel.uops, u));
        }
        Ok(Analysis { stage: stages, narrow: narrowed })
    }
}

/// The array that a pointer is in, and the nodes whose effects come before what it is for.
pub(super) fn pointer(kernel: &Kernel, mut p: UOp, mut seen: impl FnMut(UOp)) -> Result<crate::lir::Memory, OpError> {
    loop {
        match kernel.uops.op(p) {
            Op::Buffer(n) => return Ok(crate::lir::Memory::Buffer(n)),
            Op::Scratch(n) => return Ok(crate::lir::Memory::Scratch(n)),
            Op::After => {
                seen(p);
                p = kernel.uops.src(p)[0];
            }
            _ => return Err(broken(format!("{p:?} is no pointer"))),
        }
    }
}
