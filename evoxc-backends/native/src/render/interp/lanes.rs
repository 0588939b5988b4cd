//! Functions over the lanes of registers, for the ops that kernels do most. Each gives the bits that
//! [`alu`](crate::uop::alu) and [`cast`](crate::uop::cast) give: a test compares them.

use crate::uop::Alu;
use evoxc_core::DType;

/// The slots of an op: those of the first lanes, and how many lanes there are.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    pub dst: u32,
    pub src: [u32; 3],
    pub lanes: u8,
}

/// Does an op on all of its lanes.
pub(super) type LaneFn = fn(&mut [u64], Slots);

/// A function of one, two or three slots, from one of values.
macro_rules! lanes {
    (|$a:ident| $e:expr) => {{
        fn f(r: &mut [u64], s: Slots) {
            for i in 0..usize::from(s.lanes) {
                let $a = r[s.src[0] as usize + i];
                r[s.dst as usize + i] = $e;
            }
        }
        Some(f as LaneFn)
    }};
    (|$a:ident, $b:ident| $e:expr) => {{
        fn f(r: &mut [u64], s: Slots) {
            for i in 0..usize::from(s.lanes) {
                let ($a, $b) = (r[s.src[0] as usize + i], r[s.src[1] as usize + i]);
                r[s.dst as usize + i] = $e;
            }
        }
        Some(f as LaneFn)
    }};
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {{
        fn f(r: &mut [u64], s: Slots) {
            for i in 0..usize::from(s.lanes) {
                let ($a, $b) = (r[s.src[0] as usize + i], r[s.src[1] as usize + i]);
                let $c = r[s.src[2] as usize + i];
                r[s.dst as usize + i] = $e;
            }
        }
        Some(f as LaneFn)
    }};
}

macro_rules! float_ops {
    ($op:ident, $t:ty, $u:ty) => {{
        macro_rules! of {
            ($x:expr) => {
                <$t>::from_bits($x as $u)
            };
        }
        match $op {
            Alu::Add => lanes!(|a, b| (of!(a) + of!(b)).to_bits() as u64),
            Alu::Sub => lanes!(|a, b| (of!(a) - of!(b)).to_bits() as u64),
            Alu::Mul => lanes!(|a, b| (of!(a) * of!(b)).to_bits() as u64),
            Alu::Div => lanes!(|a, b| (of!(a) / of!(b)).to_bits() as u64),
            Alu::Min => lanes!(|a, b| if of!(a) < of!(b) { a } else { b }),
            Alu::Max => lanes!(|a, b| if of!(a) > of!(b) { a } else { b }),
            Alu::Neg => lanes!(|a| (-of!(a)).to_bits() as u64),
            Alu::Abs => lanes!(|a| of!(a).abs().to_bits() as u64),
            Alu::Sqrt => lanes!(|a| of!(a).sqrt().to_bits() as u64),
            Alu::Fma => lanes!(|a, b, c| of!(a).mul_add(of!(b), of!(c)).to_bits() as u64),
            Alu::Eq => lanes!(|a, b| u64::from(of!(a) == of!(b))),
            Alu::Ne => lanes!(|a, b| u64::from(of!(a) != of!(b))),
            Alu::Lt => lanes!(|a, b| u64::from(of!(a) < of!(b))),
            Alu::Le => lanes!(|a, b| u64::from(of!(a) <= of!(b))),
            _ => None,
        }
    }};
}

macro_rules! int_ops {
    ($op:ident, $t:ty, $u:ty) => {
        match $op {
            Alu::Add => lanes!(|a, b| (a as $t).wrapping_add(b as $t) as $u as u64),
            Alu::Sub => lanes!(|a, b| (a as $t).wrapping_sub(b as $t) as $u as u64),
            Alu::Mul => lanes!(|a, b| (a as $t).wrapping_mul(b as $t) as $u as u64),
            Alu::Min => lanes!(|a, b| if (a as $t) < b as $t { a } else { b }),
            Alu::Max => lanes!(|a, b| if (a as $t) > b as $t { a } else { b }),
            Alu::IntDiv => lanes!(|a, b| (a as $t).checked_div(b as $t).unwrap_or_default() as $u as u64),
            Alu::IntRem => lanes!(|a, b| (a as $t).checked_rem(b as $t).unwrap_or_default() as $u as u64),
            Alu::Not => lanes!(|a| !(a as $t) as $u as u64),
            Alu::Neg => lanes!(|a| (a as $t).wrapping_neg() as $u as u64),
            Alu::Shl => lanes!(|a, b| ((a as $u).wrapping_shl(b as u32)) as u64),
            Alu::Shr => lanes!(|a, b| ((a as $u).wrapping_shr(b as u32)) as u64),
            Alu::Eq => lanes!(|a, b| u64::from(a == b)),
            Alu::Ne => lanes!(|a, b| u64::from(a != b)),
            Alu::Lt => lanes!(|a, b| u64::from((a as $t) < b as $t)),
            Alu::Le => lanes!(|a, b| u64::from((a as $t) <= b as $t)),
            _ => None,
        }
    };
}

/// The function of an op on operands of `dtype` (that of the last), if it has one.
pub(super) fn alu_fn(op: Alu, dtype: DType) -> Option<LaneFn> {
    match (op, dtype) {
        (Alu::Select, _) => lanes!(|a, b, c| if a != 0 { b } else { c }),
        (_, DType::F32) => float_ops!(op, f32, u32),
        (_, DType::F64) => float_ops!(op, f64, u64),
        // Slots are zero-extended: bits of any width are as those of 64.
        (Alu::And, _) => lanes!(|a, b| a & b),
        (Alu::Or, _) => lanes!(|a, b| a | b),
        (Alu::Xor, _) => lanes!(|a, b| a ^ b),
        (Alu::Not, DType::BOOL) => lanes!(|a| a ^ 1),
        (_, DType::I32) => int_ops!(op, i32, u32),
        (_, DType::U32) => int_ops!(op, u32, u32),
        (_, DType::I64) => int_ops!(op, i64, u64),
        (_, DType::U64) => int_ops!(op, u64, u64),
        _ => None,
    }
}

/// The function of a conversion, if it has one.
pub(super) fn cast_fn(from: DType, to: DType) -> Option<LaneFn> {
    match (from, to) {
        (DType::F32, DType::F64) => lanes!(|a| f64::from(f32::from_bits(a as u32)).to_bits()),
        (DType::F64, DType::F32) => lanes!(|a| u64::from((f64::from_bits(a) as f32).to_bits())),
        (DType::I32, DType::I64) => lanes!(|a| a as i32 as u64),
        (DType::I64, DType::I32) => lanes!(|a| a as u32 as u64),
        (DType::I32, DType::F32) => lanes!(|a| u64::from((a as i32 as f32).to_bits())),
        (DType::I64, DType::F32) => lanes!(|a| u64::from((a as i64 as f32).to_bits())),
        (DType::I32, DType::F64) => lanes!(|a| f64::from(a as i32).to_bits()),
        (DType::BOOL, DType::F32) => lanes!(|a| if a != 0 { 0x3f80_0000 } else { 0 }),
        (DType::F16, DType::F32) => {
            lanes!(|a| u64::from(half::f16::from_bits(a as u16).to_f32().to_bits()))
        }
        (DType::BF16, DType::F32) => lanes!(|a| u64::from(half::bf16::from_bits(a as u16).to_f32().to_bits())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::takes;
    use crate::render::suite::patterns;
    use crate::uop::{alu, cast};

    fn is_nan(dtype: DType, x: u64) -> bool {
        match dtype {
            DType::F32 => f32::from_bits(x as u32).is_nan(),
            DType::F64 => f64::from_bits(x).is_nan(),
            DType::F16 => half::f16::from_bits(x as u16).is_nan(),
            DType::BF16 => half::bf16::from_bits(x as u16).is_nan(),
            _ => false,
        }
    }

    // `uop::alu` and `uop::cast` are the meaning of the ops.
    #[test]
    fn functions_give_what_the_ops_mean() {
        let mut count = 0;
        for (&op, dtype) in Alu::ALL.iter().flat_map(|op| DType::ALL.map(|d| (op, d))) {
            let Some(f) = takes(op, dtype).then(|| alu_fn(op, dtype)).flatten() else { continue };
            let width = 8 * dtype.size() as u64;
            let edges = patterns(dtype);
            for (i, &a) in edges.iter().enumerate() {
                for (j, &b) in edges.iter().enumerate() {
                    let c = edges[(i * 7 + j) % 20];
                    let a = if op == Alu::Select { a & 1 } else { a };
                    let b = if matches!(op, Alu::Shl | Alu::Shr | Alu::Sar) { b % width } else { b };
                    let refused = matches!(op, Alu::IntDiv | Alu::IntRem) && {
                        let ones = u64::MAX >> (64 - width);
                        b == 0 || (b == ones && a == (ones >> 1) + 1)
                    };
                    if refused {
                        continue;
                    }
                    let mut r = [a, b, c, 0];
                    f(&mut r, Slots { dst: 3, src: [0, 1, 2], lanes: 1 });
                    let expected = alu(op, dtype, [a, b, c]);
                    let result = if op.is_comparison() { DType::BOOL } else { dtype };
                    let nan = is_nan(result, expected) && is_nan(result, r[3]);
                    assert!(nan || r[3] == expected, "{op:?} {dtype} {a:#x} {b:#x} {c:#x}: {:#x} {expected:#x}", r[3]);
                    count += 1;
                }
            }
        }
        assert!(count > 100_000);
    }

    #[test]
    fn functions_give_what_conversions_mean() {
        for (from, to) in DType::ALL.iter().flat_map(|from| DType::ALL.map(|to| (*from, to))) {
            let Some(f) = cast_fn(from, to) else { continue };
            for a in patterns(from) {
                let mut r = [a, 0];
                f(&mut r, Slots { dst: 1, src: [0; 3], lanes: 1 });
                let expected = cast(from, to, a);
                assert!(r[1] == expected || (is_nan(to, r[1]) && is_nan(to, expected)), "{from} {to} {a:#x}");
            }
        }
    }
}
