//! How an index depends on one range.

use super::Index;
use super::sum::Sum;
use crate::uop::{Arena, UOp};

/// `coefficient, rest` so that the index is `coefficient * range + rest`, neither of them depending on the range; none if
/// there is no such form. An index that does not depend on the range has the coefficient 0. The index has been through
/// [`simplify_index`](super::simplify_index), without which some that are linear are not recognised.
///
/// ```
/// use evoxc_native::uop::{Alu, Arena, AxisKind, Op, Ty, affine};
/// let mut a = Arena::new();
/// let (rows, columns) = (a.index(8), a.index(64));
/// let i = a.node(Op::Range(0, AxisKind::Loop), Ty::INDEX, &[rows]);
/// let j = a.node(Op::Range(1, AxisKind::Loop), Ty::INDEX, &[columns]);
/// let row = a.alu(Alu::Mul, &[i, columns]);
/// let x = a.alu(Alu::Add, &[row, j]);
/// assert_eq!(affine(&mut a, x, i), Some((columns, j)));
/// assert_eq!(affine(&mut a, x, j), Some((a.index(1), row)));
/// ```
pub fn affine(arena: &mut Arena, index: UOp, range: UOp) -> Option<(UOp, UOp)> {
    if !arena.depends_on(index, range) {
        return Some((arena.index(0), index));
    }
    let sum = Sum::of(arena, index);
    let (with, rest) = sum.split(|t| t.atoms.contains(&range));
    let mut coefficient = Sum::default();
    for t in &with.terms {
        coefficient = coefficient.plus(&Sum::term(t.without(&[range])?), 1, arena)?;
    }
    let free = |sum: &Sum| sum.terms.iter().all(|t| t.atoms.iter().all(|&u| !arena.depends_on(u, range)));
    if !free(&coefficient) || !free(&rest) {
        return None;
    }
    let mut x = Index::new(arena);
    Some((x.make(coefficient), x.make(rest)))
}
