//! Fourier transforms as products with small matrices, for consumers that lack StableHLO's own.
//!
//! A length is split into its prime factors (J. W. Cooley, J. W. Tukey, "An algorithm for the machine calculation of
//! complex Fourier series", 1965); what is left of at most 16 points, or prime, is one product.

use super::parts::{cut, emit, joined};
use evoxc_core::{C64, C128, DType, Dim, F64, OpError, Shape, Tensor};
use evoxc_ir::{FftKind, Prim};
use evoxc_trace::{Sym, constant};
use num_complex::Complex;
use std::f64::consts::PI;

/// Transforms the last axes, as many as `length` has.
pub(super) fn fft(x: Sym, kind: FftKind, length: &[Dim]) -> Result<Sym, OpError> {
    let sizes = length.iter().map(|d| known(*d)).collect::<Result<Vec<i64>, _>>()?;
    let rank = x.rank();
    let Some((&last, others)) = sizes.split_last() else { return Ok(x) };
    let first = rank.checked_sub(sizes.len()).ok_or_else(|| OpError::new("", "it has more lengths than axes"))?;
    let rest = |x: Sym, sign: f64| others.iter().enumerate().try_fold(x, |x, (i, &n)| along(x, first + i, n, sign));
    let total: i64 = sizes.iter().product();
    Ok(match kind {
        FftKind::Fft => rest(points(x, last, -1.0)?, -1.0)?,
        FftKind::Ifft => scaled(rest(points(x, last, 1.0)?, 1.0)?, total),
        FftKind::Rfft => {
            let wide = x.cast(if x.dtype() == F64 { C128 } else { C64 });
            rest(cut(points(wide, last, -1.0)?, rank - 1, 0, last / 2 + 1), -1.0)?
        }
        FftKind::Irfft => {
            let half = rest(x, 1.0)?;
            // What is beyond the half is the conjugate of what is before it, in reverse.
            let mirrored = cut(half, rank - 1, 1, last - last / 2);
            let mirrored = emit(Prim::Reverse { axes: vec![rank - 1] }, &[mirrored]);
            let mirrored = mirrored.real().complex(-mirrored.imag());
            scaled(points(joined(&[half, mirrored], rank - 1), last, 1.0)?, total).real()
        }
    })
}

fn known(d: Dim) -> Result<i64, OpError> {
    d.as_i64().ok_or_else(|| {
        OpError::new("", format!("its length is {d}, which is not known"))
            .remedy("trace it with a length that is a number; batch axes may be symbolic")
    })
}

fn scaled(x: Sym, total: i64) -> Sym {
    x * (1.0 / total.max(1) as f64)
}

/// Transforms one axis.
fn along(x: Sym, axis: usize, n: i64, sign: f64) -> Result<Sym, OpError> {
    let last = x.rank() - 1;
    let swap = |x: Sym| {
        let mut perm: Vec<usize> = (0..=last).collect();
        perm.swap(axis, last);
        emit(Prim::Transpose { perm }, &[x])
    };
    Ok(swap(points(swap(x), n, sign)?))
}

/// exp(sign 2πi rows·columns/n), of a shape. Literal, since not every consumer has the sine of an f64.
fn turns(d: DType, rows: i64, columns: i64, n: i64, sign: f64) -> Result<Sym, OpError> {
    let turn = |i: i64, j: i64| {
        // The product is reduced before it becomes an angle, so that the angle is exact to its last place.
        let (sine, cosine) = (sign * 2.0 * PI * (i * j % n) as f64 / n as f64).sin_cos();
        Complex::new(cosine, sine)
    };
    let all: Vec<Complex<f64>> = (0..rows).flat_map(|i| (0..columns).map(move |j| turn(i, j))).collect();
    let table = Tensor::from_vec(all, [rows as usize, columns as usize]).and_then(|t| t.cast(d));
    Ok(constant(&table.map_err(|e| OpError::new("", e.to_string()))?))
}

/// Transforms the last axis, of `n` points, without scaling.
fn points(x: Sym, n: i64, sign: f64) -> Result<Sym, OpError> {
    if n < 2 {
        return Ok(x);
    }
    let d = x.dtype();
    let factor = (2..).take_while(|f| f * f <= n).find(|f| n % f == 0).unwrap_or(n);
    if n <= 16 || factor == n {
        return Ok(x.tensordot(turns(d, n, n, n, sign)?, -1, 0));
    }
    // Point j = j2·p + j1 contributes to frequency k = k1·q + k2.
    let (p, q) = (factor, n / factor);
    let lead: Shape = x.shape().iter().take(x.rank() - 1).copied().collect();
    let of = |last: &[i64]| -> Shape { lead.iter().copied().chain(last.iter().map(|&d| Dim::constant(d))).collect() };
    let (j1, k2) = (-2, -1);
    let split = emit(Prim::Reshape { shape: of(&[q, p]) }, &[x]).swap_axes(j1, k2);
    let inner = points(split, q, sign)? * turns(d, p, q, n, sign)?;
    let outer = points(inner.swap_axes(j1, k2), p, sign)?.swap_axes(j1, k2);
    Ok(emit(Prim::Reshape { shape: of(&[n]) }, &[outer]))
}
