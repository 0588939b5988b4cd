//! Gamma numbers, and what is made of them.

use super::bits::unit;
use super::continuous::{gaussian, waiting};
use super::discrete::categories;
use super::implicit::{Number, follow, linked, rate};
use super::key::Key;
use super::parameter::{Bounds, float_dtype, parameter};
use crate::operand::broadcast_to;
use crate::ops::{convert, filled};
use crate::{Operand, Sym, builder, while_loop};
use evoxc_core::{BOOL, DType, F32, IntoShape, Shape};

/// Gamma numbers of shape parameter `alpha` and scale 1, by Marsaglia and Tsang, "A simple method for generating gamma
/// variables", 2000: normal numbers are drawn until each is accepted, 1.05 times in the worst case; an `alpha` below 1 is
/// drawn as `alpha` + 1 and scaled by u^(1/alpha). `alpha` is a number or a `Sym` of that dtype that broadcasts to the
/// result; below 0 and of NaN the result is NaN, at 0 it is 0. f16 and bf16 are drawn in f32 and rounded.
///
/// Differentiable in `alpha`, twice: the number keeps its place in the distribution (implicit reparametrisation, as JAX
/// has it; JAX draws other numbers, element by element). A third derivative is refused.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|k: Sym| random::gamma(k, F32, [8], 2.5), random::key(1), &Interp)?;
/// assert!(y.to_vec::<f32>()?.iter().all(|y| *y > 0.0));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is no real float; an `alpha` that is a number not above 0.
#[track_caller]
pub fn gamma(key: Sym, dtype: DType, shape: impl IntoShape, alpha: impl Operand) -> Sym {
    let _at = builder::pin();
    let op = "gamma";
    let shape = shape.into_shape();
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    let Some(dtype) = float_dtype(op, dtype) else { return Sym::POISON };
    let full = key.drawn(&shape);
    let Some(alpha) = parameter(op, "alpha", alpha.operand(), dtype, &full, Bounds::POSITIVE) else {
        return Sym::POISON;
    };
    let g = Gamma::draw(op, &key, alpha, &shape);
    convert(g.number(), dtype)
}

/// Beta numbers: a/(a + b) of two [`gamma`] numbers of parameters `a` and `b`, worked out from their logarithms. The
/// parameters are as in [`gamma`], and so are derivatives.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|k: Sym| random::beta(k, F32, [8], 0.5, 2), random::key(1), &Interp)?;
/// assert!(y.to_vec::<f32>()?.iter().all(|y| (0.0..=1.0).contains(y)));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// As [`gamma`].
#[track_caller]
pub fn beta(key: Sym, dtype: DType, shape: impl IntoShape, a: impl Operand, b: impl Operand) -> Sym {
    let _at = builder::pin();
    let op = "beta";
    let shape = shape.into_shape();
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    let Some(dtype) = float_dtype(op, dtype) else { return Sym::POISON };
    let full = key.drawn(&shape);
    let (Some(a), Some(b)) = (
        parameter(op, "a", a.operand(), dtype, &full, Bounds::POSITIVE),
        parameter(op, "b", b.operand(), dtype, &full, Bounds::POSITIVE),
    ) else {
        return Sym::POISON;
    };
    let [ka, kb] = key.split();
    let (a, b) = (Gamma::draw(op, &ka, a, &shape).log(), Gamma::draw(op, &kb, b, &shape).log());
    convert((a - b).logistic(), dtype)
}

/// Dirichlet vectors: [`gamma`] numbers of the parameters along the last axis of `alpha`, divided by their sum. Shape: the
/// key's batch axes, `shape`, the last axis of `alpha`, whose other axes broadcast to `shape`. Of alpha's dtype. Worked out
/// from logarithms, so that small parameters do not give 0/0. Derivatives as in [`gamma`].
///
/// ```
/// use evoxc::prelude::*;
/// let f = |k: Sym, alpha: Sym| random::dirichlet(k, [5], alpha);
/// let graph = trace(f, (random::key_spec(), spec(F32, [3])))?;
/// assert_eq!(graph.output_specs(), [spec(F32, [5, 3])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// `alpha` is no real float, has no axis or nothing along it, or does not broadcast.
#[track_caller]
pub fn dirichlet(key: Sym, shape: impl IntoShape, alpha: Sym) -> Sym {
    let _at = builder::pin();
    let op = "dirichlet";
    let shape = shape.into_shape();
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    let Some((dtype, n)) = categories(op, "alpha", alpha, &key.drawn(&shape)) else { return Sym::POISON };
    let wide: Shape = shape.iter().copied().chain([n]).collect();
    convert(Gamma::draw(op, &key, alpha, &wide).log().softmax(-1), dtype)
}

/// A gamma number in parts: scale·accepted, times e^(-waiting/alpha) unless alpha is large.
struct Gamma {
    /// What is differentiated. All else is constant to derivatives.
    parameter: Sym,
    parts: Parts,
}

#[derive(Clone, Copy)]
struct Parts {
    alpha: Sym,
    scale: Sym,
    accepted: Sym,
    waiting: Sym,
}

impl Gamma {
    /// A draw of `shape` in f32 or f64; `alpha` broadcasts to it.
    #[track_caller]
    fn draw(op: &str, key: &Key, alpha: Sym, shape: &Shape) -> Gamma {
        let full = key.drawn(shape);
        let dtype = alpha.dtype();
        let work = if dtype.size() < 4 { F32 } else { dtype };
        let parameter = broadcast_to(op, convert(alpha, work), &full);
        let alpha = parameter.stop_gradient();
        let large = alpha.ge(1);
        let scale = large.select(alpha, alpha + 1) - 1.0 / 3.0;
        let slope = scale.rsqrt() * (1.0 / 3.0);
        let [trials, boost] = key.split();
        let start = (trials.sym, filled(op, 0, work, &full), filled(op, false, BOOL, &full));
        // All are drawn again until the last is accepted; those that were keep their value, so each row of a batch of
        // keys is what its own key gives.
        let (_, accepted, _) = while_loop(
            start,
            |(_, _, done)| !done.all(..),
            |(k, kept, done)| {
                let [next, kx, ku] = trials.with(k).split();
                let x = gaussian(op, &kx, work, shape);
                let u = unit(op, &ku, work, shape);
                let t = x * slope + 1;
                let (v, xx) = (t * t * t, x * x);
                let outside = u.ge(1.0 - xx * xx * 0.0331)
                    & u.log().ge(xx * 0.5 + scale * (1.0 - v + t.gt(0).select(v, 1).log()));
                // NaN is accepted, or it would be drawn for ever.
                let rejected = t.le(0) | outside;
                (next.sym, (done | rejected).select(kept, v), done | !rejected)
            },
        );
        let waiting = waiting(op, &boost, work, shape);
        Gamma { parameter, parts: Parts { alpha, scale, accepted, waiting } }
    }
    /// The number.
    #[track_caller]
    fn number(&self) -> Sym {
        let p = self.parts;
        self.follow(p.number(), |alpha, x, p| {
            let (alpha, number) = linked(1, alpha, Number { x, log: p.log() });
            // A number that is too small for a float stays 0. Its logarithm moves faster than floats tell, and 0 times
            // the derivative of that would be NaN.
            let gone = number.x.eq(0);
            let some = Number { x: gone.select(1, number.x), log: gone.select(0, number.log) };
            (number.x, gone.select(0, some.x * rate(gone.select(1, alpha), some)))
        })
    }
    /// The logarithm of the number.
    #[track_caller]
    fn log(&self) -> Sym {
        let p = self.parts;
        self.follow(p.log(), |alpha, log, p| {
            let (alpha, number) = linked(1, alpha, Number { x: p.number(), log });
            (number.log, rate(alpha, number))
        })
    }
    /// A value that depends on alpha by this rule, see [`follow`].
    #[track_caller]
    fn follow(&self, value: Sym, rule: impl FnOnce(Sym, Sym, Parts) -> (Sym, Sym)) -> Sym {
        let p = self.parts;
        let rule = |alpha: Sym, values: &[Sym], more: &[Sym]| match (values, more) {
            (&[value], &[scale, accepted, waiting]) => {
                let parts = Parts { alpha: alpha.stop_gradient(), scale, accepted, waiting };
                let (value, slope) = rule(alpha, value, parts);
                (vec![value], vec![slope])
            }
            _ => (vec![], vec![]),
        };
        let list = follow(self.parameter, &[value], &[p.scale, p.accepted, p.waiting], rule);
        list.first().copied().unwrap_or(Sym::POISON)
    }
}

impl Parts {
    /// Is there no boost? 0/0 is NaN: no wait, and an alpha of 0.
    #[track_caller]
    fn whole(&self) -> Sym {
        self.alpha.ge(1) | self.waiting.eq(0)
    }
    #[track_caller]
    fn number(&self) -> Sym {
        let boost = (self.alpha.ones_like() / self.alpha * -self.waiting).exp();
        let boost = self.whole().select(1, boost);
        self.alpha.lt(0).select(f64::NAN, self.scale * self.accepted * boost)
    }
    #[track_caller]
    fn log(&self) -> Sym {
        let boost = self.whole().select(0, -self.waiting / self.alpha);
        let log = self.scale.log() + self.accepted.log() + boost;
        self.alpha.lt(0).select(f64::NAN, log)
    }
}
