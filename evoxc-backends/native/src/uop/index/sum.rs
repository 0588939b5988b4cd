//! Sums of products: the normal form of index arithmetic. Each is a polynomial over *atoms*, the nodes that are no sum,
//! product or number.

use crate::uop::{Alu, Arena, Op, Ty, UOp};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Sums longer than this are left as they are, so that no product of sums explodes and none is walked again and again.
pub(super) const MAX_TERMS: usize = 24;
const MAX_FACTORS: usize = 8;

/// `by * atoms[0] * atoms[1] …`; the atoms in their order, one of them perhaps several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) atoms: SmallVec<[UOp; 2]>,
    pub(super) by: i64,
}

/// Terms, no two of the same atoms and none of factor 0, in their order, and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) terms: SmallVec<[Term; 4]>,
    pub(super) constant: i64,
}

/// The order of atoms: by the innermost range, so that what stays the same in inner loops comes first; then by contents,
/// so that it does not depend on the order in which nodes were made.
fn rank(a: &Arena, u: UOp) -> (i64, u64, UOp) {
    (innermost(a, u), a.structural_hash(u), u)
}

/// The greatest number of a range that the node depends on, or -1.
fn innermost(a: &Arena, u: UOp) -> i64 {
    let number = |&r: &UOp| match a.op(r) {
        Op::Range(n, _) => i64::from(n),
        _ => -1,
    };
    a.ranges(u).iter().map(number).max().unwrap_or(-1)
}

impl Term {
    fn compare(&self, other: &Term, a: &Arena) -> Ordering {
        if self.atoms == other.atoms {
            return Ordering::Equal;
        }
        let inner = |t: &Term| t.atoms.iter().map(|&u| innermost(a, u)).max().unwrap_or(-1);
        let by_range = || inner(self).cmp(&inner(other));
        let by_atoms = || {
            let ranks = |t: &Term| t.atoms.iter().map(|&u| rank(a, u)).collect::<SmallVec<[_; 2]>>();
            ranks(self).cmp(&ranks(other))
        };
        by_range().then_with(by_atoms)
    }
    /// Does no atom depend on a range?
    pub(super) fn is_free(&self, a: &Arena) -> bool {
        self.atoms.iter().all(|&u| a.ranges(u).is_empty())
    }
    /// Without these atoms, if it has them all (as often as they are listed).
    pub(super) fn without(&self, atoms: &[UOp]) -> Option<Term> {
        let mut left = self.clone();
        for u in atoms {
            let at = left.atoms.iter().position(|v| v == u)?;
            left.atoms.remove(at);
        }
        Some(left)
    }
    fn times(&self, other: &Term, a: &Arena) -> Option<Term> {
        let mut atoms: SmallVec<[UOp; 2]> = self.atoms.iter().chain(&other.atoms).copied().collect();
        if atoms.len() > MAX_FACTORS {
            return None;
        }
        if atoms.len() > 1 {
            atoms.sort_by_key(|&u| rank(a, u));
        }
        Some(Term { atoms, by: self.by.checked_mul(other.by)? })
    }
}

impl Sum {
    pub(super) fn constant(v: i64) -> Sum {
        Sum { constant: v, ..Sum::default() }
    }
    pub(super) fn atom(u: UOp) -> Sum {
        Sum { terms: SmallVec::from_elem(Term { atoms: SmallVec::from_slice(&[u]), by: 1 }, 1), constant: 0 }
    }
    pub(super) fn term(term: Term) -> Sum {
        let terms = SmallVec::from_iter((term.by != 0).then_some(term));
        Sum { terms, constant: 0 }.gathered_constants()
    }
    /// A term without atoms is a number.
    fn gathered_constants(mut self) -> Sum {
        if let [Term { atoms, by }] = self.terms.as_slice()
            && atoms.is_empty()
        {
            self.constant += by;
            self.terms.clear();
        }
        self
    }
    /// The number, if it is nothing else.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }
    /// The atom, if it is nothing else.
    pub(super) fn as_atom(&self) -> Option<UOp> {
        match self.terms.as_slice() {
            [Term { atoms, by: 1 }] if self.constant == 0 && atoms.len() == 1 => Some(atoms[0]),
            _ => None,
        }
    }
    /// The term, if it is nothing else.
    pub(super) fn as_term(&self) -> Option<&Term> {
        match self.terms.as_slice() {
            [term] if self.constant == 0 => Some(term),
            _ => None,
        }
    }
    /// `self + other * by`.
    pub(super) fn plus(&self, other: &Sum, by: i64, a: &Arena) -> Option<Sum> {
        let constant = self.constant.checked_add(other.constant.checked_mul(by)?)?;
        let mut terms = SmallVec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (Some(l), Some(r)) => l.compare(r, a),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let l = if order.is_le() { left.next() } else { None };
            let r = if order.is_ge() { right.next() } else { None };
            let r_by = r.map_or(Some(0), |r| r.by.checked_mul(by))?;
            let sum = l.map_or(0, |l| l.by).checked_add(r_by)?;
            if let Some(t) = l.or(r)
                && sum != 0
            {
                terms.push(Term { atoms: t.atoms.clone(), by: sum });
            }
        }
        (terms.len() <= MAX_TERMS).then_some(Sum { terms, constant })
    }
    /// The product.
    pub(super) fn times(&self, other: &Sum, a: &Arena) -> Option<Sum> {
        if self.terms.len() * other.terms.len() > MAX_TERMS {
            return None;
        }
        let mut all = other.scaled(self.constant)?;
        for t in &self.terms {
            let mut row = Sum::default();
            for o in &other.terms {
                row = row.plus(&Sum::term(t.times(o, a)?), 1, a)?;
            }
            if other.constant != 0 {
                row = row.plus(&Sum::term(t.clone()), other.constant, a)?;
            }
            all = all.plus(&row, 1, a)?;
        }
        Some(all)
    }
    pub(super) fn scaled(&self, by: i64) -> Option<Sum> {
        if by == 0 {
            return Some(Sum::default());
        }
        let mut out = self.clone();
        out.constant = out.constant.checked_mul(by)?;
        for t in &mut out.terms {
            t.by = t.by.checked_mul(by)?;
        }
        Some(out)
    }
    /// Everything divided by a number that divides it.
    pub(super) fn divided(&self, by: i64) -> Sum {
        let mut out = self.clone();
        out.constant /= by;
        out.terms.iter_mut().for_each(|t| t.by /= by);
        out
    }
    /// The terms that satisfy a condition, and those that do not; the number goes with the latter.
    pub(super) fn split(&self, mut holds: impl FnMut(&Term) -> bool) -> (Sum, Sum) {
        let (yes, no) = self.terms.iter().cloned().partition(|t| holds(t));
        (Sum { terms: yes, constant: 0 }, Sum { terms: no, constant: self.constant })
    }
    /// What the exact value lies between, whatever overflows.
    pub(super) fn span(&self, a: &Arena) -> (i128, i128) {
        let (mut min, mut max) = (i128::from(self.constant), i128::from(self.constant));
        for t in &self.terms {
            let (mut lo, mut hi) = (i128::from(t.by), i128::from(t.by));
            for &u in &t.atoms {
                let b = a.bounds(u);
                let all = [(lo, b.min), (lo, b.max), (hi, b.min), (hi, b.max)].map(|(x, y)| x.saturating_mul(y.into()));
                lo = all.into_iter().fold(i128::MAX, i128::min);
                hi = all.into_iter().fold(i128::MIN, i128::max);
            }
            (min, max) = (min.saturating_add(lo), max.saturating_add(hi));
        }
        (min, max)
    }
    /// The sum that an index is. Products of sums are atoms here: they were multiplied out when they were made, unless
    /// that would have been too long.
    pub(super) fn of(a: &Arena, u: UOp) -> Sum {
        Sum::parse(a, u).unwrap_or_else(|| Sum::atom(u))
    }
    fn parse(a: &Arena, u: UOp) -> Option<Sum> {
        let mut all = Sum::default();
        let mut todo: SmallVec<[(UOp, i64); 8]> = SmallVec::from_slice(&[(u, 1)]);
        let mut seen = 0;
        while let Some((u, by)) = todo.pop() {
            seen += 1;
            if seen > 4 * MAX_TERMS {
                return None;
            }
            match (a.op(u), a.src(u)) {
                (Op::Alu(Alu::Add), &[x, y]) => todo.extend([(y, by), (x, by)]),
                (Op::Alu(Alu::Sub), &[x, y]) => todo.extend([(y, by.checked_neg()?), (x, by)]),
                (Op::Alu(Alu::Neg), &[x]) => todo.push((x, by.checked_neg()?)),
                _ => all = all.plus(&Sum::term(product(a, u)?), by, a)?,
            }
        }
        Some(all)
    }
    /// The node that it is.
    pub(super) fn build(&self, a: &mut Arena) -> UOp {
        let mut constant = self.constant;
        let mut sum = None;
        for t in &self.terms {
            // `5 - x` rather than `x * -1 + 5`.
            if sum.is_none() && t.by < 0 && constant != 0 {
                sum = Some(a.index(constant));
                constant = 0;
            }
            sum = Some(match sum {
                None => t.build(t.by, a),
                Some(sum) if t.by < 0 && t.by != i64::MIN => {
                    let t = t.build(-t.by, a);
                    a.alu(Alu::Sub, &[sum, t])
                }
                Some(sum) => {
                    let t = t.build(t.by, a);
                    a.alu(Alu::Add, &[sum, t])
                }
            });
        }
        match sum {
            None => a.index(constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) => {
                let constant = a.index(constant);
                a.alu(Alu::Add, &[sum, constant])
            }
        }
    }
}

impl Term {
    /// `(ranged atoms) * (atoms without ranges * by)`, so that the latter is hoisted.
    fn build(&self, by: i64, a: &mut Arena) -> UOp {
        let (free, ranged): (SmallVec<[UOp; 2]>, SmallVec<[UOp; 2]>) =
            self.atoms.iter().copied().partition(|&u| a.ranges(u).is_empty());
        let mut multiply = |atoms: &[UOp], first: Option<UOp>| {
            atoms.iter().fold(first, |p, &u| Some(p.map_or(u, |p| a.alu(Alu::Mul, &[p, u]))))
        };
        let (free, ranged) = (multiply(&free, None), multiply(&ranged, None));
        let scale = match (free, by) {
            (free, 1) => free,
            (None, -1) => None,
            (None, by) => Some(a.index(by)),
            (Some(free), by) => {
                let by = a.index(by);
                Some(a.alu(Alu::Mul, &[free, by]))
            }
        };
        match (ranged, scale) {
            (Some(x), Some(y)) => a.alu(Alu::Mul, &[x, y]),
            (Some(x), None) if by == -1 => a.alu(Alu::Neg, &[x]),
            (Some(x), None) => x,
            (None, Some(y)) => y,
            (None, None) => a.index(by),
        }
    }
}

/// A product as a term, if all of its factors are atoms or numbers.
fn product(a: &Arena, u: UOp) -> Option<Term> {
    let mut term = Term { atoms: SmallVec::new(), by: 1 };
    let mut todo: SmallVec<[UOp; 4]> = SmallVec::from_slice(&[u]);
    while let Some(u) = todo.pop() {
        match (a.op(u), a.src(u)) {
            (Op::Const(v), _) => term.by = term.by.checked_mul(v as i64)?,
            (Op::Alu(Alu::Mul), &[x, y]) if a.ty(u) == Ty::INDEX => todo.extend([y, x]),
            (Op::Alu(Alu::Neg), &[x]) => {
                term.by = term.by.checked_neg()?;
                todo.push(x);
            }
            _ => term.atoms.push(u),
        }
        if todo.len() + term.atoms.len() > MAX_FACTORS {
            return None;
        }
    }
    if term.atoms.len() > 1 {
        term.atoms.sort_by_key(|&u| rank(a, u));
    }
    Some(term)
}
