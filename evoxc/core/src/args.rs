//! Arguments of ops that have several spellings: axes and slices.

use crate::Dim;
use std::ops::RangeFull;

/// Axes of an op: which, and whether reduced ones stay with size 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// The axes as written (negative ones count from the end); `None` for all.
    pub axes: Option<Vec<i64>>,
    /// Reduced axes stay with size 1.
    pub keep: bool,
}

/// What names axes: an integer, an array, a `Vec`, a slice, or `..` for all; [`keep`] around it keeps reduced axes.
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
#[derive(Clone, Copy, Debug)]
pub struct Keep<A>(A);

/// Keeps reduced axes with size 1: `x - x.max(keep(1))`.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slices(pub Vec<SliceItem>);
