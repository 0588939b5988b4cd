//! Poisson numbers.

use super::bits::unit;
use super::discrete::dtype_of;
use super::key::Key;
use super::parameter::{Bounds, number, parameter};
use crate::operand::broadcast_to;
use crate::ops::{convert, filled};
use crate::{Operand, Sym, builder, while_loop};
use evoxc_core::{BOOL, DType, F32, F64, I32, IntoShape, Shape};

/// Below this rate numbers are multiplied, above it they are rejected.
const LARGE: f64 = 10.0;

/// Poisson numbers of mean `rate`, of a number dtype that should hold them (else they saturate). `rate` is a number, or a
/// float `Sym` that broadcasts to the result; where a `Sym` is negative, infinite or NaN the result is -1 (as an unsigned
/// integer the largest). Derivatives in the rate are 0, also of float dtypes: the numbers are whole.
///
/// As `jax.random.poisson`: below a rate of 10, uniform numbers are multiplied until the product is below e^(-rate) (Knuth);
/// from there on by transformed rejection (Hörmann, "The transformed rejection method for generating Poisson random
/// variables", 1993, algorithm PTRS).
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|k: Sym| random::poisson(k, I32, [8], 3.5), random::key(1), &Interp)?;
/// assert!(y.to_vec::<i32>()?.iter().all(|y| *y >= 0));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// `dtype` is a bool or complex; a rate that is a number below 0 or not finite, or a `Sym` that is no real float.
#[track_caller]
pub fn poisson(key: Sym, dtype: DType, shape: impl IntoShape, rate: impl Operand) -> Sym {
    let _at = builder::pin();
    let op = "poisson";
    let (shape, given) = (shape.into_shape(), rate.operand());
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    if !dtype.is_int() && !dtype.is_float() {
        let remedy = Some("draw I32 and `.cast(..)` it".to_string());
        return builder::fail(op, &[], format!("needs a dtype of real numbers, got {dtype}"), remedy);
    }
    let full = key.drawn(&shape);
    let Some(own) = dtype_of(op, given) else { return Sym::POISON };
    let Some(rate) = parameter(op, "rate", given, own, &full, Bounds::NOT_NEGATIVE) else { return Sym::POISON };
    let rate = convert(rate, if own == F64 { F64 } else { F32 });
    let rate = broadcast_to(op, rate.stop_gradient(), &full);
    match number(given) {
        Some(0.0) => filled(op, 0, dtype, &full),
        Some(r) if r < LARGE => convert(products(&key, rate, &shape), dtype),
        Some(_) => convert(rejections(&key, rate, &shape), dtype),
        None => {
            let (small, valid) = (rate.lt(LARGE), rate.ge(0) & rate.lt(f64::INFINITY));
            // Each way gets only rates that it ends with.
            let few = products(&key, (small & valid).select(rate, 0), &shape);
            let many = rejections(&key, (small | !valid).select(1e5, rate), &shape);
            let both = small.select(convert(few, dtype), convert(many, dtype));
            let none = convert(filled(op, -1, I32, &full), dtype);
            valid.select(rate.eq(0).select(0, both), none)
        }
    }
}

/// How many uniform numbers can be multiplied before the product falls to e^(-rate), as i32.
#[track_caller]
fn products(key: &Key, rate: Sym, shape: &Shape) -> Sym {
    let (op, work, full) = ("poisson", rate.dtype(), key.drawn(shape));
    let start = (key.sym, filled(op, 0, I32, &full), filled(op, 0, work, &full));
    let (_, count, _) = while_loop(
        start,
        |(_, _, log)| log.gt(-rate).any(..),
        |(k, count, log)| {
            let [next, sub] = key.with(k).split();
            let above = log.gt(-rate);
            (next.sym, above.select(count + 1, count), log + unit(op, &sub, work, shape).log())
        },
    );
    count - 1
}

/// Whole floats, for rates from 10 on.
#[track_caller]
fn rejections(key: &Key, rate: Sym, shape: &Shape) -> Sym {
    let (op, work, full) = ("poisson", rate.dtype(), key.drawn(shape));
    let log_rate = rate.log();
    let b = rate.sqrt() * 2.53 + 0.931;
    let a = b * 0.02483 - 0.059;
    let inverse_alpha = (1.1328 / (b - 3.4)) + 1.1239;
    let squeeze = 0.9277 - 3.6224 / (b - 2);
    let start = (key.sym, filled(op, -1, work, &full), filled(op, false, BOOL, &full));
    let (_, x, _) = while_loop(
        start,
        |(_, _, done)| !done.all(..),
        |(k, kept, done)| {
            let [next, ku, kv] = key.with(k).split();
            let u = unit(op, &ku, work, shape) - 0.5;
            let v = unit(op, &kv, work, shape);
            let us = 0.5 - u.abs();
            let x = ((a * 2 / us + b) * u + rate + 0.43).floor();
            let s = (v * inverse_alpha / (a / (us * us) + b)).log();
            let t = x * log_rate - rate - (x + 1).lgamma();
            let inside = us.ge(0.07) & v.le(squeeze);
            let outside = x.lt(0) | (us.lt(0.013) & v.gt(us));
            let accepted = inside | (!outside & s.le(t));
            // JAX lets a later acceptance replace an earlier one; here the first counts, so that a row does not depend
            // on how long its neighbours take.
            (next.sym, (accepted & !done).select(x, kept), done | accepted)
        },
    );
    x
}
