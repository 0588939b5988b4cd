//! Powers, exponentials, traces and products of matrices.

use super::checks::{known, number};
use super::linalg_solve::solved;
use super::matrices::{Factors, Matrices, any_matrices, identity, matrices, square};
use super::parts::{convert, count_along, filled, reduce};
use crate::compare::compare;
use crate::{Sym, builder, cond, fori_loop};
use evoxc_core::F32;
use evoxc_ir::{Direction, Reducer};

impl Sym {
    /// The `n`-th powers of square matrices `[.., m, m]`, by repeated squaring; negative ones of the inverse, 0 gives
    /// the identity. Numbers of any dtype, for negative powers f32, f64, c64 or c128.
    ///
    /// # Errors
    /// A bool, a negative power of a dtype that is not inverted, matrices that are not square.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let fibonacci = |a: Sym| a.matrix_power(10);
    /// let y = evaluate(fibonacci, Tensor::from([[1i32, 1], [1, 0]]), &Interp)?;
    /// assert_eq!(y.to_vec::<i32>()?, [89, 55, 55, 34]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn matrix_power(self, n: i64) -> Sym {
        let _at = builder::pin();
        let op = "matrix_power";
        if number(op, self).is_none() {
            return Sym::POISON;
        }
        let checked = if n < 0 { matrices(op, self) } else { any_matrices(op, self) };
        let Some(m) = checked.and_then(|m| square(op, self, m)) else { return Sym::POISON };
        let mut base = if n < 0 { Factors::of(self, &m).solve(op, identity(op, &m), &m) } else { self };
        let mut left = n.unsigned_abs();
        let mut power: Option<Sym> = None;
        while left > 0 {
            if left & 1 == 1 {
                power = Some(power.map_or(base, |p| p.matmul(base)));
            }
            left >>= 1;
            if left > 0 {
                base = base.matmul(base);
            }
        }
        match power {
            Some(p) => p,
            None => identity(op, &m),
        }
    }
    /// The exponentials of square matrices `[.., n, n]`, by scaling and squaring with Padé approximants of degree 13
    /// (f32, c64: 7): Higham, SIAM J. Matrix Anal. Appl. 26 (2005). f32, f64, c64 or c128. At most 16 squarings, as in
    /// JAX: a matrix of a 1-norm above 3.5e5 (f32, c64: 2.5e5) gives NaN.
    ///
    /// # Errors
    /// Another dtype, matrices that are not square.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|a: Sym| a.matrix_exp(), Tensor::from([[0f64, 1.0], [0.0, 0.0]]), &Interp)?;
    /// assert_eq!(y.to_vec::<f64>()?, [1.0, 1.0, 0.0, 1.0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn matrix_exp(self) -> Sym {
        let _at = builder::pin();
        let op = "matrix_exp";
        let Some(m) = matrices(op, self).and_then(|m| square(op, self, m)) else { return Sym::POISON };
        let single = m.dtype.real() == F32;
        let theta = if single { THETA_7 } else { THETA_13 };
        let at = m.lead.rank();
        let sums = reduce(Reducer::Sum, self.stop_gradient().abs(), &[at]);
        let norm = reduce(Reducer::Max, sums, &[at]);
        let squarings = (norm / theta).maximum(1).log2().ceil();
        let wide = |x: Sym| x.expand_dims(-1).expand_dims(-1);
        let scaled = self * convert(wide((-squarings.minimum(SQUARINGS)).exp2()), m.dtype);
        let (u, v) = if single { pade_7(op, scaled, &m) } else { pade_13(op, scaled, &m) };
        let start = solved(op, v - u, &m, v + u, &m);
        let power = fori_loop(SQUARINGS, start, |i, x| {
            let more = compare(Direction::Gt, squarings, convert(i, m.dtype.real()));
            let axes: Vec<usize> = (0..at).collect();
            cond(reduce(Reducer::Or, more, &axes), || wide(more).select(x.matmul(x), x), || x)
        });
        wide(squarings.gt(SQUARINGS)).select(f64::NAN, power)
    }
    /// The sums of the main diagonals of matrices `[.., m, n]`, of shape `[..]`. Numbers of any dtype.
    ///
    /// # Errors
    /// A bool, less than two axes.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|a: Sym| (a.trace(), a.trace_offset(1)), Tensor::from([[1f32, 2.0], [3.0, 4.0]]), &Interp)?;
    /// assert_eq!((y.0.item::<f32>()?, y.1.item::<f32>()?), (5.0, 2.0));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn trace(self) -> Sym {
        self.sum_of_diagonal("trace", 0)
    }
    /// The sums of the `k`-th diagonals of matrices, above the main one, or below for a negative `k`: as
    /// [`Sym::trace`], which is that of 0. A diagonal outside of the matrix gives 0.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|a: Sym| a.trace_offset(-1), Tensor::from([[1i32, 2], [3, 4]]), &Interp)?;
    /// assert_eq!(y.item::<i32>()?, 3);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn trace_offset(self, k: i64) -> Sym {
        self.sum_of_diagonal("trace_offset", k)
    }
    #[track_caller]
    fn sum_of_diagonal(self, op: &str, k: i64) -> Sym {
        let _at = builder::pin();
        let (Some(t), Some(m)) = (number(op, self), any_matrices(op, self)) else { return Sym::POISON };
        let shape = m.shape([m.rows, m.columns]);
        // An offset that an i32 does not hold is outside of every matrix.
        if i32::try_from(k).is_err() {
            return filled(op, 0, t.dtype, &m.lead);
        }
        let at = m.lead.rank();
        let (row, column) = (count_along(&shape, at), count_along(&shape, at + 1));
        let diagonal = compare(Direction::Eq, if k == 0 { row } else { row + k }, column);
        reduce(Reducer::Sum, diagonal.select(self, 0), &[at, at + 1])
    }
}

/// The product of matrices, the first and last of which may be vectors, in the order that takes the fewest
/// multiplications (where all extents are numbers; else from left to right): as NumPy's `multi_dot`.
///
/// # Errors
/// No operand, one of another rank, sizes that do not go together.
///
/// ```
/// use evoxc::{multi_dot, prelude::*};
/// let f = |a: Sym, b: Sym, x: Sym| multi_dot([a, b, x]);
/// let g = trace(f, (spec(F32, [5, 8]), spec(F32, [8, 9]), spec(F32, [9])))?;
/// assert_eq!(g.output_specs(), [spec(F32, [5])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn multi_dot(xs: impl IntoIterator<Item = Sym>) -> Sym {
    let _at = builder::pin();
    let op = "multi_dot";
    let xs: Vec<Sym> = xs.into_iter().collect();
    let last = xs.len().saturating_sub(1);
    let mut sizes: Vec<Option<usize>> = vec![];
    for (i, &x) in xs.iter().enumerate() {
        let Some(t) = known(op, x) else { return Sym::POISON };
        let (rows, columns) = match t.shape[..] {
            [m, n] => (m.get(), n.get()),
            [n] if i == 0 && last > 0 => (Some(1), n.get()),
            [m] if i == last => (m.get(), Some(1)),
            _ => {
                let message = format!("operand {i} of {} has rank {}: matrices are multiplied", xs.len(), t.rank());
                let remedy = "only the first and the last may be vectors; `.matmul(..)` takes batches of matrices";
                return builder::fail(op, &xs, message, Some(remedy.into()));
            }
        };
        sizes.push(rows);
        if i == last {
            sizes.push(columns);
        }
    }
    let sizes: Option<Vec<usize>> = sizes.into_iter().collect();
    let product = match sizes {
        Some(sizes) if !xs.is_empty() => Some(product(&xs, 0, last, &best_splits(&sizes))),
        _ => xs.into_iter().reduce(Sym::dot),
    };
    match product {
        Some(p) => p,
        None => builder::fail(op, &[], "there is nothing to multiply", None),
    }
}

/// `best[i][j]`: after which operand to split the product of operands i to j (Cormen et al., Matrix-chain
/// multiplication).
fn best_splits(sizes: &[usize]) -> Vec<Vec<usize>> {
    let n = sizes.len().saturating_sub(1);
    let mut cost = vec![vec![0f64; n]; n];
    let mut best = vec![vec![0; n]; n];
    for length in 1..n {
        for i in 0..n - length {
            let j = i + length;
            let total = |k: usize| {
                let work = [sizes[i], sizes[k + 1], sizes[j + 1]].map(|n| n as f64).iter().product::<f64>();
                cost[i][k] + cost[k + 1][j] + work
            };
            let split = (i..j).fold(i, |b, k| if total(k) < total(b) { k } else { b });
            (cost[i][j], best[i][j]) = (total(split), split);
        }
    }
    best
}

#[track_caller]
fn product(xs: &[Sym], i: usize, j: usize, best: &[Vec<usize>]) -> Sym {
    if i == j {
        return xs[i];
    }
    let k = best[i][j];
    product(xs, i, k, best).dot(product(xs, k + 1, j, best))
}

/// Up to these 1-norms the approximants are exact to half an epsilon (Higham 2005, table 2.3 and its analogue in single
/// precision).
const THETA_7: f64 = 3.92572478313866;
const THETA_13: f64 = 5.371920351148152;
const SQUARINGS: i64 = 16;

/// The odd and the even part of the numerator.
#[track_caller]
fn pade_7(op: &str, a: Sym, m: &Matrices) -> (Sym, Sym) {
    let b = [17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0];
    let one = identity(op, m);
    let a2 = a.matmul(a);
    let a4 = a2.matmul(a2);
    let a6 = a4.matmul(a2);
    let u = a.matmul(a6 * b[7] + a4 * b[5] + a2 * b[3] + one * b[1]);
    (u, a6 * b[6] + a4 * b[4] + a2 * b[2] + one * b[0])
}

/// The odd and the even part of the numerator.
#[track_caller]
fn pade_13(op: &str, a: Sym, m: &Matrices) -> (Sym, Sym) {
    let b = [
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
        1.0,
    ];
    let one = identity(op, m);
    let a2 = a.matmul(a);
    let a4 = a2.matmul(a2);
    let a6 = a4.matmul(a2);
    let u = a6.matmul(a6 * b[13] + a4 * b[11] + a2 * b[9]) + a6 * b[7] + a4 * b[5] + a2 * b[3] + one * b[1];
    let v = a6.matmul(a6 * b[12] + a4 * b[10] + a2 * b[8]) + a6 * b[6] + a4 * b[4] + a2 * b[2] + one * b[0];
    (a.matmul(u), v)
}
