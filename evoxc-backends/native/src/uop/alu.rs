//! What machines have: the arithmetic that every renderer implements, and its meaning on the bits of one element.

use evoxc_core::DType;
use evoxc_ir::{Binary, Unary};
use half::{bf16, f16};

/// Arithmetic of machines. On `f32`, `f64`, `i32`, `i64`, `u32`, `u64`, and on `bool` where it says so; the 8 and 16 bit
/// dtypes are loaded, stored, cast, bitcast, selected, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Alu {
    /// Sum; integers wrap.
    Add,
    /// Difference; integers wrap.
    Sub,
    /// Product; integers wrap.
    Mul,
    /// Quotient of floats.
    Div,
    /// Quotient of integers, truncated. The divisor is not 0, and not -1 where the dividend is the least integer.
    IntDiv,
    /// What [`Alu::IntDiv`] leaves, under the same conditions.
    IntRem,
    /// The high half of the double-width product of integers.
    MulHigh,
    /// `a < b ? a : b`: of floats, the second where either is NaN or both are zeros.
    Min,
    /// `a > b ? a : b`: of floats, the second where either is NaN or both are zeros.
    Max,
    /// Bits of integers and bools.
    And,
    /// Bits of integers and bools.
    Or,
    /// Bits of integers and bools.
    Xor,
    /// Bits of integers and bools.
    Not,
    /// Integers; the count is of the same dtype, from 0 to below the width.
    Shl,
    /// Integers, filling with 0; the count as for [`Alu::Shl`].
    Shr,
    /// Integers, filling with the sign; the count as for [`Alu::Shl`].
    Sar,
    /// The sign of a float flipped; an integer subtracted from 0.
    Neg,
    /// The sign bit of a float cleared.
    Abs,
    /// Square root of floats, correctly rounded.
    Sqrt,
    /// Floats.
    Floor,
    /// Floats.
    Ceil,
    /// Floats, halves to even.
    RoundEven,
    /// Floats, towards 0.
    Trunc,
    /// `a * b + c` of floats, rounded once.
    Fma,
    /// To bool; false where either is NaN. Bools too.
    Eq,
    /// To bool; true where either is NaN. Bools too.
    Ne,
    /// To bool; false where either is NaN.
    Lt,
    /// To bool; false where either is NaN.
    Le,
    /// `[condition, where true, where false]`, of any dtype.
    Select,
}

impl Alu {
    /// Every one.
    pub const ALL: &'static [Alu] = &[
        Alu::Add,
        Alu::Sub,
        Alu::Mul,
        Alu::Div,
        Alu::IntDiv,
        Alu::IntRem,
        Alu::MulHigh,
        Alu::Min,
        Alu::Max,
        Alu::And,
        Alu::Or,
        Alu::Xor,
        Alu::Not,
        Alu::Shl,
        Alu::Shr,
        Alu::Sar,
        Alu::Neg,
        Alu::Abs,
        Alu::Sqrt,
        Alu::Floor,
        Alu::Ceil,
        Alu::RoundEven,
        Alu::Trunc,
        Alu::Fma,
        Alu::Eq,
        Alu::Ne,
        Alu::Lt,
        Alu::Le,
        Alu::Select,
    ];
    /// Does it give a bool, whatever it works on?
    pub const fn is_comparison(self) -> bool {
        matches!(self, Alu::Eq | Alu::Ne | Alu::Lt | Alu::Le)
    }
    /// The number of operands.
    pub const fn arity(self) -> usize {
        match self {
            Alu::Not | Alu::Neg | Alu::Abs | Alu::Sqrt | Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc => 1,
            Alu::Fma | Alu::Select => 3,
            Alu::Add
            | Alu::Sub
            | Alu::Mul
            | Alu::Div
            | Alu::IntDiv
            | Alu::IntRem
            | Alu::MulHigh
            | Alu::Min
            | Alu::Max
            | Alu::And
            | Alu::Or
            | Alu::Xor
            | Alu::Shl
            | Alu::Shr
            | Alu::Sar
            | Alu::Eq
            | Alu::Ne
            | Alu::Lt
            | Alu::Le => 2,
        }
    }
}

/// A function of the host's libraries on one element, where no polynomial is written. Its operands and result are `f64`,
/// or `f32` where `single`: [`address`](crate::render::library) gives its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LibFn {
    /// Of one operand.
    Unary(Unary, bool),
    /// Of two operands.
    Binary(Binary, bool),
}

impl LibFn {
    /// The number of arguments.
    pub const fn arity(self) -> usize {
        match self {
            LibFn::Unary(..) => 1,
            LibFn::Binary(..) => 2,
        }
    }
}

/// The meaning of a machine op, on the bits of elements of `dtype`, which is the dtype of the last operand. It is what
/// the renderers are compared with, bit by bit but for the payloads of NaN.
pub fn alu(op: Alu, dtype: DType, src: [u64; 3]) -> u64 {
    let [a, b, c] = src;
    if op == Alu::Select {
        return if a != 0 { b } else { c };
    }
    match dtype {
        DType::F32 => {
            let f = |x: u64| f32::from_bits(x as u32);
            match float(op, f(a).into(), f(b).into()) {
                Some(Outcome::Truth(t)) => u64::from(t),
                _ => u64::from(single(op, f(a), f(b), f(c)).to_bits()),
            }
        }
        DType::F64 => {
            let f = f64::from_bits;
            match float(op, f(a), f(b)) {
                Some(Outcome::Truth(t)) => u64::from(t),
                _ => double(op, f(a), f(b), f(c)).to_bits(),
            }
        }
        DType::I32 => integer(op, a as i32 as i128, b as i32 as i128, 32) as u32 as u64,
        DType::U32 => integer(op, a as u32 as i128, b as u32 as i128, 32) as u32 as u64,
        DType::I64 => integer(op, a as i64 as i128, b as i64 as i128, 64) as u64,
        DType::U64 => integer(op, a as i128, b as i128, 64) as u64,
        DType::BOOL => (integer(op, i128::from(a & 1), i128::from(b & 1), 1) & 1) as u64,
        // Not of the machine: the verifier refuses such a node.
        DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::F16 | DType::BF16 | DType::C64 | DType::C128 => 0,
    }
}

enum Outcome {
    Truth(bool),
}

fn float(op: Alu, a: f64, b: f64) -> Option<Outcome> {
    Some(Outcome::Truth(match op {
        Alu::Eq => a == b,
        Alu::Ne => a != b,
        Alu::Lt => a < b,
        Alu::Le => a <= b,
        _ => return None,
    }))
}

macro_rules! floats {
    ($name:ident, $t:ty) => {
        fn $name(op: Alu, a: $t, b: $t, c: $t) -> $t {
            match op {
                Alu::Add => a + b,
                Alu::Sub => a - b,
                Alu::Mul => a * b,
                Alu::Div => a / b,
                Alu::Min => {
                    if a < b {
                        a
                    } else {
                        b
                    }
                }
                Alu::Max => {
                    if a > b {
                        a
                    } else {
                        b
                    }
                }
                Alu::Neg => -a,
                Alu::Abs => a.abs(),
                Alu::Sqrt => a.sqrt(),
                Alu::Floor => a.floor(),
                Alu::Ceil => a.ceil(),
                Alu::RoundEven => a.round_ties_even(),
                Alu::Trunc => a.trunc(),
                Alu::Fma => a.mul_add(b, c),
                // Not of floats: the verifier refuses such a node.
                Alu::IntDiv | Alu::IntRem | Alu::MulHigh | Alu::And | Alu::Or | Alu::Xor | Alu::Not | Alu::Shl => {
                    <$t>::NAN
                }
                Alu::Shr | Alu::Sar | Alu::Eq | Alu::Ne | Alu::Lt | Alu::Le | Alu::Select => <$t>::NAN,
            }
        }
    };
}
floats!(single, f32);
floats!(double, f64);

/// Of integers of `width` bits, given as their values.
fn integer(op: Alu, a: i128, b: i128, width: u32) -> i128 {
    let mask = (1i128 << width) - 1;
    let count = (b & 127) as u32;
    match op {
        Alu::Add => a.wrapping_add(b),
        Alu::Sub => a.wrapping_sub(b),
        Alu::Mul => a.wrapping_mul(b),
        Alu::IntDiv => {
            if b == 0 {
                0
            } else {
                a / b
            }
        }
        Alu::IntRem => {
            if b == 0 {
                0
            } else {
                a % b
            }
        }
        Alu::MulHigh => (a.wrapping_mul(b) >> width) & mask,
        Alu::Min => a.min(b),
        Alu::Max => a.max(b),
        Alu::And => a & b,
        Alu::Or => a | b,
        Alu::Xor => a ^ b,
        Alu::Not => !a,
        Alu::Shl => (a & mask) << count.min(64),
        Alu::Shr => (a & mask) >> count,
        // The sign is that of the width, whether the dtype has one or not.
        Alu::Sar => ((a << (128 - width)) >> (128 - width)) >> count,
        Alu::Neg => -a,
        Alu::Abs => a.abs(),
        Alu::Eq => i128::from(a == b),
        Alu::Ne => i128::from(a != b),
        Alu::Lt => i128::from(a < b),
        Alu::Le => i128::from(a <= b),
        // Not of integers: the verifier refuses such a node.
        Alu::Div | Alu::Sqrt | Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc | Alu::Fma | Alu::Select => 0,
    }
}

/// The meaning of [`Op::Cast`](super::Op::Cast), which is that of `convert` in the IR: floats to integers truncate and
/// saturate (NaN gives 0), integers wrap, anything to `bool` is `!= 0`, to a narrower float rounds to nearest even.
pub fn cast(from: DType, to: DType, bits: u64) -> u64 {
    enum Wide {
        Int(i128),
        Float(f64),
    }
    let wide = match from {
        DType::BOOL => Wide::Int(i128::from(bits != 0)),
        DType::I8 => Wide::Int((bits as i8).into()),
        DType::I16 => Wide::Int((bits as i16).into()),
        DType::I32 => Wide::Int((bits as i32).into()),
        DType::I64 => Wide::Int((bits as i64).into()),
        DType::U8 => Wide::Int((bits as u8).into()),
        DType::U16 => Wide::Int((bits as u16).into()),
        DType::U32 => Wide::Int((bits as u32).into()),
        DType::U64 => Wide::Int(bits.into()),
        DType::F16 => Wide::Float(f16::from_bits(bits as u16).into()),
        DType::BF16 => Wide::Float(bf16::from_bits(bits as u16).into()),
        DType::F32 => Wide::Float(f32::from_bits(bits as u32).into()),
        DType::F64 => Wide::Float(f64::from_bits(bits)),
        DType::C64 | DType::C128 => return 0,
    };
    macro_rules! to {
        ($t:ty, $u:ty) => {
            match wide {
                Wide::Int(i) => i as $t as $u as u64,
                Wide::Float(x) => x as $t as $u as u64,
            }
        };
    }
    match to {
        DType::BOOL => u64::from(match wide {
            Wide::Int(i) => i != 0,
            Wide::Float(x) => x != 0.0,
        }),
        DType::I8 => to!(i8, u8),
        DType::I16 => to!(i16, u16),
        DType::I32 => to!(i32, u32),
        DType::I64 => to!(i64, u64),
        DType::U8 => to!(u8, u8),
        DType::U16 => to!(u16, u16),
        DType::U32 => to!(u32, u32),
        DType::U64 => to!(u64, u64),
        // From f32 and wider ints, once: `f64` holds every narrower float exactly, so one rounding follows.
        DType::F16 => u64::from(match wide {
            Wide::Int(i) => evoxc_core::f16_from_int(i).to_bits(),
            Wide::Float(x) => evoxc_core::f16_from_f64(x).to_bits(),
        }),
        DType::BF16 => u64::from(match wide {
            Wide::Int(i) => evoxc_core::bf16_from_int(i).to_bits(),
            Wide::Float(x) => evoxc_core::bf16_from_f64(x).to_bits(),
        }),
        DType::F32 => u64::from(match wide {
            Wide::Int(i) => (i as f32).to_bits(),
            Wide::Float(x) => (x as f32).to_bits(),
        }),
        DType::F64 => match wide {
            Wide::Int(i) => (i as f64).to_bits(),
            Wide::Float(x) => x.to_bits(),
        },
        DType::C64 | DType::C128 => 0,
    }
}
