//! The numbers that matrices are factored in.

use super::update::Product;
use evoxc_core::Element;
use faer::traits::ComplexField;
use num_complex::{Complex, ComplexFloat};
use num_traits::Float;

/// A real or complex float.
pub(super) trait Field: ComplexFloat<Real: Element + Float> + Element + Product {
    /// The same in double precision, which faer iterates in.
    type Double: ComplexField<Real = f64> + Copy;
    fn of_real(re: Self::Real) -> Self;
    fn double(self) -> Self::Double;
    fn of_double(x: Self::Double) -> Self;
    fn of_double_real(x: f64) -> Self::Real;
    fn real_of(x: Self::Double) -> f64;
    fn conj_double(x: Self::Double) -> Self::Double;
    fn scale_double(x: Self::Double, by: f64) -> Self::Double;
    /// |re| + |im|, by which LAPACK chooses pivots.
    fn size(self) -> Self::Real {
        Float::abs(self.re()) + Float::abs(self.im())
    }
    fn nan() -> Self;
}

macro_rules! field {
    ($($t:ty)*) => { $(
        impl Field for $t {
            type Double = f64;
            fn of_real(re: $t) -> $t { re }
            fn double(self) -> f64 { self.into() }
            fn of_double(x: f64) -> $t { x as $t }
            fn of_double_real(x: f64) -> $t { x as $t }
            fn real_of(x: f64) -> f64 { x }
            fn conj_double(x: f64) -> f64 { x }
            fn scale_double(x: f64, by: f64) -> f64 { x * by }
            fn nan() -> $t { <$t>::NAN }
        }
        impl Field for Complex<$t> {
            type Double = Complex<f64>;
            fn of_real(re: $t) -> Self { Complex::new(re, 0.0) }
            fn double(self) -> Complex<f64> { Complex::new(self.re.into(), self.im.into()) }
            fn of_double(x: Complex<f64>) -> Self { Complex::new(x.re as $t, x.im as $t) }
            fn of_double_real(x: f64) -> $t { x as $t }
            fn real_of(x: Complex<f64>) -> f64 { x.re }
            fn conj_double(x: Complex<f64>) -> Complex<f64> { x.conj() }
            fn scale_double(x: Complex<f64>, by: f64) -> Complex<f64> { x * by }
            fn nan() -> Self { Complex::new(<$t>::NAN, <$t>::NAN) }
        }
    )* };
}
field!(f32 f64);

/// The sum of a[i] * conj(b[i]), in four partial sums.
pub(super) fn inner<T: Field>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::zero(); 4];
    let (ca, cb) = (a.chunks_exact(4), b.chunks_exact(4));
    let tail = ca.remainder().iter().zip(cb.remainder()).fold(T::zero(), |s, (&x, &y)| s + x * y.conj());
    for (x, y) in ca.zip(cb) {
        for i in 0..4 {
            sums[i] = sums[i] + x[i] * y[i].conj();
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
}

/// `y -= f * x`.
pub(super) fn subtract<T: Field>(y: &mut [T], f: T, x: &[T]) {
    y.iter_mut().zip(x).for_each(|(y, &x)| *y = *y - f * x);
}

/// The transpose of a row-major matrix, by tiles that stay in the cache.
pub(super) fn transpose<T: Field>(v: &[T], rows: usize, columns: usize) -> Vec<T> {
    const TILE: usize = 16;
    let mut out = vec![T::zero(); rows * columns];
    for top in (0..rows).step_by(TILE) {
        for left in (0..columns).step_by(TILE) {
            for i in top..(top + TILE).min(rows) {
                for j in left..(left + TILE).min(columns) {
                    out[j * rows + i] = v[i * columns + j];
                }
            }
        }
    }
    out
}

/// Two rows of a matrix, the first to write to; `i != j`.
pub(super) fn rows<T>(v: &mut [T], width: usize, i: usize, j: usize) -> (&mut [T], &[T]) {
    if i < j {
        let (low, high) = v.split_at_mut(j * width);
        (&mut low[i * width..(i + 1) * width], &high[..width])
    } else {
        let (low, high) = v.split_at_mut(i * width);
        (&mut high[..width], &low[j * width..(j + 1) * width])
    }
}
