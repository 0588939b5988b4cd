//! What linear algebra asks of its operands, and the steps that its methods share. Matrices are the last two axes,
//! whatever is before them is a batch.

use super::checks::known;
use super::parts::{convert, cut, reshape};
use crate::operand::{broadcast_shapes, broadcast_to};
use crate::{Sym, builder};
use evoxc_core::{C64, C128, DType, Dim, F32, F64, I32, Shape, TensorSpec};
use evoxc_ir::{GatherDims, Prim};

/// The type of a batch of matrices, taken apart.
pub(crate) struct Matrices {
    pub dtype: DType,
    /// The leading extents.
    pub lead: Shape,
    pub rows: Dim,
    pub columns: Dim,
}

impl Matrices {
    /// The leading extents and these.
    pub fn shape<const N: usize>(&self, last: [Dim; N]) -> Shape {
        self.lead.iter().copied().chain(last).collect()
    }
    /// The distance from 1 to the next number, of the real dtype.
    pub fn epsilon(&self) -> f64 {
        if self.dtype.real() == F32 { f32::EPSILON.into() } else { f64::EPSILON }
    }
    fn of(t: &TensorSpec) -> Option<Matrices> {
        let at = t.rank().checked_sub(2)?;
        let (lead, last) = t.shape.split_at_checked(at)?;
        let &[rows, columns] = last else { return None };
        Some(Matrices { dtype: t.dtype, lead: lead.iter().copied().collect(), rows, columns })
    }
}

/// Matrices of any dtype, or a recorded error.
#[track_caller]
pub(crate) fn any_matrices(op: &str, x: Sym) -> Option<Matrices> {
    let t = known(op, x)?;
    let m = Matrices::of(&t);
    if m.is_none() {
        let message = format!("has rank {}, matrices have at least 2 axes", t.rank());
        builder::fail(op, &[x], message, Some("`.expand_dims(..)` makes a vector a matrix".into()));
    }
    m
}

/// A dtype that matrices are factored in, or a recorded error.
#[track_caller]
pub(crate) fn field(op: &str, x: Sym) -> Option<TensorSpec> {
    let t = known(op, x)?;
    if matches!(t.dtype, F32 | F64 | C64 | C128) {
        return Some(t);
    }
    let message = format!("is computed in f32, f64, c64 and c128, not in {}", t.dtype);
    builder::fail(op, &[x], message, Some("`.cast(F32)` it first".into()));
    None
}

/// Matrices of a dtype that they are factored in, or a recorded error.
#[track_caller]
pub(crate) fn matrices(op: &str, x: Sym) -> Option<Matrices> {
    field(op, x)?;
    any_matrices(op, x)
}

/// Square matrices, or a recorded error.
#[track_caller]
pub(crate) fn square(op: &str, x: Sym, m: Matrices) -> Option<Matrices> {
    if m.rows == m.columns {
        return Some(m);
    }
    let message = format!("the matrices must be square, they are {} by {}", m.rows, m.columns);
    builder::fail(
        op,
        &[x],
        message,
        Some("give matrices of shape [.., n, n]; systems of any shape are for `lstsq`".into()),
    );
    None
}

/// The conjugate transpose.
#[track_caller]
pub(crate) fn adjoint(x: Sym) -> Sym {
    match builder::with_type(x, |t| t.dtype.is_complex()) {
        Some(true) => x.t().conj(),
        _ => x.t(),
    }
}

/// (x + xᴴ) / 2: Hermitian, and x itself where x is.
#[track_caller]
pub(crate) fn hermitian_part(x: Sym) -> Sym {
    (x + adjoint(x)) * 0.5
}

/// The identity of the size of these square matrices, repeated over the batch.
#[track_caller]
pub(crate) fn identity(op: &str, m: &Matrices) -> Sym {
    broadcast_to(op, super::creators::eye(m.dtype, m.rows), &m.shape([m.rows, m.columns]))
}

/// Element (i, j) of every matrix.
#[track_caller]
pub(crate) fn entry(x: Sym, m: &Matrices, i: usize, j: usize) -> Sym {
    let axis = m.lead.rank();
    reshape(cut(cut(x, axis, i, i + 1), axis + 1, j, j + 1), m.lead.clone())
}

/// The rows of every matrix in the order of its permutation.
#[track_caller]
fn permuted(x: Sym, perm: Sym, m: &Matrices) -> Sym {
    let at = m.lead.rank();
    let batch: Vec<usize> = (0..at).collect();
    // Of a batch without elements there is nothing to take.
    let mut sizes: Vec<Dim> = m.lead.iter().map(|&d| if d == 0 { d } else { Dim::constant(1) }).collect();
    sizes.extend([Dim::constant(1), m.columns]);
    let dims = GatherDims {
        offset: vec![at + 1],
        collapsed: vec![at],
        operand_batching: batch.clone(),
        indices_batching: batch,
        start_map: vec![at],
        index_vector: at + 1,
    };
    builder::emit(Prim::Gather { dims, sizes, sorted: false }, &[x, perm])
}

/// LU factors of square matrices.
pub(crate) struct Factors {
    pub lu: Sym,
    pub perm: Sym,
    /// 1 or -1: the sign of the permutation, of the matrices' dtype.
    pub parity: Sym,
    lead: Shape,
}

impl Factors {
    #[track_caller]
    pub fn of(x: Sym, m: &Matrices) -> Factors {
        let (lu, pivots, perm) = x.lu();
        let at = m.lead.rank();
        let swapped = pivots.ne(super::parts::count_along(&m.shape([m.rows]), at));
        let swaps = super::parts::reduce(evoxc_ir::Reducer::Sum, convert(swapped, I32), &[at]);
        let parity = convert((swaps % 2) * -2 + 1, m.dtype);
        Factors { lu, perm, parity, lead: m.lead.clone() }
    }
    /// x with a x = b for matrices b; the batches broadcast.
    #[track_caller]
    pub fn solve(&self, op: &str, b: Sym, m: &Matrices) -> Sym {
        let Ok(lead) = broadcast_shapes(&self.lead, &m.lead) else { return Sym::POISON };
        let with = |last: &[Dim]| lead.iter().chain(last).copied().collect::<Shape>();
        let lu = broadcast_to(op, self.lu, &with(&[m.rows, m.rows]));
        let perm = broadcast_to(op, self.perm, &with(&[m.rows]));
        let b = broadcast_to(op, b, &with(&[m.rows, m.columns]));
        if m.rows == 0 {
            return b;
        }
        let b = permuted(b, perm, &Matrices { dtype: m.dtype, lead: lead.clone(), rows: m.rows, columns: m.columns });
        triangular(lu, triangular(lu, b, true), false)
    }
}

/// Solves with the lower factor (of unit diagonal), or the upper one, of packed LU factors.
#[track_caller]
fn triangular(lu: Sym, b: Sym, lower: bool) -> Sym {
    let transpose = evoxc_ir::LinTranspose::None;
    builder::emit(Prim::TriangularSolve { left: true, lower, unit_diagonal: lower, transpose }, &[lu, b])
}
