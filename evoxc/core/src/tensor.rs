//! Data with a shape: of the host, or held by a runtime.

use crate::buffer::BufferElement;
use crate::resident::{self, Held};
use crate::{
    Buffer, DType, Device, DeviceError, DeviceKind, Element, Error, IntoShape, Resident, Result, Scalar, Shape,
    TensorError, TensorSpec, bf16_from_f64, bf16_from_int, f16_from_f64, f16_from_int, spec, with_buffer, with_dtype,
};
use num_complex::Complex;
use smallvec::SmallVec;
use std::fmt;
use std::ops::{Add, Div, Mul, Sub};
use std::sync::Arc;

/// A tensor: shared row-major storage and a shape. Cloning shares the storage.
///
/// Moving the last owner into `Executable::run` donates the storage to it.
///
/// ```
/// use evoxc::{Tensor, F32};
/// let t = Tensor::from([[1f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(t.shape(), [2, 2]);
/// assert_eq!(t.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(Tensor::ones(F32, [2]).to_string(), "tensor<2xf32> [1, 1]");
/// ```
#[derive(Clone)]
pub struct Tensor {
    shape: SmallVec<[usize; 4]>,
    data: Storage,
}

/// What tensors share.
#[derive(Clone)]
enum Storage {
    Host(Arc<Buffer>),
    Held(Arc<Held>),
}

/// The largest number of bytes one tensor may take; beyond it the size is taken for a mistake.
const MAX_BYTES: usize = 1 << 42;

fn checked_shape(shape: Shape, dtype: DType) -> Result<(SmallVec<[usize; 4]>, usize)> {
    let bad = |reason: &str| TensorError::Shape { shape: shape.to_string(), reason: reason.into() };
    let dims: Option<SmallVec<[usize; 4]>> = shape.iter().map(|d| d.get()).collect();
    let dims = dims.ok_or_else(|| bad("every extent must be a constant that is not negative"))?;
    let n = element_count(&dims).filter(|n| n.checked_mul(dtype.size()).is_some_and(|b| b <= MAX_BYTES));
    let n = n.ok_or_else(|| bad("it is too large"))?;
    Ok((dims, n))
}

/// Would the allocator give this many bytes? Asked for large sizes only, where a plain allocation that fails ends the
/// process.
fn fits_in_memory(bytes: usize) -> bool {
    bytes < 1 << 30 || Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// The product of extents; `None` on overflow of the product without its zeros (so that strides cannot overflow).
fn element_count(dims: &[usize]) -> Option<usize> {
    let n = dims.iter().filter(|&&d| d != 0).try_fold(1usize, |a, &d| a.checked_mul(d))?;
    Some(if dims.contains(&0) { 0 } else { n })
}

impl Tensor {
    /// A tensor of `shape` that takes over `data`.
    ///
    /// # Errors
    /// [`TensorError`] when the sizes differ or the shape is not static.
    pub fn from_vec<T: Element>(data: Vec<T>, shape: impl IntoShape) -> Result<Tensor> {
        Tensor::from_buffer(T::wrap(data), shape)
    }
    /// A tensor of `shape` that takes over a buffer.
    ///
    /// # Errors
    /// [`TensorError`] when the sizes differ or the shape is not static.
    pub fn from_buffer(data: Buffer, shape: impl IntoShape) -> Result<Tensor> {
        let shape = shape.into_shape();
        let (dims, n) = checked_shape(shape.clone(), data.dtype())?;
        if n != data.len() {
            return Err(TensorError::Size { shape: shape.to_string(), expected: n.to_string(), got: data.len() }.into());
        }
        Ok(Tensor { shape: dims, data: Storage::Host(Arc::new(data)) })
    }
    /// For backends: a tensor of concrete extents. `None` when the sizes differ.
    pub fn from_parts(data: impl Into<Arc<Buffer>>, shape: &[usize]) -> Option<Tensor> {
        let data = data.into();
        (element_count(shape)? == data.len()).then(|| Tensor { shape: shape.into(), data: Storage::Host(data) })
    }
    /// A tensor of zeros (`false` for `bool`).
    ///
    /// # Panics
    /// If the shape has a symbolic or negative extent or is larger than memory can be; use [`Tensor::try_full`] for
    /// shapes that are not your own.
    #[track_caller]
    pub fn zeros(dtype: DType, shape: impl IntoShape) -> Tensor {
        Tensor::full(dtype, shape, 0)
    }
    /// A tensor of ones (`true` for `bool`). Panics as [`Tensor::zeros`].
    #[track_caller]
    pub fn ones(dtype: DType, shape: impl IntoShape) -> Tensor {
        Tensor::full(dtype, shape, 1)
    }
    /// A tensor of one value. Panics as [`Tensor::zeros`], and when the value cannot be of the dtype.
    #[track_caller]
    pub fn full(dtype: DType, shape: impl IntoShape, value: impl Into<Scalar>) -> Tensor {
        Tensor::try_full(dtype, shape, value).unwrap_or_else(|e| panic!("{e}"))
    }
    /// [`Tensor::full`] without panics.
    ///
    /// # Errors
    /// [`TensorError`] for a shape that is not static, and a value that the dtype cannot hold.
    pub fn try_full(dtype: DType, shape: impl IntoShape, value: impl Into<Scalar>) -> Result<Tensor> {
        let value = value.into();
        let (dims, n) = checked_shape(shape.into_shape(), dtype)?;
        let one = value
            .buffer(dtype)
            .ok_or_else(|| TensorError::Value { value: value.to_string(), dtype: dtype.to_string() })?;
        if !fits_in_memory(n * dtype.size()) {
            let reason = "there is not enough memory for it".to_string();
            return Err(TensorError::Shape { shape: format!("{:?}", dims.as_slice()), reason }.into());
        }
        let zero = matches!(value, Scalar::Int(0) | Scalar::Bool(false));
        let data = if zero { Buffer::zeros(dtype, n) } else { one.splat(n) };
        Ok(Tensor { shape: dims, data: Storage::Host(Arc::new(data)) })
    }
    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
    /// The number of elements.
    pub fn len(&self) -> usize {
        match &self.data {
            Storage::Host(b) => b.len(),
            Storage::Held(h) => h.memory.len(),
        }
    }
    /// No elements?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The element type.
    pub fn dtype(&self) -> DType {
        match &self.data {
            Storage::Host(b) => b.dtype(),
            Storage::Held(h) => h.memory.dtype(),
        }
    }
    /// Where the data lives.
    pub fn device(&self) -> Device {
        match &self.data {
            Storage::Host(_) => Device::cpu(),
            Storage::Held(h) => h.memory.device(),
        }
    }
    /// The tensor on `device`: itself if it is there already, else a copy. The only transfer there is.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`] where no backend in use has the device, and what its runtime reports.
    pub fn to(&self, device: Device) -> Result<Tensor> {
        if device == self.device() {
            return Ok(self.clone());
        }
        let data = match &self.data {
            Storage::Held(h) if device == Device::cpu() => Storage::Host(Arc::new(h.memory.to_host()?)),
            Storage::Host(_) | Storage::Held(_) => {
                Storage::Held(Arc::new(Held::new(resident::transfer(self, device)?)))
            }
        };
        Ok(Tensor { shape: self.shape.clone(), data })
    }
    /// For backends: a tensor over memory that a runtime holds. `None` when the sizes differ.
    pub fn from_resident(memory: Arc<dyn Resident>, shape: &[usize]) -> Option<Tensor> {
        let fits = element_count(shape)? == memory.len();
        fits.then(|| Tensor { shape: shape.into(), data: Storage::Held(Arc::new(Held::new(memory))) })
    }
    /// For backends: the memory that a runtime holds, if one does.
    pub fn resident(&self) -> Option<&Arc<dyn Resident>> {
        match &self.data {
            Storage::Host(_) => None,
            Storage::Held(h) => Some(&h.memory),
        }
    }
    /// For backends: the memory that a runtime holds, taken out. It has no other owner if this tensor was the last.
    ///
    /// # Errors
    /// The tensor itself, where its storage is the host's.
    pub fn into_resident(self) -> Result<Arc<dyn Resident>, Tensor> {
        match self.data {
            Storage::Host(_) => Err(self),
            Storage::Held(h) => Ok(Arc::try_unwrap(h).map_or_else(|h| h.memory.clone(), |h| h.memory)),
        }
    }
    /// The storage. What a runtime holds in memory of the host is copied when this is first called; of a tensor on
    /// another device it is empty. Readers use [`Tensor::as_slice`], which copies nothing.
    pub fn buffer(&self) -> &Buffer {
        self.shared()
    }
    /// The shared storage, as [`Tensor::buffer`].
    pub fn shared(&self) -> &Arc<Buffer> {
        match &self.data {
            Storage::Host(b) => b,
            Storage::Held(h) => h.buffer(),
        }
    }
    /// The storage to write to, if this is its only owner.
    pub fn buffer_mut(&mut self) -> Option<&mut Buffer> {
        match &mut self.data {
            Storage::Host(b) => Arc::get_mut(b),
            Storage::Held(_) => None,
        }
    }
    /// The storage, taken out without a copy if this is its only owner and it is the host's.
    pub fn into_buffer(self) -> Buffer {
        match self.data {
            Storage::Host(b) => Arc::try_unwrap(b).unwrap_or_else(|shared| (*shared).clone()),
            Storage::Held(h) => (**h.buffer()).clone(),
        }
    }
    /// The storage, where the host can read it.
    fn host(&self) -> Result<&Buffer> {
        match self.device() {
            d if d.kind() == DeviceKind::Cpu && self.buffer().len() == self.len() => Ok(self.buffer()),
            d if d.kind() == DeviceKind::Cpu => Err(self.unread()),
            d => Err(DeviceError::NotOnHost(d).into()),
        }
    }
    /// Why the host could not read what a runtime holds in its memory.
    fn unread(&self) -> Error {
        let failed = self.resident().and_then(|m| m.to_host().err());
        failed.unwrap_or_else(|| DeviceError::NotOnHost(self.device()).into())
    }
    /// The elements in row-major order, without a copy.
    ///
    /// # Errors
    /// [`TensorError::DType`], [`DeviceError::NotOnHost`], and what a runtime reports that cannot give its memory.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        if self.dtype() != T::DTYPE {
            return Err(self.mismatch::<T>().into());
        }
        match &self.data {
            Storage::Host(b) => T::slice(b).ok_or_else(|| self.mismatch::<T>().into()),
            Storage::Held(h) => match h.memory.bytes() {
                // Memory that is not aligned for the element is read by way of a copy.
                Some(bytes) => match T::cast(bytes).or_else(|| T::slice(h.buffer())) {
                    Some(v) if v.len() == self.len() => Ok(v),
                    Some(_) | None => Err(self.unread()),
                },
                None => Err(DeviceError::NotOnHost(self.device()).into()),
            },
        }
    }
    /// A copy of the elements in row-major order.
    ///
    /// # Errors
    /// [`TensorError::DType`].
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.as_slice::<T>().map(<[T]>::to_vec)
    }
    /// A view, without a copy.
    ///
    /// # Errors
    /// [`TensorError::DType`].
    pub fn view<T: Element>(&self) -> Result<ndarray::ArrayViewD<'_, T>> {
        let v = ndarray::ArrayViewD::from_shape(self.shape.as_slice(), self.as_slice::<T>()?);
        v.map_err(|e| TensorError::Shape { shape: format!("{:?}", self.shape), reason: e.to_string() }.into())
    }
    /// An array that takes over the storage, without a copy if this is its only owner.
    ///
    /// # Errors
    /// [`TensorError::DType`].
    pub fn into_ndarray<T: Element>(self) -> Result<ndarray::ArrayD<T>> {
        let (shape, err) = (self.shape.clone(), self.mismatch::<T>());
        let v = T::take(self.into_buffer()).ok_or(err)?;
        ndarray::ArrayD::from_shape_vec(shape.as_slice(), v)
            .map_err(|e| TensorError::Shape { shape: format!("{shape:?}"), reason: e.to_string() }.into())
    }
    /// The element of a tensor of one element.
    ///
    /// # Errors
    /// [`TensorError::NotAScalar`], [`TensorError::DType`].
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.as_slice::<T>()? {
            [x] => Ok(*x),
            _ => Err(TensorError::NotAScalar(self.spec().to_string()).into()),
        }
    }
    /// The same data under another shape, without a copy.
    ///
    /// # Errors
    /// [`TensorError::Size`].
    pub fn reshape(&self, shape: impl IntoShape) -> Result<Tensor> {
        let shape = shape.into_shape();
        let (dims, n) = checked_shape(shape.clone(), self.dtype())?;
        if n != self.len() {
            return Err(TensorError::Size { shape: shape.to_string(), expected: n.to_string(), got: self.len() }.into());
        }
        Ok(Tensor { shape: dims, data: self.data.clone() })
    }
    /// dtype and shape.
    pub fn spec(&self) -> TensorSpec {
        spec(self.dtype(), self.shape.as_slice())
    }
    /// Every element converted to `dtype`, as Rust's `as`: floats to integers truncate and saturate (NaN gives 0),
    /// integers wrap, anything to `bool` is `!= 0`, complex to real drops the imaginary part.
    ///
    /// # Errors
    /// [`DeviceError::NotOnHost`].
    pub fn cast(&self, dtype: DType) -> Result<Tensor> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        Ok(Tensor { shape: self.shape.clone(), data: Storage::Host(Arc::new(cast(self.host()?, dtype))) })
    }
    fn mismatch<T: Element>(&self) -> TensorError {
        TensorError::DType { expected: T::DTYPE.to_string(), got: self.dtype().to_string() }
    }
    /// Same dtype, shape, and bits? Never for tensors that the host cannot read, unless they share storage.
    pub fn bit_eq(&self, o: &Tensor) -> bool {
        self.dtype() == o.dtype() && self.shape == o.shape && self.same_bytes(o)
    }
    fn same_bytes(&self, o: &Tensor) -> bool {
        match (&self.data, &o.data) {
            (Storage::Host(a), Storage::Host(b)) if Arc::ptr_eq(a, b) => true,
            (Storage::Held(a), Storage::Held(b)) if Arc::ptr_eq(a, b) => true,
            _ => match (self.bytes(), o.bytes()) {
                (Some(a), Some(b)) => a == b,
                // What is not on the host cannot be compared here.
                (None, _) | (_, None) => false,
            },
        }
    }
    /// The elements as bytes in the machine's order, read in place; `None` where the memory is not the host's.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.data {
            Storage::Host(b) => Some(b.bytes()),
            Storage::Held(h) => h.memory.bytes(),
        }
    }
}

/// Reading any element as the widest of its kind.
trait Widen {
    fn widen(self) -> Wide;
}
enum Wide {
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}
macro_rules! widen { ($($t:ty => $e:expr;)*) => { $(impl Widen for $t { fn widen(self) -> Wide { let f: fn($t) -> Wide = $e; f(self) } })* } }
widen! {
    bool => |x| Wide::Int(x.into()); i8 => |x| Wide::Int(x.into()); i16 => |x| Wide::Int(x.into()); i32 => |x| Wide::Int(x.into()); i64 => |x| Wide::Int(x.into());
    u8 => |x| Wide::Int(x.into()); u16 => |x| Wide::Int(x.into()); u32 => |x| Wide::Int(x.into()); u64 => |x| Wide::Int(x.into());
    half::f16 => |x| Wide::Float(x.into()); half::bf16 => |x| Wide::Float(x.into()); f32 => |x| Wide::Float(x.into()); f64 => Wide::Float;
    Complex<f32> => |x| Wide::Complex(x.re.into(), x.im.into()); Complex<f64> => |x| Wide::Complex(x.re, x.im);
}

/// Writing the widest of a kind as any element.
trait Narrow: Sized {
    fn narrow(w: Wide) -> Self;
}
macro_rules! narrow_int { ($($t:ty)*) => { $(impl Narrow for $t { fn narrow(w: Wide) -> $t { match w {
    Wide::Int(i) => i as $t, Wide::Float(x) | Wide::Complex(x, _) => x as $t } } })* } }
narrow_int!(i8 i16 i32 i64 u8 u16 u32 u64);
impl Narrow for half::f16 {
    fn narrow(w: Wide) -> Self {
        match w {
            Wide::Int(i) => f16_from_int(i),
            Wide::Float(x) | Wide::Complex(x, _) => f16_from_f64(x),
        }
    }
}
impl Narrow for half::bf16 {
    fn narrow(w: Wide) -> Self {
        match w {
            Wide::Int(i) => bf16_from_int(i),
            Wide::Float(x) | Wide::Complex(x, _) => bf16_from_f64(x),
        }
    }
}
impl Narrow for f32 {
    fn narrow(w: Wide) -> f32 {
        match w {
            Wide::Int(i) => i as f32,
            Wide::Float(x) | Wide::Complex(x, _) => x as f32,
        }
    }
}
impl Narrow for f64 {
    fn narrow(w: Wide) -> f64 {
        match w {
            Wide::Int(i) => i as f64,
            Wide::Float(x) | Wide::Complex(x, _) => x,
        }
    }
}
impl Narrow for bool {
    fn narrow(w: Wide) -> bool {
        match w {
            Wide::Int(i) => i != 0,
            Wide::Float(x) => x != 0.0,
            Wide::Complex(a, b) => a != 0.0 || b != 0.0,
        }
    }
}
macro_rules! narrow_complex { ($($p:ty)*) => { $(impl Narrow for Complex<$p> { fn narrow(w: Wide) -> Self { match w {
    Wide::Complex(a, b) => Complex::new(a as $p, b as $p), w => Complex::new(<$p>::narrow(w), 0.0) } } })* } }
narrow_complex!(f32 f64);

fn cast(b: &Buffer, dtype: DType) -> Buffer {
    fn go<A: Widen + Copy, B: Narrow + BufferElement>(v: &[A]) -> Buffer {
        B::wrap(v.iter().map(|&x| B::narrow(x.widen())).collect())
    }
    with_buffer!(b, v => with_dtype!(dtype, T => go::<_, T>(v)))
}

impl fmt::Display for Tensor {
    /// `tensor<2x2xf32> [[1, 2], [3, 4]]`; beyond 64 elements only the first and last three of an axis.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn rows<T: fmt::Display>(f: &mut fmt::Formatter<'_>, v: &[T], shape: &[usize], brief: bool) -> fmt::Result {
            let Some((&n, rest)) = shape.split_first() else { return v.first().map_or(Ok(()), |x| element(f, x)) };
            let stride: usize = rest.iter().product();
            f.write_str("[")?;
            for i in 0..n {
                if brief && n > 6 && (3..n - 3).contains(&i) {
                    if i == 3 {
                        f.write_str(", ...")?;
                    }
                    continue;
                }
                if i > 0 {
                    f.write_str(", ")?;
                }
                rows(f, v.get(i * stride..(i + 1) * stride).unwrap_or_default(), rest, brief)?;
            }
            f.write_str("]")
        }
        // A complex number with the imaginary part -0 is `1+-0i` of its own.
        fn element<T: fmt::Display>(f: &mut fmt::Formatter<'_>, x: &T) -> fmt::Result {
            f.write_str(&x.to_string().replacen("+-", "-", 1))
        }
        write!(f, "{} ", self.spec())?;
        if self.is_empty() {
            return f.write_str("[]");
        }
        match self.host() {
            Ok(b) => with_buffer!(b, v => rows(f, v, &self.shape, v.len() > 64)),
            Err(_) => write!(f, "on {}", self.device()),
        }
    }
}
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T: Element> From<T> for Tensor {
    fn from(x: T) -> Tensor {
        Tensor { shape: SmallVec::new(), data: Storage::Host(Arc::new(T::wrap(vec![x]))) }
    }
}
impl<T: Element> From<Vec<T>> for Tensor {
    fn from(x: Vec<T>) -> Tensor {
        Tensor { shape: SmallVec::from_slice(&[x.len()]), data: Storage::Host(Arc::new(T::wrap(x))) }
    }
}
impl<T: Element, const A: usize> From<[T; A]> for Tensor {
    fn from(x: [T; A]) -> Tensor {
        Tensor::from(x.to_vec())
    }
}
impl<T: Element, const A: usize, const B: usize> From<[[T; B]; A]> for Tensor {
    fn from(x: [[T; B]; A]) -> Tensor {
        Tensor { shape: SmallVec::from_slice(&[A, B]), data: Storage::Host(Arc::new(T::wrap(x.concat()))) }
    }
}
impl<T: Element, const A: usize, const B: usize, const C: usize> From<[[[T; C]; B]; A]> for Tensor {
    fn from(x: [[[T; C]; B]; A]) -> Tensor {
        Tensor { shape: SmallVec::from_slice(&[A, B, C]), data: Storage::Host(Arc::new(T::wrap(x.concat().concat()))) }
    }
}
impl<T: Element, D: ndarray::Dimension> From<ndarray::Array<T, D>> for Tensor {
    /// Takes over the array's memory when it is in standard order, else puts it in order first.
    fn from(x: ndarray::Array<T, D>) -> Tensor {
        let shape = SmallVec::from_slice(x.shape());
        let v = if x.is_standard_layout() && x.as_slice().is_some() {
            let n = x.len();
            let (v, offset) = x.into_raw_vec_and_offset();
            let start = offset.unwrap_or(0);
            if start == 0 && v.len() == n { v } else { v.into_iter().skip(start).take(n).collect() }
        } else {
            x.iter().copied().collect()
        };
        Tensor { shape, data: Storage::Host(Arc::new(T::wrap(v))) }
    }
}

/// Bound of the arithmetic of [`Tensor`]s, which does not exist: it carries the message.
#[diagnostic::on_unimplemented(
    message = "there is no eager arithmetic on tensors",
    label = "a `Tensor` is host data, not a value of the graph",
    note = "pass it as an input of the function, or embed it with `constant(&tensor)`"
)]
pub trait Eager {}
/// The type whose bound fails; two impls on uninhabited types keep it undecided until the right side is known.
pub struct TensorArithmetic<R>(std::marker::PhantomData<R>);
/// Uninhabited.
pub enum NeverA {}
/// Uninhabited.
pub enum NeverB {}
impl Eager for TensorArithmetic<NeverA> {}
impl Eager for TensorArithmetic<NeverB> {}
macro_rules! no_eager {
    ($($tr:ident $f:ident),*) => { $(
        impl<R> $tr<R> for Tensor where TensorArithmetic<R>: Eager {
            type Output = Tensor;
            fn $f(self, _: R) -> Tensor { self }
        }
        impl<R> $tr<R> for &Tensor where TensorArithmetic<R>: Eager {
            type Output = Tensor;
            fn $f(self, _: R) -> Tensor { self.clone() }
        }
    )* };
}
no_eager!(Add add, Sub sub, Mul mul, Div div);
