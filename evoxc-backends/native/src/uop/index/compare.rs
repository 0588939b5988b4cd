//! Comparisons of indices, and what bools they make up.

use super::Index;
use super::divide::gcd;
use super::sum::Sum;
use crate::uop::{Alu, Op, UOp};
use evoxc_core::DType;

/// How long a chain of conditions is searched for one of them.
const MAX_CONDITIONS: usize = 16;

impl Index<'_> {
    /// `y - x`, if neither of the three overflows.
    fn distance(&self, x: UOp, y: UOp) -> Option<Sum> {
        let (x, y) = (self.of(x), self.of(y));
        let distance = y.plus(&x, -1, self.a)?;
        let exact = self.is_exact(&x) && self.is_exact(&y) && self.is_exact(&distance);
        exact.then_some(distance)
    }
    /// Can it not overflow? A product of extents alone is a number of elements, which memory bounds.
    fn is_exact(&self, sum: &Sum) -> bool {
        let counts = |u: &UOp| matches!(self.a.op(*u), Op::Param(_) | Op::Range(..));
        let (sizes, rest) = sum.split(|t| t.by.unsigned_abs() < 1 << 20 && t.atoms.iter().all(counts));
        let (min, max) = rest.span(self.a);
        let limit = i128::from(if sizes.terms.is_empty() { i64::MAX } else { i64::MAX / 2 });
        min >= -limit && max <= limit
    }
    /// `x < y`
    pub(super) fn lt(&mut self, x: UOp, y: UOp) -> UOp {
        match self.distance(x, y) {
            Some(d) => self.positive(d),
            None => self.a.alu(Alu::Lt, &[x, y]),
        }
    }
    /// `x <= y`
    pub(super) fn le(&mut self, x: UOp, y: UOp) -> UOp {
        match self.distance(x, y).and_then(|d| d.plus(&Sum::constant(1), 1, self.a)) {
            Some(d) => self.positive(d),
            None => self.a.alu(Alu::Le, &[x, y]),
        }
    }
    /// `d > 0`: as `terms < rest` or `rest < terms`, where the rest has no ranges and the first term a positive factor.
    fn positive(&mut self, d: Sum) -> UOp {
        if self.least(&d) > 0 {
            return self.truth(true);
        }
        if self.greatest(&d) <= 0 {
            return self.truth(false);
        }
        let (mut ranged, mut free) = d.split(|t| !t.is_free(self.a));
        if ranged.terms.is_empty() {
            // Of sizes alone: the number stands on one side.
            let number = std::mem::take(&mut free.constant);
            (ranged, free) = (free, Sum::constant(number));
        }
        let flipped = ranged.terms.first().is_some_and(|t| t.by < 0);
        let (terms, rest) = match flipped {
            true => (ranged.scaled(-1), Some(free)),  // terms < rest
            false => (Some(ranged), free.scaled(-1)), // rest < terms
        };
        let (Some(mut terms), Some(mut rest)) = (terms, rest) else {
            let (zero, d) = (self.a.index(0), d.build(self.a));
            return self.a.alu(Alu::Lt, &[zero, d]);
        };
        if let Some(mut k) = rest.as_constant() {
            // As `terms < k`, or `terms >= k`.
            k = if flipped { k } else { k.saturating_add(1) };
            (terms, k) = self.lowest_terms(terms, k);
            if let Some((y, c)) = self.quotient(&terms)
                && let Some(kc) = k.checked_mul(c)
            {
                // y / c < k where y < k * c
                let (y, kc) = (self.of(y), Sum::constant(kc));
                let d = if flipped { kc.plus(&y, -1, self.a) } else { y.plus(&kc, -1, self.a) };
                let d = if flipped { d } else { d.and_then(|d| d.plus(&Sum::constant(1), 1, self.a)) };
                if let Some(d) = d.filter(|d| self.is_exact(d)) {
                    return self.positive(d);
                }
            }
            rest = Sum::constant(if flipped { k } else { k.saturating_sub(1) });
        }
        let (terms, rest) = (self.make(terms), self.make(rest));
        self.a.alu(Alu::Lt, &if flipped { [terms, rest] } else { [rest, terms] })
    }
    /// `g * s + r < k` as `s < ceil(k / g)`, where `r`, if there is any, lies from 0 to below `g`, and `g` divides `k`.
    fn lowest_terms(&self, terms: Sum, k: i64) -> (Sum, i64) {
        let all = terms.terms.iter().fold(0, |g, t| if g == 0 { t.by } else { gcd(g, t.by) }).unsigned_abs();
        if let Ok(all @ 2..) = i64::try_from(all) {
            let ceil = k.div_euclid(all) + i64::from(k.rem_euclid(all) != 0);
            return (terms.divided(all), ceil);
        }
        for t in &terms.terms {
            let g = gcd(t.by, k);
            if g > 1 {
                let (high, low) = terms.split(|t| t.by % g == 0);
                let (min, max) = low.span(self.a);
                if min >= 0 && max < g.into() {
                    return (high.divided(g), k / g);
                }
            }
        }
        (terms, k)
    }
    /// A quotient by a number.
    fn quotient(&self, sum: &Sum) -> Option<(UOp, i64)> {
        let atom = sum.as_atom()?;
        match (self.a.op(atom), self.a.src(atom)) {
            (Op::IndexDiv, &[y, c]) => Some((y, self.a.as_index(c).filter(|&c| c > 0)?)),
            _ => None,
        }
    }
    /// `x == y`
    pub(super) fn eq(&mut self, x: UOp, y: UOp) -> UOp {
        let Some(d) = self.distance(x, y) else { return self.ordered(Alu::Eq, x, y) };
        if d.as_constant() == Some(0) {
            return self.truth(true);
        }
        let g = d.terms.iter().fold(0, |g, t| if g == 0 { t.by } else { gcd(g, t.by) });
        if self.least(&d) > 0 || self.greatest(&d) < 0 || (g != 0 && d.constant % g != 0) {
            return self.truth(false);
        }
        self.ordered(Alu::Eq, x, y)
    }
    /// A commutative op on operands in a fixed order, numbers last.
    fn ordered(&mut self, op: Alu, x: UOp, y: UOp) -> UOp {
        let rank = |u| (self.a.as_const(u).is_some(), self.a.structural_hash(u));
        let src = if rank(y) < rank(x) { [y, x] } else { [x, y] };
        self.a.alu(op, &src)
    }
    /// The lesser or the greater.
    pub(super) fn extreme(&mut self, op: Alu, x: UOp, y: UOp) -> UOp {
        if let Some(d) = self.distance(x, y) {
            let (less, greater) = if op == Alu::Min { (x, y) } else { (y, x) };
            if self.least(&d) >= 0 {
                return less;
            }
            if self.greatest(&d) <= 0 {
                return greater;
            }
        }
        self.ordered(op, x, y)
    }
    /// `!x`
    pub(super) fn not(&mut self, x: UOp) -> UOp {
        match (self.a.op(x), self.a.src(x)) {
            (Op::Const(v), _) => self.truth(v == 0),
            (Op::Alu(Alu::Not), &[x]) => x,
            _ => self.a.alu(Alu::Not, &[x]),
        }
    }
    /// `x & y` of bools.
    pub(super) fn and(&mut self, x: UOp, y: UOp) -> UOp {
        match (self.a.as_const(x), self.a.as_const(y)) {
            (Some(0), _) | (_, Some(0)) => return self.truth(false),
            (Some(_), _) => return y,
            (_, Some(_)) => return x,
            _ => {}
        }
        if self.has(Alu::And, x, y) {
            return x;
        }
        if self.has(Alu::And, y, x) {
            return y;
        }
        // `t < 3 & t < 5`, `3 < t & 5 < t`
        if let (Op::Alu(Alu::Lt), &[a, b]) = (self.a.op(x), self.a.src(x))
            && let (Op::Alu(Alu::Lt), &[c, d]) = (self.a.op(y), self.a.src(y))
        {
            match (self.a.as_index(a), self.a.as_index(b), self.a.as_index(c), self.a.as_index(d)) {
                (_, Some(k), _, Some(l)) if a == c => return if k <= l { x } else { y },
                (Some(k), _, Some(l), _) if b == d => return if k >= l { x } else { y },
                _ => {}
            }
        }
        self.a.alu(Alu::And, &[x, y])
    }
    /// `x | y` of bools.
    pub(super) fn or(&mut self, x: UOp, y: UOp) -> UOp {
        match (self.a.as_const(x), self.a.as_const(y)) {
            (Some(0), _) => y,
            (_, Some(0)) => x,
            (Some(_), _) | (_, Some(_)) => self.truth(true),
            _ if self.has(Alu::Or, x, y) => x,
            _ if self.has(Alu::Or, y, x) => y,
            _ => self.a.alu(Alu::Or, &[x, y]),
        }
    }
    /// Is the condition one of those that `op` joins?
    fn has(&self, op: Alu, joined: UOp, condition: UOp) -> bool {
        let mut todo = vec![joined];
        for _ in 0..MAX_CONDITIONS {
            match todo.pop() {
                Some(u) if u == condition => return true,
                Some(u) if self.a.op(u) == Op::Alu(op) && self.a.ty(u).dtype == DType::BOOL => {
                    todo.extend_from_slice(self.a.src(u));
                }
                Some(_) => {}
                None => break,
            }
        }
        false
    }
}
