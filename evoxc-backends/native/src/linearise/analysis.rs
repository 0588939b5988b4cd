//! What the arena does not know of a kernel's nodes: how many loops must be done before each, one after the other.

use crate::kernel::Kernel;
use crate::uop::{Op, UOp};
use evoxc_core::OpError;

/// What the rest of the linearisation asks about nodes.
pub(super) struct Analysis {
    /// The greatest number of reductions and fills, one after the other, among what a node is made of.
    pub stage: Vec<u32>,
}

/// A kernel that breaks the form.
pub(super) fn broken(message: impl Into<String>) -> OpError {
    OpError::new("linearise", message)
}

impl Analysis {
    /// In one pass over the nodes.
    pub fn new(kernel: &Kernel) -> Result<Analysis, OpError> {
        let mut stages = Vec::with_capacity(kernel.uops.len());
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
        }
        Ok(Analysis { stage: stages })
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
