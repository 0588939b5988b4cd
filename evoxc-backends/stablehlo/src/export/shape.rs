//! Constants, and movement of data. Where an extent is not constant the dynamic form of an op is written, which takes
//! it as an operand.

use super::writer::{Val, Writer};
use super::{Outcome, text};
use evoxc_core::{DType, Dim, OpError, Shape, spec};
use evoxc_ir::{Literal, TensorType};

impl Writer<'_> {
    /// Axis i of x becomes axis `dims[i]` of the shape.
    pub(super) fn broadcast(&mut self, x: &Val, shape: &Shape, dims: &[usize]) -> Outcome<Val> {
        let ty = spec(x.dtype(), shape);
        let attributes = format!(", dims = {}", text::brackets(dims));
        if shape.is_static() {
            return Ok(self.typed("broadcast_in_dim", &[x], &attributes, ty));
        }
        let sizes = self.extents(shape)?;
        Ok(self.typed("dynamic_broadcast_in_dim", &[x, &sizes], &attributes, ty))
    }
    /// The same elements under another shape.
    pub(super) fn reshape(&mut self, x: &Val, shape: &Shape) -> Outcome<Val> {
        let ty = spec(x.dtype(), shape);
        if shape.is_static() {
            return Ok(self.typed("reshape", &[x], "", ty));
        }
        let sizes = self.extents(shape)?;
        Ok(self.typed("dynamic_reshape", &[x, &sizes], "", ty))
    }
    /// A scalar over the shape of `like`; anything else stays.
    pub(super) fn spread(&mut self, x: &Val, like: &Val) -> Outcome<Val> {
        if x.rank() == 0 && like.rank() > 0 { self.broadcast(x, like.shape(), &[]) } else { Ok(x.clone()) }
    }
}

pub(super) fn constant(w: &mut Writer<'_>, value: &Literal) -> Outcome<Val> {
    match value {
        Literal::Dense(_) => Ok(w.constant(value)),
        Literal::Splat(t, shape) => w.repeat(t, shape),
    }
}

pub(super) fn iota(w: &mut Writer<'_>, axis: usize, ty: TensorType) -> Outcome<Val> {
    if ty.shape.is_static() {
        return Ok(w.op(&format!("stablehlo.iota dim = {axis} : {}", text::ty(&ty)), ty));
    }
    let sizes = w.extents(&ty.shape)?;
    Ok(w.typed("dynamic_iota", &[&sizes], &format!(", dim = {axis}"), ty))
}

pub(super) fn dim_size(w: &mut Writer<'_>, extent: Dim, dtype: DType) -> Outcome<Val> {
    if let Some(v) = extent.as_i64() {
        return w.scalar(dtype, v);
    }
    let v = w.extent(extent)?;
    if w.options.lean && dtype == DType::U32 {
        return Ok(w.typed("bitcast_convert", &[&v], "", spec(dtype, Shape::scalar())));
    }
    Ok(if dtype == DType::I32 { v } else { w.typed("convert", &[&v], "", spec(dtype, Shape::scalar())) })
}

pub(super) fn transpose(w: &mut Writer<'_>, x: &Val, perm: &[usize], ty: TensorType) -> Outcome<Val> {
    Ok(w.typed("transpose", &[x], &format!(", dims = {}", text::brackets(perm)), ty))
}

pub(super) fn slice(
    w: &mut Writer<'_>,
    x: &Val,
    start: &[Dim],
    limit: &[Dim],
    stride: &[i64],
    ty: TensorType,
) -> Outcome<Val> {
    let bounds = start.iter().zip(limit).zip(stride);
    let fixed: Option<Vec<String>> = bounds
        .map(|((a, b), by)| {
            let (a, b) = (a.get()?, b.get()?);
            Some(if *by == 1 { format!("{a}:{b}") } else { format!("{a}:{b}:{by}") })
        })
        .collect();
    if let Some(ranges) = fixed {
        let rhs =
            format!("stablehlo.slice {x} {} : ({}) -> {}", text::brackets(ranges), text::ty(&x.ty), text::ty(&ty));
        return Ok(w.op(&rhs, ty));
    }
    let strides: Vec<Dim> = stride.iter().map(|&s| Dim::constant(s)).collect();
    let (start, limit, strides) = (w.extents(start)?, w.extents(limit)?, w.extents(&strides)?);
    Ok(w.typed("real_dynamic_slice", &[x, &start, &limit, &strides], "", ty))
}

pub(super) fn pad(
    w: &mut Writer<'_>,
    x: &Val,
    value: &Val,
    [low, high]: [&[Dim]; 2],
    interior: &[i64],
    ty: TensorType,
) -> Outcome<Val> {
    let fixed = |l: &[Dim]| l.iter().map(|d| d.as_i64()).collect::<Option<Vec<i64>>>();
    if let (Some(low), Some(high)) = (fixed(low), fixed(high)) {
        let attributes = format!(
            ", low = {}, high = {}, interior = {}",
            text::brackets(low),
            text::brackets(high),
            text::brackets(interior)
        );
        return Ok(w.typed("pad", &[x, value], &attributes, ty));
    }
    let interior: Vec<Dim> = interior.iter().map(|&s| Dim::constant(s)).collect();
    let (low, high, interior) = (w.extents(low)?, w.extents(high)?, w.extents(&interior)?);
    Ok(w.typed("dynamic_pad", &[x, value, &low, &high, &interior], "", ty))
}

pub(super) fn concatenate(w: &mut Writer<'_>, xs: &[&Val], axis: usize, ty: TensorType) -> Outcome<Val> {
    if xs.is_empty() {
        return Err(OpError::new("", "it has no operand"));
    }
    Ok(w.typed("concatenate", xs, &format!(", dim = {axis}"), ty))
}

pub(super) fn reverse(w: &mut Writer<'_>, x: &Val, axes: &[usize]) -> Outcome<Val> {
    if w.options.lean && axes.is_empty() {
        return Ok(x.clone());
    }
    if w.options.lean && x.dtype().is_unsigned() {
        let bits = signed_of(x.dtype());
        let signed = w.typed("bitcast_convert", &[x], "", spec(bits, x.shape()));
        let reversed = reverse(w, &signed, axes)?;
        return Ok(w.typed("bitcast_convert", &[&reversed], "", x.ty.clone()));
    }
    let rhs = format!("stablehlo.reverse {x}, dims = {} : {}", text::brackets(axes), text::ty(&x.ty));
    Ok(w.op(&rhs, x.ty.clone()))
}

/// The signed integer of the width of an unsigned one.
fn signed_of(d: DType) -> DType {
    match d.bits() {
        8 => DType::I8,
        16 => DType::I16,
        32 => DType::I32,
        _ => DType::I64,
    }
}
