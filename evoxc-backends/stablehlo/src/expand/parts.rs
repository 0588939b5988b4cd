//! Small steps that the forms share.

use super::walk::poisoned;
use evoxc_core::{DType, Dim, DimLike, IntoShape, OpError, U8, U16, U32, U64};
use evoxc_ir::{Prim, Region, TensorType};
use evoxc_trace::{Sym, emitter};

/// An op of one result.
#[track_caller]
pub(super) fn emit(prim: Prim, operands: &[Sym]) -> Sym {
    emitter::emit(prim, operands)
}

/// A region: `f` is given its arguments and gives its results.
pub(super) fn region(
    args: &[TensorType],
    f: impl FnOnce(&[Sym]) -> Result<Vec<Sym>, OpError>,
) -> Result<Region, OpError> {
    let args = emitter::open_region(args);
    let results = f(&args)?;
    emitter::close_region("region", &results).ok_or_else(poisoned)
}

/// An op with regions.
#[track_caller]
pub(super) fn emit_regions(prim: Prim, operands: &[Sym], regions: Vec<Region>) -> Result<super::rules::Syms, OpError> {
    emitter::emit_regions(prim, operands, regions).ok_or_else(poisoned)
}

/// The unsigned integers as wide as a dtype.
pub(super) fn unsigned(d: DType) -> DType {
    match d.size() {
        1 => U8,
        2 => U16,
        4 => U32,
        _ => U64,
    }
}

/// The number with only its sign bit set, of the unsigned integers as wide as a dtype.
pub(super) fn sign_bit(d: DType) -> u64 {
    1 << (d.size() * 8 - 1)
}

/// `x` with the sign of `y`, zeros and NaN included: floats of one type.
#[track_caller]
pub(super) fn with_sign_of(x: Sym, y: Sym) -> Sym {
    let (d, bits) = (x.dtype(), unsigned(x.dtype()));
    let sign = sign_bit(d);
    let (x, y) = (x.bitcast(bits), y.bitcast(bits));
    ((x & x.full_like(integer(!sign, bits))) | (y & y.full_like(integer(sign, bits)))).bitcast(d)
}

/// The low bits of a number that fit an unsigned dtype, as what `Sym` methods take for it.
pub(super) fn integer(v: u64, d: DType) -> u64 {
    if d.size() >= 8 { v } else { v & ((1 << (d.size() * 8)) - 1) }
}

/// Counts along an axis.
#[track_caller]
pub(super) fn iota(dtype: DType, shape: impl IntoShape, axis: usize) -> Sym {
    emit(Prim::Iota { dtype, shape: shape.into_shape(), axis }, &[])
}

/// Axis i of x becomes axis `dims[i]` of `shape`.
#[track_caller]
pub(super) fn spread(x: Sym, shape: impl IntoShape, dims: Vec<usize>) -> Sym {
    let shape = shape.into_shape();
    emit(Prim::BroadcastInDim { shape, dims }, &[x])
}

/// `from..to` of one axis.
#[track_caller]
pub(super) fn cut(x: Sym, axis: usize, from: impl DimLike, to: impl DimLike) -> Sym {
    let shape = x.shape();
    let mut start = vec![Dim::constant(0); shape.rank()];
    let mut limit: Vec<Dim> = shape.to_vec();
    if let (Some(s), Some(l)) = (start.get_mut(axis), limit.get_mut(axis)) {
        (*s, *l) = (from.to_dim(), to.to_dim());
    }
    emit(Prim::Slice { start, limit, stride: vec![1; shape.rank()] }, &[x])
}

/// The operands one after the other.
#[track_caller]
pub(super) fn joined(xs: &[Sym], axis: usize) -> Sym {
    emit(Prim::Concatenate { axis }, xs)
}

/// Axes of the operand that a value without one of them has.
pub(super) fn others(rank: usize, axis: usize) -> Vec<usize> {
    (0..rank).filter(|i| *i != axis).collect()
}

/// Σ c[k]·xᵏ, by Horner's rule, the highest first.
#[track_caller]
pub(super) fn horner(x: Sym, c: &[f64]) -> Sym {
    match c {
        [] => x.zeros_like(),
        [k] => x.full_like(*k),
        [first, second, rest @ ..] => rest.iter().fold(x * *first + *second, |sum, &k| sum * x + k),
    }
}
