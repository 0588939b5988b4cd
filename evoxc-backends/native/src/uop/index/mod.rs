//! Index arithmetic: on `i64`, of ranges, parameters, numbers, and what is loaded.
//!
//! Everything is brought into one normal form, a sum of products in a fixed order, so that equal indices become the same
//! node, and chains of reshapes and slices become affine again. Indices are taken as exact numbers: the sums under an
//! [`Op::IndexDiv`](super::Op::IndexDiv) or an [`Op::IndexMod`](super::Op::IndexMod) do not overflow, for they are positions
//! in memory. Comparisons, which users make too, are decided only where nothing can overflow.

mod affine;
mod compare;
mod divide;
mod extent;
mod simplify;
mod substitute;
mod sum;
#[cfg(test)]
mod tests;

pub use affine::affine;
pub use simplify::{simplify_index, simplify_indices};
#[cfg(test)]
pub(crate) use substitute::reachable;
pub use substitute::{substitute, substitute_all};

use super::{Alu, Arena, Op, Ty, UOp};
use rustc_hash::FxHashMap;
use sum::Sum;

/// Makes nodes of operands that are simplified already.
struct Index<'a> {
    a: &'a mut Arena,
    /// Quotients and remainders that were asked for before.
    known: FxHashMap<(bool, UOp, UOp), UOp>,
}

impl Index<'_> {
    fn new(a: &mut Arena) -> Index<'_> {
        Index { a, known: FxHashMap::default() }
    }
    fn of(&self, u: UOp) -> Sum {
        match self.a.bounds(u).single() {
            Some(v) => Sum::constant(v),
            None => Sum::of(self.a, u),
        }
    }
    fn truth(&mut self, t: bool) -> UOp {
        self.a.constant(evoxc_core::DType::BOOL, t.into())
    }
    /// `x + y * by`.
    fn add(&mut self, x: UOp, y: UOp, by: i64) -> UOp {
        let (l, r) = (self.of(x), self.of(y));
        match l.plus(&r, by, self.a) {
            Some(sum) => self.make(sum),
            None if by == 1 => self.a.alu(Alu::Add, &[x, y]),
            None if by == -1 => self.a.alu(Alu::Sub, &[x, y]),
            None => {
                let by = self.a.index(by);
                let y = self.a.alu(Alu::Mul, &[y, by]);
                self.a.alu(Alu::Add, &[x, y])
            }
        }
    }
    fn mul(&mut self, x: UOp, y: UOp) -> UOp {
        let (l, r) = (self.of(x), self.of(y));
        match l.times(&r, self.a) {
            Some(product) => self.make(product),
            None => self.a.alu(Alu::Mul, &[x, y]),
        }
    }
    /// The node of a sum, quotients and remainders of the same number put together again.
    fn make(&mut self, mut sum: Sum) -> UOp {
        while let Some(shorter) = self.recombined(&sum) {
            sum = shorter;
        }
        sum.build(self.a)
    }
    /// `x / c * c * k + x % c * k` is `x * k`; `x / c % b * c * k + x % c * k` is `x % (c * b) * k`.
    fn recombined(&mut self, sum: &Sum) -> Option<Sum> {
        if sum.terms.len() < 2 {
            return None;
        }
        for (n, low) in sum.terms.iter().enumerate() {
            for &atom in &low.atoms {
                let (Op::IndexMod, &[x, c]) = (self.a.op(atom), self.a.src(atom)) else { continue };
                let divisor = Sum::of(self.a, c);
                let factor = match (divisor.as_constant(), divisor.as_term()) {
                    (Some(v), _) => sum::Term { atoms: Default::default(), by: v },
                    (_, Some(term)) => term.clone(),
                    _ => continue,
                };
                let Some(by) = low.by.checked_mul(factor.by) else { continue };
                let Some(others) = low.without(&[atom]) else { continue };
                for (m, high) in sum.terms.iter().enumerate() {
                    if m == n || high.by != by {
                        continue;
                    }
                    // The quotient, if this term is it times the divisor and the same others.
                    let Some(left) = high.without(&others.atoms).and_then(|t| t.without(&factor.atoms)) else {
                        continue;
                    };
                    let &[quotient] = left.atoms.as_slice() else { continue };
                    let q = self.div(x, c);
                    let whole = match (self.a.op(quotient), self.a.src(quotient)) {
                        _ if q == quotient => x,
                        (Op::IndexMod, &[dividend, b]) if dividend == q => {
                            let modulus = self.mul(c, b);
                            self.rem(x, modulus)
                        }
                        _ => continue,
                    };
                    let mut rest = sum.clone();
                    rest.terms.remove(n.max(m));
                    rest.terms.remove(n.min(m));
                    let whole = self.of(whole).times(&Sum::term(others), self.a);
                    return whole.and_then(|whole| rest.plus(&whole, 1, self.a));
                }
            }
        }
        None
    }
    fn plain(&mut self, op: Op, x: UOp, y: UOp) -> UOp {
        self.a.node(op, Ty::INDEX, &[x, y])
    }
}
