//! The one pass over a kernel: nodes in order, each once, into an arena that holds what the result needs.

use super::emit::Emit;
use super::{Precision, binary, compare, precision, reduce, unary};
use crate::kernel::Kernel;
use crate::uop::{Alu, Op, UOp};
use evoxc_core::OpError;

/// Rewrites the kernel.
pub(super) fn run(kernel: &mut Kernel, precision: Precision) -> Result<(), OpError> {
    let old = std::mem::take(&mut kernel.uops);
    let mut needed = vec![false; old.len()];
    let roots = || kernel.stores.iter().chain(&kernel.loops).chain(kernel.scratch.iter().map(|s| &s.len));
    roots().for_each(|u| needed[u.index()] = true);
    // Sources come before what uses them, so that one sweep each way is enough.
    for (u, node) in old.iter().rev() {
        if needed[u.index()] {
            node.src.iter().for_each(|s| needed[s.index()] = true);
        }
    }
    let mut e = Emit::new(precision);
    let mut now: Vec<Option<UOp>> = vec![None; old.len()];
    let mut src: Vec<UOp> = vec![];
    for (at, node) in old.iter() {
        if !needed[at.index()] {
            continue;
        }
        src.clear();
        src.extend(node.src.iter().filter_map(|s| now[s.index()]));
        let to = node.ty.dtype;
        let u = match (node.op, src.as_slice()) {
            (Op::Unary(op), &[x]) => unary::unary(&mut e, op, x)?,
            (Op::Binary(op), &[a, b]) => binary::binary(&mut e, op, a, b)?,
            (Op::Compare(direction, order), &[a, b]) => compare::compare(&mut e, direction, order, a, b)?,
            (Op::Convert, &[x]) => e.convert(x, to)?,
            (Op::ReducePrecision(exponent, mantissa), &[x]) => precision::reduce(&mut e, x, exponent, mantissa)?,
            (Op::Reduce(op), [x, ranges @ ..]) => reduce::reduce(&mut e, op, *x, ranges)?,
            (Op::Alu(Alu::Select), &[c, a, b]) => e.select_narrow(c, a, b),
            (
                Op::Unary(_) | Op::Binary(_) | Op::Compare(..) | Op::Convert | Op::ReducePrecision(..) | Op::Reduce(_),
                _,
            ) => {
                return Err(OpError::new("decompose", format!("{:?} with {} sources", node.op, src.len())));
            }
            (
                op @ (Op::Const(_)
                | Op::Param(_)
                | Op::Buffer(_)
                | Op::Scratch(_)
                | Op::Range(..)
                | Op::Alu(_)
                | Op::Cast
                | Op::Bitcast
                | Op::IndexDiv
                | Op::IndexMod
                | Op::Call(_)
                | Op::Load
                | Op::Store
                | Op::End
                | Op::After),
                src,
            ) => e.arena.node(op, node.ty, src),
        };
        now[at.index()] = Some(u);
    }
    let moved = |u: &mut UOp| {
        if let Some(v) = now[u.index()] {
            *u = v;
        }
    };
    kernel.stores.iter_mut().for_each(moved);
    kernel.loops.iter_mut().for_each(moved);
    kernel.scratch.iter_mut().for_each(|s| moved(&mut s.len));
    kernel.uops = e.arena;
    Ok(())
}
