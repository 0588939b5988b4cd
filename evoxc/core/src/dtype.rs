//! Element types: the enum, its constants, and the Rust types that hold each.

use half::{bf16, f16};
use num_complex::Complex;
use std::fmt;
use std::str::FromStr;

macro_rules! dtypes {
    ($($(#[$d:meta])* $v:ident $t:ty, $name:literal, $size:literal;)*) => {
        /// The type of a tensor's elements.
        ///
        /// ```
        /// use evoxc::{DType, F32};
        /// assert_eq!(F32.to_string(), "f32");
        /// assert_eq!("bf16".parse::<DType>().unwrap().size(), 2);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType { $($(#[$d])* $v),* }
        $($(#[$d])* pub const $v: DType = DType::$v;)*
        impl DType {
            /// Every dtype, in declaration order.
            pub const ALL: [DType; 15] = [$(DType::$v),*];
            /// The name in the text form: `f32`, `i8`, `bool` …
            pub const fn name(self) -> &'static str { match self { $(DType::$v => $name),* } }
            /// The size of one element in bytes.
            pub const fn size(self) -> usize { match self { $(DType::$v => $size),* } }
        }
        impl FromStr for DType {
            type Err = String;
            fn from_str(s: &str) -> Result<Self, String> {
                match s { $($name => Ok(DType::$v),)* _ => Err(format!("`{s}` is not a dtype")) }
            }
        }
        $(impl Element for $t { const DTYPE: DType = DType::$v; }
          impl sealed::Sealed for $t {})*
    };
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is the element of a tensor: `bool`, the fixed-size integers to 64 bits, [`half::f16`],
/// [`half::bf16`], `f32`, `f64`, and `num_complex::Complex` of the last two. All are `ndarray` elements.
///
/// ```
/// use evoxc::{Element, prelude::*};
/// fn first<T: Element>(t: &Tensor) -> Option<T> {
///     t.as_slice::<T>().ok()?.first().copied()
/// }
/// assert_eq!(first::<f32>(&Tensor::from([1f32, 2.0])), Some(1.0));
/// assert_eq!(f32::DTYPE, F32);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of tensors",
    note = "elements are bool, i8–i64, u8–u64, half::f16, half::bf16, f32, f64, Complex<f32>, Complex<f64>"
)]
pub trait Element:
    crate::buffer::BufferElement
    + sealed::Sealed
    + Copy
    + Send
    + Sync
    + PartialEq
    + fmt::Debug
    + fmt::Display
    + Default
    + 'static
{
    /// The dtype of this element.
    const DTYPE: DType;
}

dtypes! {
    /// Boolean.
    BOOL bool, "bool", 1;
    /// Signed 8-bit integer.
    I8 i8, "i8", 1;
    /// Signed 16-bit integer.
    I16 i16, "i16", 2;
    /// Signed 32-bit integer.
    I32 i32, "i32", 4;
    /// Signed 64-bit integer.
    I64 i64, "i64", 8;
    /// Unsigned 8-bit integer.
    U8 u8, "u8", 1;
    /// Unsigned 16-bit integer.
    U16 u16, "u16", 2;
    /// Unsigned 32-bit integer.
    U32 u32, "u32", 4;
    /// Unsigned 64-bit integer.
    U64 u64, "u64", 8;
    /// IEEE half precision.
    F16 f16, "f16", 2;
    /// Truncated single precision ("brain float").
    BF16 bf16, "bf16", 2;
    /// IEEE single precision.
    F32 f32, "f32", 4;
    /// IEEE double precision.
    F64 f64, "f64", 8;
    /// Complex of two `f32`.
    C64 Complex<f32>, "c64", 8;
    /// Complex of two `f64`.
    C128 Complex<f64>, "c128", 16;
}

impl DType {
    /// `bool`?
    pub const fn is_bool(self) -> bool {
        matches!(self, DType::BOOL)
    }
    /// An integer, signed or not?
    pub const fn is_int(self) -> bool {
        self.is_signed_int() || self.is_unsigned()
    }
    /// A signed integer?
    pub const fn is_signed_int(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }
    /// An unsigned integer?
    pub const fn is_unsigned(self) -> bool {
        matches!(self, DType::U8 | DType::U16 | DType::U32 | DType::U64)
    }
    /// A real floating-point type?
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }
    /// A complex type?
    pub const fn is_complex(self) -> bool {
        matches!(self, DType::C64 | DType::C128)
    }
    /// The real type of the parts of a complex type; any other type is its own.
    pub const fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            d => d,
        }
    }
    /// The type in which sums and dots of this type accumulate: `f32` for `f16` and `bf16`, else the type itself.
    pub const fn accumulator(self) -> DType {
        match self {
            DType::F16 | DType::BF16 => DType::F32,
            d => d,
        }
    }
    /// The number of bits of one element (8 for `bool`).
    pub const fn bits(self) -> usize {
        self.size() * 8
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl serde::Serialize for DType {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}

impl<'de> serde::Deserialize<'de> for DType {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}
