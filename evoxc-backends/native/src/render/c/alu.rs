//! Arithmetic as C expressions.

use super::types::{mask, scalar, stored};
use crate::uop::{Alu, Ty};
use evoxc_core::DType;

/// The unsigned dtype as wide.
fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 | DType::F16 | DType::BF16 => DType::U16,
        DType::I32 | DType::F32 => DType::U32,
        DType::I64 | DType::F64 => DType::U64,
        other => other,
    }
}
/// The signed dtype as wide.
fn signed(dtype: DType) -> DType {
    match dtype {
        DType::U8 | DType::BOOL => DType::I8,
        DType::U16 | DType::F16 | DType::BF16 => DType::I16,
        DType::U32 | DType::F32 => DType::I32,
        DType::U64 | DType::F64 => DType::I64,
        other => other,
    }
}

/// Of single elements of `dtype`, that of the last operand.
pub(super) fn of_scalars(op: Alu, dtype: DType, [a, b, c]: [&str; 3]) -> String {
    let t = scalar(dtype);
    let (u, s) = (scalar(unsigned(dtype)), scalar(signed(dtype)));
    let suffix = if dtype == DType::F32 { "f" } else { "" };
    let wide = match dtype {
        DType::I32 => "i64",
        DType::U32 => "u64",
        DType::I64 => "__int128",
        _ => "unsigned __int128",
    };
    match op {
        Alu::Add => format!("{a} + {b}"),
        Alu::Sub => format!("{a} - {b}"),
        Alu::Mul => format!("{a} * {b}"),
        Alu::Div | Alu::IntDiv => format!("{a} / {b}"),
        Alu::IntRem => format!("{a} % {b}"),
        Alu::MulHigh => format!("({t})((({wide}){a} * {b}) >> {})", 8 * dtype.size()),
        Alu::Min => format!("{a} < {b} ? {a} : {b}"),
        Alu::Max => format!("{a} > {b} ? {a} : {b}"),
        Alu::And => format!("{a} & {b}"),
        Alu::Or => format!("{a} | {b}"),
        Alu::Xor => format!("{a} ^ {b}"),
        Alu::Not if dtype == DType::BOOL => format!("{a} ^ 1"),
        Alu::Not => format!("~{a}"),
        Alu::Shl => format!("({t})(({u}){a} << {b})"),
        Alu::Shr => format!("({t})(({u}){a} >> {b})"),
        Alu::Sar => format!("({t})(({s}){a} >> {b})"),
        Alu::Neg => format!("-{a}"),
        Alu::Abs => format!("__builtin_fabs{suffix}({a})"),
        Alu::Sqrt => format!("__builtin_sqrt{suffix}({a})"),
        Alu::Floor => format!("__builtin_floor{suffix}({a})"),
        Alu::Ceil => format!("__builtin_ceil{suffix}({a})"),
        // In the rounding mode that every process has unless it asks for another.
        Alu::RoundEven => format!("__builtin_rint{suffix}({a})"),
        Alu::Trunc => format!("__builtin_trunc{suffix}({a})"),
        Alu::Fma => format!("__builtin_fma{suffix}({a}, {b}, {c})"),
        Alu::Eq => format!("{a} == {b}"),
        Alu::Ne => format!("{a} != {b}"),
        Alu::Lt => format!("{a} < {b}"),
        Alu::Le => format!("{a} <= {b}"),
        Alu::Select => format!("{a} ? {b} : {c}"),
    }
}

/// Of vectors. `ty` is the type of the last operand; masks have lanes of `mask_size` bytes.
pub(super) fn of_vectors(op: Alu, ty: Ty, mask_size: usize, [a, b, c]: [&str; 3]) -> String {
    let bool = ty.dtype == DType::BOOL;
    let v = if bool { mask(mask_size, ty.lanes) } else { stored(ty) };
    let u = stored(ty.with(unsigned(ty.dtype)));
    let s = stored(ty.with(signed(ty.dtype)));
    let plain = |op| of_scalars(op, ty.dtype, [a, b, c]);
    match op {
        Alu::Not => format!("~{a}"),
        Alu::Add
        | Alu::Sub
        | Alu::Mul
        | Alu::Div
        | Alu::IntDiv
        | Alu::IntRem
        | Alu::And
        | Alu::Or
        | Alu::Xor
        | Alu::Neg
        | Alu::Lt
        | Alu::Le => plain(op),
        Alu::Eq if bool => format!("~({a} ^ {b})"),
        Alu::Ne if bool => format!("{a} ^ {b}"),
        Alu::Eq | Alu::Ne => plain(op),
        Alu::MulHigh => {
            let lane = |n: u8| {
                let [a, b] = [a, b].map(|x| format!("{x}[{n}]"));
                of_scalars(op, ty.dtype, [&a, &b, ""])
            };
            let all: Vec<String> = (0..ty.lanes).map(lane).collect();
            format!("({v}){{{}}}", all.join(", "))
        }
        Alu::Min => format!("min_{v}({a}, {b})"),
        Alu::Max => format!("max_{v}({a}, {b})"),
        Alu::Shl => format!("({v})(({u}){a} << ({u}){b})"),
        Alu::Shr => format!("({v})(({u}){a} >> ({u}){b})"),
        Alu::Sar => format!("({v})(({s}){a} >> ({s}){b})"),
        Alu::Abs => {
            let bits = if ty.dtype == DType::F32 { "0x7fffffffu" } else { "0x7fffffffffffffffull" };
            format!("({v})(({u}){a} & {bits})")
        }
        Alu::Sqrt => format!("sqrt_{v}({a})"),
        Alu::Floor => format!("floor_{v}({a})"),
        Alu::Ceil => format!("ceil_{v}({a})"),
        Alu::RoundEven => format!("rint_{v}({a})"),
        Alu::Trunc => format!("trunc_{v}({a})"),
        Alu::Fma => format!("fma_{v}({a}, {b}, {c})"),
        Alu::Select => format!("sel_{v}({a}, {b}, {c})"),
    }
}
