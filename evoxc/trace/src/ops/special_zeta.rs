//! The Hurwitz zeta function and the derivatives of log Γ.

use super::series::{operand, operands};
use crate::{Operand, Sym, builder};
use std::f64::consts::PI;

/// Terms that are summed before the Euler-Maclaurin formula takes over.
const TERMS: i64 = 10;

impl Sym {
    /// The Hurwitz zeta function ζ(s, q) = Σ (q + k)⁻ˢ over k ≥ 0, for s = `self` ≥ 1 and q > 0, as
    /// `scipy.special.zeta`: inf for s = 1 and for q = 0, -1, -2 …, else NaN outside of this. Element-wise, broadcast
    /// together; real floats of one dtype, f16 and bf16 computed in f32. By the Euler-Maclaurin formula after ten
    /// terms; it differentiates by both arguments.
    ///
    /// # Errors
    /// Another dtype, two dtypes, shapes that do not broadcast.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|s: Sym| s.zeta(1.0), Tensor::from(2f64), &Interp)?;
    /// assert!((y.item::<f64>()? - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-14);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn zeta(self, q: impl Operand) -> Sym {
        let _at = builder::pin();
        match operands("zeta", self, q) {
            Some(o) => o.round(hurwitz(o.x[0], o.x[1])),
            None => Sym::POISON,
        }
    }
    /// The `n`-th derivative of `digamma`, of x > 0: (-1)ⁿ⁺¹·n!·ζ(n + 1, x), as `scipy.special.polygamma`; `digamma`
    /// itself for 0. For n ≥ 1 inf at 0 and the negative integers, and NaN elsewhere below 0. Element-wise, of x's
    /// shape and dtype, a real float (f16 and bf16 computed in f32).
    ///
    /// # Errors
    /// Another dtype.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.polygamma(1), Tensor::from(1f64), &Interp)?;
    /// assert!((y.item::<f64>()? - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-14);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn polygamma(self, n: u32) -> Sym {
        let _at = builder::pin();
        let Some(o) = operand("polygamma", self) else { return Sym::POISON };
        let [x] = o.x;
        if n == 0 {
            return o.round(x.digamma());
        }
        let factorial: f64 = (1..=n).map(f64::from).product();
        let zeta = hurwitz(x.full_like(f64::from(n) + 1.0), x);
        o.round(zeta * if n % 2 == 1 { factorial } else { -factorial })
    }
    /// The logarithm of the multivariate gamma function of dimension `d`,
    /// d(d-1)/4·log π + Σ log Γ(x - j/2) over j < d, for x above (d - 1)/2, as `scipy.special.multigammaln`.
    /// Element-wise, of x's shape and dtype, a real float (f16 and bf16 computed in f32).
    ///
    /// # Errors
    /// Another dtype.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.multigammaln(1), Tensor::from(3f64), &Interp)?;
    /// assert!((y.item::<f64>()? - 2f64.ln()).abs() < 1e-15);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn multigammaln(self, d: u32) -> Sym {
        let _at = builder::pin();
        let Some(o) = operand("multigammaln", self) else { return Sym::POISON };
        let [x] = o.x;
        let d = f64::from(d);
        let mut sum = x.full_like(d * (d - 1.0) / 4.0 * PI.ln());
        let mut shift = 0.0;
        while shift < d / 2.0 {
            sum += (x - shift).lgamma();
            shift += 0.5;
        }
        o.round(sum)
    }
}

#[track_caller]
fn hurwitz(s0: Sym, q0: Sym) -> Sym {
    let sound = s0.gt(1) & q0.gt(0) & q0.lt(f64::INFINITY);
    let (s, q) = (sound.select(s0, 2), sound.select(q0, 1));
    let mut sum = q.pow(-s);
    for k in 1..TERMS {
        sum += (q + k).pow(-s);
    }
    let a = q + TERMS;
    let last = a.pow(-s);
    let inverse = a.reciprocal();
    let square = inverse * inverse;
    let mut rising = s * inverse;
    let mut tail = rising.full_like(0.5);
    for (j, &c) in EULER_MACLAURIN.iter().enumerate() {
        tail += rising * c;
        let j = 2.0 * j as f64;
        rising = rising * (s + (j + 1.0)) * (s + (j + 2.0)) * square;
    }
    let value = sum + last * (a / (s - 1.0) + tail);
    let pole = s0.eq(1) | (s0.gt(1) & q0.le(0) & q0.floor().eq(q0));
    let gone = s0.gt(1) & q0.eq(f64::INFINITY);
    sound.select(value, pole.select(f64::INFINITY, gone.select(0, s0.full_like(f64::NAN))))
}

/// B₂ⱼ/(2j)! from j = 1.
const EULER_MACLAURIN: [f64; 12] = [
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
    5.5090028283602295e-18,
    -1.3954464685812522e-19,
];
