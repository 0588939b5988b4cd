//! Element-wise ops of two operands of one type.

use super::complex::{narrow, widen};
use super::{Outcome, complex, no_kernel, zip, zip_to};
use evoxc_core::{DType, Element, Tensor};
use evoxc_ir::Binary;
use half::{bf16, f16};
use num_complex::Complex;
use num_traits::Float;

/// The integer ops with a rule of their own; the plain ones are the standard library's wrapping ones.
pub(crate) trait Int: Element + Ord {
    fn divide(self, d: Self) -> Self;
    fn remainder(self, d: Self) -> Self;
    fn power(self, e: Self) -> Self;
    fn left(self, by: Self) -> Self;
    fn right_logical(self, by: Self) -> Self;
    fn right_arithmetic(self, by: Self) -> Self;
    fn mulhi(self, o: Self) -> Self;
}
macro_rules! int {
    ($($t:ident $signed:ident $unsigned:ident $wide:ident;)*) => { $(impl Int for $t {
        #[inline]
        fn divide(self, d: $t) -> $t {
            if d == 0 { !0 } else { self.wrapping_div(d) }
        }
        #[inline]
        fn remainder(self, d: $t) -> $t {
            if d == 0 { self } else { self.wrapping_rem(d) }
        }
        #[allow(unused_comparisons, reason = "one body for signed and unsigned types")]
        fn power(self, e: $t) -> $t {
            if e < 0 {
                // Only a base whose inverse is an integer has one.
                let odd = e & 1 != 0;
                return if self == 1 || (self == !0 && !odd) { 1 } else if self == !0 { !0 } else { 0 };
            }
            let (mut base, mut e, mut out) = (self, e, 1 as $t);
            while e > 0 {
                if e & 1 != 0 {
                    out = out.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                e >>= 1;
            }
            out
        }
        #[inline]
        fn left(self, by: $t) -> $t {
            u32::try_from(by).ok().and_then(|b| self.checked_shl(b)).unwrap_or(0)
        }
        #[inline]
        fn right_logical(self, by: $t) -> $t {
            u32::try_from(by).ok().and_then(|b| (self as $unsigned).checked_shr(b)).unwrap_or(0) as $t
        }
        #[inline]
        fn right_arithmetic(self, by: $t) -> $t {
            // The top bit is the sign, of unsigned types too, as in XLA; past the width it is all that is left.
            let bits = self as $signed;
            u32::try_from(by).ok().and_then(|b| bits.checked_shr(b)).unwrap_or(bits >> ($t::BITS - 1)) as $t
        }
        #[inline]
        fn mulhi(self, o: $t) -> $t {
            (($wide::from(self) * $wide::from(o)) >> $t::BITS) as $t
        }
    })* };
}
int! {
    i8 i8 u8 i128; i16 i16 u16 i128; i32 i32 u32 i128; i64 i64 u64 i128;
    u8 i8 u8 u128; u16 i16 u16 u128; u32 i32 u32 u128; u64 i64 u64 u128;
}

/// The larger of two floats: NaN propagates, +0 is over -0.
#[inline]
pub(crate) fn float_max<T: Float>(a: T, b: T) -> T {
    if a > b || a.is_nan() {
        a
    } else if b > a || b.is_nan() || a.is_sign_negative() {
        b
    } else {
        a
    }
}
/// The smaller of two floats: NaN propagates, -0 is under +0.
#[inline]
pub(crate) fn float_min<T: Float>(a: T, b: T) -> T {
    if a < b || a.is_nan() {
        a
    } else if b < a || b.is_nan() || b.is_sign_negative() {
        b
    } else {
        a
    }
}
/// The larger of two complex numbers by (real, imag); one with a NaN part wins.
pub(crate) fn complex_max<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if nan(a) || (!nan(b) && (a.re > b.re || (a.re == b.re && a.im >= b.im))) { a } else { b }
}
/// The smaller of two complex numbers by (real, imag); one with a NaN part wins.
pub(crate) fn complex_min<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if nan(a) || (!nan(b) && (a.re < b.re || (a.re == b.re && a.im <= b.im))) { a } else { b }
}
fn nan<T: Float>(z: Complex<T>) -> bool {
    z.re.is_nan() || z.im.is_nan()
}

macro_rules! nextafter {
    ($f:ident, $t:ty, $nan:expr, $sign:expr) => {
        /// The value next to `a` in the direction of `b`: by counting its bits up or down.
        pub(crate) fn $f(a: $t, b: $t) -> $t {
            if a.is_nan() || b.is_nan() {
                return $nan;
            }
            if a == b {
                return b;
            }
            let (bits, zero) = (a.to_bits(), a.to_bits() & !$sign == 0);
            if zero {
                return <$t>::from_bits((b.to_bits() & $sign) | 1);
            }
            let away = (b > a) == (bits & $sign == 0);
            <$t>::from_bits(if away { bits + 1 } else { bits - 1 })
        }
    };
}
nextafter!(next_f16, f16, f16::NAN, 0x8000);
nextafter!(next_bf16, bf16, bf16::NAN, 0x8000);
nextafter!(next_f32, f32, f32::NAN, 0x8000_0000);
nextafter!(next_f64, f64, f64::NAN, 0x8000_0000_0000_0000);

/// An op of `f32` on the half types: rounded after the op.
#[inline]
pub(crate) fn on_f16(f: impl Fn(f32, f32) -> f32) -> impl Fn(f16, f16) -> f16 {
    move |a, b| f16::from_f32(f(a.to_f32(), b.to_f32()))
}
#[inline]
pub(crate) fn on_bf16(f: impl Fn(f32, f32) -> f32) -> impl Fn(bf16, bf16) -> bf16 {
    move |a, b| bf16::from_f32(f(a.to_f32(), b.to_f32()))
}

/// Chooses the closure of the dtype's kind.
macro_rules! by_kind {
    ($a:ident, $b:ident, $op:expr; $(bool $fb:expr;)? $(int $fi:expr;)? $(float $ff:expr;)? $(complex $fc:expr;)?) => {
        match $a.dtype() {
            $(DType::BOOL => zip::<bool>($a, $b, $fb),)?
            $(
                DType::I8 => zip::<i8>($a, $b, $fi),
                DType::I16 => zip::<i16>($a, $b, $fi),
                DType::I32 => zip::<i32>($a, $b, $fi),
                DType::I64 => zip::<i64>($a, $b, $fi),
                DType::U8 => zip::<u8>($a, $b, $fi),
                DType::U16 => zip::<u16>($a, $b, $fi),
                DType::U32 => zip::<u32>($a, $b, $fi),
                DType::U64 => zip::<u64>($a, $b, $fi),
            )?
            $(
                DType::F32 => zip::<f32>($a, $b, $ff),
                DType::F64 => zip::<f64>($a, $b, $ff),
                DType::F16 => zip::<f16>($a, $b, on_f16($ff)),
                DType::BF16 => zip::<bf16>($a, $b, on_bf16($ff)),
            )?
            $(
                DType::C64 => zip::<Complex<f32>>($a, $b, $fc),
                DType::C128 => zip::<Complex<f64>>($a, $b, $fc),
            )?
            #[allow(unreachable_patterns, reason = "some ops take every dtype")]
            d => Err(no_kernel($op.name(), d)),
        }
    };
}
pub(crate) use by_kind;

/// `op` of every pair of elements, in place where an operand owns its storage alone.
pub(crate) fn binary(op: Binary, a: Tensor, b: Tensor) -> Outcome {
    match op {
        Binary::Add => by_kind! { a, b, op;
        bool |x, y| x | y; int |x, y| x.wrapping_add(y); float |x, y| x + y; complex |x, y| x + y; },
        Binary::Sub => by_kind! { a, b, op; int |x, y| x.wrapping_sub(y); float |x, y| x - y; complex |x, y| x - y; },
        Binary::Mul => match a.dtype() {
            // Products of single precision are exact in double, and sums of two of them are rounded once.
            DType::C64 => zip::<Complex<f32>>(a, b, |x, y| narrow(widen(x) * widen(y))),
            DType::C128 => zip::<Complex<f64>>(a, b, complex::multiply),
            _ => by_kind! { a, b, op; bool |x, y| x & y; int |x, y| x.wrapping_mul(y); float |x, y| x * y; },
        },
        Binary::Div => match a.dtype() {
            DType::C64 => zip::<Complex<f32>>(a, b, |x, y| narrow(complex::divide(widen(x), widen(y)))),
            DType::C128 => zip::<Complex<f64>>(a, b, complex::divide),
            _ => by_kind! { a, b, op; int Int::divide; float |x, y| x / y; },
        },
        Binary::Rem => by_kind! { a, b, op; int Int::remainder; float |x, y| x % y; },
        Binary::Pow => match a.dtype() {
            DType::C64 => zip::<Complex<f32>>(a, b, |x, y| narrow(complex::power(widen(x), widen(y)))),
            DType::C128 => zip::<Complex<f64>>(a, b, complex::power),
            _ => by_kind! { a, b, op; int Int::power; float |x, y| x.powf(y); },
        },
        Binary::Max => by_kind! { a, b, op;
        bool |x, y| x | y; int |x, y| x.max(y); float float_max; complex complex_max; },
        Binary::Min => by_kind! { a, b, op;
        bool |x, y| x & y; int |x, y| x.min(y); float float_min; complex complex_min; },
        Binary::Atan2 => by_kind! { a, b, op; float |x, y| x.atan2(y); },
        Binary::Nextafter => match a.dtype() {
            DType::F16 => zip(a, b, next_f16),
            DType::BF16 => zip(a, b, next_bf16),
            DType::F32 => zip(a, b, next_f32),
            DType::F64 => zip(a, b, next_f64),
            d => Err(no_kernel(op.name(), d)),
        },
        Binary::And => by_kind! { a, b, op; bool |x, y| x & y; int |x, y| x & y; },
        Binary::Or => by_kind! { a, b, op; bool |x, y| x | y; int |x, y| x | y; },
        Binary::Xor => by_kind! { a, b, op; bool |x, y| x ^ y; int |x, y| x ^ y; },
        Binary::ShiftLeft => by_kind! { a, b, op; int Int::left; },
        Binary::ShiftRightLogical => by_kind! { a, b, op; int Int::right_logical; },
        Binary::ShiftRightArithmetic => by_kind! { a, b, op; int Int::right_arithmetic; },
        Binary::Complex => match a.dtype() {
            DType::F32 => zip_to::<f32, _>(&a, &b, Complex::new),
            DType::F64 => zip_to::<f64, _>(&a, &b, Complex::new),
            d => Err(no_kernel(op.name(), d)),
        },
        Binary::Mulhi => by_kind! { a, b, op; int Int::mulhi; },
    }
}
