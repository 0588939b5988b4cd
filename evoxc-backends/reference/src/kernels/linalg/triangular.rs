//! Cholesky factors and triangular solves.

use super::super::walk::{slice, tensor};
use super::field::{Field, inner, rows, subtract, transpose};
use super::update::{Rows, copied};
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

/// Rows that are solved together, by products with those before.
const BLOCK: usize = 32;
/// Columns of the rest of a matrix that one product takes: as few as are above its diagonal.
const STRIP: usize = 128;

/// By blocks of columns (right-looking): a triangle, the rows below it, and the product that takes them from the rest.
fn factor<T: Field>(a: &[T], n: usize, lower: bool) -> Option<Vec<T>> {
    let mut l = vec![T::zero(); n * n];
    for i in 0..n {
        for j in 0..=i {
            l[i * n + j] = if lower { a[i * n + j] } else { a[j * n + i].conj() };
        }
    }
    for from in (0..n).step_by(BLOCK) {
        let to = (from + BLOCK).min(n);
        corner(&mut l, n, from, to)?;
        let (done, below) = l.split_at_mut(to * n);
        for row in below.chunks_exact_mut(n) {
            for j in from..to {
                let other = &done[j * n..(j + 1) * n];
                row[j] = (row[j] - inner(&row[from..j], &other[from..j])) / other[j];
            }
        }
        let left = copied(below, n, from, to);
        let right: Vec<T> = left.iter().map(|x| x.conj()).collect();
        let width = to - from;
        for column in (to..n).step_by(STRIP) {
            let end = (column + STRIP).min(n);
            let at = (column - to) * width;
            let (x, y) = (Rows { data: &left[at..], stride: width }, Rows { data: &right[at..], stride: width });
            let rest = &mut below[(column - to) * n + column..];
            T::subtract_product(rest, n, [n - column, width, end - column], x, y, true);
        }
    }
    // Above the diagonal the products wrote the blocks on it in full.
    for i in 0..n {
        l[i * n + i + 1..(i + 1) * n].fill(T::zero());
    }
    if lower {
        return Some(l);
    }
    Some(transpose(&l, n, n).into_iter().map(T::conj).collect())
}

/// The triangle on the diagonal, row by row (Cholesky and Banachiewicz).
fn corner<T: Field>(l: &mut [T], n: usize, from: usize, to: usize) -> Option<()> {
    for i in from..to {
        let (done, row) = l.split_at_mut(i * n);
        for j in from..i {
            let other = &done[j * n..(j + 1) * n];
            row[j] = (row[j] - inner(&row[from..j], &other[from..j])) / other[j];
        }
        let pivot = row[i].re() - inner(&row[from..i], &row[from..i]).re();
        if pivot <= Zero::zero() || Float::is_nan(pivot) {
            return None;
        }
        row[i] = T::of_real(Float::sqrt(pivot));
    }
    Some(())
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
    substitute(at, n, Form { lower, unit_diagonal: side.unit_diagonal }, &mut x, width);
    if side.left { x } else { transpose(&x, n, width) }
}

/// Which triangle a system has, and whether its diagonal counts as ones.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub lower: bool,
    pub unit_diagonal: bool,
}

/// Solves a triangular system of `n` rows of unknowns, each `width` long, in place and by blocks of rows: what the
/// unknowns found so far contribute is one product a block.
pub(super) fn substitute<T: Field>(at: impl Fn(usize, usize) -> T, n: usize, form: Form, x: &mut [T], width: usize) {
    let blocks = n.div_ceil(BLOCK);
    for block in 0..blocks {
        let block = if form.lower { block } else { blocks - 1 - block };
        let (from, to) = (block * BLOCK, ((block + 1) * BLOCK).min(n));
        let known = if form.lower { 0..from } else { to..n };
        let pairs = (from..to).flat_map(|i| known.clone().map(move |j| (i, j)));
        let part: Vec<T> = pairs.map(|(i, j)| at(i, j)).collect();
        let (before, rest) = x.split_at_mut(from * width);
        let (here, after) = rest.split_at_mut((to - from) * width);
        let found = Rows { data: if form.lower { before } else { after }, stride: width };
        let sizes = [to - from, known.len(), width];
        T::subtract_product(here, width, sizes, Rows { data: &part, stride: known.len() }, found, false);
        for step in 0..to - from {
            let i = if form.lower { step } else { to - from - 1 - step };
            for j in if form.lower { 0..i } else { i + 1..to - from } {
                let (row, other) = rows(here, width, i, j);
                subtract(row, at(from + i, from + j), other);
            }
            if !form.unit_diagonal {
                let d = at(from + i, from + i);
                here[i * width..(i + 1) * width].iter_mut().for_each(|x| *x = *x / d);
            }
        }
    }
}
