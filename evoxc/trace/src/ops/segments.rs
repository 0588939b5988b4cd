//! Sums by group, counts, and distinct values: scatters into a result of a static size.

use super::checks::{integer, known, number, real};
use super::parts::{convert, count_along, cut, filled, joined, reshape};
use crate::{Sym, builder};
use evoxc_core::{BOOL, DType, Dim, DimLike, I32, Scalar, Shape};
use evoxc_ir::{CumOp, Prim, ScatterDims, ScatterOp, SortKeys};

/// Adds (or multiplies …) row i of `updates` to the row of `x` that `index[i]` names; rows out of range are dropped.
#[track_caller]
fn scatter_rows(op: ScatterOp, x: Sym, index: Sym, updates: Sym) -> Sym {
    let rank = builder::with_type(x, |t| t.rank()).unwrap_or(1);
    let dims = ScatterDims {
        update_window: (1..rank).collect(),
        inserted: vec![0],
        operand_batching: vec![],
        indices_batching: vec![],
        scatter_map: vec![0],
        index_vector: 1,
    };
    builder::emit(Prim::Scatter { op, dims, sorted: false, unique: false }, &[x, index, updates])
}

/// The lowest or the highest value of a real dtype: what a maximum or minimum starts from.
fn extreme(dtype: DType, highest: bool) -> Scalar {
    let bits = u32::try_from(dtype.bits()).unwrap_or(64);
    let (low, high) = if dtype.is_unsigned() {
        (0, (1i128 << bits) - 1)
    } else {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    };
    match (dtype.is_float(), highest) {
        (true, true) => Scalar::Float(f64::INFINITY),
        (true, false) => Scalar::Float(f64::NEG_INFINITY),
        (false, true) => Scalar::Int(high),
        (false, false) => Scalar::Int(low),
    }
}

impl Sym {
    #[track_caller]
    fn segments(self, name: &str, op: ScatterOp, start: Scalar, ids: Sym, segments: Dim) -> Sym {
        let Some(t) = known(name, self) else { return Sym::POISON };
        let Some(i) = integer(name, ids) else { return Sym::POISON };
        if i.rank() != 1 || t.shape.first() != i.shape.first() {
            let message = format!("segment ids of shape {} do not go with data of shape {}", i.shape, t.shape);
            let remedy = "give one id for each element of the leading axis".to_string();
            return builder::fail(name, &[self, ids], message, Some(remedy));
        }
        let mut shape = t.shape.clone();
        if let Some(first) = shape.dims_mut().first_mut() {
            *first = segments;
        }
        scatter_rows(op, filled(name, start, t.dtype, &shape), ids, self)
    }
    /// The sums of the elements (along the leading axis) with the same id: `[segments, …]` of `self`'s dtype. An id out
    /// of 0 … segments-1 is dropped, a segment without elements is 0. As `jax.ops.segment_sum`.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let g = trace(|x: Sym, ids: Sym| x.segment_sum(ids, 3), (spec(F32, (dim("N"), 4)), spec(I32, [dim("N")])));
    /// assert_eq!(g.unwrap().output_specs(), [spec(F32, [3, 4])]);
    /// ```
    #[track_caller]
    pub fn segment_sum(self, ids: Sym, segments: impl DimLike) -> Sym {
        if number("segment_sum", self).is_none() {
            return Sym::POISON;
        }
        self.segments("segment_sum", ScatterOp::Add, Scalar::Int(0), ids, segments.to_dim())
    }
    /// The products of the elements with the same id; an empty segment is 1.
    #[track_caller]
    pub fn segment_prod(self, ids: Sym, segments: impl DimLike) -> Sym {
        if number("segment_prod", self).is_none() {
            return Sym::POISON;
        }
        self.segments("segment_prod", ScatterOp::Mul, Scalar::Int(1), ids, segments.to_dim())
    }
    /// The largest of the elements with the same id; an empty segment is -inf, or the smallest integer.
    #[track_caller]
    pub fn segment_max(self, ids: Sym, segments: impl DimLike) -> Sym {
        let Some(t) = real("segment_max", self) else { return Sym::POISON };
        self.segments("segment_max", ScatterOp::Max, extreme(t.dtype, false), ids, segments.to_dim())
    }
    /// The smallest of the elements with the same id; an empty segment is inf, or the largest integer.
    #[track_caller]
    pub fn segment_min(self, ids: Sym, segments: impl DimLike) -> Sym {
        let Some(t) = real("segment_min", self) else { return Sym::POISON };
        self.segments("segment_min", ScatterOp::Min, extreme(t.dtype, true), ids, segments.to_dim())
    }
    /// How often each of 0 … length-1 occurs among these integers (all axes together): an i32 of shape `[length]`.
    /// Others are not counted.
    #[track_caller]
    pub fn bincount(self, length: impl DimLike) -> Sym {
        let Some(t) = integer("bincount", self) else { return Sym::POISON };
        let flat: Shape = [t.shape.size()].into_iter().collect();
        let ids = reshape(self, flat.clone());
        filled("bincount", 1, I32, &flat).segments("bincount", ScatterOp::Add, Scalar::Int(0), ids, length.to_dim())
    }
    /// The distinct elements in ascending order (all axes together), the position of each element among them, and how
    /// often each occurs: `([size], self's shape, [size])`, the last two i32.
    ///
    /// The size is static: further distinct elements are dropped (their positions are `size` or more); missing ones
    /// repeat the smallest element, with count 0, as `jax.numpy.unique(x, size=..)`. All NaN are one element.
    ///
    /// # Errors
    /// No elements.
    #[track_caller]
    pub fn unique(self, size: impl DimLike) -> (Sym, Sym, Sym) {
        let op = "unique";
        let poisoned = (Sym::POISON, Sym::POISON, Sym::POISON);
        let Some(t) = real(op, self) else { return poisoned };
        let n = t.shape.size();
        if n == 0 {
            builder::fail(op, &[self], "there are no elements, so none to repeat", None);
            return poisoned;
        }
        let flat: Shape = [n].into_iter().collect();
        let sort = Prim::Sort { axis: 0, keys: SortKeys(vec![false]), stable: true };
        let [x, order] = builder::emit_many(sort, &[reshape(self, flat.clone()), count_along(&flat, 0)]);
        let (after, before) = (cut(x, 0, 1, n), cut(x, 0, 0, n - 1));
        let mut new = after.ne(before);
        if t.dtype.is_float() {
            new &= !(after.is_nan() & before.is_nan());
        }
        let first = filled(op, false, BOOL, &[Dim::constant(1)].into_iter().collect());
        let step = convert(joined(&[first, new], 0), I32);
        let at = builder::emit(Prim::Cumulative { op: CumOp::Sum, axis: 0, reverse: false }, &[step]);
        let size: Shape = [size.to_dim()].into_iter().collect();
        let smallest = builder::emit(Prim::BroadcastInDim { shape: size.clone(), dims: vec![0] }, &[cut(x, 0, 0, 1)]);
        let values = scatter_rows(ScatterOp::Set, smallest, at, x);
        let inverse = scatter_rows(ScatterOp::Set, filled(op, 0, I32, &flat), order, at);
        let counts = scatter_rows(ScatterOp::Add, filled(op, 0, I32, &size), at, filled(op, 1, I32, &flat));
        (values, reshape(inverse, t.shape), counts)
    }
}
