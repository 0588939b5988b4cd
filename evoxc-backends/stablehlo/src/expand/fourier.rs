//! Fourier transforms as products with small matrices, for consumers that lack StableHLO's own: on real and imaginary
//! parts, since their products of complex matrices are not to be relied on either.
//!
//! A length is split into its prime factors (J. W. Cooley, J. W. Tukey, "An algorithm for the machine calculation of
//! complex Fourier series", 1965); what is left of at most 16 points, or prime, is one product.

use super::parts::{cut, emit, joined};
use evoxc_core::{DType, Dim, OpError, Shape, Tensor};
use evoxc_ir::{FftKind, Prim};
use evoxc_trace::{Sym, constant};
use std::f64::consts::PI;

/// A complex value in parts.
#[derive(Clone, Copy)]
struct Parts {
    re: Sym,
    im: Sym,
}

impl Parts {
    fn map(self, f: impl Fn(Sym) -> Sym) -> Parts {
        Parts { re: f(self.re), im: f(self.im) }
    }
    /// The product by `multiply` with the turns of a table.
    fn times(self, table: &Parts, multiply: impl Fn(Sym, Sym) -> Sym) -> Parts {
        let (re, im) = (table.re, table.im);
        Parts { re: multiply(self.re, re) - multiply(self.im, im), im: multiply(self.re, im) + multiply(self.im, re) }
    }
}

/// Transforms the last axes, as many as `length` has.
pub(super) fn fft(x: Sym, kind: FftKind, length: &[Dim]) -> Result<Sym, OpError> {
    let sizes = length.iter().map(|d| known(*d)).collect::<Result<Vec<i64>, _>>()?;
    let rank = x.rank();
    let Some((&last, others)) = sizes.split_last() else { return Ok(x) };
    let first = rank.checked_sub(sizes.len()).ok_or_else(|| OpError::new("", "it has more lengths than axes"))?;
    let rest = |x, sign| others.iter().enumerate().try_fold(x, |x, (i, &n)| along(x, first + i, n, sign));
    let scale = 1.0 / sizes.iter().product::<i64>().max(1) as f64;
    let x =
        if x.dtype().is_complex() { Parts { re: x.real(), im: x.imag() } } else { Parts { re: x, im: x.zeros_like() } };
    let y = match kind {
        FftKind::Fft => rest(points(x, last, -1.0)?, -1.0)?,
        FftKind::Ifft => rest(points(x, last, 1.0)?, 1.0)?.map(|x| x * scale),
        FftKind::Rfft => rest(points(x, last, -1.0)?.map(|x| cut(x, rank - 1, 0, last / 2 + 1)), -1.0)?,
        FftKind::Irfft => {
            let half = rest(x, 1.0)?;
            // What is beyond the half is the conjugate of what is before it, in reverse.
            let whole = |x: Sym, sign: f64| {
                let part = cut(x, rank - 1, 1, last - last / 2);
                joined(&[x, emit(Prim::Reverse { axes: vec![rank - 1] }, &[part]) * sign], rank - 1)
            };
            let whole = Parts { re: whole(half.re, 1.0), im: whole(half.im, -1.0) };
            return Ok(points(whole, last, 1.0)?.re * scale);
        }
    };
    Ok(y.re.complex(y.im))
}

fn known(d: Dim) -> Result<i64, OpError> {
    d.as_i64().ok_or_else(|| {
        OpError::new("", format!("its length is {d}, which is not known"))
            .remedy("trace it with a length that is a number; batch axes may be symbolic")
    })
}

/// Transforms one axis.
fn along(x: Parts, axis: usize, n: i64, sign: f64) -> Result<Parts, OpError> {
    let last = x.re.rank() - 1;
    let swap = |x: Sym| {
        let mut perm: Vec<usize> = (0..=last).collect();
        perm.swap(axis, last);
        emit(Prim::Transpose { perm }, &[x])
    };
    Ok(points(x.map(swap), n, sign)?.map(swap))
}

/// exp(sign 2πi rows·columns/n), of a shape. Literal, since not every consumer has the sine of an f64.
fn turns(d: DType, rows: i64, columns: i64, n: i64, sign: f64) -> Result<Parts, OpError> {
    // The product is reduced before it becomes an angle, so that the angle is exact to its last place.
    let angle = |i: i64, j: i64| sign * 2.0 * PI * (i * j % n) as f64 / n as f64;
    let table = |f: fn(f64) -> f64| -> Result<Sym, OpError> {
        let all = (0..rows).flat_map(|i| (0..columns).map(move |j| f(angle(i, j)))).collect::<Vec<f64>>();
        let table = Tensor::from_vec(all, [rows as usize, columns as usize]).and_then(|t| t.cast(d));
        Ok(constant(&table.map_err(|e| OpError::new("", e.to_string()))?))
    };
    Ok(Parts { re: table(f64::cos)?, im: table(f64::sin)? })
}

/// Transforms the last axis, of `n` points, without scaling.
fn points(x: Parts, n: i64, sign: f64) -> Result<Parts, OpError> {
    if n < 2 {
        return Ok(x);
    }
    let d = x.re.dtype();
    let factor = (2..).take_while(|f| f * f <= n).find(|f| n % f == 0).unwrap_or(n);
    if n <= 16 || factor == n {
        return Ok(x.times(&turns(d, n, n, n, sign)?, |x, t| x.tensordot(t, -1, 0)));
    }
    // Point j = j2·p + j1 contributes to frequency k = k1·q + k2.
    let (p, q) = (factor, n / factor);
    let lead: Shape = x.re.shape().iter().take(x.re.rank() - 1).copied().collect();
    let of = |last: &[i64]| -> Shape { lead.iter().copied().chain(last.iter().map(|&d| Dim::constant(d))).collect() };
    let swap = |x: Sym| x.swap_axes(-2, -1);
    let split = x.map(|x| swap(emit(Prim::Reshape { shape: of(&[q, p]) }, &[x])));
    let inner = points(split, q, sign)?.times(&turns(d, p, q, n, sign)?, |x, t| x * t);
    let outer = points(inner.map(swap), p, sign)?;
    Ok(outer.map(|x| emit(Prim::Reshape { shape: of(&[n]) }, &[swap(x)])))
}
