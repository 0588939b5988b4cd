//! Products of strided matrices of every accumulating element type.

use super::combine::Combine;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, LinalgScalar, ShapeBuilder};
use num_complex::Complex;

/// A matrix inside a slice: element (i, j) is at `i * row + j * col`.
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) row: usize,
    pub(crate) col: usize,
}

impl<'a, T> Strided<'a, T> {
    fn t(self) -> Strided<'a, T> {
        Strided { data: self.data, row: self.col, col: self.row }
    }
}

/// Below this many products the call of a blocked kernel costs more than it saves.
const SMALL: usize = 8 * 8 * 8;

/// An element whose matrices multiply.
pub(crate) trait MatMul: Combine {
    /// A blocked product, `c` (row-major, zeroed, rows `ldc` apart) = a · b; false where there is none for this type.
    fn blocked(sizes: [usize; 3], a: Strided<Self>, b: Strided<Self>, c: &mut [Self], ldc: usize) -> bool;
}

macro_rules! loops_only { ($($t:ty)*) => { $(impl MatMul for $t {
    fn blocked(_: [usize; 3], _: Strided<$t>, _: Strided<$t>, _: &mut [$t], _: usize) -> bool { false }
})* } }
loops_only!(bool i8 i16 i32 i64 u8 u16 u32 u64 half::f16 half::bf16);
macro_rules! blocked { ($($t:ty)*) => { $(impl MatMul for $t {
    fn blocked(sizes: [usize; 3], a: Strided<$t>, b: Strided<$t>, c: &mut [$t], ldc: usize) -> bool {
        through_ndarray(sizes, a, b, c, ldc).is_some()
    }
})* } }
blocked!(f32 f64 Complex<f32> Complex<f64>);

fn through_ndarray<T: LinalgScalar>(
    [m, k, n]: [usize; 3],
    a: Strided<T>,
    b: Strided<T>,
    c: &mut [T],
    ldc: usize,
) -> Option<()> {
    let a = ArrayView2::from_shape((m, k).strides((a.row, a.col)), a.data).ok()?;
    let b = ArrayView2::from_shape((k, n).strides((b.row, b.col)), b.data).ok()?;
    let mut c = ArrayViewMut2::from_shape((m, n).strides((ldc, 1)), c).ok()?;
    general_mat_mul(T::one(), &a, &b, T::zero(), &mut c);
    Some(())
}

/// `c` (row-major, zeroed, rows `ldc` apart) = a · b, for a of m × k and b of k × n.
///
/// The order of summation depends on sizes and strides alone.
pub(crate) fn matmul<T: MatMul>(sizes: [usize; 3], a: Strided<T>, b: Strided<T>, c: &mut [T], ldc: usize) {
    let [m, k, n] = sizes;
    if m * k * n == 0 {
        return;
    }
    if n == 1 && ldc == 1 && m > 1 {
        return matmul([1, k, m], b.t(), a.t(), c, m);
    }
    let row = |i: usize| a.data[i * a.row..].iter().step_by(a.col.max(1)).take(k);
    if m == 1 && b.row == 1 && a.col == 1 {
        for (j, c) in c[..n].iter_mut().enumerate() {
            *c = dot_contiguous(&a.data[..k], &b.data[j * b.col..j * b.col + k]);
        }
        return;
    }
    let axpy = m * k * n <= SMALL || (m == 1 && b.col == 1);
    if !axpy && T::blocked(sizes, a, b, c, ldc) {
        return;
    }
    for i in 0..m {
        let out = &mut c[i * ldc..i * ldc + n];
        for (p, &x) in row(i).enumerate() {
            let from = &b.data[p * b.row..];
            if b.col == 1 {
                out.iter_mut().zip(&from[..n]).for_each(|(o, &y)| *o = o.add(x.mul(y)));
            } else {
                out.iter_mut().zip(from.iter().step_by(b.col.max(1))).for_each(|(o, &y)| *o = o.add(x.mul(y)));
            }
        }
    }
}

/// The inner product in eight partial sums, which the compiler keeps in vector registers.
fn dot_contiguous<T: Combine>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::ZERO; 8];
    let (ca, cb) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail = ca.remainder().iter().zip(cb.remainder()).fold(T::ZERO, |s, (&x, &y)| s.add(x.mul(y)));
    for (x, y) in ca.zip(cb) {
        for i in 0..8 {
            sums[i] = sums[i].add(x[i].mul(y[i]));
        }
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sums;
    s0.add(s4).add(s1.add(s5)).add(s2.add(s6).add(s3.add(s7))).add(tail)
}
