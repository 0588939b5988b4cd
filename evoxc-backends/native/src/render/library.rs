//! The library functions that kernels call on one element, where no polynomial is written: their addresses. Each
//! computes what the interpreter computes.

use crate::uop::LibFn;
use evoxc_ir::{Binary, Unary};

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

macro_rules! one {
    ($single:ident, $x:ident: $s:expr, $d:expr) => {{
        extern "C" fn of_single($x: f32) -> f32 {
            $s
        }
        extern "C" fn of_double($x: f64) -> f64 {
            $d
        }
        Some(if $single { Entry::Single(of_single) } else { Entry::Double(of_double) })
    }};
    // The same text for both.
    ($single:ident, $x:ident: $e:expr) => {
        one!($single, $x: $e, $e)
    };
    // In double precision, rounded once.
    ($single:ident, wide $f:expr) => {
        one!($single, x: ($f)(f64::from(x)) as f32, ($f)(x))
    };
}
macro_rules! two {
    ($single:ident, $x:ident, $y:ident: $s:expr, $d:expr) => {{
        extern "C" fn of_single($x: f32, $y: f32) -> f32 {
            $s
        }
        extern "C" fn of_double($x: f64, $y: f64) -> f64 {
            $d
        }
        Some(if $single { Entry::Single2(of_single) } else { Entry::Double2(of_double) })
    }};
    ($single:ident, $x:ident, $y:ident: $e:expr) => {
        two!($single, $x, $y: $e, $e)
    };
}

fn unary(op: Unary, single: bool) -> Option<Entry> {
    match op {
        Unary::Exp => one!(single, x: x.exp()),
        Unary::Exp2 => one!(single, x: x.exp2()),
        Unary::Expm1 => one!(single, x: x.exp_m1()),
        Unary::Log => one!(single, x: x.ln()),
        Unary::Log2 => one!(single, x: x.log2()),
        Unary::Log1p => one!(single, x: x.ln_1p()),
        Unary::Sqrt => one!(single, x: x.sqrt()),
        Unary::Rsqrt => one!(single, wide |x: f64| 1.0 / x.sqrt()),
        Unary::Cbrt => one!(single, x: x.cbrt()),
        Unary::Sin => one!(single, x: x.sin()),
        Unary::Cos => one!(single, x: x.cos()),
        Unary::Tan => one!(single, x: x.tan()),
        Unary::Asin => one!(single, x: x.asin()),
        Unary::Acos => one!(single, x: x.acos()),
        Unary::Atan => one!(single, x: x.atan()),
        Unary::Sinh => one!(single, x: x.sinh()),
        Unary::Cosh => one!(single, x: x.cosh()),
        Unary::Tanh => one!(single, x: x.tanh()),
        Unary::Asinh => one!(single, wide libm::asinh),
        Unary::Acosh => one!(single, wide |x: f64| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
        Unary::Atanh => one!(single, wide libm::atanh),
        Unary::Logistic => one!(single, x: {
            let e = (-x.abs()).exp();
            if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
        }),
        Unary::Erf => one!(single, wide libm::erf),
        Unary::Erfc => one!(single, wide libm::erfc),
        Unary::ErfInv => None,
        Unary::Lgamma => one!(single, wide libm::lgamma),
        Unary::Digamma => None,
        Unary::RoundAway => one!(single, x: x.round()),
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
        Binary::Rem => two!(single, x, y: x % y),
        Binary::Pow => two!(single, x, y: x.powf(y)),
        Binary::Atan2 => two!(single, x, y: x.atan2(y)),
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::Div
        | Binary::Max
        | Binary::Min
        | Binary::Nextafter
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
