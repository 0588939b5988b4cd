//! Arguments of ops that have several spellings: axes and slices.

use crate::Dim;
use std::ops::RangeFull;

/// Axes of an op: which, and whether reduced ones stay with size 1.
///
/// ```
/// use evoxc::{Axes, IntoAxes, keep};
/// assert_eq!([0, -1].into_axes(), Axes { axes: Some(vec![0, -1]), keep: false });
/// assert_eq!(keep(..).into_axes(), Axes { axes: None, keep: true });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// The axes as written (negative ones count from the end); `None` for all.
    pub axes: Option<Vec<i64>>,
    /// Reduced axes stay with size 1.
    pub keep: bool,
}

/// What names axes: an integer, an array, a `Vec`, a slice, or `..` for all; [`keep`] around it keeps reduced axes.
///
/// ```
/// use evoxc::{IntoAxes, prelude::*};
/// fn spread(x: Sym, axes: impl IntoAxes + Copy) -> Sym {
///     x.max(axes) - x.min(axes)
/// }
/// let graph = trace(|x: Sym| (spread(x, -1), spread(x, [0, 1]), spread(x, ..)), spec(F32, [2, 3, 4]))?;
/// assert_eq!(graph.output_specs(), [spec(F32, [2, 3]), spec(F32, [4]), spec(F32, [])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes",
    label = "expected axes",
    note = "axes are an integer, an array, or `..` for all; `keep(..)` keeps them with size 1"
)]
pub trait IntoAxes {
    /// The axes as data.
    fn into_axes(self) -> Axes;
}

/// An integer that names an axis; negative ones count from the end.
///
/// ```
/// use evoxc::{AxisInt, prelude::*};
/// fn range(x: Sym, axis: impl AxisInt) -> Sym {
///     let x = x.sort(axis);
///     x.cumsum(axis)
/// }
/// let graph = trace(|x: Sym| range(x, -1) + range(x, 0usize), spec(F32, [2, 3]))?;
/// assert_eq!(graph.output_specs(), [spec(F32, [2, 3])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not an axis number", label = "expected an integer")]
pub trait AxisInt: Copy {
    /// The number.
    fn axis(self) -> i64;
}

fn some(axes: Vec<i64>) -> Axes {
    Axes { axes: Some(axes), keep: false }
}

macro_rules! axis {
    ($($t:ty),*) => { $(
        impl AxisInt for $t { fn axis(self) -> i64 { i64::try_from(self).unwrap_or(i64::MAX) } }
        impl IntoAxes for $t { fn into_axes(self) -> Axes { some(vec![self.axis()]) } }
    )* };
}
axis!(i32, i64, isize, usize, u32);

impl IntoAxes for RangeFull {
    fn into_axes(self) -> Axes {
        Axes { axes: None, keep: false }
    }
}
impl IntoAxes for Axes {
    fn into_axes(self) -> Axes {
        self
    }
}

/// Axes whose reduction leaves them with size 1; made by [`keep`].
///
/// ```
/// use evoxc::prelude::*;
/// let centred = |x: Sym| x - x.mean(keep(1));
/// let y = evaluate(centred, Tensor::from([[1f32, 3.0], [2.0, 6.0]]), &Interp)?;
/// assert_eq!(y.to_vec::<f32>()?, [-1.0, 1.0, -2.0, 2.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Keep<A>(A);

/// Keeps reduced axes with size 1: `x - x.max(keep(1))`.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(|x: Sym| x.max(keep(1)), spec(F32, [2, 3]))?;
/// assert_eq!(graph.output_specs(), [spec(F32, [2, 1])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn keep<A: IntoAxes>(axes: A) -> Keep<A> {
    Keep(axes)
}

impl<A: IntoAxes> IntoAxes for Keep<A> {
    fn into_axes(self) -> Axes {
        Axes { keep: true, ..self.0.into_axes() }
    }
}
impl<T: AxisInt> IntoAxes for Vec<T> {
    fn into_axes(self) -> Axes {
        some(self.into_iter().map(T::axis).collect())
    }
}
impl<T: AxisInt> IntoAxes for &Vec<T> {
    fn into_axes(self) -> Axes {
        self.as_slice().into_axes()
    }
}
impl<T: AxisInt> IntoAxes for &[T] {
    fn into_axes(self) -> Axes {
        some(self.iter().map(|a| a.axis()).collect())
    }
}
// `[]` has no element type of its own, so it gets an impl that fixes one.
impl IntoAxes for [i64; 0] {
    fn into_axes(self) -> Axes {
        some(vec![])
    }
}
macro_rules! arrays {
    ($($n:literal)*) => { $(impl<T: AxisInt> IntoAxes for [T; $n] {
        fn into_axes(self) -> Axes { self.as_slice().into_axes() }
    })* };
}
arrays!(1 2 3 4 5 6 7 8 9 10 11 12);

/// One entry of [`Slices`].
///
/// ```
/// use evoxc::{Dim, SliceItem, s};
/// assert_eq!(s![3].0, [SliceItem::At(Dim::constant(3))]);
/// assert_eq!(s![..;2].0, [SliceItem::Range(None, None, 2)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceItem {
    /// One index; the axis goes away.
    At(Dim),
    /// `start..end;step`; a negative bound counts from the end.
    Range(Option<Dim>, Option<Dim>, i64),
    /// A new axis of size 1.
    NewAxis,
}

/// What the macro `s![…]` gives to `slice`.
///
/// ```
/// use evoxc::prelude::*;
/// let cut = |x: Sym| x.slice(s![-1, ..;2]);
/// let y = evaluate(cut, Tensor::from([[1, 2, 3], [4, 5, 6]]), &Interp)?;
/// assert_eq!(y.to_vec::<i32>()?, [4, 6]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slices(pub Vec<SliceItem>);
