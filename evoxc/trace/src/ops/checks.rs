//! What composites ask of their operands before they build anything: errors name the method that the user called.

use crate::operand::together;
use crate::{Operand, Sym, builder};
use evoxc_core::TensorSpec;

/// The type of `x`, or a recorded error.
#[track_caller]
pub(crate) fn known(op: &str, x: Sym) -> Option<TensorSpec> {
    let t = x.ty();
    if t.is_none() {
        // Records the reason, unless it is recorded already.
        let _ = builder::resolve_all(op, &[x], builder::here());
    }
    t
}

#[track_caller]
fn require(op: &str, x: Sym, ok: fn(&TensorSpec) -> bool, what: &str, remedy: &str) -> Option<TensorSpec> {
    let t = known(op, x)?;
    if ok(&t) {
        return Some(t);
    }
    builder::fail(op, &[x], format!("needs {what}, got {}", t.dtype), Some(remedy.into()));
    None
}

/// A real float.
#[track_caller]
pub(crate) fn float(op: &str, x: Sym) -> Option<TensorSpec> {
    require(op, x, |t| t.dtype.is_float(), "a real float tensor", "`.cast(F32)` it first")
}

/// A real or complex float.
#[track_caller]
pub(crate) fn inexact(op: &str, x: Sym) -> Option<TensorSpec> {
    let ok = |t: &TensorSpec| t.dtype.is_float() || t.dtype.is_complex();
    require(op, x, ok, "a float or complex tensor", "`.cast(F32)` it first")
}

/// Anything but bool.
#[track_caller]
pub(crate) fn number(op: &str, x: Sym) -> Option<TensorSpec> {
    require(op, x, |t| !t.dtype.is_bool(), "a tensor of numbers", "`.cast(I32)` it first")
}

/// A real number.
#[track_caller]
pub(crate) fn real(op: &str, x: Sym) -> Option<TensorSpec> {
    let ok = |t: &TensorSpec| t.dtype.is_float() || t.dtype.is_int();
    require(op, x, ok, "a tensor of real numbers", "`.cast(..)` it first, or take `.real()` or `.abs()`")
}

/// An integer.
#[track_caller]
pub(crate) fn integer(op: &str, x: Sym) -> Option<TensorSpec> {
    require(op, x, |t| t.dtype.is_int(), "an integer tensor", "`.cast(I32)` it first")
}

/// A bool.
#[track_caller]
pub(crate) fn boolean(op: &str, x: Sym) -> Option<TensorSpec> {
    require(op, x, |t| t.dtype.is_bool(), "a bool tensor", "compare it first: `.ne(0)`")
}

/// Real floats of one dtype, broadcast together: the operands and their type.
#[track_caller]
pub(crate) fn two_floats(op: &str, a: Sym, b: impl Operand) -> Option<(Sym, Sym, TensorSpec)> {
    float(op, a)?;
    let (a, b) = together(op, a, b)?;
    let t = known(op, a)?;
    same_dtype(op, a, b)?;
    Some((a, b, t))
}

/// Two operands of one dtype.
#[track_caller]
pub(crate) fn same_dtype(op: &str, a: Sym, b: Sym) -> Option<()> {
    let (s, t) = (known(op, a)?, known(op, b)?);
    if s.dtype == t.dtype {
        return Some(());
    }
    let message = format!("the operands have different dtypes, {} and {}", s.dtype, t.dtype);
    builder::fail(op, &[a, b], message, Some(format!("`.cast({:?})` one of them", s.dtype)));
    None
}
