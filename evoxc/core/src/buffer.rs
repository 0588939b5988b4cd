//! Host memory of one tensor: a `Vec` of its element type.

use crate::{DType, Element};
use half::{bf16, f16};
use num_complex::Complex;

/// The elements of a host tensor, in row-major order.
///
/// ```
/// use evoxc::{Buffer, prelude::*};
/// let b = Buffer::from(vec![1f32, 2.0]);
/// assert_eq!((b.dtype(), b.len()), (F32, 2));
/// assert_eq!(Tensor::from_buffer(b, [2, 1])?.shape(), [2, 1]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Buffer {
    /// `bool`
    Bool(Vec<bool>),
    /// `i8`
    I8(Vec<i8>),
    /// `i16`
    I16(Vec<i16>),
    /// `i32`
    I32(Vec<i32>),
    /// `i64`
    I64(Vec<i64>),
    /// `u8`
    U8(Vec<u8>),
    /// `u16`
    U16(Vec<u16>),
    /// `u32`
    U32(Vec<u32>),
    /// `u64`
    U64(Vec<u64>),
    /// `f16`
    F16(Vec<f16>),
    /// `bf16`
    Bf16(Vec<bf16>),
    /// `f32`
    F32(Vec<f32>),
    /// `f64`
    F64(Vec<f64>),
    /// `Complex<f32>`
    C64(Vec<Complex<f32>>),
    /// `Complex<f64>`
    C128(Vec<Complex<f64>>),
}

/// Access to the variant of one element type; implemented for every [`Element`].
///
/// ```
/// use evoxc::{Buffer, BufferElement};
/// let b: Buffer = f32::wrap(vec![1.0, 2.0]);
/// assert_eq!(f32::slice(&b), Some(&[1.0, 2.0][..]));
/// assert_eq!(i32::take(b), None);
/// ```
pub trait BufferElement: Sized + bytemuck::NoUninit {
    /// The vector, if the buffer holds this type.
    fn slice(b: &Buffer) -> Option<&[Self]>;
    /// The same, to write to.
    fn slice_mut(b: &mut Buffer) -> Option<&mut Vec<Self>>;
    /// The vector, taken out.
    fn take(b: Buffer) -> Option<Vec<Self>>;
    /// A buffer that takes over `v`.
    fn wrap(v: Vec<Self>) -> Buffer;
    /// Bytes in the machine's order as elements; `None` when they are not aligned, no whole number of them, or no values
    /// of the type (a `bool` other than 0 and 1).
    fn cast(bytes: &[u8]) -> Option<&[Self]>;
    /// One element from little-endian bytes; `None` when they are no value of the type (a `bool` other than 0 and 1).
    fn read_le(bytes: &[u8]) -> Option<Self>;
}

macro_rules! cast_bytes {
    (bool, $bytes:expr) => {
        bytemuck::checked::try_cast_slice($bytes).ok()
    };
    ($t:ty, $bytes:expr) => {
        bytemuck::try_cast_slice($bytes).ok()
    };
}
macro_rules! elements {
    ($($t:tt $(<$p:ty>)?, $v:ident, $from:expr;)*) => { $(
        impl BufferElement for $t $(<$p>)? {
            fn slice(b: &Buffer) -> Option<&[Self]> { if let Buffer::$v(v) = b { Some(v) } else { None } }
            fn slice_mut(b: &mut Buffer) -> Option<&mut Vec<Self>> { if let Buffer::$v(v) = b { Some(v) } else { None } }
            fn take(b: Buffer) -> Option<Vec<Self>> { if let Buffer::$v(v) = b { Some(v) } else { None } }
            fn wrap(v: Vec<Self>) -> Buffer { Buffer::$v(v) }
            fn cast(bytes: &[u8]) -> Option<&[Self]> { cast_bytes!($t $(<$p>)?, bytes) }
            fn read_le(bytes: &[u8]) -> Option<Self> { let f: fn(&[u8]) -> Option<$t $(<$p>)?> = $from; f(bytes) }
        }
        impl From<Vec<$t $(<$p>)?>> for Buffer { fn from(v: Vec<$t $(<$p>)?>) -> Buffer { Buffer::$v(v) } }
    )* };
}
macro_rules! le {
    ($t:ty) => {
        |b| Some(<$t>::from_le_bytes(b.try_into().ok()?))
    };
}
elements! {
    bool, Bool, |b| match b { [0] => Some(false), [1] => Some(true), _ => None };
    i8, I8, le!(i8); i16, I16, le!(i16); i32, I32, le!(i32); i64, I64, le!(i64);
    u8, U8, le!(u8); u16, U16, le!(u16); u32, U32, le!(u32); u64, U64, le!(u64);
    f16, F16, le!(f16); bf16, Bf16, le!(bf16); f32, F32, le!(f32); f64, F64, le!(f64);
    Complex<f32>, C64, |b| Some(Complex::new(f32::read_le(b.get(..4)?)?, f32::read_le(b.get(4..8)?)?));
    Complex<f64>, C128, |b| Some(Complex::new(f64::read_le(b.get(..8)?)?, f64::read_le(b.get(8..16)?)?));
}

/// Runs `$body` with `$v` bound to the vector inside a [`Buffer`] (or a reference to it), whatever its element type.
#[macro_export]
macro_rules! with_buffer {
    ($b:expr, $v:ident => $body:expr) => {
        match $b {
            $crate::Buffer::Bool($v) => $body,
            $crate::Buffer::I8($v) => $body,
            $crate::Buffer::I16($v) => $body,
            $crate::Buffer::I32($v) => $body,
            $crate::Buffer::I64($v) => $body,
            $crate::Buffer::U8($v) => $body,
            $crate::Buffer::U16($v) => $body,
            $crate::Buffer::U32($v) => $body,
            $crate::Buffer::U64($v) => $body,
            $crate::Buffer::F16($v) => $body,
            $crate::Buffer::Bf16($v) => $body,
            $crate::Buffer::F32($v) => $body,
            $crate::Buffer::F64($v) => $body,
            $crate::Buffer::C64($v) => $body,
            $crate::Buffer::C128($v) => $body,
        }
    };
}

/// Runs `$body` with the type alias `$T` set to the element type of a [`DType`] value.
#[macro_export]
macro_rules! with_dtype {
    ($d:expr, $T:ident => $body:expr) => {
        match $d {
            $crate::DType::BOOL => {
                type $T = bool;
                $body
            }
            $crate::DType::I8 => {
                type $T = i8;
                $body
            }
            $crate::DType::I16 => {
                type $T = i16;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::U16 => {
                type $T = u16;
                $body
            }
            $crate::DType::U32 => {
                type $T = u32;
                $body
            }
            $crate::DType::U64 => {
                type $T = u64;
                $body
            }
            $crate::DType::F16 => {
                type $T = half::f16;
                $body
            }
            $crate::DType::BF16 => {
                type $T = half::bf16;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            $crate::DType::C64 => {
                type $T = num_complex::Complex<f32>;
                $body
            }
            $crate::DType::C128 => {
                type $T = num_complex::Complex<f64>;
                $body
            }
        }
    };
}

impl Buffer {
    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        fn of<T: Element>(_: &[T]) -> DType {
            T::DTYPE
        }
        with_buffer!(self, v => of(v))
    }
    /// The number of elements.
    pub fn len(&self) -> usize {
        with_buffer!(self, v => v.len())
    }
    /// No elements?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// `n` zeros (`false` for `bool`).
    pub fn zeros(dtype: DType, n: usize) -> Buffer {
        with_dtype!(dtype, T => T::wrap(vec![T::default(); n]))
    }
    /// `n` copies of element 0 of a one-element buffer; an empty buffer stays empty.
    pub fn splat(&self, n: usize) -> Buffer {
        with_buffer!(self, v => BufferElement::wrap(v.first().map(|&x| vec![x; n]).unwrap_or_default()))
    }
    /// The raw bytes, in the machine's order.
    pub fn bytes(&self) -> &[u8] {
        with_buffer!(self, v => bytemuck::cast_slice(v.as_slice()))
    }
    /// A buffer from little-endian bytes; `None` if the length is no multiple of the element's or a `bool` is not 0 or 1.
    pub fn from_le_bytes(dtype: DType, bytes: &[u8]) -> Option<Buffer> {
        if !bytes.len().is_multiple_of(dtype.size()) {
            return None;
        }
        with_dtype!(dtype, T => Some(T::wrap(bytes.chunks_exact(dtype.size()).map(T::read_le).collect::<Option<Vec<T>>>()?)))
    }
}
