//! Casts to the dtype that sums accumulate in, and back.

use evoxc_core::{Buffer, DType, OpError, Tensor};
use half::slice::HalfFloatSliceExt;

/// `x` as `dtype`. Halves to and from `f32`, which is what contractions need, go by whole slices, so that the machine's
/// own conversions serve.
pub(crate) fn cast(op: &str, x: &Tensor, dtype: DType) -> Result<Tensor, OpError> {
    macro_rules! widened {
        ($v:ident) => {{
            let mut out = vec![0f32; $v.len()];
            $v.convert_to_f32_slice(&mut out);
            Buffer::F32(out)
        }};
    }
    macro_rules! narrowed {
        ($v:ident, $zero:expr, $wrap:expr) => {{
            let mut out = vec![$zero; $v.len()];
            out.convert_from_f32_slice($v);
            $wrap(out)
        }};
    }
    let data = match (x.buffer(), dtype) {
        (Buffer::F16(v), DType::F32) => widened!(v),
        (Buffer::Bf16(v), DType::F32) => widened!(v),
        (Buffer::F32(v), DType::F16) => narrowed!(v, half::f16::ZERO, Buffer::F16),
        (Buffer::F32(v), DType::BF16) => narrowed!(v, half::bf16::ZERO, Buffer::Bf16),
        _ => return x.cast(dtype).map_err(|e| OpError::new(op, e.to_string())),
    };
    super::walk::from_buffer(op, data, x.shape())
}
