//! Cholesky factors and triangular solves.

use super::super::walk::{slice, tensor};
use super::field::{Field, inner, rows, subtract, transpose};
use super::{Batch, with_field};
use evoxc_core::{OpError, Tensor};
use evoxc_ir::LinTranspose;
use num_traits::{Float, Zero};

/// The factor L (a = L Lᴴ) or, not `lower`, U (a = Uᴴ U). Reads that triangle and the real part of the diagonal; the
/// other is zero. A matrix that is not positive definite gives NaN throughout.
pub(crate) fn cholesky(a: &Tensor, lower: bool) -> Result<Tensor, OpError> {
    let op = "cholesky";
    let batch = Batch::square(op, a)?;
    let n = batch.rows;
    with_field!(op, a, v => {
        let out = batch.each(v, n).flat_map(|m| factor(m, n, lower).unwrap_or_else(|| vec![Field::nan(); n * n]));
        tensor(op, out.collect(), a.shape())
    })
}

/// Row by row (Cholesky and Banachiewicz).
fn factor<T: Field>(a: &[T], n: usize, lower: bool) -> Option<Vec<T>> {
    let mut l = vec![T::zero(); n * n];
    for i in 0..n {
        let (done, row) = l.split_at_mut(i * n);
        for j in 0..i {
            let read = if lower { a[i * n + j] } else { a[j * n + i].conj() };
            let other = &done[j * n..(j + 1) * n];
            row[j] = (read - inner(&row[..j], &other[..j])) / other[j];
        }
        let pivot = a[i * n + i].re() - inner(&row[..i], &row[..i]).re();
        if pivot <= Zero::zero() || Float::is_nan(pivot) {
            return None;
        }
        row[i] = T::of_real(Float::sqrt(pivot));
    }
    if lower {
        return Some(l);
    }
    Some(transpose(&l, n, n).into_iter().map(T::conj).collect())
}

/// x with op(a) x = b (`left`) or x op(a) = b. Reads one triangle of a, and not its diagonal if that counts as ones.
pub(crate) fn triangular_solve(
    a: &Tensor,
    b: &Tensor,
    left: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose: LinTranspose,
) -> Result<Tensor, OpError> {
    let op = "triangular_solve";
    let (batch, right) = (Batch::square(op, a)?, Batch::of(op, b)?);
    let n = batch.rows;
    if batch.lead != right.lead || n != if left { right.rows } else { right.columns } {
        return Err(OpError::new(op, "the matrices of a do not fit those of b").operands([a.spec(), b.spec()]));
    }
    let width = if left { right.columns } else { right.rows };
    let side = Side { left, lower, unit_diagonal, transpose };
    with_field!(op, a, v => {
        let mut out = Vec::with_capacity(b.len());
        for (a, b) in batch.each(v, n).zip(right.each(slice(op, b)?, width)) {
            out.extend(solve(a, n, b, &right, side));
        }
        tensor(op, out, b.shape())
    })
}

#[derive(Clone, Copy)]
struct Side {
    left: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose: LinTranspose,
}

fn solve<T: Field>(a: &[T], n: usize, b: &[T], shape: &Batch, side: Side) -> Vec<T> {
    // x op(a) = b is op(a)ᵀ xᵀ = bᵀ, so that every case is a system with rows of unknowns.
    let (turned, conjugated) = match side.transpose {
        LinTranspose::None => (false, false),
        LinTranspose::Transpose => (true, false),
        LinTranspose::Adjoint => (true, true),
    };
    let turned = turned == side.left;
    let lower = side.lower != turned;
    let at = |i: usize, j: usize| {
        let x = if turned { a[j * n + i] } else { a[i * n + j] };
        if conjugated { x.conj() } else { x }
    };
    let mut x = if side.left { b.to_vec() } else { transpose(b, shape.rows, shape.columns) };
    let width = if side.left { shape.columns } else { shape.rows };
    for step in 0..n {
        let i = if lower { step } else { n - 1 - step };
        for j in if lower { 0..i } else { i + 1..n } {
            let (to, from) = rows(&mut x, width, i, j);
            subtract(to, at(i, j), from);
        }
        if !side.unit_diagonal {
            let d = at(i, i);
            x[i * width..(i + 1) * width].iter_mut().for_each(|x| *x = *x / d);
        }
    }
    if side.left { x } else { transpose(&x, n, width) }
}
