//! Transposes of dot.

use super::{Cotangents, Input, Site, shape::permuted};
use crate::no_rule;
use evoxc_core::{DType, OpError};
use evoxc_ir::{AxisPair, Prim};
use evoxc_trace::{Sym, emitter};
use smallvec::smallvec;

/// A dot with the other operand. In the accumulator's dtype: the cotangent has that, and is not rounded before.
pub(super) fn dot(
    site: &Site,
    batch: &AxisPair,
    contract: &AxisPair,
    accumulate: Option<DType>,
) -> Result<Cotangents, OpError> {
    let (Some(ct), [a, b]) = (site.ct[0], site.x) else { return Ok(smallvec![None, None]) };
    let (Some(left), Some(right)) = (a.ty(), b.ty()) else { return Ok(smallvec![None, None]) };
    let free = |rank: usize, batch: &[usize], contract: &[usize]| -> Vec<usize> {
        (0..rank).filter(|i| !batch.contains(i) && !contract.contains(i)).collect()
    };
    let left_free = free(left.rank(), &batch.lhs, &contract.lhs);
    let right_free = free(right.rank(), &batch.rhs, &contract.rhs);
    let batches = batch.lhs.len();
    let left_at = batches..batches + left_free.len();
    let right_at = left_at.end..left_at.end + right_free.len();
    let wide = Accumulator::new(accumulate, left.dtype);
    let side = |known: Sym, side: Side| wide.narrowed(side.cotangent(ct, wide.widened(known)));
    Ok(match (a, b) {
        (Input::Linear(_), Input::Known(k)) => {
            let s = Side {
                own: (&batch.lhs, &left_free, &contract.lhs),
                other: (&batch.rhs, &right_free, &contract.rhs),
                summed: right_at.collect(),
                rank: left.rank(),
            };
            smallvec![Some(side(*k, s)), None]
        }
        (Input::Known(k), Input::Linear(_)) => {
            let s = Side {
                own: (&batch.rhs, &right_free, &contract.rhs),
                other: (&batch.lhs, &left_free, &contract.lhs),
                summed: left_at.collect(),
                rank: right.rank(),
            };
            smallvec![None, Some(side(*k, s))]
        }
        _ => {
            return Err(no_rule(
                &site.op.prim,
                "it is not linear in both operands",
                "report this: a jvp rule wrote it",
            ));
        }
    })
}

/// One operand of a dot, seen from its cotangent.
struct Side<'a> {
    /// The batch, free and contracting axes of the operand.
    own: (&'a [usize], &'a [usize], &'a [usize]),
    /// Those of the other one.
    other: (&'a [usize], &'a [usize], &'a [usize]),
    /// The axes of the result that come from the other's free axes.
    summed: Vec<usize>,
    rank: usize,
}

impl Side<'_> {
    /// The cotangent: the result's cotangent times the other operand, summed over the other's free axes.
    fn cotangent(self, ct: Sym, other: Sym) -> Sym {
        let batches: Vec<usize> = (0..self.own.0.len()).collect();
        // The other's axes that are left are in its order.
        let mut order: Vec<usize> = (0..self.own.2.len()).collect();
        order.sort_by_key(|&i| self.other.2.get(i));
        let contracted = order.iter().filter_map(|&i| self.own.2.get(i)).copied();
        // The operand's axes in the order of `dot(ct, other)`, and of `dot(other, ct)`, which may need no transpose.
        let after: Vec<usize> = self.own.0.iter().chain(self.own.1).copied().chain(contracted.clone()).collect();
        let before: Vec<usize> =
            self.own.0.iter().copied().chain(contracted).chain(self.own.1.iter().copied()).collect();
        let (batch, contract) = ((batches, self.other.0.to_vec()), (self.summed, self.other.1.to_vec()));
        let pair = |(l, r): (Vec<usize>, Vec<usize>), swap: bool| {
            if swap { AxisPair { lhs: r, rhs: l } } else { AxisPair { lhs: l, rhs: r } }
        };
        let swap = !after.is_sorted() && before.is_sorted();
        let dot = Prim::Dot { batch: pair(batch, swap), contract: pair(contract, swap), accumulate: None };
        let x = emitter::emit(dot, &if swap { [other, ct] } else { [ct, other] });
        let order = if swap { before } else { after };
        let perm: Vec<usize> = (0..self.rank).filter_map(|a| order.iter().position(|&o| o == a)).collect();
        permuted(x, &perm)
    }
}

/// The dtype that a contraction sums in, where it is not the operands'.
pub(super) struct Accumulator {
    wide: Option<DType>,
    narrow: DType,
}

impl Accumulator {
    pub(super) fn new(accumulate: Option<DType>, operands: DType) -> Accumulator {
        Accumulator { wide: accumulate.filter(|&d| d != operands), narrow: operands }
    }
    /// An operand as the cotangent's dtype.
    pub(super) fn widened(&self, x: Sym) -> Sym {
        self.wide.map_or(x, |dtype| emitter::emit(Prim::Convert { dtype }, &[x]))
    }
    /// A cotangent as the operands' dtype.
    pub(super) fn narrowed(&self, x: Sym) -> Sym {
        self.wide.map_or(x, |_| emitter::emit(Prim::Convert { dtype: self.narrow }, &[x]))
    }
}
