//! Least squares and what else singular values tell.

use super::linalg_solve::{right_side, solved};
use super::matrices::{Matrices, adjoint, matrices};
use super::parts::{convert, reduce, reshape};
use crate::{Sym, builder};
use evoxc_core::I32;
use evoxc_ir::Reducer;

/// The pseudoinverse as a product that differentiates.
///
/// Derivatives of singular vectors are infinite where singular values are equal, that of the pseudoinverse is not. With
/// U, S, V held constant let C = a V S⁻¹ and R = aᴴ U S⁻¹: near a the pseudoinverse of a matrix of the same rank is
/// R (RᴴR)⁻¹ · S⁻¹ Uᴴ a V S⁻¹ · (CᴴC)⁻¹ Cᴴ, whose first derivative is that of Golub and Pereyra (SIAM J. Numer. Anal.
/// 10, 1973), and at a itself CᴴC and RᴴR are the identity. What is cut off counts as zero, with a 1 on the diagonal.
struct Pseudoinverse {
    c: Sym,
    r: Sym,
    middle: Sym,
    cut: Sym,
    rank: Sym,
    singular: Sym,
    core: Matrices,
}

impl Pseudoinverse {
    #[track_caller]
    fn of(a: Sym, m: &Matrices, cutoff: Cutoff) -> Pseudoinverse {
        let (u, singular, vh) = a.svd();
        let kept = kept(singular, m, cutoff);
        let s = singular.stop_gradient();
        let scale = convert(kept.select(kept.select(s, 1).reciprocal(), 0), m.dtype).expand_dims(-2);
        let (us, vs) = (u.stop_gradient() * scale, adjoint(vh.stop_gradient()) * scale);
        let c = a.matmul(vs);
        let r = adjoint(a).matmul(us);
        let k = m.rows.min(m.columns);
        Pseudoinverse {
            c,
            r,
            middle: adjoint(us).matmul(c),
            cut: convert(!kept, m.dtype).diag(),
            rank: reduce(Reducer::Sum, convert(kept, I32), &[m.lead.rank()]),
            singular,
            core: Matrices { dtype: m.dtype, lead: m.lead.clone(), rows: k, columns: k },
        }
    }
    /// xᴴx, made regular.
    #[track_caller]
    fn gram(&self, x: Sym) -> Sym {
        adjoint(x).matmul(x) + self.cut
    }
    /// Its product with `b`.
    #[track_caller]
    fn times(&self, op: &str, b: Option<Sym>) -> Sym {
        let ch = adjoint(self.c);
        let right = match b {
            Some(b) => ch.matmul(b),
            None => ch,
        };
        let Some(t) = super::matrices::any_matrices(op, right) else { return Sym::POISON };
        let inner = self.middle.matmul(solved(op, self.gram(self.c), &self.core, right, &t));
        self.r.matmul(solved(op, self.gram(self.r), &self.core, inner, &t))
    }
}

/// Up to which part of the largest singular value one counts as 0.
#[derive(Clone, Copy)]
enum Cutoff {
    /// This part.
    Part(f64),
    /// So many roundings in each of max(m, n) terms.
    Roundings(f64),
}

/// Which singular values are above the cutoff; NaN is, so that it shows.
#[track_caller]
fn kept(singular: Sym, m: &Matrices, cutoff: Cutoff) -> Sym {
    let s = singular.stop_gradient();
    let (at, shape) = ([m.lead.rank()], m.shape([m.rows.min(m.columns)]));
    let most = super::parts::kept(reduce(Reducer::Max, s, &at), &shape, &at, true);
    !s.le(match cutoff {
        Cutoff::Part(part) => most * part,
        Cutoff::Roundings(n) => most * m.rows.max(m.columns) * (n * m.epsilon()),
    })
}

impl Sym {
    /// The Moore-Penrose pseudoinverses of matrices `[.., m, n]`, of shape `[.., n, m]`, by singular values; those up to
    /// 10·max(m, n)·ε of the largest count as 0, as in JAX. f32, f64, c64 or c128. Differentiable where the rank is
    /// full, also where singular values are equal; of a lower rank the gradient is that of matrices of this rank (Golub
    /// and Pereyra, 1973), as in JAX.
    ///
    /// # Errors
    /// Another dtype, less than two axes.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let x = evaluate(|a: Sym| a.pinv(), Tensor::from([[2f64, 0.0], [0.0, 0.0], [0.0, 0.0]]), &Interp)?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn pinv(self) -> Sym {
        let _at = builder::pin();
        let Some(m) = matrices("pinv", self) else { return Sym::POISON };
        Pseudoinverse::of(self, &m, Cutoff::Roundings(10.0)).times("pinv", None)
    }
    /// [`Sym::pinv`], where singular values up to `rcond` of the largest count as 0.
    ///
    /// # Errors
    /// Those of `pinv`; an `rcond` that is negative or NaN.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let x = evaluate(|a: Sym| a.pinv_rcond(0.1), Tensor::from([[2f64, 0.0], [0.0, 0.1]]), &Interp)?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.5, 0.0, 0.0, 0.0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn pinv_rcond(self, rcond: f64) -> Sym {
        let _at = builder::pin();
        let op = "pinv_rcond";
        let Some(m) = matrices(op, self) else { return Sym::POISON };
        if sound(op, self, rcond) {
            Pseudoinverse::of(self, &m, Cutoff::Part(rcond)).times(op, None)
        } else {
            Sym::POISON
        }
    }
    /// The x of least norm among those of least ‖self·x - b‖, for matrices `[.., m, n]` and `b` a vector `[m]` or
    /// matrices `[.., m, k]`, by singular values; those up to max(m, n)·ε of the largest count as 0. Gives
    ///
    /// - x: `[n]` or `[.., n, k]`,
    /// - the squared residual norms: `[]` or `[.., k]`, whatever the rank (as in JAX),
    /// - the rank of `self`, an i32: `[..]`,
    /// - the singular values: `[.., min(m, n)]`, in descending order.
    ///
    /// f32, f64, c64 or c128, both of one dtype. Differentiable as [`Sym::pinv`] is.
    ///
    /// # Errors
    /// Another dtype or rank, sizes or batches that do not go together.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// // The line through (0, 1), (1, 3), (2, 5).
    /// let a = Tensor::from([[0f64, 1.0], [1.0, 1.0], [2.0, 1.0]]);
    /// let fit = |a: Sym, b: Sym| a.lstsq(b);
    /// let (x, _, rank, _) = evaluate(fit, (a, Tensor::from([1f64, 3.0, 5.0])), &Interp)?;
    /// assert!(x.to_vec::<f64>()?.iter().zip([2.0, 1.0]).all(|(x, y)| (x - y).abs() < 1e-12));
    /// assert_eq!(rank.item::<i32>()?, 2);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn lstsq(self, b: Sym) -> (Sym, Sym, Sym, Sym) {
        let _at = builder::pin();
        let op = "lstsq";
        let poisoned = (Sym::POISON, Sym::POISON, Sym::POISON, Sym::POISON);
        let Some(m) = matrices(op, self) else { return poisoned };
        let Some((b, _, vector)) = right_side(op, self, &m, b) else { return poisoned };
        let inverse = Pseudoinverse::of(self, &m, Cutoff::Roundings(1.0));
        let x = inverse.times(op, Some(b));
        let rest = (b - self.matmul(x)).abs();
        let Some(t) = super::matrices::any_matrices(op, rest) else { return poisoned };
        let residuals = reduce(Reducer::Sum, rest * rest, &[t.lead.rank()]);
        let (x, residuals) = if vector { (x.squeeze(-1), reshape(residuals, t.lead.clone())) } else { (x, residuals) };
        (x, residuals, inverse.rank, inverse.singular)
    }
    /// The ranks of matrices `[.., m, n]`, an i32 of shape `[..]`: how many singular values are more than max(m, n)·ε of
    /// the largest, as in NumPy. f32, f64, c64 or c128.
    ///
    /// # Errors
    /// Another dtype, less than two axes.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let r = evaluate(|a: Sym| a.matrix_rank(), Tensor::from([[1f64, 2.0], [2.0, 4.0]]), &Interp)?;
    /// assert_eq!(r.item::<i32>()?, 1);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn matrix_rank(self) -> Sym {
        let _at = builder::pin();
        let Some(m) = matrices("matrix_rank", self) else { return Sym::POISON };
        self.rank_above(&m, Cutoff::Roundings(1.0))
    }
    /// The ranks of matrices: how many singular values are more than `rcond` of the largest.
    ///
    /// # Errors
    /// Those of `matrix_rank`; an `rcond` that is negative or NaN.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let r = evaluate(|a: Sym| a.matrix_rank_rcond(0.5), Tensor::from([[4f64, 0.0], [0.0, 1.0]]), &Interp)?;
    /// assert_eq!(r.item::<i32>()?, 1);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn matrix_rank_rcond(self, rcond: f64) -> Sym {
        let _at = builder::pin();
        let op = "matrix_rank_rcond";
        let Some(m) = matrices(op, self) else { return Sym::POISON };
        if sound(op, self, rcond) { self.rank_above(&m, Cutoff::Part(rcond)) } else { Sym::POISON }
    }
    #[track_caller]
    fn rank_above(self, m: &Matrices, cutoff: Cutoff) -> Sym {
        let (_, s, _) = self.svd();
        reduce(Reducer::Sum, convert(kept(s, m, cutoff), I32), &[m.lead.rank()])
    }
    /// The condition numbers of matrices `[.., m, n]`, a real of shape `[..]`: the largest singular value over the
    /// smallest; inf of a singular matrix. f32, f64, c64 or c128.
    ///
    /// # Errors
    /// Another dtype, less than two axes.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let c = evaluate(|a: Sym| a.cond_number(), Tensor::from([[4f64, 0.0], [0.0, -2.0]]), &Interp)?;
    /// assert_eq!(c.item::<f64>()?, 2.0);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn cond_number(self) -> Sym {
        let _at = builder::pin();
        let Some(m) = matrices("cond_number", self) else { return Sym::POISON };
        let (_, s, _) = self.svd();
        let at = [m.lead.rank()];
        reduce(Reducer::Max, s, &at) / reduce(Reducer::Min, s, &at)
    }
}

#[track_caller]
fn sound(op: &str, x: Sym, rcond: f64) -> bool {
    let ok = rcond >= 0.0;
    if !ok {
        let message = format!("rcond is {rcond}, and a part of the largest singular value is wanted");
        builder::fail(op, &[x], message, Some("give a number such as 1e-6".into()));
    }
    ok
}
