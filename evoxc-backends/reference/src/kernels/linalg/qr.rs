//! QR factors by Householder reflections, with LAPACK's signs (`geqr2`, `ung2r`).

use super::super::walk::tensor;
use super::field::Field;
use super::{Batch, with_field};
use evoxc_core::{OpError, Tensor};
use num_complex::ComplexFloat;
use num_traits::{Float, Zero};

/// q and r with a = q r; q has min(m, n) orthonormal columns, or m if `full`.
pub(crate) fn qr(a: &Tensor, full: bool) -> Result<[Tensor; 2], OpError> {
    let op = "qr";
    let batch = Batch::of(op, a)?;
    let (m, n) = (batch.rows, batch.columns);
    let k = if full { m } else { m.min(n) };
    with_field!(op, a, v => {
        let (mut q, mut r) = (vec![], vec![]);
        for matrix in batch.each(v, k) {
            let mut f = matrix.to_vec();
            let taus = reflect(&mut f, m, n);
            q.extend(unitary(&f, &taus, m, n, k));
            r.extend((0..k).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| {
                if j < i { Default::default() } else { f[i * n + j] }
            }));
        }
        Ok([tensor(op, q, &batch.shape(&[m, k]))?, tensor(op, r, &batch.shape(&[k, n]))?])
    })
}

/// The norm of a column below row `k`, scaled so that squares neither overflow nor vanish.
fn norm<T: Field>(a: &[T], n: usize, k: usize) -> T::Real {
    let column = || a.iter().skip((k + 1) * n + k).step_by(n);
    let largest = column().fold(T::Real::zero(), |m, x| {
        let size = x.size();
        if size > m || Float::is_nan(size) { size } else { m }
    });
    if largest.is_zero() || !Float::is_finite(largest) {
        return largest;
    }
    let square = |x: T::Real| (x / largest) * (x / largest);
    largest * Float::sqrt(column().fold(T::Real::zero(), |s, x| s + square(x.re()) + square(x.im())))
}

/// `x -= factor v (vᴴ x)` on the rows from `k` and columns from `from` of `x` (rows `width` apart), for the reflection
/// vector v = (1, column k of `a` below row k).
fn apply<T: Field>(v: &[T], x: &mut [T], width: usize, k: usize, from: usize, factor: T) {
    if from >= width {
        return;
    }
    let mut w = vec![T::zero(); width - from];
    for (row, v) in x.chunks_exact(width).skip(k).zip(v) {
        w.iter_mut().zip(&row[from..]).for_each(|(w, &x)| *w = *w + v.conj() * x);
    }
    for (row, &v) in x.chunks_exact_mut(width).skip(k).zip(v) {
        row[from..].iter_mut().zip(&w).for_each(|(x, &w)| *x = *x - factor * v * w);
    }
}

fn vector<T: Field>(a: &[T], n: usize, k: usize) -> Vec<T> {
    std::iter::once(T::one()).chain(a.iter().skip((k + 1) * n + k).step_by(n).copied()).collect()
}

/// R above the diagonal, the reflection vectors below, their factors returned.
fn reflect<T: Field>(a: &mut [T], m: usize, n: usize) -> Vec<T> {
    let mut taus = Vec::with_capacity(m.min(n));
    for k in 0..m.min(n) {
        let alpha = a[k * n + k];
        let below = norm(a, n, k);
        if below.is_zero() && alpha.im().is_zero() {
            taus.push(T::zero());
            continue;
        }
        let length = Float::hypot(ComplexFloat::abs(alpha), below);
        let beta = T::of_real(if alpha.re().is_sign_negative() { length } else { -length });
        let tau = (beta - alpha) / beta;
        let scale = T::one() / (alpha - beta);
        (k + 1..m).for_each(|i| a[i * n + k] = a[i * n + k] * scale);
        a[k * n + k] = beta;
        let v = vector(a, n, k);
        apply(&v, a, n, k, k + 1, tau.conj());
        taus.push(tau);
    }
    taus
}

/// The first `columns` columns of the product of the reflections.
fn unitary<T: Field>(a: &[T], taus: &[T], m: usize, n: usize, columns: usize) -> Vec<T> {
    let mut q = vec![T::zero(); m * columns];
    (0..columns).for_each(|i| q[i * columns + i] = T::one());
    for (k, &tau) in taus.iter().enumerate().rev() {
        apply(&vector(a, n, k), &mut q, columns, k, k, tau);
    }
    q
}
