//! The pass over a DAG that brings its index arithmetic into normal form.

use super::Index;
use crate::uop::memo::Memo;
use crate::uop::{Alu, Arena, Op, Ty, UOp};
use evoxc_core::DType;
use smallvec::SmallVec;

/// An index, or a gate of bools, in normal form: the same value for all values of ranges and parameters.
///
/// Sums become `((outer * 64 + inner * 4) + lane) + 3`, with the terms of outer ranges first and the number last; quotients and
/// remainders disappear where bounds, common factors or one another allow it; comparisons and conditions that always
/// hold are `true`. What else the index is made of, such as what it loads, is kept, simplified within.
/// Ranges stay the nodes that they are: whoever makes one gives it a size in normal form.
///
/// ```
/// use evoxc_native::uop::{Arena, AxisKind, Op, Ty, simplify_index};
/// let mut a = Arena::new();
/// let size = a.index(12);
/// let i = a.node(Op::Range(0, AxisKind::Loop), Ty::INDEX, &[size]);
/// let four = a.index(4);
/// let (row, column) = (a.node(Op::IndexDiv, Ty::INDEX, &[i, four]), a.node(Op::IndexMod, Ty::INDEX, &[i, four]));
/// let row = a.alu(evoxc_native::uop::Alu::Mul, &[row, four]);
/// let flat = a.alu(evoxc_native::uop::Alu::Add, &[row, column]);
/// assert_eq!(simplify_index(&mut a, flat), i);
/// ```
pub fn simplify_index(arena: &mut Arena, root: UOp) -> UOp {
    simplify_indices(arena, &[root])[0]
}

/// As [`simplify_index`], for several at once: what they share is done once.
pub fn simplify_indices(arena: &mut Arena, roots: &[UOp]) -> Vec<UOp> {
    let order = super::substitute::reachable(arena, roots, 0);
    let mut x = Index::new(arena);
    let mut done = Memo::new(order.first().map_or(0, |u| u.index()), order.last().map_or(0, |u| u.index() + 1));
    for u in order {
        let new = x.simplified(u, &done);
        done.insert(u, new);
    }
    roots.iter().map(|u| x.number(done.get(*u).unwrap_or(*u))).collect()
}

impl Index<'_> {
    /// The number that a value always is.
    fn number(&mut self, u: UOp) -> UOp {
        let ty = self.a.ty(u);
        match self.a.bounds(u).single() {
            Some(v) if ty.lanes == 1 && !ty.pointer && self.a.as_const(u).is_none() => {
                self.a.constant(ty.dtype, v as u64 & (u64::MAX >> (64 - ty.dtype.bits())))
            }
            _ => u,
        }
    }
    fn simplified(&mut self, u: UOp, done: &Memo) -> UOp {
        let node = self.a.get(u);
        let (op, ty) = (node.op, node.ty);
        // A range keeps its identity.
        if node.src.is_empty() || matches!(op, Op::Range(..)) {
            return u;
        }
        let mut src: SmallVec<[UOp; 3]> = node.src.iter().map(|s| done.get(*s).unwrap_or(*s)).collect();
        // A loop stays a loop where it is named, even if it runs once.
        let names_ranges = matches!(op, Op::Reduce(_) | Op::End);
        for s in src.iter_mut().take(if names_ranges { 1 } else { usize::MAX }) {
            *s = self.number(*s);
        }
        let on = src.last().map_or(Ty::VOID, |&s| self.a.ty(s));
        match (op, src.as_slice()) {
            (Op::IndexDiv, &[x, d]) => self.div(x, d),
            (Op::IndexMod, &[x, d]) => self.rem(x, d),
            (Op::Alu(op), &[x]) if on == Ty::INDEX && op == Alu::Neg => {
                let zero = self.a.index(0);
                self.add(zero, x, -1)
            }
            (Op::Alu(op), &[x, y]) if on == Ty::INDEX => match op {
                Alu::Add => self.add(x, y, 1),
                Alu::Sub => self.add(x, y, -1),
                Alu::Mul => self.mul(x, y),
                Alu::Shl if self.a.as_index(y).is_some_and(|c| (0..62).contains(&c)) => {
                    let by = self.a.as_index(y).map_or(1, |c| 1 << c);
                    let by = self.a.index(by);
                    self.mul(x, by)
                }
                Alu::Lt => self.lt(x, y),
                Alu::Le => self.le(x, y),
                Alu::Eq => self.eq(x, y),
                Alu::Ne => {
                    let same = self.eq(x, y);
                    match self.a.as_const(same) {
                        Some(same) => self.truth(same == 0),
                        None => self.a.alu(Alu::Ne, &[x, y]),
                    }
                }
                Alu::Min | Alu::Max => self.extreme(op, x, y),
                _ => self.a.node(Op::Alu(op), ty, &src),
            },
            (Op::Alu(Alu::Not), &[x]) if on == Ty::scalar(DType::BOOL) => self.not(x),
            (Op::Alu(Alu::And), &[x, y]) if on == Ty::scalar(DType::BOOL) => self.and(x, y),
            (Op::Alu(Alu::Or), &[x, y]) if on == Ty::scalar(DType::BOOL) => self.or(x, y),
            (Op::Alu(Alu::Select), &[c, x, y]) => match self.a.as_const(c) {
                Some(c) => [y, x][usize::from(c != 0)],
                None if x == y => x,
                None => self.a.node(op, ty, &src),
            },
            // A gate that always holds.
            (Op::Load, &[pointer, index, gate, _]) if self.a.as_const(gate) == Some(1) => {
                self.a.node(op, ty, &[pointer, index])
            }
            (Op::Load, &[_, _, gate, otherwise]) if self.a.as_const(gate) == Some(0) => otherwise,
            (Op::Store, &[pointer, index, value, gate]) if self.a.as_const(gate) == Some(1) => {
                self.a.node(op, ty, &[pointer, index, value])
            }
            _ => self.a.node(op, ty, &src),
        }
    }
}
