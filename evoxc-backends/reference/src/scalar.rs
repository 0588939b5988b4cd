//! The functions of one or two real numbers that the kernels apply to every element, for backends whose code calls them
//! where they have none of their own.

use crate::kernels::binary::{float_max, float_min, next_f32, next_f64};
use crate::kernels::real::Real;
use evoxc_ir::{Binary, Unary};

macro_rules! scalar {
    ($unary:ident, $binary:ident, $t:ty, $next:ident) => {
        /// An op of one number, as on every element of a tensor of this dtype; `None` for an op of other dtypes, or with a
        /// result of another.
        ///
        /// ```
        /// use evoxc::ir::{Binary, Unary};
        /// let euler = evoxc_reference::scalar::unary_f64(Unary::Digamma, 1.0).unwrap();
        /// assert!((euler + 0.5772156649015329).abs() < 1e-14);
        /// assert_eq!(evoxc_reference::scalar::unary_f32(Unary::Popcount, 1.0), None);
        /// assert_eq!(evoxc_reference::scalar::binary_f32(Binary::Atan2, 0.0, 1.0), Some(0.0));
        /// ```
        #[inline]
        pub fn $unary(op: Unary, x: $t) -> Option<$t> {
            Some(match op {
                Unary::Exp => Real::exp(x),
                Unary::Exp2 => Real::exp2(x),
                Unary::Expm1 => Real::expm1(x),
                Unary::Log => Real::log(x),
                Unary::Log2 => Real::log2(x),
                Unary::Log1p => Real::log1p(x),
                Unary::Sqrt => Real::sqrt(x),
                Unary::Rsqrt => Real::rsqrt(x),
                Unary::Cbrt => Real::cbrt(x),
                Unary::Sin => Real::sin(x),
                Unary::Cos => Real::cos(x),
                Unary::Tan => Real::tan(x),
                Unary::Asin => Real::asin(x),
                Unary::Acos => Real::acos(x),
                Unary::Atan => Real::atan(x),
                Unary::Sinh => Real::sinh(x),
                Unary::Cosh => Real::cosh(x),
                Unary::Tanh => Real::tanh(x),
                Unary::Asinh => Real::asinh(x),
                Unary::Acosh => Real::acosh(x),
                Unary::Atanh => Real::atanh(x),
                Unary::Logistic => Real::logistic(x),
                Unary::Erf => Real::erf(x),
                Unary::Erfc => Real::erfc(x),
                Unary::ErfInv => Real::erf_inv(x),
                Unary::Lgamma => Real::lgamma(x),
                Unary::Digamma => Real::digamma(x),
                Unary::Floor => Real::floor(x),
                Unary::Ceil => Real::ceil(x),
                Unary::RoundEven => Real::round_even(x),
                Unary::RoundAway => Real::round_away(x),
                Unary::Trunc => Real::trunc(x),
                Unary::Sign => Real::sign(x),
                Unary::Neg => -x,
                Unary::Abs => x.abs(),
                Unary::Real | Unary::Conj => x,
                Unary::Imag => 0.0,
                Unary::Not | Unary::Popcount | Unary::CountLeadingZeros | Unary::IsFinite => return None,
            })
        }

        /// An op of two numbers, as on every pair of elements of tensors of this dtype; `None` for an op of other dtypes,
        /// or with a result of another.
        #[inline]
        pub fn $binary(op: Binary, x: $t, y: $t) -> Option<$t> {
            Some(match op {
                Binary::Add => x + y,
                Binary::Sub => x - y,
                Binary::Mul => x * y,
                Binary::Div => x / y,
                Binary::Rem => x % y,
                Binary::Pow => x.powf(y),
                Binary::Max => float_max(x, y),
                Binary::Min => float_min(x, y),
                Binary::Atan2 => x.atan2(y),
                Binary::Nextafter => $next(x, y),
                Binary::And
                | Binary::Or
                | Binary::Xor
                | Binary::ShiftLeft
                | Binary::ShiftRightLogical
                | Binary::ShiftRightArithmetic
                | Binary::Complex
                | Binary::Mulhi => return None,
            })
        }
    };
}
scalar!(unary_f32, binary_f32, f32, next_f32);
scalar!(unary_f64, binary_f64, f64, next_f64);
