//! Changes of dtype.

use super::writer::{Val, Writer};
use super::{Outcome, complex, shape, text};
use evoxc_core::{DType, Dim, OpError, spec};
use evoxc_ir::TensorType;

pub(super) fn convert(w: &mut Writer<'_>, x: &Val, to: DType) -> Outcome<Val> {
    let from = x.dtype();
    if from == to {
        return Ok(x.clone());
    }
    if matches!(to, DType::F16 | DType::BF16) && from == DType::F64 {
        return rounded_once(w, x, to);
    }
    if to == DType::BF16 && matches!(from, DType::I32 | DType::I64 | DType::U32 | DType::U64) {
        let wide = cast(w, x, DType::F64);
        return rounded_once(w, &wide, to);
    }
    Ok(cast(w, x, to))
}

/// To a half type with one rounding: compilers go from f64, and from integers that f32 does not hold, by way of f32 and
/// round twice. Rounding to f32 so that what is cut off sets the last bit ("to odd") keeps ties apart.
fn rounded_once(w: &mut Writer<'_>, x: &Val, to: DType) -> Outcome<Val> {
    let single = cast(w, x, DType::F32);
    let back = cast(w, &single, DType::F64);
    let (ahead, behind) = (w.same("abs", &[&back])?, w.same("abs", &[x])?);
    let (over, under) = (w.compare("GT", &ahead, &behind), w.compare("LT", &ahead, &behind));
    let bits = w.typed("bitcast_convert", &[&single], "", single.like(DType::I32));
    let (one, zero, minus) = (w.splat(&bits.ty, 1)?, w.splat(&bits.ty, 0)?, w.splat(&bits.ty, -1)?);
    let last = w.same("and", &[&bits, &one])?;
    let even = w.compare("EQ", &last, &zero);
    let (step, back) = (w.choose(&under, &one, &zero), &minus);
    let step = w.choose(&over, back, &step);
    let step = w.choose(&even, &step, &zero);
    let bits = w.same("add", &[&bits, &step])?;
    let odd = w.typed("bitcast_convert", &[&bits], "", bits.like(DType::F32));
    Ok(cast(w, &odd, to))
}

/// The op itself.
pub(super) fn cast(w: &mut Writer<'_>, x: &Val, to: DType) -> Val {
    if x.dtype() == to { x.clone() } else { w.typed("convert", &[x], "", x.like(to)) }
}

pub(super) fn bitcast(w: &mut Writer<'_>, x: &Val, ty: TensorType) -> Outcome<Val> {
    match (x.dtype(), ty.dtype) {
        (DType::C128, DType::C64) => narrower(w, x, ty),
        (DType::C64, DType::C128) => wider(w, x, ty),
        (from, to) if from == to => Ok(x.clone()),
        _ => Ok(w.typed("bitcast_convert", &[x], "", ty)),
    }
}

// Compilers cast bits of reals only: the parts of complex numbers are cast one by one.

/// Each part of a c128, an f64, makes one c64.
fn narrower(w: &mut Writer<'_>, x: &Val, ty: TensorType) -> Outcome<Val> {
    let (re, im) = complex::parts(w, x);
    let halves = spec(DType::F32, &ty.shape);
    let mut each = vec![];
    for part in [re, im] {
        let words = w.typed("bitcast_convert", &[&part], "", halves.clone());
        let (low, high) = (last(w, &words, 0)?, last(w, &words, 1)?);
        each.push(complex::join(w, &low, &high));
    }
    let each: Vec<&Val> = each.iter().collect();
    shape::concatenate(w, &each, x.rank(), ty)
}

/// Two c64 make one c128: the first its real part.
fn wider(w: &mut Writer<'_>, x: &Val, ty: TensorType) -> Outcome<Val> {
    let (re, im) = complex::parts(w, x);
    let mut each = vec![];
    for i in 0..2 {
        let (low, high) = (last(w, &re, i)?, last(w, &im, i)?);
        let words = shape::concatenate(w, &[&low, &high], ty.shape.rank(), re.ty.clone())?;
        each.push(w.typed("bitcast_convert", &[&words], "", spec(DType::F64, &ty.shape)));
    }
    let [re, im] = each.as_slice() else { return Err(OpError::new("", "a complex number has two parts")) };
    Ok(complex::join(w, re, im))
}

/// Element `i` of the last axis, which stays with size 1.
fn last(w: &mut Writer<'_>, x: &Val, i: i64) -> Outcome<Val> {
    let n = x.rank();
    let mut start = vec![Dim::constant(0); n];
    let mut limit = x.shape().to_vec();
    if let (Some(a), Some(b)) = (start.last_mut(), limit.last_mut()) {
        (*a, *b) = (Dim::constant(i), Dim::constant(i + 1));
    }
    let mut shape = x.shape().clone();
    if let Some(d) = shape.dims_mut().last_mut() {
        *d = Dim::constant(1);
    }
    shape::slice(w, x, &start, &limit, &vec![1; n], spec(x.dtype(), shape))
}

pub(super) fn reduce_precision(w: &mut Writer<'_>, x: &Val, exponent: u32, mantissa: u32) -> Outcome<Val> {
    let rhs = format!("stablehlo.reduce_precision {x}, format = e{exponent}m{mantissa} : {}", text::ty(&x.ty));
    Ok(w.op(&rhs, x.ty.clone()))
}
