//! Ops of complex numbers that compilers have on their parts only.

use super::Outcome;
use super::text;
use super::writer::{Val, Writer};
use evoxc_core::DType;

/// Real and imaginary part.
pub(super) fn parts(w: &mut Writer<'_>, x: &Val) -> (Val, Val) {
    let ty = x.like(x.dtype().real());
    (w.typed("real", &[x], "", ty.clone()), w.typed("imag", &[x], "", ty))
}

/// The complex number of two parts.
pub(super) fn join(w: &mut Writer<'_>, re: &Val, im: &Val) -> Val {
    let ty = re.like(if re.dtype() == DType::F64 { DType::C128 } else { DType::C64 });
    w.op(&format!("stablehlo.complex {re}, {im} : {}", text::ty(&ty)), ty)
}

/// Neither part is NaN.
fn is_number(w: &mut Writer<'_>, re: &Val, im: &Val) -> Outcome<Val> {
    let (a, b) = (w.compare("EQ", re, re), w.compare("EQ", im, im));
    w.same("and", &[&a, &b])
}

/// Not behind the other by (real, imag).
fn ahead(w: &mut Writer<'_>, larger: bool, a: &(Val, Val), b: &(Val, Val)) -> Outcome<Val> {
    let (strict, weak) = if larger { ("GT", "GE") } else { ("LT", "LE") };
    let first = w.compare(strict, &a.0, &b.0);
    let tie = w.compare("EQ", &a.0, &b.0);
    let second = w.compare(weak, &a.1, &b.1);
    let second = w.same("and", &[&tie, &second])?;
    w.same("or", &[&first, &second])
}

/// The larger or smaller by (real, imag); one with a NaN part wins, the first of two.
pub(super) fn extremum(w: &mut Writer<'_>, larger: bool, x: &Val, y: &Val) -> Outcome<Val> {
    let (a, b) = (parts(w, x), parts(w, y));
    let (a_number, b_number) = (is_number(w, &a.0, &a.1)?, is_number(w, &b.0, &b.1)?);
    let by = ahead(w, larger, &a, &b)?;
    let first = w.same("and", &[&b_number, &by])?;
    let nan = w.same("not", &[&a_number])?;
    let first = w.same("or", &[&nan, &first])?;
    Ok(w.choose(&first, x, y))
}

/// In polar form, as StableHLO's op is taken on reals only by XLA.
pub(super) fn cbrt(w: &mut Writer<'_>, x: &Val) -> Outcome<Val> {
    let (re, im) = parts(w, x);
    let modulus = w.typed("abs", &[x], "", re.ty.clone());
    let (root, angle) = (w.same("cbrt", &[&modulus])?, w.same("atan2", &[&im, &re])?);
    let three = w.splat(&re.ty, 3)?;
    let third = w.same("divide", &[&angle, &three])?;
    let (cos, sin) = (w.same("cosine", &[&third])?, w.same("sine", &[&third])?);
    let (re, im) = (w.same("multiply", &[&root, &cos])?, w.same("multiply", &[&root, &sin])?);
    Ok(join(w, &re, &im))
}
