//! Changes of dtype, and tensors from nothing but a type.

use super::{Outcome, empty, map, no_kernel, tensor};
use evoxc_core::{Buffer, DType, Element, OpError, Scalar, Tensor};
use half::{bf16, f16};
use num_complex::Complex;

/// Every element converted.
pub(crate) fn convert(x: &Tensor, dtype: DType) -> Outcome {
    x.cast(dtype).map_err(|e| OpError::new("convert", e.to_string()))
}

/// The same bits under another dtype and shape.
pub(crate) fn bitcast(x: Tensor, dtype: DType, shape: &[usize]) -> Outcome {
    if dtype == x.dtype() {
        return Ok(x);
    }
    Buffer::from_le_bytes(dtype, x.buffer().bytes())
        .and_then(|b| Tensor::from_parts(b, shape))
        .ok_or_else(|| no_kernel("bitcast_convert", x.dtype()))
}

macro_rules! reduced {
    ($f:ident, $t:ty, $bits:ty, $mantissa:literal, $exponent:literal) => {
        /// `x` rounded to `e` exponent and `m` mantissa bits: to nearest even; beyond the range infinite, below the
        /// normal range 0; NaN stays.
        fn $f(x: $t, e: u32, m: u32) -> $t {
            if x.is_nan() {
                return x;
            }
            let mut bits = x.to_bits();
            if m < $mantissa {
                let last: $bits = 1 << ($mantissa - m);
                let odd = (bits >> ($mantissa - m)) & 1;
                // A carry out of the mantissa counts up the exponent, which is what rounding up means.
                bits = (bits + ((last >> 1) - 1) + odd) & !(last - 1);
            }
            if e < $exponent {
                let sign: $bits = 1 << ($mantissa + $exponent);
                let bias: $bits = (1 << ($exponent - 1)) - 1;
                let reduced: $bits = (1 << (e.max(1) - 1)) - 1;
                let exponent = (bits & !sign) >> $mantissa;
                if exponent > bias + reduced {
                    bits = (bits & sign) | (((1 << $exponent) - 1) << $mantissa);
                } else if exponent <= bias - reduced {
                    bits &= sign;
                }
            }
            <$t>::from_bits(bits)
        }
    };
}
reduced!(reduced_f16, f16, u16, 10, 5);
reduced!(reduced_bf16, bf16, u16, 7, 8);
reduced!(reduced_f32, f32, u32, 23, 8);
reduced!(reduced_f64, f64, u64, 52, 11);

/// Every float rounded to fewer exponent and mantissa bits.
pub(crate) fn reduce_precision(x: Tensor, e: u32, m: u32) -> Outcome {
    match x.dtype() {
        DType::F32 => map(x, |v| reduced_f32(v, e, m)),
        DType::F64 => map(x, |v| reduced_f64(v, e, m)),
        DType::F16 => map(x, |v| reduced_f16(v, e, m)),
        DType::BF16 => map(x, |v| reduced_bf16(v, e, m)),
        d => Err(no_kernel("reduce_precision", d)),
    }
}

/// 0, 1, 2 … along `axis`.
pub(crate) fn iota(dtype: DType, shape: &[usize], axis: usize) -> Outcome {
    fn go<T: Element>(shape: &[usize], axis: usize, at: impl Fn(usize) -> T) -> Outcome {
        if shape.contains(&0) {
            return empty(T::DTYPE, shape);
        }
        let n = shape.get(axis).copied().unwrap_or(1);
        let inner: usize = shape.iter().skip(axis + 1).product();
        let outer: usize = shape.iter().take(axis).product();
        let mut v = Vec::with_capacity(n * inner * outer);
        for _ in 0..outer {
            for i in 0..n {
                v.resize(v.len() + inner, at(i));
            }
        }
        tensor(v, shape)
    }
    match dtype {
        DType::BOOL => Err(no_kernel("iota", dtype)),
        DType::I8 => go(shape, axis, |i| i as i8),
        DType::I16 => go(shape, axis, |i| i as i16),
        DType::I32 => go(shape, axis, |i| i as i32),
        DType::I64 => go(shape, axis, |i| i as i64),
        DType::U8 => go(shape, axis, |i| i as u8),
        DType::U16 => go(shape, axis, |i| i as u16),
        DType::U32 => go(shape, axis, |i| i as u32),
        DType::U64 => go(shape, axis, |i| i as u64),
        DType::F16 => go(shape, axis, |i| f16::from_f64(i as f64)),
        DType::BF16 => go(shape, axis, |i| bf16::from_f64(i as f64)),
        DType::F32 => go(shape, axis, |i| i as f32),
        DType::F64 => go(shape, axis, |i| i as f64),
        DType::C64 => go(shape, axis, |i| Complex::new(i as f32, 0.0)),
        DType::C128 => go(shape, axis, |i| Complex::new(i as f64, 0.0)),
    }
}

/// An extent as a scalar.
pub(crate) fn dim_size(value: i64, dtype: DType) -> Outcome {
    let tensor = Scalar::from(value).buffer(dtype).and_then(|b| Tensor::from_parts(b, &[]));
    tensor.ok_or_else(|| {
        OpError::new("dim_size", format!("the extent is {value}, which a {dtype} cannot hold"))
            .remedy("take it in a wider dtype")
    })
}
