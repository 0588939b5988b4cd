//! Regions that are one op of their two arguments: the named, differentiable forms of bodied ops.

use crate::syntax::ast::{Op, Region, Value};
use evoxc_core::DType;
use evoxc_ir::{Binary, Direction, Reducer, ScatterOp, SelectOp};
use evoxc_trace::{Sym, emitter};

/// What a region of two scalars gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Combiner {
    /// An op of both, in either order.
    Op(Binary),
    /// The second argument.
    Second,
}

/// The region's body and what it returns, where it gives one value.
fn single<'r, 'a>(region: &'r Region<'a>) -> Option<(&'r [Op<'a>], Value, [Value; 2])> {
    let args: [Value; 2] = region.args.as_slice().try_into().ok()?;
    let (last, ops) = region.ops.split_last()?;
    let &[result] = last.operands.as_slice() else { return None };
    Some((ops, result, args))
}

/// The combiner that a region of two arguments is.
pub(super) fn of(region: &Region) -> Option<Combiner> {
    let (ops, result, [a, b]) = single(region)?;
    match ops {
        [] if result == b => Some(Combiner::Second),
        [op] if op.results == [result] && (op.operands == [a, b] || op.operands == [b, a]) => {
            let name = op.name.split_once('.').map_or("", |n| n.1);
            Some(Combiner::Op(match name {
                "add" => Binary::Add,
                "multiply" => Binary::Mul,
                "maximum" => Binary::Max,
                "minimum" => Binary::Min,
                "and" => Binary::And,
                "or" => Binary::Or,
                _ => return None,
            }))
        }
        _ => None,
    }
}

impl Combiner {
    /// The named reduction, and the op that combines its result with an initial value.
    pub fn reducer(self, dtype: DType) -> Option<(Reducer, Binary)> {
        let Combiner::Op(op) = self else { return None };
        let named = match op {
            Binary::Add if dtype.is_bool() => Reducer::Or,
            Binary::Mul if dtype.is_bool() => Reducer::And,
            Binary::Add => Reducer::Sum,
            Binary::Mul => Reducer::Prod,
            Binary::Max => Reducer::Max,
            Binary::Min => Reducer::Min,
            Binary::And => Reducer::And,
            Binary::Or => Reducer::Or,
            _ => return None,
        };
        Some((named, op))
    }
    /// The named scatter.
    pub fn scatter(self, dtype: DType) -> Option<ScatterOp> {
        Some(match self {
            Combiner::Second => ScatterOp::Set,
            Combiner::Op(Binary::Add) if !dtype.is_bool() => ScatterOp::Add,
            Combiner::Op(Binary::Mul) if !dtype.is_bool() => ScatterOp::Mul,
            Combiner::Op(Binary::Add | Binary::Or) if dtype.is_bool() => ScatterOp::Max,
            Combiner::Op(Binary::Mul | Binary::And) if dtype.is_bool() => ScatterOp::Min,
            Combiner::Op(Binary::Max) => ScatterOp::Max,
            Combiner::Op(Binary::Min) => ScatterOp::Min,
            Combiner::Op(_) => return None,
        })
    }
}

/// The window element that a `select` region of two arguments keeps: the first largest or smallest.
pub(super) fn select(region: &Region) -> Option<SelectOp> {
    let (ops, result, [a, b]) = single(region)?;
    let [op] = ops else { return None };
    if op.results != [result] || op.operands != [a, b] || !op.name.ends_with(".compare") {
        return None;
    }
    match direction(op)? {
        (Direction::Ge, false) => Some(SelectOp::Max),
        (Direction::Le, false) => Some(SelectOp::Min),
        _ => None,
    }
}

/// The direction of a comparison, and whether it is in total order.
pub(super) fn direction(op: &Op) -> Option<(Direction, bool)> {
    use super::attrs::{find, text};
    let word = find(&op.attrs, "comparison_direction").and_then(text)?;
    let total = find(&op.attrs, "compare_type").and_then(text) == Some("TOTALORDER");
    Some((Direction::from_word(&word.to_ascii_lowercase())?, total))
}

/// Is a scalar constant the identity of a reduction?
pub(super) fn is_identity(init: Sym, op: Reducer) -> bool {
    let Some(t) = emitter::splat(init) else { return false };
    let float = |of: fn(f64) -> bool| t.cast(DType::F64).ok().and_then(|t| t.item::<f64>().ok()).is_some_and(of);
    let int = |low: bool, high: bool, v: i128| {
        let d = t.dtype();
        let bits = d.bits() as u32;
        let (min, max) = match (d.is_bool(), d.is_signed_int()) {
            (true, _) => (0, 1),
            (_, true) => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            _ => (0, (1i128 << bits) - 1),
        };
        super::attrs::ints(&t)
            .and_then(|x| x.first().map(|&x| i128::from(x)))
            .or_else(|| t.item::<u64>().ok().map(i128::from))
            .is_some_and(|x| {
                x == if low {
                    min
                } else if high {
                    max
                } else {
                    v
                }
            })
    };
    let dtype = t.dtype();
    if dtype.is_complex() {
        let Ok(c) = t.cast(DType::C128).and_then(|t| t.item::<num_complex::Complex<f64>>()) else { return false };
        return match op {
            Reducer::Sum => c.re == 0.0 && c.im == 0.0,
            Reducer::Prod => c.re == 1.0 && c.im == 0.0,
            Reducer::Max | Reducer::Min | Reducer::And | Reducer::Or => false,
        };
    }
    if dtype.is_float() {
        return match op {
            Reducer::Sum => float(|x| x == 0.0),
            Reducer::Prod => float(|x| x == 1.0),
            Reducer::Max => float(|x| x == f64::NEG_INFINITY),
            Reducer::Min => float(|x| x == f64::INFINITY),
            Reducer::And | Reducer::Or => false,
        };
    }
    match op {
        Reducer::Sum | Reducer::Or => int(false, false, 0),
        Reducer::Prod => int(false, false, 1),
        Reducer::Max => int(true, false, 0),
        Reducer::Min => int(false, true, 0),
        Reducer::And if dtype.is_signed_int() => int(false, false, -1),
        Reducer::And => int(false, true, 0),
    }
}
