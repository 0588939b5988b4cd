//! Comparison, selection, clamping.

use super::binary::{by_kind, complex_max, complex_min, float_max, float_min, on_bf16, on_f16};
use super::{Outcome, no_kernel, slice, tensor, zip, zip_to};
use evoxc_core::{DType, Element, OpError, Tensor, with_dtype};
use evoxc_ir::{Direction, SortOrder};
use half::{bf16, f16};
use num_complex::Complex;
use std::cmp::Ordering;

/// Elements that can be compared in both orders.
trait Compared: Element {
    /// IEEE comparison; none with a NaN.
    fn ieee(self, o: Self) -> Option<Ordering>;
    /// IEEE totalOrder on floats, else the only order.
    fn total(self, o: Self) -> Ordering;
}
macro_rules! ordered { ($($t:ty)*) => { $(impl Compared for $t {
    #[inline]
    fn ieee(self, o: Self) -> Option<Ordering> { self.partial_cmp(&o) }
    #[inline]
    fn total(self, o: Self) -> Ordering { self.cmp(&o) }
})* } }
ordered!(bool i8 i16 i32 i64 u8 u16 u32 u64);
macro_rules! floats { ($($t:ty)*) => { $(impl Compared for $t {
    #[inline]
    fn ieee(self, o: Self) -> Option<Ordering> { self.partial_cmp(&o) }
    #[inline]
    fn total(self, o: Self) -> Ordering { self.total_cmp(&o) }
})* } }
floats!(f16 bf16 f32 f64);
macro_rules! complexes { ($($t:ty)*) => { $(impl Compared for Complex<$t> {
    fn ieee(self, o: Self) -> Option<Ordering> {
        let (re, im) = (self.re.partial_cmp(&o.re)?, self.im.partial_cmp(&o.im)?);
        Some(re.then(im))
    }
    fn total(self, o: Self) -> Ordering { self.re.total_cmp(&o.re).then(self.im.total_cmp(&o.im)) }
})* } }
complexes!(f32 f64);

/// `a` compared with `b`.
pub(crate) fn compare(direction: Direction, order: SortOrder, a: &Tensor, b: &Tensor) -> Outcome {
    fn go<T: Compared>(direction: Direction, order: SortOrder, a: &Tensor, b: &Tensor) -> Outcome {
        match order {
            SortOrder::Ieee => match direction {
                Direction::Lt => zip_to::<T, _>(a, b, |x, y| x.ieee(y) == Some(Ordering::Less)),
                Direction::Le => zip_to::<T, _>(a, b, |x, y| x.ieee(y).is_some_and(Ordering::is_le)),
                Direction::Gt => zip_to::<T, _>(a, b, |x, y| x.ieee(y) == Some(Ordering::Greater)),
                Direction::Ge => zip_to::<T, _>(a, b, |x, y| x.ieee(y).is_some_and(Ordering::is_ge)),
                Direction::Eq => zip_to::<T, _>(a, b, |x, y| x == y),
                Direction::Ne => zip_to::<T, _>(a, b, |x, y| x != y),
            },
            SortOrder::Total => match direction {
                Direction::Lt => zip_to::<T, _>(a, b, |x, y| x.total(y).is_lt()),
                Direction::Le => zip_to::<T, _>(a, b, |x, y| x.total(y).is_le()),
                Direction::Gt => zip_to::<T, _>(a, b, |x, y| x.total(y).is_gt()),
                Direction::Ge => zip_to::<T, _>(a, b, |x, y| x.total(y).is_ge()),
                Direction::Eq => zip_to::<T, _>(a, b, |x, y| x.total(y).is_eq()),
                Direction::Ne => zip_to::<T, _>(a, b, |x, y| x.total(y).is_ne()),
            },
        }
    }
    if a.dtype() != b.dtype() || a.len() != b.len() {
        return Err(OpError::new("compare", "the operands differ in type"));
    }
    with_dtype!(a.dtype(), T => go::<T>(direction, order, a, b))
}

/// `on_true` where `pred`, elsewhere `on_false`; a scalar `pred` chooses the whole.
pub(crate) fn select(pred: &Tensor, on_true: Tensor, on_false: Tensor) -> Outcome {
    fn go<T: Element>(p: &[bool], mut a: Tensor, mut b: Tensor) -> Outcome {
        if let (Some(x), Some(y)) = (a.buffer_mut().and_then(T::slice_mut), T::slice(b.buffer())) {
            x.iter_mut().zip(y).zip(p).for_each(|((x, &y), &p)| *x = if p { *x } else { y });
            return Ok(a);
        }
        if let (Some(x), Some(y)) = (T::slice(a.buffer()), b.buffer_mut().and_then(T::slice_mut)) {
            x.iter().zip(y).zip(p).for_each(|((&x, y), &p)| *y = if p { x } else { *y });
            return Ok(b);
        }
        let pairs = slice::<T>(&a)?.iter().zip(slice::<T>(&b)?).zip(p);
        tensor(pairs.map(|((&x, &y), &p)| if p { x } else { y }).collect(), a.shape())
    }
    let p = slice::<bool>(pred)?;
    if pred.rank() == 0 && on_true.rank() != 0 {
        return Ok(if p.first() == Some(&true) { on_true } else { on_false });
    }
    with_dtype!(on_true.dtype(), T => go::<T>(p, on_true, on_false))
}

/// `min(max(x, low), high)`; a scalar bound stands for every element.
pub(crate) fn clamp(low: &Tensor, x: Tensor, high: &Tensor) -> Outcome {
    let x = bound(x, low, true)?;
    bound(x, high, false)
}

fn bound(x: Tensor, limit: &Tensor, lower: bool) -> Outcome {
    let limit = if limit.rank() == x.rank() {
        limit.clone()
    } else {
        Tensor::from_parts(limit.buffer().splat(x.len()), x.shape())
            .ok_or_else(|| OpError::new("clamp", "the bound is not a scalar"))?
    };
    struct Clamp;
    impl Clamp {
        fn name(&self) -> &'static str {
            "clamp"
        }
    }
    if lower {
        by_kind! { x, limit, Clamp; bool |x, y| x | y; int |x, y| x.max(y); float float_max; complex complex_max; }
    } else {
        by_kind! { x, limit, Clamp; bool |x, y| x & y; int |x, y| x.min(y); float float_min; complex complex_min; }
    }
}
