//! The library functions that kernels call on one element, where no polynomial is written: their addresses. Each
//! computes what the interpreter computes.

use crate::uop::LibFn;
use evoxc_ir::{Binary, Unary};
use evoxc_reference::scalar;

/// A function as machine code calls it.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// Of one `f32`.
    Single(extern "C" fn(f32) -> f32),
    /// Of one `f64`.
    Double(extern "C" fn(f64) -> f64),
    /// Of two `f32`.
    Single2(extern "C" fn(f32, f32) -> f32),
    /// Of two `f64`.
    Double2(extern "C" fn(f64, f64) -> f64),
}

impl Entry {
    /// Where its code is.
    pub fn address(self) -> *const () {
        match self {
            Entry::Single(f) => f as *const (),
            Entry::Double(f) => f as *const (),
            Entry::Single2(f) => f as *const (),
            Entry::Double2(f) => f as *const (),
        }
    }
}

/// Where the code of a function is; none of those that are never called, as machines or [`decompose`](crate::decompose)
/// have them.
///
/// ```
/// use evoxc_ir::{Binary, Unary};
/// use evoxc_native::{render::library, uop::LibFn};
/// assert!(library::address(LibFn::Unary(Unary::Lgamma, false)).is_some());
/// assert!(library::address(LibFn::Binary(Binary::Add, true)).is_none());
/// ```
pub fn address(function: LibFn) -> Option<*const ()> {
    entry(function).map(Entry::address)
}

/// The same, with its type.
pub fn entry(function: LibFn) -> Option<Entry> {
    match function {
        LibFn::Unary(op, single) => unary(op, single),
        LibFn::Binary(op, single) => binary(op, single),
    }
}

macro_rules! unary {
    ($single:ident, $op:ident) => {{
        extern "C" fn of_single(x: f32) -> f32 {
            scalar::unary_f32(Unary::$op, x).unwrap_or(f32::NAN)
        }
        extern "C" fn of_double(x: f64) -> f64 {
            scalar::unary_f64(Unary::$op, x).unwrap_or(f64::NAN)
        }
        Some(if $single { Entry::Single(of_single) } else { Entry::Double(of_double) })
    }};
}
macro_rules! binary {
    ($single:ident, $op:ident) => {{
        extern "C" fn of_single(x: f32, y: f32) -> f32 {
            scalar::binary_f32(Binary::$op, x, y).unwrap_or(f32::NAN)
        }
        extern "C" fn of_double(x: f64, y: f64) -> f64 {
            scalar::binary_f64(Binary::$op, x, y).unwrap_or(f64::NAN)
        }
        Some(if $single { Entry::Single2(of_single) } else { Entry::Double2(of_double) })
    }};
}

fn unary(op: Unary, single: bool) -> Option<Entry> {
    match op {
        Unary::Exp => unary!(single, Exp),
        Unary::Exp2 => unary!(single, Exp2),
        Unary::Expm1 => unary!(single, Expm1),
        Unary::Log => unary!(single, Log),
        Unary::Log2 => unary!(single, Log2),
        Unary::Log1p => unary!(single, Log1p),
        Unary::Sqrt => unary!(single, Sqrt),
        Unary::Rsqrt => unary!(single, Rsqrt),
        Unary::Cbrt => unary!(single, Cbrt),
        Unary::Sin => unary!(single, Sin),
        Unary::Cos => unary!(single, Cos),
        Unary::Tan => unary!(single, Tan),
        Unary::Asin => unary!(single, Asin),
        Unary::Acos => unary!(single, Acos),
        Unary::Atan => unary!(single, Atan),
        Unary::Sinh => unary!(single, Sinh),
        Unary::Cosh => unary!(single, Cosh),
        Unary::Tanh => unary!(single, Tanh),
        Unary::Asinh => unary!(single, Asinh),
        Unary::Acosh => unary!(single, Acosh),
        Unary::Atanh => unary!(single, Atanh),
        Unary::Logistic => unary!(single, Logistic),
        Unary::Erf => unary!(single, Erf),
        Unary::Erfc => unary!(single, Erfc),
        Unary::ErfInv => unary!(single, ErfInv),
        Unary::Lgamma => unary!(single, Lgamma),
        Unary::Digamma => unary!(single, Digamma),
        Unary::RoundAway => unary!(single, RoundAway),
        Unary::Floor
        | Unary::Ceil
        | Unary::RoundEven
        | Unary::Trunc
        | Unary::Neg
        | Unary::Abs
        | Unary::Sign
        | Unary::Not
        | Unary::Popcount
        | Unary::CountLeadingZeros
        | Unary::IsFinite
        | Unary::Real
        | Unary::Imag
        | Unary::Conj => None,
    }
}

fn binary(op: Binary, single: bool) -> Option<Entry> {
    match op {
        Binary::Rem => binary!(single, Rem),
        Binary::Pow => binary!(single, Pow),
        Binary::Atan2 => binary!(single, Atan2),
        Binary::Nextafter => binary!(single, Nextafter),
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::Div
        | Binary::Max
        | Binary::Min
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::ShiftLeft
        | Binary::ShiftRightLogical
        | Binary::ShiftRightArithmetic
        | Binary::Complex
        | Binary::Mulhi => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The reference's functions, in which the op is a value.
    #[test]
    fn entries_are_those_of_their_ops() {
        for (&op, x) in Unary::ALL.iter().flat_map(|op| [0.3, -0.3, 1.7, f64::INFINITY].map(|x| (op, x))) {
            if let Some(Entry::Double(f)) = entry(LibFn::Unary(op, false)) {
                assert_eq!(f(x).to_bits(), scalar::unary_f64(op, x).unwrap().to_bits(), "{op:?} {x}");
            }
            if let Some(Entry::Single(f)) = entry(LibFn::Unary(op, true)) {
                let x = x as f32;
                assert_eq!(f(x).to_bits(), scalar::unary_f32(op, x).unwrap().to_bits(), "{op:?} {x}");
            }
        }
        for (&op, (x, y)) in Binary::ALL.iter().flat_map(|op| [(0.3, 2.5), (-7.0, 3.0)].map(|x| (op, x))) {
            if let Some(Entry::Double2(f)) = entry(LibFn::Binary(op, false)) {
                assert_eq!(f(x, y).to_bits(), scalar::binary_f64(op, x, y).unwrap().to_bits(), "{op:?} {x} {y}");
            }
            if let Some(Entry::Single2(f)) = entry(LibFn::Binary(op, true)) {
                let (x, y) = (x as f32, y as f32);
                assert_eq!(f(x, y).to_bits(), scalar::binary_f32(op, x, y).unwrap().to_bits(), "{op:?} {x} {y}");
            }
        }
    }
}
