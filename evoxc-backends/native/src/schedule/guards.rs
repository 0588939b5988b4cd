//! What symbolic extents can get wrong when a program runs, whatever its data: extents below zero, divisions by zero, sizes
//! beyond 64 bits, and numbers that a dtype cannot hold. It is looked at before a block runs, for its ops may have become
//! parts of kernels, which look at nothing.

use super::expand::Known;
use super::facts::Facts;
use super::types::Guard;
use crate::uop::Bounds;
use evoxc_core::{DType, Dim, DimStep};
use evoxc_ir::{Op, Prim, Region};
use rustc_hash::FxHashSet;

/// Sizes up to this many elements can be counted in bytes.
const ELEMENTS: i64 = i64::MAX / 16;

/// The guards of the ops of a region, but for those in regions of their own.
pub(super) fn guards(region: &Region, facts: &Facts) -> Vec<Guard> {
    let mut out = vec![];
    let (mut shapes, mut seen) = (FxHashSet::default(), FxHashSet::default());
    for op in &region.ops {
        let mut guard = |extent: Dim, least: i64, most: i64| {
            // Extents of arguments are looked at when symbols get their values.
            if extent.is_const() || (most >= Bounds::PARAM && extent.symbol_name().is_some()) {
                return;
            }
            let limit = if is_plain(extent) { i64::MAX } else { Bounds::PARAM };
            let (least, most) = (least.max(-limit), most.min(limit));
            if seen.insert((extent, least, most)) {
                out.push(Guard { extent, least, most, op: Box::new(Op { regions: vec![], ..op.clone() }) });
            }
        };
        match &op.prim {
            Prim::DimSize { extent, dtype } => {
                let (least, most) = range(*dtype);
                guard(*extent, least, most);
            }
            Prim::Scan { length, .. } => guard(*length, 0, ELEMENTS),
            // Their bounds are those of their operands and results, or are looked at when they run.
            _ => {}
        }
        for shape in op.results.iter().map(|&v| &facts.ty(v).shape) {
            if !shape.is_static() && shapes.insert(shape) {
                shape.iter().for_each(|&d| guard(d, 0, ELEMENTS));
                guard(shape.size(), 0, ELEMENTS);
            }
        }
    }
    out
}

/// Is an extent an expression without divisions by what may be zero or less? Of others, index arithmetic takes the value as
/// a parameter.
pub(super) fn is_plain(d: Dim) -> bool {
    // Whether a part is plain, and whether it is a number above zero.
    let step = |step: DimStep<(bool, bool)>| match step {
        DimStep::Constant(v) => (true, v > 0),
        DimStep::Symbol(_) => (true, false),
        DimStep::Div((x, _), (_, positive)) => (x && positive, false),
        DimStep::Add((x, _), (y, _))
        | DimStep::Mul((x, _), (y, _))
        | DimStep::Min((x, _), (y, _))
        | DimStep::Max((x, _), (y, _)) => (x && y, false),
    };
    d.fold(&mut { step }).is_ok_and(|(plain, _)| plain)
}

/// The integers that a dtype holds, and that are no size beyond 64 bits.
fn range(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::U64 => (0, i64::MAX - 1),
        // Others do not give the size of a dimension.
        DType::I64 | DType::BOOL | DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C64 | DType::C128 => {
            (i64::MIN, i64::MAX - 1)
        }
    }
}
