//! Reductions, dots, and the places of extreme elements, as expressions.

use super::build::Build;
use crate::uop::{Alu, Op as UOpKind, UOp};
use evoxc_core::DType;
use evoxc_ir::{Binary, Direction, Reducer, SortOrder};
use smallvec::smallvec;

impl Build<'_> {
    /// The dtype in which sums of `d` are held.
    fn wide(d: DType) -> DType {
        match d {
            DType::I8 | DType::I16 => DType::I32,
            DType::U8 | DType::U16 => DType::U32,
            d => d.accumulator(),
        }
    }

    /// The reduction of `x` over ranges, in the dtype that holds it.
    pub(super) fn reduce(&mut self, by: Reducer, x: UOp, dtype: DType, ranges: &[UOp], may_be_empty: bool) -> UOp {
        let by = match (dtype, by) {
            (DType::BOOL, Reducer::Sum | Reducer::Max | Reducer::Or) => Reducer::Or,
            (DType::BOOL, Reducer::Prod | Reducer::Min | Reducer::And) => Reducer::And,
            (_, by) => by,
        };
        let wide = Self::wide(dtype);
        let x = self.convert(x, wide);
        let mut total = self.combine(by, x, ranges);
        if may_be_empty && wide != dtype && dtype.is_int() {
            // The identity is that of the narrow dtype.
            let (limit, op) = match (by, dtype) {
                (Reducer::Max, DType::I8) => (i64::from(i8::MIN), Binary::Max),
                (Reducer::Max, DType::I16) => (i64::from(i16::MIN), Binary::Max),
                (Reducer::Min, DType::I8) => (i64::from(i8::MAX), Binary::Min),
                (Reducer::Min, DType::I16) => (i64::from(i16::MAX), Binary::Min),
                (Reducer::Min, DType::U8) => (i64::from(u8::MAX), Binary::Min),
                (Reducer::Min, DType::U16) => (i64::from(u16::MAX), Binary::Min),
                _ => return self.convert(total, dtype),
            };
            let limit = self.g.arena.constant(wide, u64::from(limit as i32 as u32));
            total = self.node(UOpKind::Binary(op), wide, &[total, limit]);
        }
        self.convert(total, dtype)
    }

    /// The value combined over those of the ranges that are some, and not one index.
    fn combine(&mut self, by: Reducer, x: UOp, ranges: &[UOp]) -> UOp {
        let mut src: smallvec::SmallVec<[UOp; 4]> = smallvec![x];
        src.extend(ranges.iter().copied().filter(|&r| matches!(self.g.arena.op(r), UOpKind::Range(..))));
        let ty = self.g.arena.ty(x);
        if src.len() == 1 {
            if by != Reducer::Sum || !ty.dtype.is_float() {
                return x;
            }
            // A sum of one number starts at 0 all the same, which shows in the sign of a zero.
            let zero = self.g.arena.constant(ty.dtype, 0);
            return self.g.arena.alu(Alu::Add, &[x, zero]);
        }
        self.g.arena.node(UOpKind::Reduce(by), ty, &src)
    }

    /// A sum of products. The products are machine ops, so that they may be fused with the sums.
    pub(super) fn dot(&mut self, l: UOp, r: UOp, held: DType, dtype: DType, ranges: &[UOp]) -> UOp {
        let wide = Self::wide(held);
        let (l, r) = (self.convert(l, wide), self.convert(r, wide));
        let (op, by) = if wide == DType::BOOL { (Alu::And, Reducer::Or) } else { (Alu::Mul, Reducer::Sum) };
        let product = self.g.arena.alu(op, &[l, r]);
        let total = self.combine(by, product, ranges);
        self.convert(total, dtype)
    }

    /// The first place of the extreme element: the least place of those equal to it, or of a NaN, which beats all.
    pub(super) fn arg(&mut self, first: UOp, second: UOp, r1: UOp, r2: UOp, largest: bool, dtype: DType) -> UOp {
        let of = self.g.arena.ty(first).dtype;
        let by = if largest { Reducer::Max } else { Reducer::Min };
        let best = self.reduce(by, first, of, &[r1], false);
        let equal = UOpKind::Compare(Direction::Eq, SortOrder::Ieee);
        let mut hit = self.node(equal, DType::BOOL, &[second, best]);
        if of.is_float() {
            let nan = self.node(UOpKind::Compare(Direction::Ne, SortOrder::Ieee), DType::BOOL, &[second, second]);
            hit = self.g.arena.alu(Alu::Or, &[hit, nan]);
        }
        let last = self.g.arena.index(i64::MAX);
        let place = self.g.arena.alu(Alu::Select, &[hit, r2, last]);
        let place = self.combine(Reducer::Min, place, &[r2]);
        self.convert(place, dtype)
    }
}

/// The bits of what a combiner starts with.
pub(super) fn identity(by: Reducer, d: DType) -> u64 {
    let mask = u64::MAX >> (64 - d.bits().min(64));
    let float = |v: f64| crate::uop::cast(DType::F64, d, v.to_bits());
    match by {
        Reducer::Sum | Reducer::Or => 0,
        Reducer::Prod if d.is_float() => float(1.0),
        Reducer::Prod => 1,
        Reducer::And if d.is_bool() => 1,
        Reducer::And => mask,
        Reducer::Max if d.is_float() => float(f64::NEG_INFINITY),
        Reducer::Min if d.is_float() => float(f64::INFINITY),
        Reducer::Max if d.is_signed_int() => 1 << (d.bits() - 1),
        Reducer::Max => 0,
        Reducer::Min if d.is_signed_int() => mask >> 1,
        Reducer::Min if d.is_bool() => 1,
        Reducer::Min => mask,
    }
}
