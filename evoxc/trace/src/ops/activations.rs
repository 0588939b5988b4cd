//! Activation functions, as `jax.nn` defines them; f(x) keeps the shape and dtype of x, a real float unless it says
//! otherwise.

use super::checks::{float, inexact, number};
use super::parts::filled;
use crate::Sym;

/// √½, √(2/π)
const SQRT_HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
const SQRT_2_OVER_PI: f64 = 0.7978845608028654;
/// The fixed point of Klambauer et al., "Self-Normalizing Neural Networks".
const SELU_ALPHA: f64 = 1.6732632423543772;
const SELU_SCALE: f64 = 1.0507009873554805;

impl Sym {
    /// x², for any number.
    #[track_caller]
    pub fn square(self) -> Sym {
        if number("square", self).is_none() { Sym::POISON } else { self * self }
    }
    /// 1/x, for floats and complex numbers.
    #[track_caller]
    pub fn reciprocal(self) -> Sym {
        match inexact("reciprocal", self) {
            Some(t) => filled("reciprocal", 1, t.dtype, &t.shape) / self,
            None => Sym::POISON,
        }
    }
    /// max(x, 0), also for integers; NaN stays, and the derivative at 0 is 0, as in JAX.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let g = trace(|x: Sym| x.relu(), spec(F32, (dim("B"), 4))).unwrap();
    /// assert_eq!(g.output_specs(), g.input_specs());
    /// ```
    #[track_caller]
    pub fn relu(self) -> Sym {
        // Not `maximum`, whose derivative at a tie is one half.
        if number("relu", self).is_none() { Sym::POISON } else { self.le(0).select(0, self) }
    }
    /// min(max(x, 0), 6).
    #[track_caller]
    pub fn relu6(self) -> Sym {
        if float("relu6", self).is_none() { Sym::POISON } else { self.clip(0, 6) }
    }
    /// x where it is not negative, else `slope`·x.
    #[track_caller]
    pub fn leaky_relu(self, slope: f64) -> Sym {
        if float("leaky_relu", self).is_none() { Sym::POISON } else { self.ge(0).select(self, self * slope) }
    }
    /// x where it is positive, else `alpha`·(eˣ - 1).
    #[track_caller]
    pub fn elu(self, alpha: f64) -> Sym {
        if float("elu", self).is_none() {
            return Sym::POISON;
        }
        let positive = self.gt(0);
        // exp of a large x would be inf, and its derivative NaN, though the value is not used.
        positive.select(self, positive.select(0, self).expm1() * alpha)
    }
    /// `elu` scaled so that activations keep mean 0 and variance 1 (Klambauer et al., 2017).
    #[track_caller]
    pub fn selu(self) -> Sym {
        if float("selu", self).is_none() { Sym::POISON } else { self.elu(SELU_ALPHA) * SELU_SCALE }
    }
    /// max(x, 0) + `alpha`·(exp(min(x, 0)/`alpha`) - 1).
    #[track_caller]
    pub fn celu(self, alpha: f64) -> Sym {
        if float("celu", self).is_none() {
            return Sym::POISON;
        }
        self.maximum(0) + (self.minimum(0) / alpha).expm1() * alpha
    }
    /// x·Φ(x), with the normal distribution function Φ (the erf form).
    #[track_caller]
    pub fn gelu(self) -> Sym {
        if float("gelu", self).is_none() {
            return Sym::POISON;
        }
        // erfc, not 1 + erf, which is 0 for x below -6.
        self * 0.5 * (self * -SQRT_HALF).erfc()
    }
    /// The tanh approximation of `gelu`: ½x(1 + tanh(√(2/π)(x + 0.044715x³))).
    #[track_caller]
    pub fn gelu_tanh(self) -> Sym {
        if float("gelu_tanh", self).is_none() {
            return Sym::POISON;
        }
        let inner = (self + self * self * self * 0.044715) * SQRT_2_OVER_PI;
        self * ((inner.tanh() + 1) * 0.5)
    }
    /// x·σ(1.702x), another approximation of `gelu`.
    #[track_caller]
    pub fn quick_gelu(self) -> Sym {
        if float("quick_gelu", self).is_none() { Sym::POISON } else { self * (self * 1.702).logistic() }
    }
    /// x·σ(x).
    #[track_caller]
    pub fn silu(self) -> Sym {
        if float("silu", self).is_none() { Sym::POISON } else { self * self.logistic() }
    }
    /// Another name of `silu`.
    #[track_caller]
    pub fn swish(self) -> Sym {
        self.silu()
    }
    /// x·tanh(softplus(x)).
    #[track_caller]
    pub fn mish(self) -> Sym {
        if float("mish", self).is_none() { Sym::POISON } else { self * self.softplus().tanh() }
    }
    /// log(1 + eˣ), without overflow.
    #[track_caller]
    pub fn softplus(self) -> Sym {
        if float("softplus", self).is_none() { Sym::POISON } else { self.logaddexp(0) }
    }
    /// x / (1 + |x|).
    #[track_caller]
    pub fn softsign(self) -> Sym {
        if float("softsign", self).is_none() { Sym::POISON } else { self / (self.abs() + 1) }
    }
    /// 1 / (1 + e⁻ˣ): the primitive `logistic`.
    #[track_caller]
    pub fn sigmoid(self) -> Sym {
        self.logistic()
    }
    /// log σ(x) = -softplus(-x).
    #[track_caller]
    pub fn log_sigmoid(self) -> Sym {
        if float("log_sigmoid", self).is_none() { Sym::POISON } else { -((-self).softplus()) }
    }
    /// min(max(x, -1), 1); the derivative at -1 and 1 is 1, as in JAX.
    #[track_caller]
    pub fn hard_tanh(self) -> Sym {
        if float("hard_tanh", self).is_none() {
            return Sym::POISON;
        }
        // Not `clip`, whose derivative at a bound is 0.
        self.gt(1).select(1, self.lt(-1).select(-1, self))
    }
    /// relu6(x + 3) / 6.
    #[track_caller]
    pub fn hard_sigmoid(self) -> Sym {
        if float("hard_sigmoid", self).is_none() { Sym::POISON } else { (self + 3).clip(0, 6) / 6 }
    }
    /// x·hard_sigmoid(x).
    #[track_caller]
    pub fn hard_swish(self) -> Sym {
        if float("hard_swish", self).is_none() { Sym::POISON } else { self * self.hard_sigmoid() }
    }
}
