//! Reductions over axes, and running ones along an axis.
//!
//! Axes are an integer (negative from the end), an array, or `..` for all; in `keep(..)` they stay with size 1.

use super::checks::{boolean, inexact, known, number, real};
use super::parts::{convert, count, cut, kept, reduce, reshape, spread};
use crate::axes::{many, one};
use crate::{Sym, builder};
use evoxc_core::{AxisInt, DType, I32, IntoAxes, Shape, TensorSpec};
use evoxc_ir::{CumOp, Prim, Reducer};

/// Reduces the axes that a method was given.
#[track_caller]
fn over(op: &str, x: Sym, reducer: Reducer, t: &TensorSpec, axes: impl IntoAxes) -> Sym {
    match many(op, x, axes) {
        Some((axes, keep)) => kept(reduce(reducer, x, &axes), &t.shape, &axes, keep),
        None => Sym::POISON,
    }
}

/// `x` where the dtype is as wide as its sums are.
#[track_caller]
fn wide(x: Sym, dtype: DType) -> Sym {
    convert(x, dtype.accumulator())
}

/// Mean over `axes`, in the dtype of `x`.
#[track_caller]
pub(crate) fn mean_of(x: Sym, shape: &Shape, axes: &[usize]) -> Sym {
    reduce(Reducer::Sum, x, axes) / count(shape, axes)
}

/// |x|².
#[track_caller]
fn magnitude_squared(x: Sym, dtype: DType) -> Sym {
    if dtype.is_complex() {
        let (re, im) = (x.real(), x.imag());
        return re * re + im * im;
    }
    x * x
}

impl Sym {
    /// The sum over axes, in `self`'s dtype; integers wrap, f16 and bf16 accumulate in f32 and round once. 0 of nothing.
    ///
    /// # Errors
    /// A bool: `count_nonzero` counts, `.cast(..)` says in which dtype to sum.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let g = trace(|x: Sym| (x.sum(-1), x.sum(keep(0)), x.sum(..)), spec(F32, (dim("B"), 4))).unwrap();
    /// assert_eq!(g.output_specs(), [spec(F32, [dim("B")]), spec(F32, [1, 4]), spec(F32, [])]);
    /// ```
    #[track_caller]
    pub fn sum(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = number("sum", self) else { return Sym::POISON };
        over("sum", self, Reducer::Sum, &t, axes)
    }
    /// The product over axes, in `self`'s dtype; integers wrap. 1 of nothing.
    #[track_caller]
    pub fn prod(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = number("prod", self) else { return Sym::POISON };
        over("prod", self, Reducer::Prod, &t, axes)
    }
    /// The largest element over axes; NaN propagates. Of nothing -inf, or the smallest integer.
    #[track_caller]
    pub fn max(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = known("max", self) else { return Sym::POISON };
        over("max", self, Reducer::Max, &t, axes)
    }
    /// The smallest element over axes; NaN propagates. Of nothing inf, or the largest integer.
    #[track_caller]
    pub fn min(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = known("min", self) else { return Sym::POISON };
        over("min", self, Reducer::Min, &t, axes)
    }
    /// Is any element over axes true? Of nothing false. For bools.
    #[track_caller]
    pub fn any(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = boolean("any", self) else { return Sym::POISON };
        over("any", self, Reducer::Or, &t, axes)
    }
    /// Are all elements over axes true? Of nothing true. For bools.
    #[track_caller]
    pub fn all(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = boolean("all", self) else { return Sym::POISON };
        over("all", self, Reducer::And, &t, axes)
    }
    /// The arithmetic mean over axes, for floats and complex numbers; NaN of nothing. f16 and bf16 are averaged in f32
    /// and rounded once.
    ///
    /// # Errors
    /// An integer or a bool: `.cast(F32)` says in which dtype to divide.
    #[track_caller]
    pub fn mean(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = inexact("mean", self) else { return Sym::POISON };
        let Some((axes, keep)) = many("mean", self, axes) else { return Sym::POISON };
        let mean = mean_of(wide(self, t.dtype), &t.shape, &axes);
        kept(convert(mean, t.dtype), &t.shape, &axes, keep)
    }
    /// The variance over axes, mean((x - mean(x))²), of complex numbers a real. `var_corrected` divides by less.
    #[track_caller]
    pub fn var(self, axes: impl IntoAxes) -> Sym {
        self.variance("var", axes, 0)
    }
    /// The variance over axes, with the sum divided by n - `correction`; 1 makes it unbiased.
    #[track_caller]
    pub fn var_corrected(self, axes: impl IntoAxes, correction: i64) -> Sym {
        self.variance("var_corrected", axes, correction)
    }
    #[track_caller]
    fn variance(self, op: &str, axes: impl IntoAxes, correction: i64) -> Sym {
        let Some(t) = inexact(op, self) else { return Sym::POISON };
        let Some((axes, keep)) = many(op, self, axes) else { return Sym::POISON };
        let x = wide(self, t.dtype);
        let centred = x - spread(mean_of(x, &t.shape, &axes), &t.shape, &axes);
        let sum = reduce(Reducer::Sum, magnitude_squared(centred, t.dtype), &axes);
        let var = sum / (count(&t.shape, &axes) - correction);
        kept(convert(var, t.dtype.real()), &t.shape, &axes, keep)
    }
    /// The standard deviation over axes: the square root of `var`.
    #[track_caller]
    pub fn std(self, axes: impl IntoAxes) -> Sym {
        self.variance("std", axes, 0).sqrt()
    }
    /// log(Σ eˣ) over axes, without overflow, for real floats; -inf of nothing, or where all are -inf.
    #[track_caller]
    pub fn logsumexp(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = super::checks::float("logsumexp", self) else { return Sym::POISON };
        let Some((axes, keep)) = many("logsumexp", self, axes) else { return Sym::POISON };
        let most = reduce(Reducer::Max, self, &axes);
        // An infinite maximum would give inf - inf.
        let shift = most.is_finite().select(most, 0).stop_gradient();
        let sum = reduce(Reducer::Sum, (self - spread(shift, &t.shape, &axes)).exp(), &axes);
        kept(sum.log() + shift, &t.shape, &axes, keep)
    }
    /// The Euclidean norm over axes, √Σ|x|², for floats and complex numbers (a real).
    #[track_caller]
    pub fn norm(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = inexact("norm", self) else { return Sym::POISON };
        let Some((axes, keep)) = many("norm", self, axes) else { return Sym::POISON };
        let sum = reduce(Reducer::Sum, magnitude_squared(self, t.dtype), &axes);
        kept(sum.sqrt(), &t.shape, &axes, keep)
    }
    /// The vector norm of order `p` over axes, (Σ|x|ᵖ)^(1/p): inf and -inf are the largest and smallest magnitude, 0
    /// counts what is not 0. For floats and complex numbers (a real).
    #[track_caller]
    pub fn norm_p(self, p: f64, axes: impl IntoAxes) -> Sym {
        let Some(t) = inexact("norm_p", self) else { return Sym::POISON };
        let Some((axes, keep)) = many("norm_p", self, axes) else { return Sym::POISON };
        // An even power has no kink at 0, and abs would lose its derivatives there.
        let even = p > 0.0 && p % 2.0 == 0.0 && !t.dtype.is_complex();
        let a = if even { self } else { self.abs() };
        let norm = if p == f64::INFINITY {
            reduce(Reducer::Max, a, &axes)
        } else if p == f64::NEG_INFINITY {
            reduce(Reducer::Min, a, &axes)
        } else if p == 0.0 {
            reduce(Reducer::Sum, convert(a.ne(0), t.dtype.real()), &axes)
        } else if p == 1.0 {
            reduce(Reducer::Sum, a, &axes)
        } else if p == 2.0 {
            reduce(Reducer::Sum, magnitude_squared(self, t.dtype), &axes).sqrt()
        } else {
            reduce(Reducer::Sum, a.pow(p), &axes).pow(1.0 / p)
        };
        kept(norm, &t.shape, &axes, keep)
    }
    /// How many elements over axes are not 0 (or true), an i32.
    #[track_caller]
    pub fn count_nonzero(self, axes: impl IntoAxes) -> Sym {
        let Some(t) = known("count_nonzero", self) else { return Sym::POISON };
        let Some((axes, keep)) = many("count_nonzero", self, axes) else { return Sym::POISON };
        let set = if t.dtype.is_bool() { self } else { self.ne(0) };
        kept(reduce(Reducer::Sum, convert(set, I32), &axes), &t.shape, &axes, keep)
    }
    /// The index of the first largest element, an i32; NaN counts as largest. One axis, or `..`: the index into all
    /// elements in row-major order.
    #[track_caller]
    pub fn argmax(self, axis: impl IntoAxes) -> Sym {
        self.arg("argmax", axis, |axis| Prim::Argmax { axis })
    }
    /// The index of the first smallest element, an i32; NaN counts as smallest. One axis, or `..`: the index into all
    /// elements in row-major order.
    #[track_caller]
    pub fn argmin(self, axis: impl IntoAxes) -> Sym {
        self.arg("argmin", axis, |axis| Prim::Argmin { axis })
    }
    #[track_caller]
    fn arg(self, op: &str, axes: impl IntoAxes, prim: fn(usize) -> Prim) -> Sym {
        let Some(t) = known(op, self) else { return Sym::POISON };
        let axes = axes.into_axes();
        let all = axes.axes.is_none();
        let Some((axes, keep)) = many(op, self, axes) else { return Sym::POISON };
        match axes.as_slice() {
            &[axis] => kept(builder::emit(prim(axis), &[self]), &t.shape, &axes, keep),
            _ if all => {
                let flat = reshape(self, [t.shape.size()].into_iter().collect());
                kept(builder::emit(prim(0), &[flat]), &t.shape, &axes, keep)
            }
            _ => {
                let remedy = "name one axis, or `..` for the index into all elements".to_string();
                builder::fail(op, &[self], format!("cannot search {} axes at once", axes.len()), Some(remedy))
            }
        }
    }
    #[track_caller]
    fn running(self, name: &str, op: CumOp, axis: impl AxisInt) -> Sym {
        let checked = match op {
            CumOp::Sum | CumOp::Prod => number(name, self),
            CumOp::Max | CumOp::Min => real(name, self),
            CumOp::Logsumexp => super::checks::float(name, self),
        };
        if checked.is_none() {
            return Sym::POISON;
        }
        match one(name, self, axis.axis()) {
            Some(axis) => builder::emit(Prim::Cumulative { op, axis, reverse: false }, &[self]),
            None => Sym::POISON,
        }
    }
    /// The running sum along `axis`, of the same shape and dtype; a bool is an error (`.cast(I32)` it).
    #[track_caller]
    pub fn cumsum(self, axis: impl AxisInt) -> Sym {
        self.running("cumsum", CumOp::Sum, axis)
    }
    /// The running product along `axis`.
    #[track_caller]
    pub fn cumprod(self, axis: impl AxisInt) -> Sym {
        self.running("cumprod", CumOp::Prod, axis)
    }
    /// The running maximum along `axis`, of real numbers; after a NaN all are NaN.
    #[track_caller]
    pub fn cummax(self, axis: impl AxisInt) -> Sym {
        self.running("cummax", CumOp::Max, axis)
    }
    /// The running minimum along `axis`, of real numbers; after a NaN all are NaN.
    #[track_caller]
    pub fn cummin(self, axis: impl AxisInt) -> Sym {
        self.running("cummin", CumOp::Min, axis)
    }
    /// The running `logsumexp` along `axis`, of real floats.
    #[track_caller]
    pub fn cumlogsumexp(self, axis: impl AxisInt) -> Sym {
        self.running("cumlogsumexp", CumOp::Logsumexp, axis)
    }
    /// The difference of neighbours along `axis`, `x[i+1] - x[i]`: one element less. Of bools: whether they differ.
    #[track_caller]
    pub fn diff(self, axis: impl AxisInt) -> Sym {
        let Some(t) = known("diff", self) else { return Sym::POISON };
        let Some(axis) = one("diff", self, axis.axis()) else { return Sym::POISON };
        let n = t.shape[axis];
        if n == 0 {
            return self;
        }
        let (after, before) = (cut(self, axis, 1, n), cut(self, axis, 0, n - 1));
        if t.dtype.is_bool() { after.ne(before) } else { after - before }
    }
}
