//! Convolutions, pools and resizing. Layouts are NCHW and OIHW with any number of spatial axes.

use super::creators::{full, iota};
use crate::operand::splat;
use crate::{Sym, axes, builder};
use evoxc_core::{AxisInt, Dim, DimLike, F32, F64, I32, I64, IntoShape, Scalar, Shape};
use evoxc_ir::{ConvLayout, Flag, Padding, Prim, Reducer, Window};

/// The options of a convolution, all with defaults: stride 1, no padding, no dilation, one group, NCHW and OIHW.
///
/// ```
/// use evoxc::prelude::*;
/// let f = |x: Sym, w: Sym| x.conv(w, Conv::default().strides([2, 1]).padding([(1, 2), (0, 1)]));
/// let g = trace(f, (spec(F32, [1, 3, 8, 8]), spec(F32, [4, 3, 3, 3]))).unwrap();
/// assert_eq!(g.output_specs(), [spec(F32, [1, 4, 5, 7])]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Conv {
    strides: Option<Vec<i64>>,
    padding: Option<Vec<(i64, i64)>>,
    dilation: Option<Vec<i64>>,
    lhs_dilation: Option<Vec<i64>>,
    groups: Option<usize>,
    channels_last: bool,
}

fn ints(s: impl IntoShape) -> Vec<i64> {
    s.into_shape().iter().map(|d| d.as_i64().unwrap_or(-1)).collect()
}

impl Conv {
    /// The step of the window along each spatial axis.
    pub fn strides(mut self, s: impl IntoShape) -> Conv {
        self.strides = Some(ints(s));
        self
    }
    /// (low, high) padding of each spatial axis; negative ones cut.
    pub fn padding(mut self, p: impl AsRef<[(i64, i64)]>) -> Conv {
        self.padding = Some(p.as_ref().to_vec());
        self
    }
    /// The distance of the kernel's elements along each spatial axis.
    pub fn dilation(mut self, s: impl IntoShape) -> Conv {
        self.dilation = Some(ints(s));
        self
    }
    /// The distance of the input's elements along each spatial axis (a transposed convolution's stride).
    pub fn input_dilation(mut self, s: impl IntoShape) -> Conv {
        self.lhs_dilation = Some(ints(s));
        self
    }
    /// Groups of channels that are convolved apart.
    pub fn groups(mut self, n: usize) -> Conv {
        self.groups = Some(n);
        self
    }
    /// NHWC inputs and results, HWIO kernels.
    pub fn channels_last(mut self) -> Conv {
        self.channels_last = true;
        self
    }
}

impl Sym {
    /// Convolution (cross-correlation, as in deep learning) of an input `[N, C, spatial…]` with a kernel
    /// `[O, C / groups, spatial…]`.
    #[track_caller]
    pub fn conv(self, w: Sym, options: Conv) -> Sym {
        let _at = builder::pin();
        let (Some(x), Some(k)) = (self.ty(), w.ty()) else { return Sym::POISON };
        let Some(n) = x.rank().checked_sub(2).filter(|_| x.rank() == k.rank()) else {
            return builder::fail(
                "conv",
                &[self, w],
                "input and kernel need a batch (output) and a channel axis, and as many spatial axes each",
                None,
            );
        };
        let lengths = [&options.strides, &options.dilation, &options.lhs_dilation]
            .into_iter()
            .flatten()
            .map(Vec::len)
            .chain(options.padding.as_ref().map(Vec::len));
        for l in lengths {
            if l != n {
                return builder::fail(
                    "conv",
                    &[self, w],
                    format!("an option has {l} entries for {n} spatial axes"),
                    None,
                );
            }
        }
        let (lhs, spatial, rhs, rhs_spatial): (Vec<usize>, Vec<usize>, Vec<usize>, Vec<usize>) =
            if options.channels_last {
                (vec![0, n + 1], (1..=n).collect(), vec![n + 1, n], (0..n).collect())
            } else {
                (vec![0, 1], (2..n + 2).collect(), vec![0, 1], (2..n + 2).collect())
            };
        let mut window = Window::new(rhs_spatial.iter().map(|&a| k.shape[a]).collect());
        window.stride = options.strides.unwrap_or(window.stride);
        window.window_dilation = options.dilation.unwrap_or(window.window_dilation);
        window.base_dilation = options.lhs_dilation.unwrap_or(window.base_dilation);
        if let Some(p) = options.padding {
            window.padding = pairs(&p);
        }
        let layout =
            ConvLayout { out: lhs.clone(), out_spatial: spatial.clone(), lhs, lhs_spatial: spatial, rhs, rhs_spatial };
        let feature_groups = options.groups.unwrap_or(1);
        builder::emit(
            Prim::Convolution { window, layout, feature_groups, batch_groups: 1, accumulate: None },
            &[self, w],
        )
    }
    /// [`Sym::conv`] over one spatial axis.
    #[track_caller]
    pub fn conv1d(self, w: Sym, options: Conv) -> Sym {
        self.conv_of(1, w, options)
    }
    /// [`Sym::conv`] over two spatial axes.
    #[track_caller]
    pub fn conv2d(self, w: Sym, options: Conv) -> Sym {
        self.conv_of(2, w, options)
    }
    /// [`Sym::conv`] over three spatial axes.
    #[track_caller]
    pub fn conv3d(self, w: Sym, options: Conv) -> Sym {
        self.conv_of(3, w, options)
    }
    #[track_caller]
    fn conv_of(self, n: usize, w: Sym, options: Conv) -> Sym {
        match self.ty() {
            Some(t) if t.rank() != n + 2 => {
                builder::fail("conv", &[self, w], format!("rank {} is not that of {n} spatial axes", t.rank()), None)
            }
            Some(_) => self.conv(w, options),
            None => Sym::POISON,
        }
    }
    /// Transposed convolution, as PyTorch's: the kernel is `[C, O / groups, spatial…]`, `strides` spread the input,
    /// `padding` is taken off the result. Without groups only.
    #[track_caller]
    pub fn conv_transpose(self, w: Sym, options: Conv) -> Sym {
        let _at = builder::pin();
        let (Some(x), Some(k)) = (self.ty(), w.ty()) else { return Sym::POISON };
        let Some(n) = x.rank().checked_sub(2).filter(|_| x.rank() == k.rank()) else {
            return builder::fail(
                "conv_transpose",
                &[self, w],
                "input and kernel need two axes beside as many spatial axes each",
                None,
            );
        };
        if options.groups.unwrap_or(1) != 1 || options.channels_last || options.lhs_dilation.is_some() {
            return builder::fail(
                "conv_transpose",
                &[self, w],
                "groups, channels_last and input_dilation are not options of it",
                Some(
                    "split the channels with `.chunk(..)`, `.transpose(..)` the axes, spread the input by `strides`"
                        .into(),
                ),
            );
        }
        let dilation = options.dilation.unwrap_or_else(|| vec![1; n]);
        let padding = options.padding.unwrap_or_else(|| vec![(0, 0); n]);
        let strides = options.strides.unwrap_or_else(|| vec![1; n]);
        if [dilation.len(), padding.len(), strides.len()] != [n; 3] {
            return builder::fail(
                "conv_transpose",
                &[self, w],
                format!("an option has another number of entries than the {n} spatial axes"),
                None,
            );
        }
        let mut window = Window::new(k.shape[2..].to_vec());
        window.padding = (0..n)
            .map(|i| {
                let reach = (k.shape[2 + i] - 1) * dilation[i];
                Padding { low: reach - padding[i].0, high: reach - padding[i].1 }
            })
            .collect();
        window.base_dilation = strides;
        window.window_dilation = dilation;
        window.reversal = vec![Flag(true); n];
        let spatial: Vec<usize> = (2..n + 2).collect();
        let layout = ConvLayout {
            lhs: vec![0, 1],
            lhs_spatial: spatial.clone(),
            rhs: vec![1, 0],
            rhs_spatial: spatial.clone(),
            out: vec![0, 1],
            out_spatial: spatial,
        };
        builder::emit(
            Prim::Convolution { window, layout, feature_groups: 1, batch_groups: 1, accumulate: None },
            &[self, w],
        )
    }
    /// The largest of each window over the last axes, as many as `window` names.
    #[track_caller]
    pub fn max_pool(self, window: impl IntoShape, strides: impl IntoShape) -> Sym {
        let _at = builder::pin();
        self.pool("max_pool", Reducer::Max, window.into_shape(), strides.into_shape(), &[])
    }
    /// [`Sym::max_pool`] with (low, high) padding of each pooled axis, by the lowest value.
    #[track_caller]
    pub fn max_pool_padded(self, window: impl IntoShape, strides: impl IntoShape, padding: &[(i64, i64)]) -> Sym {
        let _at = builder::pin();
        self.pool("max_pool", Reducer::Max, window.into_shape(), strides.into_shape(), padding)
    }
    /// The mean of each window over the last axes, as many as `window` names.
    #[track_caller]
    pub fn avg_pool(self, window: impl IntoShape, strides: impl IntoShape) -> Sym {
        let _at = builder::pin();
        let window = window.into_shape();
        if self.ty().is_some_and(|t| !t.dtype.is_float()) {
            return builder::fail("avg_pool", &[self], "a mean needs a float dtype", Some("`.cast(F32)` first".into()));
        }
        let n = window.size();
        self.pool("avg_pool", Reducer::Sum, window, strides.into_shape(), &[]) / n
    }
    #[track_caller]
    fn pool(self, op: &str, reducer: Reducer, window: Shape, strides: Shape, padding: &[(i64, i64)]) -> Sym {
        let Some(t) = self.ty() else { return Sym::POISON };
        let n = window.rank();
        if n > t.rank() || strides.rank() != n || !(padding.is_empty() || padding.len() == n) {
            let m = format!("a window over {n} axes, {} strides, a tensor of {} axes", strides.rank(), t.rank());
            return builder::fail(op, &[self], m, None);
        }
        let lead = t.rank() - n;
        let mut w = Window::new(vec![Dim::constant(1); lead].into_iter().chain(window.iter().copied()).collect());
        for (i, s) in ints(&strides).into_iter().enumerate() {
            w.stride[lead + i] = s;
        }
        w.padding[lead..].iter_mut().zip(pairs(padding)).for_each(|(slot, p)| *slot = p);
        builder::emit(Prim::ReduceWindow { op: reducer, window: w }, &[self])
    }
    /// Pools the last axes to `size` by the mean; each extent must be a multiple of the wanted one.
    #[track_caller]
    pub fn adaptive_avg_pool(self, size: impl IntoShape) -> Sym {
        let _at = builder::pin();
        match self.divided("adaptive_avg_pool", size.into_shape()) {
            Some(w) => self.avg_pool(&w, &w),
            None => Sym::POISON,
        }
    }
    /// Pools the last axes to `size` by the maximum; each extent must be a multiple of the wanted one.
    #[track_caller]
    pub fn adaptive_max_pool(self, size: impl IntoShape) -> Sym {
        let _at = builder::pin();
        match self.divided("adaptive_max_pool", size.into_shape()) {
            Some(w) => self.max_pool(&w, &w),
            None => Sym::POISON,
        }
    }
    /// The window that takes the last axes to `size`.
    #[track_caller]
    fn divided(self, op: &str, size: Shape) -> Option<Shape> {
        let t = self.ty()?;
        let lead = t.rank().checked_sub(size.rank());
        let window: Option<Shape> = lead.and_then(|l| {
            let fits = |(&n, &s): (&Dim, &Dim)| (s.as_i64() != Some(0) && (n / s) * s == n).then(|| n / s);
            t.shape[l..].iter().zip(&size).map(fits).collect()
        });
        if window.is_none() {
            let remedy = "choose a size that divides the extents, or `.interpolate(..)` first".to_string();
            builder::fail(
                op,
                &[self],
                format!("the last extents of {} are no multiples of {size}", t.shape),
                Some(remedy),
            );
        }
        window
    }
    /// Resizes one axis to `n` elements by nearest neighbours (index floor(i · old / new)).
    #[track_caller]
    pub fn resize_nearest(self, n: impl DimLike, axis: impl AxisInt) -> Sym {
        let _at = builder::pin();
        let Some(a) = axes::one("resize_nearest", self, axis.axis()) else { return Sym::POISON };
        let (n, old) = (n.to_dim(), self.dim(a));
        // The product of both may be more than an i32 holds.
        let dtype = if (n * old).upper_bound().is_some_and(|most| most <= i32::MAX.into()) { I32 } else { I64 };
        let index = iota(dtype, [n], 0) * old / n;
        self.take(index, a)
    }
    /// Resizes one axis to `n` elements linearly with half-pixel centres, as PyTorch's `bilinear` without aligned
    /// corners (apply it to both spatial axes).
    #[track_caller]
    pub fn resize_linear(self, n: impl DimLike, axis: impl AxisInt) -> Sym {
        let _at = builder::pin();
        let Some(a) = axes::one("resize_linear", self, axis.axis()) else { return Sym::POISON };
        let Some(t) = self.ty() else { return Sym::POISON };
        if !t.dtype.is_float() {
            return builder::fail(
                "resize_linear",
                &[self],
                "interpolation needs a float dtype",
                Some("`.cast(F32)` first".into()),
            );
        }
        let (n, old) = (n.to_dim(), t.shape[a]);
        // Positions of as many digits as the elements have.
        let dtype = if t.dtype == F64 { F64 } else { F32 };
        let scale = (full(dtype, (), 1.0) * old) / n;
        let at = ((iota(dtype, [n], 0) + 0.5) * scale.broadcast_to([n]) - 0.5).clamp_between(0.0, old - 1);
        let low = builder::emit(Prim::Unary(evoxc_ir::Unary::Floor), &[at]);
        let fraction = builder::emit(Prim::Convert { dtype: t.dtype }, &[at - low]);
        let low = builder::emit(Prim::Convert { dtype: I32 }, &[low]);
        let high = (low + 1).clamp_between(0, old - 1);
        let mut shape = vec![Dim::constant(1); t.rank()];
        shape[a] = n;
        let f = fraction.reshape(&shape);
        let (x, y) = (self.take(low, a), self.take(high, a));
        x + (y - x) * f
    }
    /// Resizes the last two axes of `[…, H, W]`: `nearest` or bilinear.
    #[track_caller]
    pub fn interpolate(self, size: impl IntoShape, mode: Interpolation) -> Sym {
        let _at = builder::pin();
        let size = size.into_shape();
        let rank = self.ty().map_or(0, |t| t.rank());
        if size.rank() > rank {
            return builder::fail("interpolate", &[self], format!("{} sizes for {rank} axes", size.rank()), None);
        }
        let first = rank - size.rank();
        size.iter().enumerate().fold(self, |x, (i, &n)| match mode {
            Interpolation::Nearest => x.resize_nearest(n, first + i),
            Interpolation::Linear => x.resize_linear(n, first + i),
        })
    }
    #[track_caller]
    fn clamp_between(self, low: impl Into<Scalar>, high: Dim) -> Sym {
        let Some(t) = self.ty() else { return Sym::POISON };
        let low = splat("clamp", low.into(), t.dtype, Shape::scalar());
        let high = crate::operand::lift("clamp", high, &t, false);
        builder::emit(Prim::Clamp {}, &[low, self, high])
    }
}

/// How [`Sym::interpolate`] fills in.
///
/// ```
/// use evoxc::{Interpolation, prelude::*};
/// let widen = |x: Sym| x.interpolate([4], Interpolation::Nearest);
/// let y = evaluate(widen, Tensor::from([[[1f32, 2.0]]]), &Interp)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 1.0, 2.0, 2.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The element at floor(i · old / new).
    Nearest,
    /// Linear along each axis, half-pixel centres.
    Linear,
}

fn pairs(p: &[(i64, i64)]) -> Vec<Padding> {
    p.iter().map(|&(l, h)| Padding { low: Dim::constant(l), high: Dim::constant(h) }).collect()
}
