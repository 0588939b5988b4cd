//! Normalisation: x less its mean, over its spread. None holds parameters: multiply by a weight and add a bias.

use super::checks::{float, same_dtype};
use super::parts::{convert, count, reduce, reshape, spread};
use super::reductions::mean_of;
use crate::axes::{many, one};
use crate::{Sym, builder};
use evoxc_core::{AxisInt, IntoAxes, Shape};
use evoxc_ir::Reducer;

/// (x - mean) / √(variance + eps) over `axes`; f16 and bf16 in f32.
#[track_caller]
fn standardised(x: Sym, shape: &Shape, axes: &[usize], eps: f64) -> Sym {
    let centred = x - spread(mean_of(x, shape, axes), shape, axes);
    let var = reduce(Reducer::Sum, centred * centred, axes) / count(shape, axes);
    centred * spread((var + eps).rsqrt(), shape, axes)
}

impl Sym {
    /// Layer normalisation (Ba et al., 2016): (x - mean) / √(var + eps) over axes, without the affine part:
    /// `x.layer_norm(-1, 1e-5) * weight + bias`. Real floats, of the same shape; f16 and bf16 are computed in f32.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let norm = |x: Sym, weight: Sym, bias: Sym| x.layer_norm(-1, 1e-5) * weight + bias;
    /// let g = trace(norm, (spec(F32, (dim("B"), 8)), spec(F32, [8]), spec(F32, [8]))).unwrap();
    /// assert_eq!(g.output_specs(), [spec(F32, (dim("B"), 8))]);
    /// ```
    #[track_caller]
    pub fn layer_norm(self, axes: impl IntoAxes, eps: f64) -> Sym {
        let Some(t) = float("layer_norm", self) else { return Sym::POISON };
        let Some((axes, _)) = many("layer_norm", self, axes) else { return Sym::POISON };
        convert(standardised(convert(self, t.dtype.accumulator()), &t.shape, &axes, eps), t.dtype)
    }
    /// Root-mean-square normalisation (Zhang & Sennrich, 2019): x / √(mean(x²) + eps) over axes, without the weight.
    /// Real floats, of the same shape; f16 and bf16 are computed in f32.
    #[track_caller]
    pub fn rms_norm(self, axes: impl IntoAxes, eps: f64) -> Sym {
        let Some(t) = float("rms_norm", self) else { return Sym::POISON };
        let Some((axes, _)) = many("rms_norm", self, axes) else { return Sym::POISON };
        let x = convert(self, t.dtype.accumulator());
        let mean = mean_of(x * x, &t.shape, &axes);
        convert(x * spread((mean + eps).rsqrt(), &t.shape, &axes), t.dtype)
    }
    /// Group normalisation (Wu & He, 2018) of `[n, channels, …]`: each of `groups` groups of neighbouring channels is
    /// normalised together with all later axes, without the affine part. `groups` divides the channels.
    #[track_caller]
    pub fn group_norm(self, groups: usize, eps: f64) -> Sym {
        let op = "group_norm";
        let Some(t) = float(op, self) else { return Sym::POISON };
        let channels = match t.shape.get(1).map(|c| (c, c.get())) {
            Some((_, Some(c))) if groups > 0 && c % groups == 0 => c,
            Some((c, _)) => {
                let remedy = "the number of channels (axis 1) is a known multiple of the number of groups".to_string();
                return builder::fail(
                    op,
                    &[self],
                    format!("{c} channels do not split into {groups} groups"),
                    Some(remedy),
                );
            }
            None => {
                return builder::fail(op, &[self], "needs the axes [n, channels, …]", None);
            }
        };
        let mut split: Shape = t.shape.iter().take(1).copied().collect();
        split.push(groups);
        split.push(channels / groups);
        t.shape.iter().skip(2).for_each(|&d| split.push(d));
        let axes: Vec<usize> = (2..split.rank()).collect();
        let x = reshape(convert(self, t.dtype.accumulator()), split.clone());
        reshape(convert(standardised(x, &split, &axes, eps), t.dtype), t.shape)
    }
    /// Batch normalisation with given statistics (inference): (x - mean) / √(var + eps)·scale + bias, where all four
    /// are vectors along `axis`, the channels.
    ///
    /// # Errors
    /// A vector whose shape is not `[channels]`, or of another dtype.
    #[track_caller]
    pub fn batch_norm(self, axis: impl AxisInt, mean: Sym, var: Sym, scale: Sym, bias: Sym, eps: f64) -> Sym {
        let op = "batch_norm";
        let Some(t) = float(op, self) else { return Sym::POISON };
        let Some(axis) = one(op, self, axis.axis()) else { return Sym::POISON };
        let channels = t.shape[axis];
        for (what, v) in [("mean", mean), ("var", var), ("scale", scale), ("bias", bias)] {
            let Some(s) = float(op, v) else { return Sym::POISON };
            if s.shape[..] != [channels] {
                let message = format!("{what} has shape {}, axis {axis} has size {channels}", s.shape);
                return builder::fail(op, &[self, v], message, Some(format!("give a vector of shape [{channels}]")));
            }
            if same_dtype(op, self, v).is_none() {
                return Sym::POISON;
            }
        }
        let factor = scale * (var + eps).rsqrt();
        let others: Vec<usize> = (0..t.rank()).filter(|&i| i != axis).collect();
        let centred = self - spread(mean, &t.shape, &others);
        centred * spread(factor, &t.shape, &others) + spread(bias, &t.shape, &others)
    }
    /// Batch normalisation with the batch's own statistics (training): the result as in [`Sym::batch_norm`], and the
    /// mean and (biased) variance over all axes but `axis`, for running averages.
    #[track_caller]
    pub fn batch_norm_training(self, axis: impl AxisInt, scale: Sym, bias: Sym, eps: f64) -> (Sym, Sym, Sym) {
        let op = "batch_norm_training";
        let poisoned = (Sym::POISON, Sym::POISON, Sym::POISON);
        let Some(t) = float(op, self) else { return poisoned };
        let Some(axis) = one(op, self, axis.axis()) else { return poisoned };
        let others: Vec<usize> = (0..t.rank()).filter(|&i| i != axis).collect();
        let mean = self.mean(others.as_slice());
        let var = self.var(others.as_slice());
        (self.batch_norm(axis, mean, var, scale, bias, eps), mean, var)
    }
    /// x / max(‖x‖₂, eps) over axes, for real floats.
    #[track_caller]
    pub fn normalize(self, axes: impl IntoAxes, eps: f64) -> Sym {
        let Some(t) = float("normalize", self) else { return Sym::POISON };
        let Some((axes, _)) = many("normalize", self, axes) else { return Sym::POISON };
        let square = reduce(Reducer::Sum, self * self, &axes);
        // The root of an unused 0 would make the derivative NaN.
        let zero = square.eq(0);
        let norm = zero.select(eps, zero.select(1, square).sqrt().maximum(eps));
        self / spread(norm, &t.shape, &axes)
    }
}
