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
    let t = stored(from.with(to));
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
        (DType::BOOL, to) if is_float(to) => format!("CONVERT(-{x}, {t})"),
        (DType::BOOL, to) => resized(integer(mask_size), to, n, format!("-{x}")),
        (f, DType::BOOL) => {
            let truth = if is_half(f) { format!("({x} & 0x7fff) != 0") } else { format!("{x} != 0") };
            masked(f.size(), 4, n, &format!("({}) ({truth})", mask(f.size(), n)))
        }
        (f, DType::F32) if is_half(f) => format!("f32_from_{f}x{n}({x})"),
        (f, to) if is_half(f) => of_vector(from.with(DType::F32), to, 4, &format!("f32_from_{f}x{n}({x})")),
        (DType::F32, to) if is_half(to) => format!("{to}_from_f32x{n}({x})"),
        (DType::I8 | DType::U8 | DType::I16 | DType::U16, to) if is_half(to) => {
            format!("{to}_from_f32x{n}({})", of_vector(from, DType::F32, 4, x))
        }
        (_, to) if is_half(to) => each(),
        // As wide as the integer, which is exact.
        (DType::F32, DType::I64 | DType::U64) => {
            of_vector(from.with(DType::F64), to, 4, &format!("CONVERT({x}, f64x{n})"))
        }
        (f, to) if is_float(f) && !is_float(to) => {
            let whole = match (f, to) {
                (DType::F64, DType::U32 | DType::I64) => DType::I64,
                (_, DType::U32 | DType::U64) => to,
                _ => DType::I32,
            };
            resized(whole, to, n, format!("{to}_from_{f}x{n}({x})"))
        }
        // By way of signed integers, from which machines have conversions.
        (f @ (DType::I8 | DType::U8 | DType::I16 | DType::U16), to) if is_float(to) => {
            format!("CONVERT({}, {t})", resized(f, DType::I32, n, x.into()))
        }
        (f, to) if !is_float(f) && !is_float(to) => resized(f, to, n, x.into()),
        _ => format!("CONVERT({x}, {t})"),
    }
}

/// A mask whose lanes have `from` bytes as one whose lanes have `to`.
pub(super) fn masked(from: usize, to: usize, lanes: u8, x: &str) -> String {
    resized(integer(from), integer(to), lanes, x.into())
}

/// The signed dtype of that many bytes.
pub(super) fn integer(size: usize) -> DType {
    match size {
        1 => DType::I8,
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}

/// Integers of another width, by halves and doubles: compilers have good code for these steps, and for no longer ones.
pub(super) fn resized(from: DType, to: DType, lanes: u8, mut x: String) -> String {
    let mut at = from;
    while at.size() != to.size() {
        let size = if at.size() < to.size() { 2 * at.size() } else { at.size() / 2 };
        // Signed as the first is, so that what is widened keeps its sign.
        at = signed_as(from, size);
        x = format!("CONVERT({x}, {}x{lanes})", scalar(at));
    }
    if at == to { x } else { format!("({}x{lanes}){x}", scalar(to)) }
}

/// The integer of that many bytes, signed as `from` is.
fn signed_as(from: DType, size: usize) -> DType {
    match (from, size) {
        (DType::I8 | DType::I16 | DType::I32 | DType::I64, _) => integer(size),
        (_, 1) => DType::U8,
        (_, 2) => DType::U16,
        (_, 4) => DType::U32,
        _ => DType::U64,
    }
}
