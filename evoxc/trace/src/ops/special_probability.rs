//! Entropies, divergences and the logarithm of the normal distribution function.

use super::series::{operand, operands};
use crate::{Operand, Sym, builder};
use std::f64::consts::PI;

impl Sym {
    /// -x·log(x): 0 at 0, and -inf below, as `scipy.special.entr`. Element-wise, of x's shape and dtype, a real float.
    ///
    /// # Errors
    /// Another dtype.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.entr(), Tensor::from([0f64, 1.0, -1.0]), &Interp)?;
    /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.0, f64::NEG_INFINITY]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn entr(self) -> Sym {
        let _at = builder::pin();
        let Some(o) = operand("entr", self) else { return Sym::POISON };
        let [x] = o.x;
        let out = x.le(0);
        let value = -x * out.select(1, x).log();
        o.round(x.lt(0).select(f64::NEG_INFINITY, x.eq(0).select(0, value)))
    }
    /// x·log(x/y), a term of the Kullback-Leibler divergence: 0 where x is 0 and y ≥ 0, and inf outside of x, y > 0, as
    /// `scipy.special.rel_entr`. Element-wise, broadcast together; real floats of one dtype.
    ///
    /// # Errors
    /// Another dtype, two dtypes, shapes that do not broadcast.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.rel_entr(1.0), Tensor::from([0f64, 1.0, -1.0]), &Interp)?;
    /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.0, f64::INFINITY]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn rel_entr(self, y: impl Operand) -> Sym {
        let _at = builder::pin();
        match operands("rel_entr", self, y) {
            Some(o) => o.round(relative(o.x[0], o.x[1])),
            None => Sym::POISON,
        }
    }
    /// x·log(x/y) - x + y, never below 0, as `scipy.special.kl_div`; y where x is 0, and inf where `rel_entr` is.
    /// Element-wise, broadcast together; real floats of one dtype.
    ///
    /// # Errors
    /// Another dtype, two dtypes, shapes that do not broadcast.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.kl_div(2.0), Tensor::from([0f64, 2.0]), &Interp)?;
    /// assert_eq!(y.to_vec::<f64>()?, [2.0, 0.0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn kl_div(self, y: impl Operand) -> Sym {
        let _at = builder::pin();
        let Some(o) = operands("kl_div", self, y) else { return Sym::POISON };
        let [x, y] = o.x;
        let entropy = relative(x, y);
        let infinite = entropy.eq(f64::INFINITY);
        o.round(infinite.select(f64::INFINITY, infinite.select(0, entropy - x + y)))
    }
    /// The logarithm of the normal distribution function, exact in the lower tail, as `scipy.special.log_ndtr`.
    /// Element-wise, of x's shape and dtype, a real float (f16 and bf16 computed in f32). The asymptotic series
    /// (Abramowitz and Stegun 26.2.12) far below 0, as in JAX.
    ///
    /// # Errors
    /// Another dtype.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.log_ndtr(), Tensor::from([0f64, -40.0]), &Interp)?.to_vec::<f64>()?;
    /// assert!((y[0] + 2f64.ln()).abs() < 1e-15 && (y[1] + 804.6084420137539).abs() < 1e-12);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn log_ndtr(self) -> Sym {
        let _at = builder::pin();
        let Some(o) = operand("log_ndtr", self) else { return Sym::POISON };
        let [x] = o.x;
        let (low, up) = (x.lt(if o.single() { -10.0 } else { -20.0 }), x.gt(-1));
        let middle = (low | up).select(-1, x).ndtr().log();
        let above = (-(-up.select(x, 0)).ndtr()).log1p();
        let z = low.select(x, -1);
        // 1 - 1/z² + 3/z⁴ - 15/z⁶ …
        let square = (z * z).reciprocal();
        let mut sum = z.ones_like();
        for k in (1..=10).rev() {
            sum = sum * square * -f64::from(2 * k - 1) + 1.0;
        }
        let below = z * z * -0.5 - (-z).log() - 0.5 * (2.0 * PI).ln() + sum.log();
        o.round(low.select(below, up.select(above, middle)))
    }
}

#[track_caller]
fn relative(x: Sym, y: Sym) -> Sym {
    let inside = x.gt(0) & y.gt(0);
    let (p, q) = (inside.select(x, 1), inside.select(y, 1));
    let value = p * (p / q).log();
    let zero = x.eq(0) & y.ge(0);
    let rest = (x.is_nan() | y.is_nan()).select(x + y, f64::INFINITY);
    inside.select(value, zero.select(0, rest))
}
