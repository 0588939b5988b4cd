//! Indexing by values: take, take_along_axis, put_along_axis, dynamic slices.

use crate::operand::{broadcast_to, lift, splat};
use crate::{Operand, Opnd, Sym, axes, builder};
use evoxc_core::{
    AxisInt, BF16, BOOL, Dim, DimLike, F16, F32, I8, I16, I32, IntoShape, Scalar, Shape, SliceItem, Slices, U8, U16,
    spec,
};
use evoxc_ir::{GatherDims, Prim, ScatterDims, ScatterOp};

impl Sym {
    /// Slices at `indices` along an axis, which is replaced by the axes of `indices`. Indices out of bounds are clamped.
    /// A static integer drops the axis; a negative one counts from the end.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let g = trace(|x: Sym, i: Sym| x.take(i, 1), (spec(F32, [4, 8, 2]), spec(I32, [3, 5]))).unwrap();
    /// assert_eq!(g.output_specs(), [spec(F32, [4, 3, 5, 2])]);
    /// ```
    #[track_caller]
    pub fn take(self, indices: impl Operand, axis: impl AxisInt) -> Sym {
        let Some(a) = axes::one("take", self, axis.axis()) else { return Sym::POISON };
        let Some(t) = self.ty() else { return Sym::POISON };
        let indices = match indices.operand() {
            Opnd::Sym(s) => s,
            Opnd::Scalar(Scalar::Int(i)) => match i64::try_from(i) {
                Ok(i) => return self.row(a, Dim::constant(i)),
                Err(_) => return builder::fail("take", &[self], format!("index {i} is out of bounds"), None),
            },
            Opnd::Dim(d) => return self.row(a, d),
            Opnd::Scalar(k) => return builder::fail("take", &[self], format!("{k} is not an index"), None),
        };
        let Some(i) = indices.ty() else { return Sym::POISON };
        let (q, r) = (i.rank(), t.rank());
        let mut sizes = t.shape.to_vec();
        sizes[a] = one_of(sizes[a], &i.shape);
        let dims = GatherDims {
            offset: (0..a).chain(a + q..r - 1 + q).collect(),
            collapsed: vec![a],
            operand_batching: vec![],
            indices_batching: vec![],
            start_map: vec![a],
            index_vector: q,
        };
        builder::emit(Prim::Gather { dims, sizes, sorted: false }, &[self, indices])
    }
    #[track_caller]
    fn row(self, axis: usize, at: Dim) -> Sym {
        let mut items = vec![SliceItem::Range(None, None, 1); axis];
        items.push(SliceItem::At(at));
        self.slice(Slices(items))
    }
    /// `out[i][j] = x[indices[i][j]][j]` along `axis` (here 0): as NumPy's `take_along_axis`. Indices out of bounds are
    /// clamped; the other axes of both broadcast.
    #[track_caller]
    pub fn take_along_axis(self, indices: Sym, axis: impl AxisInt) -> Sym {
        let _at = builder::pin();
        let Some((x, i, a)) = self.along("take_along_axis", indices, axis.axis()) else { return Sym::POISON };
        let rest: Vec<usize> = (0..x.rank()).filter(|&k| k != a).collect();
        let dims = GatherDims {
            offset: vec![],
            collapsed: vec![a],
            operand_batching: rest.clone(),
            indices_batching: rest,
            start_map: vec![a],
            index_vector: x.rank(),
        };
        let (Some(t), Some(it)) = (x.ty(), i.ty()) else { return Sym::POISON };
        // Of a batch without elements there is nothing to take.
        let size = |(k, &d): (usize, &Dim)| if k != a && d == 0 { d } else { one_of(d, &it.shape) };
        let sizes = t.shape.iter().enumerate().map(size).collect();
        builder::emit(Prim::Gather { dims, sizes, sorted: false }, &[x, i])
    }
    /// The tensor with `values` (broadcast to the shape of `indices`) at `indices` along an axis: as NumPy's
    /// `put_along_axis`. Indices out of bounds are dropped; of several at one place the last stays.
    #[track_caller]
    pub fn put_along_axis(self, indices: Sym, values: impl Operand, axis: impl AxisInt) -> Sym {
        let _at = builder::pin();
        let Some((x, i, a)) = self.along("put_along_axis", indices, axis.axis()) else { return Sym::POISON };
        if x.ty().map(|t| t.shape) != self.ty().map(|t| t.shape) {
            return builder::fail(
                "put_along_axis",
                &[self, indices],
                "the indices have more rows than the tensor",
                None,
            );
        }
        let (Some(t), Some(it)) = (x.ty(), i.ty()) else { return Sym::POISON };
        let like = spec(t.dtype, &it.shape);
        let v = lift("put_along_axis", values, &like, true);
        let v = broadcast_to("put_along_axis", v, &it.shape);
        let rest: Vec<usize> = (0..t.rank()).filter(|&k| k != a).collect();
        let dims = ScatterDims {
            update_window: vec![],
            inserted: vec![a],
            operand_batching: rest.clone(),
            indices_batching: rest,
            scatter_map: vec![a],
            index_vector: t.rank(),
        };
        builder::emit(Prim::Scatter { op: ScatterOp::Set, dims, sorted: false, unique: false }, &[x, i, v])
    }
    /// Both broadcast to each other on every axis but `axis`.
    #[track_caller]
    fn along(self, op: &str, indices: Sym, axis: i64) -> Option<(Sym, Sym, usize)> {
        let a = axes::one(op, self, axis)?;
        let (t, i) = (self.ty()?, indices.ty()?);
        if t.rank() != i.rank() {
            builder::fail(
                op,
                &[self, indices],
                format!("the tensor has {} axes, the indices {}", t.rank(), i.rank()),
                Some("insert axes with `.expand_dims(..)`".into()),
            );
            return None;
        }
        let one = Dim::constant(1);
        let (mut s, mut j) = (t.shape.clone(), i.shape.clone());
        s.dims_mut()[a] = one;
        j.dims_mut()[a] = one;
        let both = match crate::operand::broadcast_shapes(&s, &j) {
            Ok(b) => b,
            Err(m) => {
                builder::fail(op, &[self, indices], m, None);
                return None;
            }
        };
        let at = |n: Dim| {
            let mut b = both.clone();
            b.dims_mut()[a] = n;
            b
        };
        Some((broadcast_to(op, self, &at(t.shape[a])), broadcast_to(op, indices, &at(i.shape[a])), a))
    }
    /// The slice of `sizes` that begins at scalar integers `starts`, one an axis, clamped so that it fits.
    #[track_caller]
    pub fn dynamic_slice<S: Operand>(self, starts: impl IntoIterator<Item = S>, sizes: impl IntoShape) -> Sym {
        let _at = builder::pin();
        let sizes: Vec<Dim> = sizes.into_shape().to_vec();
        let mut operands = vec![self];
        operands.extend(starts.into_iter().map(start));
        builder::emit(Prim::DynamicSlice { sizes }, &operands)
    }
    /// The tensor with `update` written at scalar integers `starts`, one an axis, clamped so that it fits.
    #[track_caller]
    pub fn dynamic_update_slice<S: Operand>(self, update: Sym, starts: impl IntoIterator<Item = S>) -> Sym {
        let _at = builder::pin();
        let mut operands = vec![self, update];
        operands.extend(starts.into_iter().map(start));
        builder::emit(Prim::DynamicUpdateSlice {}, &operands)
    }
    /// Element `i` of a leading axis of constant or symbolic size, for a symbolic scalar `i`; the axis goes away.
    #[track_caller]
    pub fn at(self, i: impl Operand) -> Sym {
        self.take(i, 0)
    }
    /// `x[rows(indices)] op= updates` along the leading axis: `updates` has the shape of `indices` + the rest of `x`.
    /// Indices out of bounds are dropped; updates apply in row-major order.
    #[track_caller]
    pub fn scatter_rows(self, op: ScatterOp, indices: Sym, updates: Sym) -> Sym {
        let _at = builder::pin();
        let (Some(t), Some(i)) = (self.ty(), indices.ty()) else { return Sym::POISON };
        if t.rank() == 0 {
            return builder::fail("scatter", &[self, indices, updates], "needs a leading axis", None);
        }
        let q = i.rank();
        let dims = ScatterDims {
            update_window: (q..q + t.rank() - 1).collect(),
            inserted: vec![0],
            operand_batching: vec![],
            indices_batching: vec![],
            scatter_map: vec![0],
            index_vector: q,
        };
        let shape: Shape = i.shape.iter().chain(&t.shape[1..]).copied().collect();
        let updates = broadcast_to("scatter", updates, &shape);
        builder::emit(Prim::Scatter { op, dims, sorted: false, unique: false }, &[self, indices, updates])
    }
    /// One-hot vectors of length `n` along a new last axis, 0 or 1 in f32; indices out of range give zeros.
    #[track_caller]
    pub fn one_hot(self, n: impl DimLike) -> Sym {
        let _at = builder::pin();
        let Some(t) = self.ty() else { return Sym::POISON };
        let mut shape = t.shape.clone();
        shape.push(n);
        let last = shape.rank() - 1;
        // A narrow dtype cannot count to `n`.
        let dtype = match t.dtype {
            BOOL | I8 | I16 | U8 | U16 => I32,
            F16 | BF16 => F32,
            wide => wide,
        };
        let index = if dtype == t.dtype { self } else { builder::emit(Prim::Convert { dtype }, &[self]) };
        let count = super::creators::iota(dtype, &shape, last);
        let wide = broadcast_to("one_hot", index.expand_dims(-1), &shape);
        let hit = crate::compare::compare(evoxc_ir::Direction::Eq, wide, count);
        builder::emit(Prim::Convert { dtype: F32 }, &[hit])
    }
}

/// The size of slices of one element of `n`: nothing, where there is none and no index asks for one.
fn one_of(n: Dim, indices: &Shape) -> Dim {
    if n == 0 && indices.iter().any(|d| *d == 0) { n } else { Dim::constant(1) }
}

#[track_caller]
fn start<S: Operand>(s: S) -> Sym {
    match s.operand() {
        Opnd::Sym(s) => s,
        Opnd::Scalar(k) => splat("dynamic_slice", k, I32, Shape::scalar()),
        Opnd::Dim(d) => lift("dynamic_slice", d, &spec(I32, ()), false),
    }
}
