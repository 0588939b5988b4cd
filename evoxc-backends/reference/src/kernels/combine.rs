//! What reductions, scatters, contractions and sorts need of an element type: identities, the combiners, the
//! accumulator of halves, and the order of sorting.

use evoxc_core::{Element, OpError};
use evoxc_ir::{CumOp, Reducer, ScatterOp};
use half::{bf16, f16};
use num_complex::Complex;
use std::cmp::Ordering;

/// An element that combines: integers wrap, `bool` adds by or and multiplies by and, `max` and `min` propagate NaN.
pub(crate) trait Combine: Element {
    /// What sums accumulate in: `f32` for halves, else the type itself.
    type Wide: Combine<Wide = Self::Wide>;
    /// 0, false.
    const ZERO: Self;
    /// 1, true.
    const ONE: Self;
    /// The identity of `max`.
    const LOWEST: Self;
    /// The identity of `min`.
    const HIGHEST: Self;
    fn widen(self) -> Self::Wide;
    /// Rounds once.
    fn narrow(w: Self::Wide) -> Self;
    fn add(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn max(self, o: Self) -> Self;
    fn min(self, o: Self) -> Self;
    /// And, or with their identities; `None` for types without bits.
    fn bits() -> Option<Bits<Self>>;
    /// log(exp(self) + exp(o)); `None` for types that are no real floats.
    fn log_add_exp() -> Option<fn(Self, Self) -> Self>;
    /// NaN, or a complex number with a part that is?
    fn is_nan(self) -> bool;
    /// The order of `sort`: -0 equals +0, all NaN are equal and last, complex numbers by (real, imag).
    fn order(&self, o: &Self) -> Ordering;
}

/// Bitwise (on `bool` logical) combiners.
pub(crate) struct Bits<T> {
    pub(crate) and: fn(T, T) -> T,
    pub(crate) or: fn(T, T) -> T,
    /// The identity of `and`.
    pub(crate) ones: T,
}

macro_rules! combine_int {
    ($($t:ty)*) => { $(impl Combine for $t {
        type Wide = $t;
        const ZERO: $t = 0;
        const ONE: $t = 1;
        const LOWEST: $t = <$t>::MIN;
        const HIGHEST: $t = <$t>::MAX;
        fn widen(self) -> $t { self }
        fn narrow(w: $t) -> $t { w }
        fn add(self, o: $t) -> $t { self.wrapping_add(o) }
        fn mul(self, o: $t) -> $t { self.wrapping_mul(o) }
        fn max(self, o: $t) -> $t { Ord::max(self, o) }
        fn min(self, o: $t) -> $t { Ord::min(self, o) }
        fn bits() -> Option<Bits<$t>> { Some(Bits { and: |a, b| a & b, or: |a, b| a | b, ones: !0 }) }
        fn log_add_exp() -> Option<fn($t, $t) -> $t> { None }
        fn is_nan(self) -> bool { false }
        fn order(&self, o: &$t) -> Ordering { self.cmp(o) }
    })* };
}
combine_int!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Combine for bool {
    type Wide = bool;
    const ZERO: bool = false;
    const ONE: bool = true;
    const LOWEST: bool = false;
    const HIGHEST: bool = true;
    fn widen(self) -> bool {
        self
    }
    fn narrow(w: bool) -> bool {
        w
    }
    fn add(self, o: bool) -> bool {
        self | o
    }
    fn mul(self, o: bool) -> bool {
        self & o
    }
    fn max(self, o: bool) -> bool {
        self | o
    }
    fn min(self, o: bool) -> bool {
        self & o
    }
    fn bits() -> Option<Bits<bool>> {
        Some(Bits { and: |a, b| a & b, or: |a, b| a | b, ones: true })
    }
    fn log_add_exp() -> Option<fn(bool, bool) -> bool> {
        None
    }
    fn is_nan(self) -> bool {
        false
    }
    fn order(&self, o: &bool) -> Ordering {
        self.cmp(o)
    }
}

macro_rules! combine_float {
    ($($t:ty)*) => { $(impl Combine for $t {
        type Wide = $t;
        const ZERO: $t = 0.0;
        const ONE: $t = 1.0;
        const LOWEST: $t = <$t>::NEG_INFINITY;
        const HIGHEST: $t = <$t>::INFINITY;
        fn widen(self) -> $t { self }
        fn narrow(w: $t) -> $t { w }
        fn add(self, o: $t) -> $t { self + o }
        fn mul(self, o: $t) -> $t { self * o }
        fn max(self, o: $t) -> $t {
            if self.is_nan() || self > o || (self == o && self.is_sign_positive()) { self } else { o }
        }
        fn min(self, o: $t) -> $t {
            if self.is_nan() || self < o || (self == o && self.is_sign_negative()) { self } else { o }
        }
        fn bits() -> Option<Bits<$t>> { None }
        fn log_add_exp() -> Option<fn($t, $t) -> $t> {
            Some(|a, b| {
                let m = Combine::max(a, b);
                // Equal infinities differ by NaN; NaN is its own maximum.
                if m.is_infinite() || Combine::is_nan(m) { m } else { m + (-(a - b).abs()).exp().ln_1p() }
            })
        }
        fn is_nan(self) -> bool { <$t>::is_nan(self) }
        fn order(&self, o: &$t) -> Ordering {
            self.partial_cmp(o).unwrap_or_else(|| self.is_nan().cmp(&o.is_nan()))
        }
    })* };
}
combine_float!(f32 f64);

macro_rules! combine_half {
    ($($t:ty)*) => { $(impl Combine for $t {
        type Wide = f32;
        const ZERO: $t = <$t>::ZERO;
        const ONE: $t = <$t>::ONE;
        const LOWEST: $t = <$t>::NEG_INFINITY;
        const HIGHEST: $t = <$t>::INFINITY;
        fn widen(self) -> f32 { self.to_f32() }
        fn narrow(w: f32) -> $t { <$t>::from_f32(w) }
        fn add(self, o: $t) -> $t { <$t>::from_f32(self.to_f32() + o.to_f32()) }
        fn mul(self, o: $t) -> $t { <$t>::from_f32(self.to_f32() * o.to_f32()) }
        fn max(self, o: $t) -> $t { <$t>::from_f32(Combine::max(self.to_f32(), o.to_f32())) }
        fn min(self, o: $t) -> $t { <$t>::from_f32(Combine::min(self.to_f32(), o.to_f32())) }
        fn bits() -> Option<Bits<$t>> { None }
        fn log_add_exp() -> Option<fn($t, $t) -> $t> { None }
        fn is_nan(self) -> bool { <$t>::is_nan(self) }
        fn order(&self, o: &$t) -> Ordering { self.to_f32().order(&o.to_f32()) }
    })* };
}
combine_half!(f16 bf16);

macro_rules! combine_complex {
    ($($p:ty)*) => { $(impl Combine for Complex<$p> {
        type Wide = Self;
        const ZERO: Self = Complex::new(0.0, 0.0);
        const ONE: Self = Complex::new(1.0, 0.0);
        const LOWEST: Self = Complex::new(<$p>::NEG_INFINITY, <$p>::NEG_INFINITY);
        const HIGHEST: Self = Complex::new(<$p>::INFINITY, <$p>::INFINITY);
        fn widen(self) -> Self { self }
        fn narrow(w: Self) -> Self { w }
        fn add(self, o: Self) -> Self { self + o }
        fn mul(self, o: Self) -> Self {
            Complex::new(
                fused(o.re, self.re, -(o.im * self.im)),
                fused(o.re, self.im, o.im * self.re),
            )
        }
        fn max(self, o: Self) -> Self {
            if self.is_nan() || (!o.is_nan() && self.order(&o).is_ge()) { self } else { o }
        }
        fn min(self, o: Self) -> Self {
            if self.is_nan() || (!o.is_nan() && self.order(&o).is_le()) { self } else { o }
        }
        fn bits() -> Option<Bits<Self>> { None }
        fn log_add_exp() -> Option<fn(Self, Self) -> Self> { None }
        fn is_nan(self) -> bool { self.re.is_nan() || self.im.is_nan() }
        fn order(&self, o: &Self) -> Ordering { self.re.order(&o.re).then(self.im.order(&o.im)) }
    })* };
}
combine_complex!(f32 f64);

/// `a * b + c`, in single precision rounded once, as compilers fuse it.
trait Fuse {
    fn fuse(self, b: Self, c: Self) -> Self;
}
impl Fuse for f32 {
    fn fuse(self, b: f32, c: f32) -> f32 {
        (f64::from(self) * f64::from(b) + f64::from(c)) as f32
    }
}
impl Fuse for f64 {
    // Without hardware for it a fused operation is a slow call.
    fn fuse(self, b: f64, c: f64) -> f64 {
        self * b + c
    }
}
fn fused<T: Fuse>(a: T, b: T, c: T) -> T {
    a.fuse(b, c)
}

/// A combiner and its identity.
pub(crate) type Combiner<T> = (fn(T, T) -> T, T);

fn no_such<T: Element>(op: &str) -> OpError {
    OpError::new(op, format!("is not defined on {}", T::DTYPE)).remedy("cast the operand first")
}

/// The combiner of a named reduction.
pub(crate) fn reducer<T: Combine>(op: Reducer, name: &str) -> Result<Combiner<T>, OpError> {
    Ok(match op {
        Reducer::Sum => (T::add, T::ZERO),
        Reducer::Prod => (T::mul, T::ONE),
        Reducer::Max => (T::max, T::LOWEST),
        Reducer::Min => (T::min, T::HIGHEST),
        Reducer::And => T::bits().map(|b| (b.and, b.ones)).ok_or_else(|| no_such::<T>(name))?,
        Reducer::Or => T::bits().map(|b| (b.or, T::ZERO)).ok_or_else(|| no_such::<T>(name))?,
    })
}

/// The combiner of a cumulative op.
pub(crate) fn cumulator<T: Combine>(op: CumOp, name: &str) -> Result<fn(T, T) -> T, OpError> {
    Ok(match op {
        CumOp::Sum => T::add,
        CumOp::Prod => T::mul,
        CumOp::Max => T::max,
        CumOp::Min => T::min,
        CumOp::Logsumexp => T::log_add_exp().ok_or_else(|| no_such::<T>(name))?,
    })
}

/// The combiner of a scatter: of the old element and the update.
pub(crate) fn scatterer<T: Combine>(op: ScatterOp) -> fn(T, T) -> T {
    match op {
        ScatterOp::Set => |_, update| update,
        ScatterOp::Add => T::add,
        ScatterOp::Mul => T::mul,
        ScatterOp::Min => T::min,
        ScatterOp::Max => T::max,
    }
}
