//! Norms of matrices. Those of vectors, over any axes, are `norm` and `norm_p`.

use super::checks::inexact;
use super::matrices::{any_matrices, field};
use super::parts::reduce;
use crate::{Sym, builder};
use evoxc_ir::Reducer;

/// Which norm [`Sym::matrix_norm`] takes.
///
/// ```
/// use evoxc::{MatrixNorm, prelude::*};
/// let norms = |a: Sym| [MatrixNorm::One, MatrixNorm::Infinity, MatrixNorm::Two].map(|n| a.matrix_norm(n));
/// let y = evaluate(norms, Tensor::from([[3f64, 0.0], [4.0, 0.0]]), &Interp)?;
/// assert_eq!([y[0].item::<f64>()?, y[1].item::<f64>()?, y[2].item::<f64>()?], [7.0, 4.0, 5.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatrixNorm {
    /// Frobenius: √Σ|x|².
    Frobenius,
    /// Nuclear: the sum of the singular values.
    Nuclear,
    /// The largest sum of magnitudes of a column.
    One,
    /// The smallest sum of magnitudes of a column.
    MinusOne,
    /// Spectral: the largest singular value.
    Two,
    /// The smallest singular value.
    MinusTwo,
    /// The largest sum of magnitudes of a row.
    Infinity,
    /// The smallest sum of magnitudes of a row.
    MinusInfinity,
}

impl Sym {
    /// A norm of matrices `[.., m, n]`, a real of shape `[..]`: those of NumPy's `linalg.matrix_norm`. Floats and
    /// complex numbers; those by singular values (nuclear, 2, -2) f32, f64, c64 or c128.
    ///
    /// # Errors
    /// Another dtype, less than two axes.
    ///
    /// ```
    /// use evoxc::{MatrixNorm, prelude::*};
    /// let size = |a: Sym| a.matrix_norm(MatrixNorm::Frobenius);
    /// assert_eq!(evaluate(size, Tensor::from([[3f32, 0.0], [0.0, 4.0]]), &Interp)?.item::<f32>()?, 5.0);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn matrix_norm(self, norm: MatrixNorm) -> Sym {
        let _at = builder::pin();
        let op = "matrix_norm";
        if inexact(op, self).is_none() {
            return Sym::POISON;
        }
        let Some(m) = any_matrices(op, self) else { return Sym::POISON };
        let at = m.lead.rank();
        let sums = |axis: usize, then: Reducer| reduce(then, reduce(Reducer::Sum, self.abs(), &[axis]), &[at]);
        let singular = |then: Reducer| match field(op, self) {
            Some(_) => reduce(then, self.svd().1, &[at]),
            None => Sym::POISON,
        };
        match norm {
            MatrixNorm::Frobenius => self.norm([-2, -1]),
            MatrixNorm::Nuclear => singular(Reducer::Sum),
            MatrixNorm::One => sums(at, Reducer::Max),
            MatrixNorm::MinusOne => sums(at, Reducer::Min),
            MatrixNorm::Two => singular(Reducer::Max),
            MatrixNorm::MinusTwo => singular(Reducer::Min),
            MatrixNorm::Infinity => sums(at + 1, Reducer::Max),
            MatrixNorm::MinusInfinity => sums(at + 1, Reducer::Min),
        }
    }
}
