//! Derivatives of special functions that no primitive computes.

use evoxc_core::{DType, Dim, F32};
use evoxc_ir::Prim;
use evoxc_trace::{Sym, emitter, iota};
use std::f64::consts::PI;

/// Bernoulli numbers B₂, B₄ …: the coefficients of trigamma's asymptotic series.
const BERNOULLI: [f64; 7] = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];

/// The derivative of digamma, ψ₁(x) = Σ 1/(x+k)², to the accuracy of the dtype (f16 and bf16 by way of f32).
///
/// The first terms of the sum are added as they stand and the rest follows from the asymptotic series (Abramowitz &
/// Stegun 6.4.12); the reflection formula 6.4.7 covers the left half of the line. The branch that is not taken gets an
/// operand that is regular, so that derivatives hold no NaN.
pub(super) fn trigamma(x: Sym) -> Sym {
    let Some(ty) = emitter::type_of(x) else { return x };
    if ty.dtype.size() < F32.size() {
        return trigamma(x.cast(F32)).cast(ty.dtype);
    }
    // The error is below that of the first term left out: |B| / (terms + 1/2)^(2 series + 3).
    let (terms, series) = if ty.dtype == DType::F64 { (10, 7) } else { (5, 4) };
    let left = x.lt(0.5);
    let right = positive(left.select(1.0 - x, x), terms, series);
    let inner = left.select(x, 0.25);
    // sin(πx) repeats up to its sign: near 0 it is exact.
    let sine = ((inner - inner.round_even()) * PI).sin();
    left.select(PI * PI / (sine * sine) - right, right)
}

/// For x of at least 1/2.
fn positive(x: Sym, terms: i64, series: usize) -> Sym {
    let Some(ty) = emitter::type_of(x) else { return x };
    let mut shape = ty.shape.clone();
    let axis = shape.rank();
    shape.push(Dim::constant(terms));
    let wide = emitter::emit(Prim::BroadcastInDim { shape: shape.clone(), dims: (0..axis).collect() }, &[x]);
    let shifted = wide + iota(ty.dtype, &shape, axis);
    let first = (1.0 / (shifted * shifted)).sum(axis);
    let r = 1.0 / (x + terms as f64);
    let r2 = r * r;
    let mut tail = r.full_like(*BERNOULLI.get(series - 1).unwrap_or(&0.0));
    for &b in BERNOULLI.iter().take(series - 1).rev() {
        tail = tail * r2 + b;
    }
    first + r * (r * (r * tail + 0.5) + 1.0)
}
