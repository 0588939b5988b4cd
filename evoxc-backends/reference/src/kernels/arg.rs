//! The position of the first extreme element.

use super::{Outcome, no_kernel, slice, tensor};
use evoxc_core::{DType, Element, OpError, Tensor};
use half::{bf16, f16};

/// Index (i32) of the first largest, or smallest, element along `axis`; a NaN beats every number.
pub(crate) fn arg(x: &Tensor, axis: usize, largest: bool, shape: &[usize]) -> Outcome {
    let n = x.shape().get(axis).copied().unwrap_or(1);
    let inner: usize = x.shape().iter().skip(axis + 1).product();
    if n == 0 && shape.iter().all(|&d| d != 0) {
        return Err(OpError::new("", "an empty axis has no extreme element"));
    }
    if i32::try_from(n).is_err() {
        return Err(OpError::new("", format!("an axis of {n} elements exceeds i32 indices")));
    }
    let go = Search { n, inner, shape };
    macro_rules! by {
        ($t:ty, $nan:expr) => {
            if largest {
                go.run::<$t>(x, |new, old| new > old, $nan)
            } else {
                go.run::<$t>(x, |new, old| new < old, $nan)
            }
        };
    }
    match x.dtype() {
        DType::BOOL => by!(bool, |_| false),
        DType::I8 => by!(i8, |_| false),
        DType::I16 => by!(i16, |_| false),
        DType::I32 => by!(i32, |_| false),
        DType::I64 => by!(i64, |_| false),
        DType::U8 => by!(u8, |_| false),
        DType::U16 => by!(u16, |_| false),
        DType::U32 => by!(u32, |_| false),
        DType::U64 => by!(u64, |_| false),
        DType::F16 => by!(f16, f16::is_nan),
        DType::BF16 => by!(bf16, bf16::is_nan),
        DType::F32 => by!(f32, f32::is_nan),
        DType::F64 => by!(f64, f64::is_nan),
        d @ (DType::C64 | DType::C128) => Err(no_kernel("", d)),
    }
}

struct Search<'a> {
    n: usize,
    inner: usize,
    shape: &'a [usize],
}
impl Search<'_> {
    fn run<T: Element>(&self, x: &Tensor, better: impl Fn(T, T) -> bool, nan: impl Fn(T) -> bool) -> Outcome {
        let mut out = Vec::with_capacity(self.shape.iter().product());
        for block in slice::<T>(x)?.chunks_exact((self.n * self.inner).max(1)) {
            for j in 0..self.inner {
                let (mut at, mut best) = (0i32, block[j]);
                for (i, &e) in block.iter().skip(j).step_by(self.inner).enumerate().skip(1) {
                    if !nan(best) && (nan(e) || better(e, best)) {
                        (at, best) = (i as i32, e);
                    }
                }
                out.push(at);
            }
        }
        tensor(out, self.shape)
    }
}
