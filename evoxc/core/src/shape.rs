//! Shapes and specs.

use crate::{DType, Device, Dim, DimLike};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;

/// The extents of a tensor, each a [`Dim`]: a constant, a symbol, or an expression of symbols.
///
/// ```
/// use evoxc::{dim, IntoShape};
/// let s = (dim("B"), 4).into_shape();
/// assert_eq!(s.to_string(), "[B, 4]");
/// assert_eq!(s.rank(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Shape(SmallVec<[Dim; 4]>);

impl Shape {
    /// The shape of a scalar.
    pub fn scalar() -> Shape {
        Shape::default()
    }
    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }
    /// The extents, if all are constants (and not negative).
    pub fn to_static(&self) -> Option<Vec<usize>> {
        self.0.iter().map(|d| d.get()).collect()
    }
    /// Are all extents constants?
    pub fn is_static(&self) -> bool {
        self.0.iter().all(|d| d.get().is_some())
    }
    /// The number of elements; a poison dim on overflow.
    pub fn size(&self) -> Dim {
        self.0.iter().fold(Dim::constant(1), |a, &b| a * b)
    }
    /// Appends an axis.
    pub fn push(&mut self, d: impl DimLike) {
        self.0.push(d.to_dim());
    }
    /// The extents, to change.
    pub fn dims_mut(&mut self) -> &mut [Dim] {
        &mut self.0
    }
}

impl Deref for Shape {
    type Target = [Dim];
    fn deref(&self) -> &[Dim] {
        &self.0
    }
}
impl FromIterator<Dim> for Shape {
    fn from_iter<I: IntoIterator<Item = Dim>>(it: I) -> Shape {
        Shape(it.into_iter().collect())
    }
}
impl<'a> IntoIterator for &'a Shape {
    type Item = &'a Dim;
    type IntoIter = std::slice::Iter<'a, Dim>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
impl<T, const N: usize> PartialEq<[T; N]> for Shape
where
    Dim: PartialEq<T>,
{
    fn eq(&self, o: &[T; N]) -> bool {
        self.0.len() == N && self.0.iter().zip(o).all(|(a, b)| a == b)
    }
}
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, d) in self.0.iter().enumerate() {
            write!(f, "{}{d}", if i > 0 { ", " } else { "" })?;
        }
        f.write_str("]")
    }
}
impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What is a shape: an array, a tuple mixing integers and `Dim`s, a slice, a `Vec`; `[]` is a scalar.
///
/// ```
/// use evoxc::{IntoShape, prelude::*};
/// fn images(shape: impl IntoShape) -> TensorSpec {
///     spec(U8, shape)
/// }
/// assert_eq!(images((dim("B"), 28, 28)).to_string(), "tensor<Bx28x28xu8>");
/// assert_eq!(images(vec![28; 2]), images([28, 28]));
/// assert_eq!(images([]).rank(), 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "expected a shape",
    note = "a shape is an array `[2, 3]`, a tuple mixing integers and `Dim`s `(b, 3)`, a slice, a `Vec`, or `[]` for a scalar"
)]
pub trait IntoShape {
    /// The shape.
    fn into_shape(self) -> Shape;
}

fn collect<T: DimLike>(s: &[T]) -> Shape {
    s.iter().map(|d| d.to_dim()).collect()
}

impl IntoShape for Shape {
    fn into_shape(self) -> Shape {
        self
    }
}
impl IntoShape for &Shape {
    fn into_shape(self) -> Shape {
        self.clone()
    }
}
impl<T: DimLike> IntoShape for Vec<T> {
    fn into_shape(self) -> Shape {
        collect(&self)
    }
}
impl<T: DimLike> IntoShape for &Vec<T> {
    fn into_shape(self) -> Shape {
        collect(self)
    }
}
impl<T: DimLike> IntoShape for &[T] {
    fn into_shape(self) -> Shape {
        collect(self)
    }
}
// `[]` must infer: one impl a length, the empty one of a fixed type.
impl IntoShape for [usize; 0] {
    fn into_shape(self) -> Shape {
        Shape::scalar()
    }
}
impl IntoShape for () {
    fn into_shape(self) -> Shape {
        Shape::scalar()
    }
}
macro_rules! arrays {
    ($($n:literal)*) => { $(
        impl<T: DimLike> IntoShape for [T; $n] { fn into_shape(self) -> Shape { collect(&self) } }
        impl<T: DimLike> IntoShape for &[T; $n] { fn into_shape(self) -> Shape { collect(self) } }
    )* };
}
arrays!(1 2 3 4 5 6 7 8 9 10 11 12);
macro_rules! tuples {
    ($($($t:ident)+;)*) => { $(impl<$($t: DimLike),+> IntoShape for ($($t,)+) {
        #[allow(non_snake_case)]
        fn into_shape(self) -> Shape { let ($($t,)+) = self; [$($t.to_dim()),+].into_iter().collect() }
    })* };
}
tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; }

/// What is known of a tensor before it exists: dtype, shape, and (optionally) the device where it must live.
///
/// ```
/// use evoxc::{spec, F32};
/// assert_eq!(spec(F32, [4, 8]).to_string(), "tensor<4x8xf32>");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TensorSpec {
    /// The element type.
    pub dtype: DType,
    /// The extents.
    pub shape: Shape,
    /// The device, where one is asked for.
    pub device: Option<Device>,
}

/// A spec of `dtype` and `shape`, on any device.
///
/// ```
/// use evoxc::prelude::*;
/// assert_eq!(spec(F32, (dim("B"), 8)).to_string(), "tensor<Bx8xf32>");
/// ```
pub fn spec(dtype: DType, shape: impl IntoShape) -> TensorSpec {
    TensorSpec { dtype, shape: shape.into_shape(), device: None }
}

impl TensorSpec {
    /// The same spec, bound to a device.
    pub fn on(mut self, device: Device) -> TensorSpec {
        self.device = Some(device);
        self
    }
    /// The dtype.
    pub fn dtype(&self) -> DType {
        self.dtype
    }
    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }
}

impl fmt::Display for TensorSpec {
    /// `tensor<4x8xf32>`; a symbolic extent is bare where its name holds no `x`, else in brackets: `tensor<[2*B + 1]x4xf32>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for d in &self.shape {
            let text = d.to_string();
            let plain = d.get().is_some() || (d.symbol_name().is_some() && !text.contains('x'));
            if plain { write!(f, "{text}x")? } else { write!(f, "[{text}]x")? }
        }
        write!(f, "{}>", self.dtype)
    }
}
impl fmt::Debug for TensorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        self.device.map_or(Ok(()), |d| write!(f, " on {d}"))
    }
}
