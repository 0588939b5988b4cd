//! A Rust scalar of any kind, on its way to a dtype.

use crate::{Buffer, DType};
use half::{bf16, f16};
use num_complex::Complex;

/// A scalar before it takes a tensor's dtype: what `full`, `pad` and arithmetic with literals accept.
///
/// ```
/// use evoxc::{Scalar, F32, I32};
/// assert!(Scalar::from(2).buffer(F32).is_some());
/// assert!(Scalar::from(2.5).buffer(I32).is_none()); // a float literal does not fit an integer tensor
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A boolean.
    Bool(bool),
    /// Any integer.
    Int(i128),
    /// Any real number.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
}

macro_rules! scalar {
    ($($t:ty => $v:ident, $f:expr;)*) => { $(impl From<$t> for Scalar {
        fn from(x: $t) -> Scalar { Scalar::$v($f(x)) }
    })* };
}
scalar! {
    bool => Bool, |x| x;
    i8 => Int, i128::from; i16 => Int, i128::from; i32 => Int, i128::from; i64 => Int, i128::from; isize => Int, |x| x as i128;
    u8 => Int, i128::from; u16 => Int, i128::from; u32 => Int, i128::from; u64 => Int, i128::from; usize => Int, |x| x as i128;
    f16 => Float, f64::from; bf16 => Float, f64::from; f32 => Float, f64::from; f64 => Float, |x| x;
    Complex<f32> => Complex, |x: Complex<f32>| Complex::new(x.re.into(), x.im.into());
    Complex<f64> => Complex, |x| x;
}

impl Scalar {
    /// A one-element buffer of `dtype`, or `None` where the kinds do not go together: a float to an integer dtype, a
    /// number to `bool` (other than the integers 0 and 1), a complex number to a real dtype, an integer out of range.
    pub fn buffer(self, dtype: DType) -> Option<Buffer> {
        macro_rules! int {
            ($t:ty) => {
                match self {
                    Scalar::Int(i) => Buffer::from(vec![<$t>::try_from(i).ok()?]),
                    Scalar::Bool(b) => Buffer::from(vec![<$t>::from(b)]),
                    _ => return None,
                }
            };
        }
        let real = match self {
            Scalar::Bool(b) => Some(f64::from(u8::from(b))),
            Scalar::Int(i) => Some(i as f64),
            Scalar::Float(x) => Some(x),
            Scalar::Complex(_) => None,
        };
        let complex = match (self, real) {
            (Scalar::Complex(c), _) => c,
            (_, r) => Complex::new(r.unwrap_or_default(), 0.0),
        };
        Some(match dtype {
            DType::BOOL => match self {
                Scalar::Bool(b) => Buffer::from(vec![b]),
                Scalar::Int(i @ (0 | 1)) => Buffer::from(vec![i == 1]),
                _ => return None,
            },
            DType::I8 => int!(i8),
            DType::I16 => int!(i16),
            DType::I32 => int!(i32),
            DType::I64 => int!(i64),
            DType::U8 => int!(u8),
            DType::U16 => int!(u16),
            DType::U32 => int!(u32),
            DType::U64 => int!(u64),
            DType::F16 => Buffer::from(vec![match self {
                Scalar::Int(i) => crate::f16_from_int(i),
                _ => crate::f16_from_f64(real?),
            }]),
            DType::BF16 => Buffer::from(vec![match self {
                Scalar::Int(i) => crate::bf16_from_int(i),
                _ => crate::bf16_from_f64(real?),
            }]),
            DType::F32 => Buffer::from(vec![match self {
                Scalar::Int(i) => i as f32,
                _ => real? as f32,
            }]),
            DType::F64 => Buffer::from(vec![real?]),
            DType::C64 => Buffer::from(vec![Complex::new(complex.re as f32, complex.im as f32)]),
            DType::C128 => Buffer::from(vec![complex]),
        })
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::Bool(b) => write!(f, "{b}"),
            Scalar::Int(i) => write!(f, "{i}"),
            Scalar::Float(x) => write!(f, "{x:?}"),
            Scalar::Complex(c) => write!(f, "{c}"),
        }
    }
}
