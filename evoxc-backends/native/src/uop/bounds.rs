//! What the values of integers lie between, from what their operands lie between.
//!
//! Everything here is sound for arithmetic that wraps: where a result may leave its dtype, nothing but the dtype is known.

use super::{Alu, Arena, Op, Ty, UOp};
use evoxc_core::DType;
use evoxc_ir::{Binary, Direction, Unary};

/// The least and the greatest value of an integer, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The least.
    pub min: i64,
    /// The greatest.
    pub max: i64,
}

impl Bounds {
    /// Nothing is known.
    pub const ALL: Bounds = Bounds { min: i64::MIN, max: i64::MAX };
    /// The greatest value that a parameter, which is the extent of an axis, can have.
    pub const PARAM: i64 = 1 << 40;
    /// The value, if there is only one.
    pub fn single(self) -> Option<i64> {
        (self.min == self.max).then_some(self.min)
    }
    /// Is the value among those?
    pub fn holds(self, v: i64) -> bool {
        self.min <= v && v <= self.max
    }
}

/// As [`Bounds`], but wide enough for every dtype and for one op without overflow.
type Span = (i128, i128);

/// The values of an integer dtype, or of bool.
fn of_dtype(d: DType) -> Option<Span> {
    Some(match d {
        DType::BOOL => (0, 1),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::I64 => (i64::MIN.into(), i64::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::U64 => (0, u64::MAX.into()),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C64 | DType::C128 => return None,
    })
}

/// What is known of an operand, if it is an integer or a bool.
fn span(a: &Arena, u: UOp) -> Option<Span> {
    let ty = a.ty(u);
    let whole = of_dtype(ty.dtype).filter(|_| !ty.pointer)?;
    let b = a.bounds(u);
    // The only dtype that bounds cannot express.
    if ty.dtype == DType::U64 && b == Bounds::ALL { Some(whole) } else { Some((b.min.into(), b.max.into())) }
}

/// The bounds of a node that is being made.
pub(super) fn of(a: &Arena, op: Op, ty: Ty, src: &[UOp]) -> Bounds {
    let Some(whole) = of_dtype(ty.dtype).filter(|_| ty.lanes > 0 && !ty.pointer) else { return Bounds::ALL };
    // Most nodes are these; the same by i64 alone.
    if let (Op::Alu(op @ (Alu::Add | Alu::Sub | Alu::Mul)), Ty::INDEX, &[x, y]) = (op, ty, src) {
        let (x, y) = (a.bounds(x), a.bounds(y));
        let (x, y) = ([x.min, x.max], [y.min, y.max]);
        let all = match op {
            Alu::Add => [x[0].checked_add(y[0]), x[1].checked_add(y[1]), Some(0), Some(0)],
            Alu::Sub => [x[0].checked_sub(y[1]), x[1].checked_sub(y[0]), Some(0), Some(0)],
            _ => [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(n, m)| x[n].checked_mul(y[m])),
        };
        let [Some(p), Some(q), Some(r), Some(s)] = all else { return Bounds::ALL };
        return match op {
            Alu::Mul => Bounds { min: p.min(q).min(r).min(s), max: p.max(q).max(r).max(s) },
            _ => Bounds { min: p, max: q },
        };
    }
    let (min, max) = match span_of(a, op, ty, src) {
        // May wrap.
        Some((min, max)) if min >= whole.0 && max <= whole.1 && min <= max => (min, max),
        _ => whole,
    };
    match (i64::try_from(min), i64::try_from(max)) {
        (Ok(min), Ok(max)) => Bounds { min, max },
        _ => Bounds::ALL,
    }
}

fn span_of(a: &Arena, op: Op, ty: Ty, src: &[UOp]) -> Option<Span> {
    let at = |n: usize| src.get(n).and_then(|&u| span(a, u));
    match op {
        Op::Const(bits) => {
            let v = value(ty.dtype, bits);
            Some((v, v))
        }
        Op::Param(_) => Some((0, Bounds::PARAM.into())),
        Op::Range(..) => Some((0, (at(0)?.1 - 1).max(0))),
        Op::Alu(op) => alu(op, ty.dtype, [at(0), at(1), at(2)]),
        Op::Binary(op) => {
            let op = match (op, ty.dtype) {
                (Binary::Add | Binary::Max, DType::BOOL) => Alu::Or,
                (Binary::Mul | Binary::Min, DType::BOOL) => Alu::And,
                (Binary::Add, _) => Alu::Add,
                (Binary::Sub, _) => Alu::Sub,
                (Binary::Mul, _) => Alu::Mul,
                (Binary::Max, _) => Alu::Max,
                (Binary::Min, _) => Alu::Min,
                (Binary::And, _) => Alu::And,
                (Binary::Or, _) => Alu::Or,
                (Binary::Xor, _) => Alu::Xor,
                _ => return None,
            };
            alu(op, ty.dtype, [at(0), at(1), None])
        }
        Op::Unary(Unary::Neg) => alu(Alu::Neg, ty.dtype, [at(0), None, None]),
        Op::Unary(Unary::Abs) => alu(Alu::Abs, ty.dtype, [at(0), None, None]),
        Op::Unary(Unary::Not) => alu(Alu::Not, ty.dtype, [at(0), None, None]),
        Op::Unary(Unary::Sign) => at(0).map(|(lo, hi)| (lo.signum(), hi.signum())),
        Op::Unary(Unary::Popcount | Unary::CountLeadingZeros) => Some((0, ty.dtype.bits() as i128)),
        Op::Compare(direction, _) => {
            let (x, y) = (at(0), at(1));
            match direction {
                Direction::Lt => alu(Alu::Lt, DType::BOOL, [x, y, None]),
                Direction::Le => alu(Alu::Le, DType::BOOL, [x, y, None]),
                Direction::Gt => alu(Alu::Lt, DType::BOOL, [y, x, None]),
                Direction::Ge => alu(Alu::Le, DType::BOOL, [y, x, None]),
                Direction::Eq => alu(Alu::Eq, DType::BOOL, [x, y, None]),
                Direction::Ne => alu(Alu::Ne, DType::BOOL, [x, y, None]),
            }
        }
        Op::Cast | Op::Convert => match at(0)? {
            (lo, hi) if ty.dtype == DType::BOOL => Some((i128::from(lo > 0 || hi < 0), i128::from((lo, hi) != (0, 0)))),
            of => Some(of),
        },
        // Of positive divisors; where there is none, nothing is computed that matters.
        Op::IndexDiv => {
            let (x, (lo, hi)) = (at(0)?, at(1)?);
            let (lo, hi) = (lo.max(1), hi.max(1));
            Some(corners(x, (lo, hi), i128::div_euclid))
        }
        Op::IndexMod => {
            let (x, (lo, hi)) = (at(0)?, at(1)?);
            if x.0 >= 0 && x.1 < lo { Some(x) } else { Some((0, (hi - 1).max(0).min(if x.0 >= 0 { x.1 } else { hi }))) }
        }
        Op::Unary(_) | Op::ReducePrecision(..) | Op::Bitcast | Op::Call(_) | Op::Load | Op::Reduce(_) => None,
        Op::Buffer(_) | Op::Scratch(_) | Op::Store | Op::End | Op::After => None,
    }
}

/// The number that bits of an integer dtype are.
fn value(d: DType, bits: u64) -> i128 {
    match d {
        DType::I8 => (bits as i8).into(),
        DType::I16 => (bits as i16).into(),
        DType::I32 => (bits as i32).into(),
        DType::I64 => (bits as i64).into(),
        _ => bits.into(),
    }
}

/// The span of a function that is monotone in each operand, at the corners.
fn corners(x: Span, y: Span, f: fn(i128, i128) -> i128) -> Span {
    let all = [f(x.0, y.0), f(x.0, y.1), f(x.1, y.0), f(x.1, y.1)];
    (all.into_iter().fold(i128::MAX, i128::min), all.into_iter().fold(i128::MIN, i128::max))
}

/// All bits up to the highest of a number that is not negative.
fn filled(v: i128) -> i128 {
    if v <= 0 { 0 } else { i128::MAX >> (v.leading_zeros() - 1) }
}

fn alu(op: Alu, d: DType, src: [Option<Span>; 3]) -> Option<Span> {
    let [x, y, z] = src;
    let bool = d == DType::BOOL;
    match op {
        Alu::Add => x.zip(y).map(|(x, y)| (x.0 + y.0, x.1 + y.1)),
        Alu::Sub => x.zip(y).map(|(x, y)| (x.0 - y.1, x.1 - y.0)),
        Alu::Mul => match (x?, y?) {
            // Products of two u64 leave an i128 too.
            (x, y) if [x.0, x.1, y.0, y.1].iter().all(|v| v.unsigned_abs() < 1 << 63) => {
                Some(corners(x, y, |a, b| a * b))
            }
            _ => None,
        },
        // The quotient by 0 never matters; the renderers may give anything.
        Alu::IntDiv => match (x?, y?) {
            (x, y) if y.0 > 0 || y.1 < 0 => Some(corners(x, y, |a, b| a / b)),
            _ => None,
        },
        Alu::IntRem => match (x?, y?) {
            (x, y) if y.0 > 0 || y.1 < 0 => {
                let most = y.0.abs().max(y.1.abs()) - 1;
                Some(((-most).max(x.0.min(0)), most.min(x.1.max(0))))
            }
            _ => None,
        },
        Alu::Min => x.zip(y).map(|(x, y)| (x.0.min(y.0), x.1.min(y.1))),
        Alu::Max => x.zip(y).map(|(x, y)| (x.0.max(y.0), x.1.max(y.1))),
        Alu::And => match (x?, y?) {
            (x, y) if bool => Some((x.0.min(y.0), x.1.min(y.1))),
            (x, y) if x.0 >= 0 && y.0 >= 0 => Some((0, x.1.min(y.1))),
            (x, _) if x.0 >= 0 => Some((0, x.1)),
            (_, y) if y.0 >= 0 => Some((0, y.1)),
            _ => None,
        },
        Alu::Or => match (x?, y?) {
            (x, y) if bool => Some((x.0.max(y.0), x.1.max(y.1))),
            (x, y) if x.0 >= 0 && y.0 >= 0 => Some((x.0.max(y.0), filled(x.1.max(y.1)))),
            _ => None,
        },
        Alu::Xor => match (x?, y?) {
            (x, y) if x.0 >= 0 && y.0 >= 0 => Some((0, filled(x.1.max(y.1)))),
            _ => None,
        },
        Alu::Not if bool => x.map(|x| (1 - x.1, 1 - x.0)),
        Alu::Not if d.is_signed_int() => x.map(|x| (-1 - x.1, -1 - x.0)),
        Alu::Not => None,
        Alu::Shl => match (x?, y?) {
            (x, (0..63, count @ 0..63)) => Some(corners(x, (1 << y?.0, 1 << count), |a, b| a * b)),
            _ => None,
        },
        Alu::Shr => match (x?, y?) {
            (x, (least @ 0..64, most @ 0..64)) if x.0 >= 0 => Some((x.0 >> most, x.1 >> least)),
            _ => None,
        },
        Alu::Sar => match (x?, y?) {
            (x, y @ (0..64, 0..64)) if d.is_signed_int() => Some(corners(x, y, |a, b| a >> b)),
            _ => None,
        },
        Alu::Neg => x.map(|x| (-x.1, -x.0)),
        Alu::Abs => x.map(|x| match x {
            (lo, hi) if lo >= 0 => (lo, hi),
            (lo, hi) if hi <= 0 => (-hi, -lo),
            (lo, hi) => (0, hi.max(-lo)),
        }),
        Alu::Lt => Some(decided(x?.1 < y?.0, x?.0 >= y?.1)),
        Alu::Le => Some(decided(x?.1 <= y?.0, x?.0 > y?.1)),
        Alu::Eq => Some(decided(same(x?, y?), apart(x?, y?))),
        Alu::Ne => Some(decided(apart(x?, y?), same(x?, y?))),
        Alu::Select => match x {
            Some((1, _)) => y,
            Some((_, 0)) => z,
            _ => y.zip(z).map(|(y, z)| (y.0.min(z.0), y.1.max(z.1))),
        },
        // Not of integers, or nothing to say.
        Alu::MulHigh | Alu::Div | Alu::Sqrt | Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc | Alu::Fma => None,
    }
}

fn decided(yes: bool, no: bool) -> Span {
    (yes.into(), (!no).into())
}
fn same(x: Span, y: Span) -> bool {
    x == y && x.0 == x.1
}
fn apart(x: Span, y: Span) -> bool {
    x.1 < y.0 || y.1 < x.0
}
