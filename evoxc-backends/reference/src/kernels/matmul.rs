//! Products of strided matrices of every accumulating element type.

use super::combine::Combine;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
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

/// An element whose matrices multiply.
pub(crate) trait MatMul: Combine {
    /// Up to this many products, they are summed one after the other, each rounded: as the definition has it, and not
    /// slower than the call of a blocked kernel. Of complex elements, where parts cancel and the order shows, it is more.
    const SMALL: usize;
    /// A blocked product, `c` (row-major, zeroed, rows `ldc` apart) = a · b; false where there is none for this type.
    fn blocked(sizes: [usize; 3], a: Strided<Self>, b: Strided<Self>, c: &mut [Self], ldc: usize) -> bool;
}

macro_rules! loops_only { ($($t:ty)*) => { $(impl MatMul for $t {
    const SMALL: usize = usize::MAX;
    fn blocked(_: [usize; 3], _: Strided<$t>, _: Strided<$t>, _: &mut [$t], _: usize) -> bool { false }
})* } }
loops_only!(bool i8 i16 i32 i64 u8 u16 u32 u64 half::f16 half::bf16);
macro_rules! blocked { ($($t:ty, $small:expr;)*) => { $(impl MatMul for $t {
    const SMALL: usize = $small;
    fn blocked(sizes: [usize; 3], a: Strided<$t>, b: Strided<$t>, c: &mut [$t], ldc: usize) -> bool {
        through_faer(sizes, a, b, c, ldc).or_else(|| through_ndarray(sizes, a, b, c, ldc)).is_some()
    }
})* } }
blocked! {
    f32, 128;
    f64, 128;
    Complex<f32>, 4096;
    Complex<f64>, 4096;
}

/// A matrix with elements that are one apart, for faer; `None` for any other.
fn view<T>(x: Strided<'_, T>, rows: usize, columns: usize) -> Option<MatRef<'_, T>> {
    if x.col == 1 || columns == 1 {
        let data = x.data.get(..(rows - 1) * x.row + columns)?;
        return Some(MatRef::from_row_major_slice_with_stride(data, rows, columns, x.row));
    }
    if x.row == 1 || rows == 1 {
        let data = x.data.get(..(columns - 1) * x.col + rows)?;
        return Some(MatRef::from_column_major_slice_with_stride(data, rows, columns, x.col));
    }
    None
}

/// Two to three times as fast as `matrixmultiply` behind ndarray; takes operands with a unit stride.
fn through_faer<T: ComplexField + Combine>(
    [m, k, n]: [usize; 3],
    a: Strided<T>,
    b: Strided<T>,
    c: &mut [T],
    ldc: usize,
) -> Option<()> {
    let (a, b) = (view(a, m, k)?, view(b, k, n)?);
    let c = c.get_mut(..(m - 1) * ldc + n).filter(|_| ldc >= n)?;
    // Not `from_row_major_slice_with_stride_mut`: in faer 0.24 it gives the rows, not the columns, the unit stride.
    let c = MatMut::from_column_major_slice_with_stride_mut(c, n, m, ldc).transpose_mut();
    faer::linalg::matmul::matmul(c, Accum::Replace, a, b, T::ONE, Par::Seq);
    Some(())
}

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
    if m * k * n > T::SMALL && T::blocked(sizes, a, b, c, ldc) {
        return;
    }
    let row = |i: usize| a.data[i * a.row..].iter().step_by(a.col.max(1)).take(k);
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
