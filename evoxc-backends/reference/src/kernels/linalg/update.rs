//! The product that blocked factorisations spend their time in: `c -= a b`.

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use std::ops::Neg;

/// A row-major matrix inside a slice, rows `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    pub data: &'a [T],
    pub stride: usize,
}

/// The columns `from..to` of some rows, one after the other.
pub(super) fn copied<T: Copy>(rows: &[T], width: usize, from: usize, to: usize) -> Vec<T> {
    rows.chunks(width.max(1)).flat_map(|r| r.get(from..to).unwrap_or_default()).copied().collect()
}

/// Elements of matrices that multiply.
pub(super) trait Product: Sized {
    /// `c -= a b`, or `c -= a bᵀ`, for row-major matrices of m × k, k × n (n × k) and m × n elements, the rows of `c`
    /// `stride` apart. On one thread: the order of summation depends on the sizes alone.
    fn subtract_product(
        c: &mut [Self],
        stride: usize,
        sizes: [usize; 3],
        a: Rows<'_, Self>,
        b: Rows<'_, Self>,
        transposed: bool,
    );
}

impl<T: ComplexField + Neg<Output = T>> Product for T {
    fn subtract_product(
        c: &mut [T],
        stride: usize,
        sizes: [usize; 3],
        a: Rows<'_, T>,
        b: Rows<'_, T>,
        transposed: bool,
    ) {
        subtract(c, stride, sizes, a, b, transposed);
    }
}

fn subtract<T: ComplexField + Neg<Output = T>>(
    c: &mut [T],
    stride: usize,
    [m, k, n]: [usize; 3],
    a: Rows<'_, T>,
    b: Rows<'_, T>,
    transposed: bool,
) {
    if m * k * n == 0 {
        return;
    }
    let extent = |rows: usize, columns: usize, stride: usize| (rows - 1) * stride + columns;
    let (b_rows, b_columns) = if transposed { (n, k) } else { (k, n) };
    let (Some(c), Some(x), Some(y)) = (
        c.get_mut(..extent(m, n, stride)),
        a.data.get(..extent(m, k, a.stride)),
        b.data.get(..extent(b_rows, b_columns, b.stride)),
    ) else {
        return;
    };
    let x = MatRef::from_row_major_slice_with_stride(x, m, k, a.stride);
    let y = MatRef::from_row_major_slice_with_stride(y, b_rows, b_columns, b.stride);
    let y = if transposed { y.transpose() } else { y };
    // Not `from_row_major_slice_with_stride_mut`: in faer 0.24 it gives the rows, not the columns, the unit stride.
    let c = MatMut::from_column_major_slice_with_stride_mut(c, n, m, stride).transpose_mut();
    matmul(c, Accum::Add, x, y, -T::one_impl(), Par::Seq);
}
