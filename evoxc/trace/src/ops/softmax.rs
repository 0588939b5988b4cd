//! softmax and its logarithm.

use super::checks::float;
use super::parts::{reduce, spread};
use crate::Sym;
use crate::axes::many;
use evoxc_core::{IntoAxes, TensorSpec};
use evoxc_ir::Reducer;

/// x less its maximum over `axes`, which is a constant to derivatives (it cancels).
#[track_caller]
fn shifted(x: Sym, t: &TensorSpec, axes: &[usize]) -> Sym {
    let most = reduce(Reducer::Max, x, axes).stop_gradient();
    x - spread(most, &t.shape, axes)
}

impl Sym {
    /// eˣ / Σ eˣ over axes, without overflow; real floats, of the same shape. NaN where all are -inf, as in JAX.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let g = trace(|x: Sym| x.softmax(-1), spec(F32, (dim("B"), 10))).unwrap();
    /// assert_eq!(g.output_specs(), g.input_specs());
    /// ```
    #[track_caller]
    pub fn softmax(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = float("softmax", self) else { return Sym::POISON };
        let Some((axes, _)) = many("softmax", self, axes) else { return Sym::POISON };
        let e = shifted(self, &t, &axes).exp();
        e / spread(reduce(Reducer::Sum, e, &axes), &t.shape, &axes)
    }
    /// log(softmax(x)) over axes, exact where the softmax is tiny; real floats, of the same shape.
    #[track_caller]
    pub fn log_softmax(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = float("log_softmax", self) else { return Sym::POISON };
        let Some((axes, _)) = many("log_softmax", self, axes) else { return Sym::POISON };
        let x = shifted(self, &t, &axes);
        x - spread(reduce(Reducer::Sum, x.exp(), &axes).log(), &t.shape, &axes)
    }
}
