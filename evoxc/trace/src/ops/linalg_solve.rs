//! Systems of equations and determinants, by LU factors: gradients are those of `lu` and `triangular_solve`.

use super::checks::{known, same_dtype};
use super::matrices::{Factors, Matrices, entry, identity, matrices, square};
use super::parts::{convert, count_along, reduce, reshape};
use crate::operand::{broadcast_shapes, broadcast_to};
use crate::{Sym, builder};
use evoxc_core::{Dim, I32};
use evoxc_ir::Reducer;

/// The right-hand side of a system of `a.rows` equations: as matrices, and whether it is a vector. By the rule of
/// NumPy 2 and JAX, b is a vector only if it has one axis.
#[track_caller]
pub(crate) fn right_side(op: &str, x: Sym, a: &Matrices, b: Sym) -> Option<(Sym, Matrices, bool)> {
    let t = known(op, b)?;
    same_dtype(op, x, b)?;
    let vector = t.rank() == 1;
    let b = if vector { b.expand_dims(-1) } else { b };
    let m = super::matrices::matrices(op, b)?;
    if m.rows != a.rows {
        let axis = if vector { 0 } else { m.lead.rank() };
        let message = format!("the matrices have {} rows, but axis {axis} of b has size {}", a.rows, m.rows);
        let remedy = "b has shape [n], or [.., n, k]; `.expand_dims(-1)` makes a batch of vectors matrices";
        builder::fail(op, &[x, b], message, Some(remedy.into()));
        return None;
    }
    if let Err(message) = broadcast_shapes(&a.lead, &m.lead) {
        builder::fail(op, &[x, b], format!("the leading axes: {message}"), None);
        return None;
    }
    Some((b, m, vector))
}

/// x with a x = b, for square matrices a.
#[track_caller]
pub(crate) fn solved(op: &str, a: Sym, m: &Matrices, b: Sym, right: &Matrices) -> Sym {
    let factors = Factors::of(a, m);
    if m.lead.rank() > 0 || right.lead.rank() == 0 {
        return factors.solve(op, b, right);
    }
    // One matrix, many right-hand sides: they are columns of one.
    let columns = right.lead.iter().fold(right.columns, |n, &d| n * d);
    let moved = b.move_axis(-2, 0);
    let Some(shape) = builder::with_type(moved, |t| t.shape.clone()) else { return Sym::POISON };
    let flat = reshape(moved, [m.rows, columns].into_iter().collect());
    let one = Matrices { dtype: m.dtype, lead: m.lead.clone(), rows: m.rows, columns };
    reshape(factors.solve(op, flat, &one), shape).move_axis(0, -2)
}

impl Sym {
    /// x with `self · x = b`, for square matrices of shape `[.., n, n]`, by LU factors with partial pivoting. `b` is one
    /// vector `[n]`, or matrices `[.., n, k]` (the rule of NumPy 2 and JAX); leading axes broadcast. f32, f64, c64 or
    /// c128, both of one dtype. A singular matrix gives infinities and NaN.
    ///
    /// # Errors
    /// Another dtype or rank, matrices that are not square, sizes or batches that do not go together.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let a = Tensor::from([[2f64, 1.0], [1.0, 3.0]]);
    /// let x = evaluate(|a: Sym, b: Sym| a.solve(b), (a, Tensor::from([3f64, 4.0])), &Interp)?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 1.0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn solve(self, b: Sym) -> Sym {
        let _at = builder::pin();
        let op = "solve";
        let Some(m) = matrices(op, self).and_then(|m| square(op, self, m)) else { return Sym::POISON };
        let Some((b, right, vector)) = right_side(op, self, &m, b) else { return Sym::POISON };
        let x = solved(op, self, &m, b, &right);
        if vector { x.squeeze(-1) } else { x }
    }
    /// The inverses of square matrices `[.., n, n]`, by [`Sym::solve`] with the identity. f32, f64, c64 or c128. A
    /// singular matrix gives infinities and NaN. `a.solve(b)` is cheaper and more exact than `a.inv().matmul(b)`.
    ///
    /// # Errors
    /// Another dtype, matrices that are not square.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let x = evaluate(|a: Sym| a.inv(), Tensor::from([[2f64, 0.0], [1.0, 4.0]]), &Interp)?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.5, 0.0, -0.125, 0.25]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn inv(self) -> Sym {
        let _at = builder::pin();
        let op = "inv";
        let Some(m) = matrices(op, self).and_then(|m| square(op, self, m)) else { return Sym::POISON };
        Factors::of(self, &m).solve(op, identity(op, &m), &m)
    }
    /// The determinants of square matrices `[.., n, n]`, of shape `[..]`. f32, f64, c64 or c128; 1 of an empty matrix.
    ///
    /// Up to n = 3 by the formula, beyond (and for a symbolic n) by LU factors. The derivative is right at singular
    /// matrices too, where the factors have one pivot of 0 (most matrices of rank n - 1); where they have several it is
    /// said to be 0, as in JAX. That takes a second factorisation, which `slogdet` does without.
    ///
    /// # Errors
    /// Another dtype, matrices that are not square.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let x = evaluate(|a: Sym| a.det(), Tensor::from([[1f64, 2.0], [3.0, 4.0]]), &Interp)?;
    /// assert_eq!(x.item::<f64>()?, -2.0);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn det(self) -> Sym {
        let _at = builder::pin();
        let op = "det";
        let Some(m) = matrices(op, self).and_then(|m| square(op, self, m)) else { return Sym::POISON };
        let at = |i, j| entry(self, &m, i, j);
        match m.rows.get() {
            Some(0) => super::parts::filled(op, 1, m.dtype, &m.lead),
            Some(1) => at(0, 0),
            Some(2) => at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0),
            Some(3) => {
                let minor = |i: usize, j: usize| at(1, i) * at(2, j) - at(1, j) * at(2, i);
                at(0, 0) * minor(1, 2) - at(0, 1) * minor(0, 2) + at(0, 2) * minor(0, 1)
            }
            Some(_) | None => self.det_by_factors(op, &m),
        }
    }
    /// Pivots of 0 would make the derivative of the factors infinite. So they are those of a + δ·e_r·e_cᵀ, where (r, c)
    /// is the place of such a pivot, and by the matrix determinant lemma det a is their product by 1 - δ·(x)_c with
    /// (a + δ·e_r·e_cᵀ)·x = e_r. Where there are several such pivots it is left at 0.
    #[track_caller]
    fn det_by_factors(self, op: &str, m: &Matrices) -> Sym {
        let (lead, shape) = (m.lead.rank(), m.shape([m.rows, m.rows]));
        let fixed = self.stop_gradient();
        let first = Factors::of(fixed, m);
        let zero = first.lu.diagonal().eq(0);
        let zeros = reduce(Reducer::Sum, convert(zero, I32), &[lead]);
        let row = broadcast_to(op, first.perm.expand_dims(-2), &shape).eq(count_along(&shape, lead));
        let place = row & broadcast_to(op, zero.expand_dims(-2), &shape);
        let largest = reduce(Reducer::Max, fixed.abs(), &[lead, lead + 1]);
        let delta = convert(largest.gt(0).select(largest, 1), m.dtype);
        let added = broadcast_to(op, delta.expand_dims(-1).expand_dims(-1), &shape);
        let regular = Factors::of(self + place.select(added, 0), m);
        let along = |axis: usize| convert(reduce(Reducer::Or, place, &[axis]), m.dtype);
        let right = Matrices { dtype: m.dtype, lead: m.lead.clone(), rows: m.rows, columns: Dim::constant(1) };
        let x = regular.solve(op, along(lead + 1).expand_dims(-1), &right).squeeze(-1);
        let at_place = reduce(Reducer::Sum, x * along(lead), &[lead]);
        // 1 or 0, without the rounding of the sum that it stands for.
        let value = convert(zeros.eq(0), m.dtype);
        let rest = value - delta * (at_place - at_place.stop_gradient());
        let product = reduce(Reducer::Prod, regular.lu.diagonal(), &[lead]);
        zeros.gt(1).select(0, regular.parity * product * rest)
    }
    /// The sign and the logarithm of the absolute value of the determinants of square matrices `[.., n, n]`, each of
    /// shape `[..]`, by LU factors; without overflow where the determinant itself would. The sign is of `self`'s dtype
    /// (of complex matrices a number of modulus 1), the logarithm real. A singular matrix gives 0 and -inf. f32, f64,
    /// c64 or c128.
    ///
    /// # Errors
    /// Another dtype, matrices that are not square.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let (sign, log) = evaluate(|a: Sym| a.slogdet(), Tensor::from([[0f64, 2.0], [4.0, 0.0]]), &Interp)?;
    /// assert_eq!((sign.item::<f64>()?, log.item::<f64>()?), (-1.0, 8f64.ln()));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn slogdet(self) -> (Sym, Sym) {
        let _at = builder::pin();
        let op = "slogdet";
        let Some(m) = matrices(op, self).and_then(|m| square(op, self, m)) else {
            return (Sym::POISON, Sym::POISON);
        };
        let at = m.lead.rank();
        let factors = Factors::of(self, &m);
        let diagonal = factors.lu.diagonal();
        let sign = factors.parity * reduce(Reducer::Prod, diagonal.sign(), &[at]);
        (sign, reduce(Reducer::Sum, diagonal.abs().log(), &[at]))
    }
}
