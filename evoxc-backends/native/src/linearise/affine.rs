//! Indices as sums: a number, and numbers times products of what is no sum. Arithmetic on indices wraps, so that any
//! regrouping is exact.

use crate::kernel::Kernel;
use crate::uop::{Alu, Arena, Op, UOp};
use evoxc_core::DType;
use smallvec::SmallVec;

/// Sums of more terms are not taken apart.
const TERMS: usize = 12;
/// Nor are products of more factors.
const FACTORS: usize = 4;

/// `factor * product of atoms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub factor: i64,
    /// In order of their indices.
    pub atoms: SmallVec<[UOp; 2]>,
}

/// `number + terms`; no two terms have the same atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub number: i64,
    pub terms: SmallVec<[Term; 3]>,
}

impl Sum {
    fn number(v: i64) -> Sum {
        Sum { number: v, terms: SmallVec::new() }
    }
    fn atom(u: UOp) -> Sum {
        Sum { number: 0, terms: SmallVec::from_elem(Term { factor: 1, atoms: SmallVec::from_slice(&[u]) }, 1) }
    }
    fn add(&mut self, factor: i64, atoms: &[UOp]) {
        if let Some(t) = self.terms.iter_mut().find(|t| t.atoms[..] == *atoms) {
            t.factor = t.factor.wrapping_add(factor);
        } else {
            self.terms.push(Term { factor, atoms: SmallVec::from_slice(atoms) });
        }
    }
    fn plus(mut self, other: &Sum, factor: i64) -> Sum {
        self.number = self.number.wrapping_add(other.number.wrapping_mul(factor));
        for t in &other.terms {
            self.add(t.factor.wrapping_mul(factor), &t.atoms);
        }
        self.terms.retain(|t| t.factor != 0);
        self
    }
    fn times(&self, other: &Sum) -> Option<Sum> {
        if self.terms.len() * other.terms.len() > TERMS {
            return None;
        }
        let mut out = Sum::number(self.number.wrapping_mul(other.number));
        for t in &self.terms {
            out.add(t.factor.wrapping_mul(other.number), &t.atoms);
        }
        for t in &other.terms {
            out.add(t.factor.wrapping_mul(self.number), &t.atoms);
        }
        for a in &self.terms {
            for b in &other.terms {
                let mut atoms = a.atoms.clone();
                atoms.extend_from_slice(&b.atoms);
                if atoms.len() > FACTORS {
                    return None;
                }
                atoms.sort_unstable();
                out.add(a.factor.wrapping_mul(b.factor), &atoms);
            }
        }
        out.terms.retain(|t| t.factor != 0);
        Some(out)
    }
}

/// The sums of indices, made when asked for.
pub(super) struct Sums {
    known: Vec<Option<Sum>>,
    zero: Sum,
}

/// Along a range, an index…
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// …stays.
    None,
    /// …advances by a constant.
    Const(i64),
    /// …advances by something that the range does not change.
    Invariant,
    /// …jumps.
    Jumps,
}

impl Sums {
    pub fn new(kernel: &Kernel) -> Sums {
        Sums { known: vec![None; kernel.uops.len()], zero: Sum::default() }
    }
    /// Makes the sum of an index.
    pub fn make(&mut self, kernel: &Kernel, root: UOp) {
        let arena = &kernel.uops;
        let mut todo = vec![root];
        while let Some(&u) = todo.last() {
            if self.known[u.index()].is_some() {
                todo.pop();
                continue;
            }
            let node = arena.get(u);
            let open = match node.op {
                Op::Alu(Alu::Add | Alu::Sub | Alu::Mul | Alu::Neg) => node.ty.dtype == DType::I64,
                _ => false,
            };
            if open {
                let missing = node.src.iter().copied().filter(|s| self.known[s.index()].is_none());
                let before = todo.len();
                todo.extend(missing);
                if todo.len() > before {
                    continue;
                }
            }
            let of = |k: usize| self.known[node.src[k].index()].clone().unwrap_or_default();
            let sum = match node.op {
                Op::Const(bits) => Sum::number(bits as i64),
                Op::Alu(Alu::Add) if open => of(0).plus(&of(1), 1),
                Op::Alu(Alu::Sub) if open => of(0).plus(&of(1), -1),
                Op::Alu(Alu::Neg) if open => Sum::default().plus(&of(0), -1),
                Op::Alu(Alu::Mul) if open => of(0).times(&of(1)).unwrap_or_else(|| Sum::atom(u)),
                // A range of one element is where it starts.
                Op::Range(..) if matches!(arena.op(node.src[0]), Op::Const(1)) => Sum::number(0),
                _ => Sum::atom(u),
            };
            let sum = if sum.terms.len() > TERMS { Sum::atom(u) } else { sum };
            self.known[u.index()] = Some(sum);
            todo.pop();
        }
    }
    /// The sum of an index that was made.
    pub fn get(&self, u: UOp) -> &Sum {
        self.known.get(u.index()).and_then(Option::as_ref).unwrap_or(&self.zero)
    }
    /// How the index moves along a range.
    pub fn step(&self, arena: &Arena, u: UOp, range: UOp) -> Step {
        let mut step = Step::None;
        for t in &self.get(u).terms {
            let with = t.atoms.iter().filter(|&&a| arena.depends_on(a, range)).count();
            if with == 0 {
                continue;
            }
            if with > 1 || !t.atoms.contains(&range) {
                return Step::Jumps;
            }
            step = match step {
                Step::None if t.atoms.len() == 1 => Step::Const(t.factor),
                _ => Step::Invariant,
            };
        }
        step
    }
}
