//! Ops of complex numbers that StableHLO has on their parts only.

use super::Outcome;
use super::elementwise::direction;
use super::text;
use super::writer::{Val, Writer};
use evoxc_core::DType;
use evoxc_ir::{Direction, SortOrder};

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

/// Real parts by the strict direction, and imaginary ones by `d` where the real parts are equal.
fn ordered(w: &mut Writer<'_>, d: &str, kind: &str, a: &(Val, Val), b: &(Val, Val)) -> Outcome<Val> {
    let strict = match d {
        "LE" => "LT",
        "GE" => "GT",
        d => d,
    };
    let first = w.compare_as(strict, kind, &a.0, &b.0);
    let tie = w.compare_as("EQ", kind, &a.0, &b.0);
    let second = w.compare_as(d, kind, &a.1, &b.1);
    let second = w.same("and", &[&tie, &second])?;
    w.same("or", &[&first, &second])
}

/// By (real, imag). In IEEE order nothing compares with an imaginary part that is NaN.
pub(super) fn compare(w: &mut Writer<'_>, d: Direction, order: SortOrder, a: &Val, b: &Val) -> Outcome<Val> {
    let (a, b) = (parts(w, a), parts(w, b));
    let kind = match order {
        SortOrder::Ieee => "FLOAT",
        SortOrder::Total => "TOTALORDER",
    };
    match d {
        Direction::Eq | Direction::Ne => {
            let name = direction(d);
            let (re, im) = (w.compare_as(name, kind, &a.0, &b.0), w.compare_as(name, kind, &a.1, &b.1));
            w.same(if d == Direction::Eq { "and" } else { "or" }, &[&re, &im])
        }
        Direction::Lt | Direction::Le | Direction::Gt | Direction::Ge => {
            let by = ordered(w, direction(d), kind, &a, &b)?;
            match order {
                SortOrder::Total => Ok(by),
                SortOrder::Ieee => {
                    let number = is_number(w, &a.1, &b.1)?;
                    w.same("and", &[&by, &number])
                }
            }
        }
    }
}

/// The larger or smaller by (real, imag); one with a NaN part wins, the first of two.
pub(super) fn extremum(w: &mut Writer<'_>, larger: bool, x: &Val, y: &Val) -> Outcome<Val> {
    let (a, b) = (parts(w, x), parts(w, y));
    let (a_number, b_number) = (is_number(w, &a.0, &a.1)?, is_number(w, &b.0, &b.1)?);
    let by = ordered(w, if larger { "GE" } else { "LE" }, "FLOAT", &a, &b)?;
    let first = w.same("and", &[&b_number, &by])?;
    let nan = w.same("not", &[&a_number])?;
    let first = w.same("or", &[&nan, &first])?;
    Ok(w.choose(&first, x, y))
}

/// The real part.
pub(super) fn parts_real(w: &mut Writer<'_>, x: &Val) -> Val {
    w.typed("real", &[x], "", x.like(x.dtype().real()))
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
