//! Eigenvalues of Hermitian matrices and singular values, through faer in double precision on one thread.
//!
//! Matrices are scaled by a power of two first, so that neither squares overflow nor vanish; one with NaN or an
//! infinity gives NaN without an attempt.

use super::super::walk::tensor;
use super::field::Field;
use super::{Batch, with_field};
use evoxc_core::{OpError, Tensor};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{evd, svd as singular};
use faer::{Mat, Par};
use num_complex::ComplexFloat;
use num_traits::{Float, ToPrimitive};

/// A power of two near the largest element; `None` where an element is not finite.
fn scale<T: Field>(a: &[T]) -> Option<f64> {
    let mut largest = 0f64;
    for x in a {
        let size = Float::abs(x.re()).max(Float::abs(x.im())).to_f64().filter(|s| s.is_finite())?;
        if !x.is_finite() {
            return None;
        }
        largest = largest.max(size);
    }
    // Clamped so that the reciprocal is finite too.
    Some(if largest == 0. { 1. } else { largest.log2().floor().clamp(-1000., 1000.).exp2() })
}

/// Eigenvalues in ascending order, and eigenvectors as columns. Reads the lower triangle, and the real part of the
/// diagonal.
pub(crate) fn eigh(a: &Tensor) -> Result<[Tensor; 2], OpError> {
    let op = "eigh";
    let batch = Batch::square(op, a)?;
    let n = batch.rows;
    with_field!(op, a, v => {
        let (mut values, mut vectors) = (vec![], vec![]);
        for matrix in batch.each(v, n) {
            hermitian(matrix, n, &mut values, &mut vectors);
        }
        Ok([tensor(op, values, &batch.shape(&[n]))?, tensor(op, vectors, a.shape())?])
    })
}

fn hermitian<T: Field>(a: &[T], n: usize, values: &mut Vec<T::Real>, vectors: &mut Vec<T>) {
    let lower: Vec<T> = (0..n).flat_map(|i| a[i * n..i * n + i + 1].iter().copied()).collect();
    let solved = scale(&lower).and_then(|scale| {
        let read = |i: usize, j: usize| if i == j { T::of_real(a[i * n + i].re()) } else { a[i * n + j] };
        let at = |i: usize, j: usize| T::scale_double(read(i, j).double(), 1. / scale);
        let m = Mat::from_fn(n, n, |i, j| if i < j { T::conj_double(at(j, i)) } else { at(i, j) });
        let (mut u, mut s) = (Mat::zeros(n, n), Diag::zeros(n));
        if n > 0 {
            let need = evd::self_adjoint_evd_scratch::<T::Double>(
                n,
                evd::ComputeEigenvectors::Yes,
                Par::Seq,
                Default::default(),
            );
            let mut memory = MemBuffer::new(need);
            let stack = MemStack::new(&mut memory);
            evd::self_adjoint_evd(m.as_ref(), s.as_mut(), Some(u.as_mut()), Par::Seq, stack, Default::default())
                .ok()?;
        }
        Some((u, s, scale))
    });
    match solved {
        Some((u, s, scale)) => {
            values.extend((0..n).map(|i| T::of_double_real(T::real_of(s[i]) * scale)));
            vectors.extend((0..n * n).map(|ij| T::of_double(u[(ij / n, ij % n)])));
        }
        None => {
            values.extend((0..n).map(|_| T::Real::nan()));
            vectors.extend((0..n * n).map(|_| T::nan()));
        }
    }
}

/// u, s (descending, real) and vh with a = u diag(s) vh; min(m, n) vectors, or all if `full`.
pub(crate) fn svd(a: &Tensor, full: bool) -> Result<[Tensor; 3], OpError> {
    let op = "svd";
    let batch = Batch::of(op, a)?;
    let (m, n) = (batch.rows, batch.columns);
    let k = m.min(n);
    let (left, right) = if full { (m, n) } else { (k, k) };
    with_field!(op, a, v => {
        let (mut u, mut s, mut vh) = (vec![], vec![], vec![]);
        for matrix in batch.each(v, left.max(right)) {
            match decompose(matrix, m, n, left, right) {
                Some((us, ss, vhs)) => {
                    u.extend(us);
                    s.extend(ss);
                    vh.extend(vhs);
                }
                None => {
                    u.extend((0..m * left).map(|_| nan_like(matrix)));
                    s.extend((0..k).map(|_| nan_like(matrix).re()));
                    vh.extend((0..right * n).map(|_| nan_like(matrix)));
                }
            }
        }
        let [us, vs] = [batch.shape(&[m, left]), batch.shape(&[right, n])];
        Ok([tensor(op, u, &us)?, tensor(op, s, &batch.shape(&[k]))?, tensor(op, vh, &vs)?])
    })
}

fn nan_like<T: Field>(_: &[T]) -> T {
    T::nan()
}

type Decomposed<T> = (Vec<T>, Vec<<T as ComplexFloat>::Real>, Vec<T>);

fn decompose<T: Field>(a: &[T], m: usize, n: usize, left: usize, right: usize) -> Option<Decomposed<T>> {
    let k = m.min(n);
    let scale = scale(a)?;
    let matrix = Mat::from_fn(m, n, |i, j| T::scale_double(a[i * n + j].double(), 1. / scale));
    let (mut u, mut s, mut v) = (Mat::identity(m, left), Diag::zeros(k), Mat::identity(n, right));
    if k > 0 {
        let all = |vectors: usize| {
            if vectors == k { singular::ComputeSvdVectors::Thin } else { singular::ComputeSvdVectors::Full }
        };
        let need = singular::svd_scratch::<T::Double>(m, n, all(left), all(right), Par::Seq, Default::default());
        let mut memory = MemBuffer::new(need);
        let stack = MemStack::new(&mut memory);
        let (us, vs) = (Some(u.as_mut()), Some(v.as_mut()));
        singular::svd(matrix.as_ref(), s.as_mut(), us, vs, Par::Seq, stack, Default::default()).ok()?;
    }
    let u = (0..m * left).map(|ij| T::of_double(u[(ij / left, ij % left)])).collect();
    let s = (0..k).map(|i| T::of_double_real(T::real_of(s[i]) * scale)).collect();
    let vh = (0..right * n).map(|ij| T::of_double(T::conj_double(v[(ij % n, ij / n)]))).collect();
    Some((u, s, vh))
}
