//! Movement of data: reshape, transpose, slice, pad, joining and splitting.

use crate::operand::{broadcast_to, splat};
use crate::{Sym, axes, builder};
use evoxc_core::{AxisInt, Dim, DimLike, I32, IntoAxes, IntoShape, Scalar, Shape, SliceItem, Slices};
use evoxc_ir::{Direction, Prim};

#[track_caller]
fn reshaped(x: Sym, shape: impl IntoIterator<Item = Dim>) -> Sym {
    builder::emit(Prim::Reshape { shape: shape.into_iter().collect() }, &[x])
}

impl Sym {
    /// The same elements in row-major order under another shape; one extent may be -1 and is worked out.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let g = trace(|x: Sym| x.reshape((-1, 4)), spec(F32, (dim("B"), 2, 4))).unwrap();
    /// assert_eq!(g.output_specs(), [spec(F32, (dim("B") * 2, 4))]);
    /// ```
    #[track_caller]
    pub fn reshape(self, shape: impl IntoShape) -> Sym {
        let _at = builder::pin();
        let mut shape = shape.into_shape();
        let Some(t) = self.ty() else { return Sym::POISON };
        let holes: Vec<usize> = (0..shape.rank()).filter(|&i| shape[i] == -1i64).collect();
        if let [hole] = holes[..] {
            let rest = shape.iter().enumerate().filter(|(i, _)| *i != hole).fold(Dim::constant(1), |a, (_, &d)| a * d);
            let total = t.shape.size();
            let q = if rest == 0i64 { Dim::constant(0) } else { total / rest };
            if q * rest != total {
                let m = format!("{total} elements do not divide into {shape}");
                return builder::fail("reshape", &[self], m, None);
            }
            shape.dims_mut()[hole] = q;
        } else if holes.len() > 1 {
            return builder::fail("reshape", &[self], format!("{shape} has more than one -1"), None);
        }
        if shape == t.shape { self } else { reshaped(self, shape.iter().copied()) }
    }
    /// One axis: the elements in row-major order.
    #[track_caller]
    pub fn ravel(self) -> Sym {
        self.reshape([-1])
    }
    /// The axes from `start` on as one: `[B, 2, 3]` flattens from 1 to `[B, 6]`.
    #[track_caller]
    pub fn flatten(self, start: impl AxisInt) -> Sym {
        let _at = builder::pin();
        let Some(a) = axes::one("flatten", self, start.axis()) else { return Sym::POISON };
        let Some(t) = self.ty() else { return Sym::POISON };
        let tail = t.shape[a..].iter().fold(Dim::constant(1), |p, &d| p * d);
        self.reshape(t.shape[..a].iter().copied().chain([tail]).collect::<Shape>())
    }
    /// Axis i of the result is axis `perm[i]`; `..` reverses all.
    #[track_caller]
    pub fn transpose(self, perm: impl IntoAxes) -> Sym {
        let all = perm.into_axes();
        let reversed = all.axes.is_none();
        let Some((mut perm, _)) = axes::many("transpose", self, all) else { return Sym::POISON };
        if reversed {
            perm.reverse();
        }
        builder::emit(Prim::Transpose { perm }, &[self])
    }
    /// Exchanges the last two axes.
    #[track_caller]
    pub fn t(self) -> Sym {
        match self.ty() {
            Some(t) if t.rank() < 2 => builder::fail(
                "t",
                &[self],
                "needs at least two axes",
                Some("`.transpose(..)` takes any permutation".into()),
            ),
            Some(_) => self.swap_axes(-1, -2),
            None => Sym::POISON,
        }
    }
    /// Exchanges two axes.
    #[track_caller]
    pub fn swap_axes(self, a: impl AxisInt, b: impl AxisInt) -> Sym {
        let (Some(a), Some(b)) = (axes::one("swap_axes", self, a.axis()), axes::one("swap_axes", self, b.axis()))
        else {
            return Sym::POISON;
        };
        let mut perm: Vec<usize> = (0..self.rank()).collect();
        perm.swap(a, b);
        builder::emit(Prim::Transpose { perm }, &[self])
    }
    /// Moves axis `from` to position `to`; the others keep their order.
    #[track_caller]
    pub fn move_axis(self, from: impl AxisInt, to: impl AxisInt) -> Sym {
        let (Some(a), Some(b)) = (axes::one("move_axis", self, from.axis()), axes::one("move_axis", self, to.axis()))
        else {
            return Sym::POISON;
        };
        let mut perm: Vec<usize> = (0..self.rank()).filter(|&i| i != a).collect();
        perm.insert(b, a);
        builder::emit(Prim::Transpose { perm }, &[self])
    }
    /// A new axis of size 1 at position `axis` of the result.
    #[track_caller]
    pub fn expand_dims(self, axis: impl AxisInt) -> Sym {
        let Some(t) = self.ty() else { return Sym::POISON };
        let Some(a) = axes::normalize(axis.axis(), t.rank() + 1) else {
            return builder::fail(
                "expand_dims",
                &[self],
                format!("position {} is out of range for rank {}", axis.axis(), t.rank() + 1),
                None,
            );
        };
        let mut dims: Vec<Dim> = t.shape.to_vec();
        dims.insert(a, Dim::constant(1));
        reshaped(self, dims)
    }
    /// Drops axes of size 1; `..` drops all of them.
    #[track_caller]
    pub fn squeeze(self, axes: impl IntoAxes) -> Sym {
        let axes = axes.into_axes();
        let all = axes.axes.is_none();
        let Some((list, _)) = axes::many("squeeze", self, axes) else { return Sym::POISON };
        let Some(t) = self.ty() else { return Sym::POISON };
        if let Some(&bad) = list.iter().find(|&&a| !all && t.shape[a] != 1i64) {
            return builder::fail("squeeze", &[self], format!("axis {bad} has size {}, not 1", t.shape[bad]), None);
        }
        let keep = t.shape.iter().enumerate().filter(|(i, d)| !(list.contains(i) && **d == 1i64)).map(|(_, &d)| d);
        reshaped(self, keep)
    }
    /// The tensor repeated to `shape` by NumPy's rule.
    #[track_caller]
    pub fn broadcast_to(self, shape: impl IntoShape) -> Sym {
        broadcast_to("broadcast_to", self, &shape.into_shape())
    }
    /// A part: `x.slice(s![1..n, .., ..;2, 3])`. Negative bounds count from the end; a negative step walks the range
    /// from its end (`..;-1` reverses); an index drops its axis. Missing axes stay whole.
    ///
    /// # Errors
    /// A constant bound outside of the axis.
    #[track_caller]
    pub fn slice(self, s: Slices) -> Sym {
        let _at = builder::pin();
        let Some(t) = self.ty() else { return Sym::POISON };
        let used = s.0.iter().filter(|i| !matches!(i, SliceItem::NewAxis)).count();
        if used > t.rank() {
            return builder::fail("slice", &[self], format!("{used} entries for {} axes", t.rank()), None);
        }
        let zero = Dim::constant(0);
        let (mut start, mut limit, mut stride) = (vec![zero; t.rank()], t.shape.to_vec(), vec![1i64; t.rank()]);
        let (mut reversed, mut strided, mut shape, mut axis) = (vec![], vec![], vec![], 0);
        let outside = |axis: usize, b: Dim| {
            builder::fail(
                "slice",
                &[self],
                format!("{b} is outside of axis {axis}, which has size {}", t.shape[axis]),
                None,
            )
        };
        for item in &s.0 {
            let n = t.shape.get(axis).copied().unwrap_or(zero);
            let from_end = |d: Dim| if d.as_i64().is_some_and(|v| v < 0) { n + d } else { d };
            let within = |d: Dim, last: Dim| match ((last - d).as_i64(), d.as_i64()) {
                (Some(v), _) if v < 0 => false,
                (_, Some(v)) => v >= 0,
                _ => true,
            };
            match *item {
                SliceItem::NewAxis => {
                    shape.push(Dim::constant(1));
                    continue;
                }
                SliceItem::At(written) => {
                    let i = from_end(written);
                    if !within(i, n - 1) {
                        return outside(axis, written);
                    }
                    (start[axis], limit[axis]) = (i, i + 1);
                }
                SliceItem::Range(first, last, step) => {
                    let (a, b) = (first.map_or(zero, from_end), last.map_or(n, from_end));
                    if step == 0 {
                        return builder::fail("slice", &[self], format!("the step of axis {axis} is 0"), None);
                    }
                    if !within(a, n) || !within(b, n) {
                        return outside(axis, if within(a, n) { last.unwrap_or(n) } else { first.unwrap_or(zero) });
                    }
                    let span = if (b - a).as_i64().is_some_and(|v| v < 0) { zero } else { b - a };
                    let k = step.saturating_abs();
                    let count = if k == 1 { span } else { (span + (k - 1)) / k };
                    if step > 0 {
                        (start[axis], limit[axis], stride[axis]) = (a, a + span, k);
                    } else if k > 1 && !count.is_const() {
                        // The range may turn out to be empty, with no first element: reverse all of it, then step.
                        (start[axis], limit[axis]) = (a, a + span);
                        reversed.push(axis);
                        strided.push((axis, k));
                    } else {
                        // The first element taken is the last of the range; walk up to it, then reverse.
                        let first = if count == 0i64 { a } else { a + span - 1 - (count - 1) * k };
                        (start[axis], limit[axis]) = (first, if count == 0i64 { a } else { a + span });
                        stride[axis] = k;
                        reversed.push(axis);
                    }
                    shape.push(count);
                }
            }
            axis += 1;
        }
        shape.extend(t.shape[axis..].iter().copied());
        let whole = start.iter().all(|d| *d == 0i64) && limit == t.shape.to_vec() && stride.iter().all(|&k| k == 1);
        let mut x = if whole { self } else { builder::emit(Prim::Slice { start, limit, stride }, &[self]) };
        if !reversed.is_empty() {
            x = builder::emit(Prim::Reverse { axes: reversed }, &[x]);
        }
        if let (false, Some(t)) = (strided.is_empty(), x.ty()) {
            let mut stride = vec![1; t.rank()];
            strided.into_iter().for_each(|(axis, k)| stride[axis] = k);
            let whole = Prim::Slice { start: vec![zero; t.rank()], limit: t.shape.to_vec(), stride };
            x = builder::emit(whole, &[x]);
        }
        let shape: Shape = shape.into_iter().collect();
        if x.ty().is_some_and(|t| t.shape != shape) { reshaped(x, shape.iter().copied()) } else { x }
    }
    /// Elements `start` to `end` of one axis.
    #[track_caller]
    pub fn slice_axis(self, axis: impl AxisInt, start: impl DimLike, end: impl DimLike) -> Sym {
        let _at = builder::pin();
        let Some(a) = axes::one("slice_axis", self, axis.axis()) else { return Sym::POISON };
        let whole = SliceItem::Range(None, None, 1);
        let mut items = vec![whole; a];
        items.push(SliceItem::Range(Some(start.to_dim()), Some(end.to_dim()), 1));
        self.slice(Slices(items))
    }
    /// `value` around the tensor: (low, high) of every axis; negative ones cut.
    #[track_caller]
    pub fn pad(self, padding: &[(i64, i64)], value: impl Into<Scalar>) -> Sym {
        let Some(t) = self.ty() else { return Sym::POISON };
        if padding.len() != t.rank() {
            return builder::fail("pad", &[self], format!("{} pairs for {} axes", padding.len(), t.rank()), None);
        }
        let value = splat("pad", value.into(), t.dtype, Shape::scalar());
        let (low, high) = padding.iter().map(|&(l, h)| (Dim::constant(l), Dim::constant(h))).unzip();
        builder::emit(Prim::Pad { low, high, interior: vec![0; t.rank()] }, &[self, value])
    }
    /// The elements in reverse order along axes.
    #[track_caller]
    pub fn flip(self, axes: impl IntoAxes) -> Sym {
        match axes::many("flip", self, axes) {
            Some((axes, _)) => builder::emit(Prim::Reverse { axes }, &[self]),
            None => Sym::POISON,
        }
    }
    /// Moves elements by `shift` along an axis; what leaves at one end enters at the other.
    #[track_caller]
    pub fn roll(self, shift: impl DimLike, axis: impl AxisInt) -> Sym {
        let _at = builder::pin();
        let Some(a) = axes::one("roll", self, axis.axis()) else { return Sym::POISON };
        let n = self.dim(a);
        if n == 0i64 {
            return self;
        }
        // A symbolic extent may turn out to be 0.
        let k = shift.to_dim() % n.max(1);
        if k == 0i64 {
            return self;
        }
        concat([self.slice_axis(a, n - k, n), self.slice_axis(a, 0, n - k)], a)
    }
    /// Every element `n` times in a row along an axis.
    #[track_caller]
    pub fn repeat(self, n: impl DimLike, axis: impl AxisInt) -> Sym {
        let _at = builder::pin();
        let Some(a) = axes::one("repeat", self, axis.axis()) else { return Sym::POISON };
        let (n, mut dims) = (n.to_dim(), self.shape().to_vec());
        dims.insert(a + 1, n);
        let wide = self.expand_dims(a + 1).broadcast_to(&dims);
        let d = dims.remove(a + 1);
        dims[a] = dims[a] * d;
        wide.reshape(&dims)
    }
    /// The whole tensor repeated along each axis; missing leading counts are 1.
    #[track_caller]
    pub fn tile(self, counts: impl IntoShape) -> Sym {
        let _at = builder::pin();
        let (counts, Some(t)) = (counts.into_shape(), self.ty()) else { return Sym::POISON };
        let rank = counts.rank().max(t.rank());
        let at = |s: &[Dim], i: usize| (i + s.len()).checked_sub(rank).map_or(Dim::constant(1), |k| s[k]);
        let (mut split, mut wide, mut out) = (vec![], vec![], vec![]);
        for i in 0..rank {
            let (c, d) = (at(&counts, i), at(&t.shape, i));
            split.extend([Dim::constant(1), d]);
            wide.extend([c, d]);
            out.push(c * d);
        }
        self.reshape(&split).broadcast_to(&wide).reshape(&out)
    }
    /// `n` equal parts along an axis.
    #[track_caller]
    pub fn chunk(self, n: usize, axis: impl AxisInt) -> Vec<Sym> {
        let _at = builder::pin();
        let Some(a) = axes::one("chunk", self, axis.axis()) else { return vec![Sym::POISON; n.min(1 << 16)] };
        let (d, k) = (self.dim(a), n.max(1));
        let part = d / k;
        if n == 0 || part * k != d {
            let m = format!("axis {a} of size {d} does not divide into {n} parts");
            let bad = builder::fail("chunk", &[self], m, None);
            // As many as a caller may take apart, but no more than make sense.
            return vec![bad; n.min(1 << 16)];
        }
        (0..n).map(|i| self.slice_axis(a, part * i, part * (i + 1))).collect()
    }
    /// Parts along an axis, cut before each of these positions.
    #[track_caller]
    pub fn split(self, at: impl IntoShape, axis: impl AxisInt) -> Vec<Sym> {
        let _at = builder::pin();
        let at = at.into_shape();
        let Some(a) = axes::one("split", self, axis.axis()) else { return vec![Sym::POISON; at.rank() + 1] };
        let ends = at.iter().copied().chain([self.dim(a)]);
        let starts = [Dim::constant(0)].into_iter().chain(at.iter().copied());
        starts.zip(ends).map(|(s, e)| self.slice_axis(a, s, e)).collect()
    }
    /// The rows of an axis of constant size, without that axis.
    #[track_caller]
    pub fn unstack(self, axis: impl AxisInt) -> Vec<Sym> {
        let _at = builder::pin();
        let Some(a) = axes::one("unstack", self, axis.axis()) else { return vec![] };
        match self.dim(a).get() {
            Some(n) => (0..n).map(|i| self.slice_axis(a, i, i + 1).squeeze(a)).collect(),
            None => vec![builder::fail(
                "unstack",
                &[self],
                format!("axis {a} has the symbolic size {}", self.dim(a)),
                Some("use `scan` or `map` over it".into()),
            )],
        }
    }
    /// Windows of `size` elements, `step` apart, along an axis: it becomes the number of windows, and a last axis of
    /// `size` is added.
    #[track_caller]
    pub fn windows(self, size: usize, step: usize, axis: impl AxisInt) -> Sym {
        let _at = builder::pin();
        let Some(a) = axes::one("windows", self, axis.axis()) else { return Sym::POISON };
        let n = self.dim(a);
        if size == 0 || step == 0 || n.as_i64().is_some_and(|n| n < size as i64) {
            return builder::fail(
                "windows",
                &[self],
                format!("windows of {size}, {step} apart, do not fit axis {a} of size {n}"),
                None,
            );
        }
        let count = (n - size) / step + 1;
        let index = super::creators::iota(I32, [count, size.to_dim()], 0) * step as i64
            + super::creators::iota(I32, [count, size.to_dim()], 1);
        self.take(index, a).move_axis(a + 1, -1)
    }
    /// The lower triangle of the last two axes, `k` diagonals above the main one included; zero elsewhere.
    #[track_caller]
    pub fn tril(self, k: i64) -> Sym {
        self.triangle(k, Direction::Ge, "tril")
    }
    /// The upper triangle of the last two axes, from the `k`-th diagonal on; zero elsewhere.
    #[track_caller]
    pub fn triu(self, k: i64) -> Sym {
        self.triangle(k, Direction::Le, "triu")
    }
    #[track_caller]
    fn triangle(self, k: i64, keep: Direction, op: &str) -> Sym {
        let Some(t) = self.ty() else { return Sym::POISON };
        let Some(first) = t.rank().checked_sub(2) else {
            return builder::fail(op, &[self], "needs at least two axes", None);
        };
        let (r, c) =
            (super::creators::iota(I32, &t.shape[first..], 0), super::creators::iota(I32, &t.shape[first..], 1));
        let mask = crate::compare::compare(keep, if k == 0 { r } else { r + k }, c);
        let mask = if first == 0 { mask } else { broadcast_to(op, mask, &t.shape) };
        builder::emit(Prim::Select {}, &[mask, self, self.zeros_like()])
    }
    /// The main diagonal of the last two axes, as a last axis.
    #[track_caller]
    pub fn diagonal(self) -> Sym {
        let _at = builder::pin();
        let Some(t) = self.ty() else { return Sym::POISON };
        let Some(r) = t.rank().checked_sub(2) else {
            return builder::fail("diagonal", &[self], "needs at least two axes", None);
        };
        let n = t.shape[r].min(t.shape[r + 1]);
        let rows = self.slice_axis(r, 0, n);
        let mut shape = t.shape[..r].to_vec();
        if n == 0 {
            shape.push(n);
            return splat("diagonal", Scalar::Int(0), t.dtype, shape.into_iter().collect());
        }
        shape.extend([n, Dim::constant(1)]);
        rows.take_along_axis(super::creators::iota(I32, &shape, r), -1).squeeze(-1)
    }
    /// The matrix with this vector on its diagonal (batched over leading axes).
    #[track_caller]
    pub fn diag(self) -> Sym {
        let Some(t) = self.ty() else { return Sym::POISON };
        let Some(&n) = t.shape.last() else { return builder::fail("diag", &[self], "needs at least one axis", None) };
        let mut shape = t.shape.clone();
        shape.push(n);
        let (r, c) = (super::creators::iota(I32, [n, n], 0), super::creators::iota(I32, [n, n], 1));
        let mask = broadcast_to("diag", crate::compare::compare(Direction::Eq, r, c), &shape);
        let wide = broadcast_to("diag", self.expand_dims(-1), &shape);
        builder::emit(Prim::Select {}, &[mask, wide, wide.zeros_like()])
    }
}

/// The tensors one after the other along `axis`.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|x: Sym| concat([x, -x], 0), Tensor::from([1f32, 2.0]), &Interp)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0, -1.0, -2.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn concat(xs: impl IntoIterator<Item = Sym>, axis: impl AxisInt) -> Sym {
    let _at = builder::pin();
    let xs: Vec<Sym> = xs.into_iter().collect();
    let Some(&first) = xs.first() else { return builder::fail("concat", &[], "there is nothing to concatenate", None) };
    match axes::one("concat", first, axis.axis()) {
        Some(axis) => builder::emit(Prim::Concatenate { axis }, &xs),
        None => Sym::POISON,
    }
}

/// The tensors along a new axis at position `axis` of the result.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|x: Sym| stack([x, -x], 1), Tensor::from([1f32, 2.0]), &Interp)?;
/// assert_eq!((y.shape(), y.to_vec::<f32>()?), (&[2, 2][..], vec![1.0, -1.0, 2.0, -2.0]));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn stack(xs: impl IntoIterator<Item = Sym>, axis: impl AxisInt) -> Sym {
    let _at = builder::pin();
    let xs: Vec<Sym> = xs.into_iter().collect();
    let Some(rank) = xs.first().and_then(|x| x.ty()).map(|t| t.rank()) else {
        return if xs.is_empty() {
            builder::fail("stack", &[], "there is nothing to stack", None)
        } else {
            Sym::POISON
        };
    };
    match axes::normalize(axis.axis(), rank + 1) {
        Some(a) => concat(xs.into_iter().map(|x| x.expand_dims(a)), a),
        None => {
            builder::fail("stack", &xs, format!("position {} is out of range for rank {}", axis.axis(), rank + 1), None)
        }
    }
}
