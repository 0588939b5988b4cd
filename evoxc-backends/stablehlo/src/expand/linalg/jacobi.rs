//! What the iterations of Jacobi share: rotations of all pairs of columns at once, and the order in which the pairs come.
//!
//! Columns stand in a left and a right half; column i of one is paired with column i of the other. Between rotations all
//! but the first move on by one place, clockwise, so that n - 1 steps pair each with every other and bring them back to
//! where they were (R. P. Brent, F. T. Luk, "The solution of singular-value and symmetric eigenvalue problems on
//! multiprocessor arrays", 1985).

use super::super::parts::{cut, joined, with_sign_of};
use super::matrix::{conj, hypot, modulus, of_real};
use evoxc_core::Dim;
use evoxc_trace::Sym;

/// At most as many sweeps; quadratic convergence ends after some ten.
pub(super) const SWEEPS: i32 = 40;

/// A rotation of each pair: c real, s with the phase of the inner product.
pub(super) struct Rotation {
    pub c: Sym,
    pub s: Sym,
    /// The tangent, real.
    pub t: Sym,
}

impl Rotation {
    /// The one that makes the product `cross` of a pair vanish, of squares (or diagonal elements) p and q, reals; where
    /// `skip`, none. (Golub and Van Loan, "Matrix computations", 8.5.2.)
    pub fn of(p: Sym, q: Sym, cross: Sym, skip: Sym) -> Rotation {
        let modulus = skip.select(1.0, modulus(cross));
        let phase = skip.select(1, cross) / of_real(modulus, cross);
        let tau = (q - p) / (modulus * 2.0);
        let t = with_sign_of(1.0 / (tau.abs() + hypot(tau, tau.ones_like())), tau);
        let t = skip.select(0.0, t);
        let c = 1.0 / (t * t + 1.0).sqrt();
        let s = of_real(t * c, cross) * phase;
        Rotation { c: of_real(c, cross), s, t }
    }
    /// The columns of both halves, rotated; the numbers stand along the last axis.
    pub fn columns(&self, left: Sym, right: Sym) -> (Sym, Sym) {
        (left * self.c - right * conj(self.s), left * self.s + right * self.c)
    }
}

/// Two halves along an axis, moved on by one place.
pub(super) fn moved(left: Sym, right: Sym, axis: usize, half: i64) -> (Sym, Sym) {
    if half < 2 {
        return (left, right);
    }
    let part = |x, from: i64, to: i64| cut(x, axis, from, to);
    let next_left = if half == 2 {
        vec![part(left, 0, 1), part(right, 0, 1)]
    } else {
        vec![part(left, 0, 1), part(right, 0, 1), part(left, 1, half - 1)]
    };
    (joined(&next_left, axis), joined(&[part(right, 1, half), part(left, half - 1, half)], axis))
}

/// Both halves of an axis.
pub(super) fn halves(x: Sym, axis: usize, half: i64) -> (Sym, Sym) {
    (cut(x, axis, 0, half), cut(x, axis, half, Dim::constant(2 * half)))
}
