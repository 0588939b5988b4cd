//! How small or large a sum can be, where its ranges go up to symbolic extents.

use super::Index;
use super::sum::Sum;
use crate::uop::{Op, UOp};

/// More ranges than that are not eliminated one by one.
const MAX_RANGES: usize = 8;

impl Index<'_> {
    /// A number that the sum is never below.
    pub(super) fn least(&self, sum: &Sum) -> i128 {
        let (min, _) = sum.span(self.a);
        let symbolic = sum.terms.iter().any(|t| t.atoms.len() > 1 || t.atoms.iter().any(|&u| self.is_symbolic(u)));
        if min >= 0 || !symbolic { min } else { min.max(self.least_by_elimination(sum)) }
    }
    /// A number that the sum is never above.
    pub(super) fn greatest(&self, sum: &Sum) -> i128 {
        sum.scaled(-1).map_or(i128::MAX, |negated| self.least(&negated).checked_neg().unwrap_or(i128::MAX))
    }
    /// Does more than numbers decide how large it is?
    fn is_symbolic(&self, u: UOp) -> bool {
        match self.a.op(u) {
            Op::Param(_) => true,
            Op::Range(..) => self.a.as_index(self.a.src(u)[0]).is_none(),
            Op::IndexMod => self.a.as_index(self.a.src(u)[1]).is_none(),
            _ => false,
        }
    }
    /// Puts for each range, innermost first, 0 or its last value, whichever makes the sum smaller.
    fn least_by_elimination(&self, sum: &Sum) -> i128 {
        let mut sum = sum.clone();
        for _ in 0..MAX_RANGES {
            let found = sum.terms.iter().rev().flat_map(|t| t.atoms.iter().rev()).find_map(|&u| {
                Some((
                    u,
                    match (self.a.op(u), self.a.src(u)) {
                        (Op::Range(..), &[size]) => size,
                        (Op::IndexMod, &[_, size]) => size,
                        _ => return None,
                    },
                ))
            });
            let Some((range, size)) = found else { break };
            let (with, rest) = sum.split(|t| t.atoms.contains(&range));
            let mut factor = Sum::default();
            for t in &with.terms {
                let Some(without) = t.without(&[range]).filter(|t| !t.atoms.contains(&range)) else { return i128::MIN };
                match factor.plus(&Sum::term(without), 1, self.a) {
                    Some(sum) => factor = sum,
                    None => return i128::MIN,
                }
            }
            let (lo, hi) = factor.span(self.a);
            let replaced = if lo >= 0 {
                Some(rest)
            } else if hi <= 0 {
                let last = self.of(size).plus(&Sum::constant(1), -1, self.a);
                last.and_then(|last| factor.times(&last, self.a)).and_then(|most| rest.plus(&most, 1, self.a))
            } else {
                None
            };
            match replaced {
                Some(replaced) => sum = replaced,
                None => return i128::MIN,
            }
        }
        sum.span(self.a).0
    }
}
