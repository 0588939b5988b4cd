//! The C types of registers. The half-width floats are their bits; a vector of bools is a mask, all bits of a lane or none,
//! of lanes as wide as what it was computed from, so that it selects without a conversion.

use crate::lir::{Inst, Lir};
use crate::uop::Ty;
use evoxc_core::DType;

/// The type of one element.
pub(super) fn scalar(dtype: DType) -> &'static str {
    match dtype {
        DType::BOOL | DType::U8 => "u8",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::U16 | DType::F16 | DType::BF16 => "u16",
        DType::U32 => "u32",
        DType::U64 => "u64",
        DType::F32 => "f32",
        DType::F64 => "f64",
        // No register has them: the verifier refuses it.
        DType::C64 | DType::C128 => "void",
    }
}

/// The type of elements of memory, as many as there are lanes.
pub(super) fn stored(ty: Ty) -> String {
    match ty.lanes {
        1 => scalar(ty.dtype).into(),
        n => format!("{}x{n}", scalar(ty.dtype)),
    }
}

/// The type of the lanes of a mask whose lanes have that many bytes.
pub(super) fn mask(size: usize, lanes: u8) -> String {
    format!("i{}x{lanes}", 8 * size)
}

/// For every register that is a vector of bools, the bytes of a lane of its mask.
pub(super) fn mask_sizes(lir: &Lir) -> Vec<u8> {
    let mut sizes = vec![4u8; lir.regs.len()];
    for inst in &lir.body {
        // Registers of copies, loads and conversions keep 4 bytes.
        if let Inst::Alu { dst, op, src } = inst
            && lir.regs[dst.0 as usize].dtype == DType::BOOL
            && let Some(last) = src.last()
        {
            let dtype = lir.regs[last.0 as usize].dtype;
            sizes[dst.0 as usize] = match dtype {
                DType::BOOL => sizes[last.0 as usize],
                _ if op.is_comparison() => dtype.size() as u8,
                _ => 4,
            };
        }
    }
    sizes
}
