//! Conversions as C expressions.

use super::types::{mask, scalar, stored};
use crate::uop::Ty;
use evoxc_core::DType;

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}
fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// Of one element.
pub(super) fn of_scalar(from: DType, to: DType, x: &str) -> String {
    let t = scalar(to);
    match (from, to) {
        _ if from == to => x.into(),
        (f, DType::BOOL) if is_half(f) => format!("({x} & 0x7fff) != 0"),
        (_, DType::BOOL) => format!("{x} != 0"),
        (f, DType::F32) if is_half(f) => format!("f32_from_{f}({x})"),
        (f, to) if is_half(f) => of_scalar(DType::F32, to, &format!("f32_from_{f}({x})")),
        (DType::F32, to) if is_half(to) => format!("{to}_from_f32({x})"),
        (DType::F64, to) if is_half(to) => format!("{to}_from_f32(odd_f64({x}))"),
        (DType::I32 | DType::U32, to) if is_half(to) => format!("{to}_from_f32(odd_f64((f64){x}))"),
        (DType::I64, to) if is_half(to) => format!("{to}_from_f32(odd_i64({x}))"),
        (DType::U64, to) if is_half(to) => format!("{to}_from_f32(odd_u64({x}))"),
        // Exact in f32.
        (_, to) if is_half(to) => format!("{to}_from_f32((f32){x})"),
        (f, to) if is_float(f) && !is_float(to) => format!("{to}_from_{f}({x})"),
        _ => format!("({t}){x}"),
    }
}

/// Of a vector. Masks that come in have lanes of `mask_size` bytes, those that go out of 4.
pub(super) fn of_vector(from: Ty, to: DType, mask_size: usize, x: &str) -> String {
    let n = from.lanes;
    let (t, wide) = (stored(from.with(to)), stored(from.with(DType::F32)));
    let each = || {
        let all: Vec<String> = (0..n).map(|i| of_scalar(from.dtype, to, &format!("{x}[{i}]"))).collect();
        format!("({t}){{{}}}", all.join(", "))
    };
    match (from.dtype, to) {
        (DType::BOOL, DType::BOOL) => masked(mask_size, 4, n, x),
        (f, to) if f == to => x.into(),
        (DType::BOOL, to) if is_half(to) => {
            format!("{to}_from_f32x{n}(CONVERT(-{x}, f32x{n}))")
        }
        (DType::BOOL, _) => format!("CONVERT(-{x}, {t})"),
        (f, DType::BOOL) => {
            let truth = if is_half(f) { format!("({x} & 0x7fff) != 0") } else { format!("{x} != 0") };
            masked(f.size(), 4, n, &format!("({}) ({truth})", mask(f.size(), n)))
        }
        (f, DType::F32) if is_half(f) => format!("f32_from_{f}x{n}({x})"),
        (f, to) if is_half(f) => of_vector(from.with(DType::F32), to, 4, &format!("f32_from_{f}x{n}({x})")),
        (DType::F32, to) if is_half(to) => format!("{to}_from_f32x{n}({x})"),
        (DType::I8 | DType::U8 | DType::I16 | DType::U16, to) if is_half(to) => {
            format!("{to}_from_f32x{n}(CONVERT({x}, {wide}))")
        }
        (_, to) if is_half(to) => each(),
        // As wide as the integer, which is exact.
        (DType::F32, DType::I64 | DType::U64) => {
            of_vector(from.with(DType::F64), to, 4, &format!("CONVERT({x}, f64x{n})"))
        }
        (f, to) if is_float(f) && !is_float(to) => {
            let whole = format!("{to}_from_{f}x{n}({x})");
            if f.size() == to.size() { whole } else { format!("CONVERT({whole}, {t})") }
        }
        _ => format!("CONVERT({x}, {t})"),
    }
}

/// A mask whose lanes have `from` bytes as one whose lanes have `to`.
pub(super) fn masked(from: usize, to: usize, lanes: u8, x: &str) -> String {
    if from == to { x.into() } else { format!("CONVERT({x}, {})", mask(to, lanes)) }
}
