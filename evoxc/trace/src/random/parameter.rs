//! Parameters of distributions: numbers or `Sym`s, checked as far as they are known.

use crate::operand::{broadcast_shapes, lift};
use crate::ops::{known, largest};
use crate::{Opnd, Sym, builder};
use evoxc_core::{DType, Scalar, Shape, spec};

/// What a parameter that is a number must be.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub low: f64,
    pub high: f64,
    /// `low` itself is not among them.
    pub open: bool,
    pub what: &'static str,
}

impl Bounds {
    pub const FINITE: Bounds = Bounds { low: f64::MIN, high: f64::MAX, open: false, what: "a finite number" };
    pub const ANY: Bounds =
        Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY, open: false, what: "a number other than NaN" };
    pub const POSITIVE: Bounds = Bounds { low: 0.0, high: f64::MAX, open: true, what: "a finite number above 0" };
    pub const NOT_NEGATIVE: Bounds =
        Bounds { low: 0.0, high: f64::MAX, open: false, what: "a finite number, 0 or above" };
    pub const PROBABILITY: Bounds = Bounds { low: 0.0, high: 1.0, open: false, what: "a probability, 0 to 1" };
    fn hold(self, x: f64) -> bool {
        self.low <= x && x <= self.high && !(self.open && x == self.low)
    }
}

/// A float dtype, or a recorded error.
#[track_caller]
pub(super) fn float_dtype(op: &str, dtype: DType) -> Option<DType> {
    if dtype.is_float() {
        return Some(dtype);
    }
    let remedy = "draw F32 and `.cast(..)` it, or use `random::randint` or `random::bits`".to_string();
    builder::fail(op, &[], format!("needs a real float dtype, got {dtype}"), Some(remedy));
    None
}

/// The number that an operand is, if it is known now.
pub(super) fn number(x: Opnd) -> Option<f64> {
    match x {
        Opnd::Scalar(Scalar::Int(i)) => Some(i as f64),
        Opnd::Scalar(Scalar::Float(x)) => Some(x),
        Opnd::Scalar(Scalar::Bool(_) | Scalar::Complex(_)) | Opnd::Sym(_) => None,
        Opnd::Dim(d) => d.as_i64().map(|d| d as f64),
    }
}

/// Are bounds that are numbers in order?
#[track_caller]
pub(super) fn ordered(op: &str, low: Opnd, high: Opnd) -> Option<()> {
    match (number(low), number(high)) {
        // Of NaN it is said that it is no bound.
        (Some(l), Some(h)) if l >= h => {
            let m = format!("there is nothing from {l} up to {h}: the lower bound is not below the upper");
            builder::fail(op, &[], m, Some("exchange the bounds, or widen them".into()));
            None
        }
        _ => Some(()),
    }
}

/// A parameter as a `Sym` of `dtype`: a number as a scalar; a `Sym` as it is, which broadcasts to `full`.
#[track_caller]
pub(super) fn parameter(op: &str, name: &str, x: Opnd, dtype: DType, full: &Shape, bounds: Bounds) -> Option<Sym> {
    if let Some(v) = number(x).filter(|&v| !bounds.hold(v)) {
        let m = format!("`{name}` is {v:?}, not {}", bounds.what);
        builder::fail(op, &[], m, None);
        return None;
    }
    // Where infinities are meant, a large number may become one.
    if let Some(v) = number(x).filter(|v| bounds.high.is_finite() && v.abs() > largest(dtype)) {
        let m = format!("`{name}` is {v:?}, which is infinite as {dtype}");
        builder::fail(op, &[], m, Some("draw a wider dtype, and `.cast(..)` it".into()));
        return None;
    }
    let s = lift(op, x, &spec(dtype, full), false);
    let t = known(op, s)?;
    if t.dtype != dtype {
        let m = format!("`{name}` is {}, the draw {dtype}", t.dtype);
        builder::fail(op, &[s], m, Some(format!("`.cast({dtype:?})` it")));
        return None;
    }
    fits(op, name, s, &t.shape, full)?;
    Some(s)
}

/// Does a parameter broadcast to the draw?
#[track_caller]
pub(super) fn fits(op: &str, name: &str, s: Sym, shape: &Shape, full: &Shape) -> Option<()> {
    if broadcast_shapes(shape, full).as_ref() == Ok(full) {
        return Some(());
    }
    let m = format!("`{name}` of shape {shape} does not broadcast to the draw's shape {full}");
    builder::fail(op, &[s], m, Some("give the shape of the whole draw, the parameter's axes included".into()));
    None
}
