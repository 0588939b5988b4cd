//! Comparators of sorts that say "by these keys": what they compute is followed symbolically.
//!
//! Frameworks replace -0 by 0 and every NaN by one before they compare floats in total order, which is how a sort by
//! keys orders them.

use super::attrs::find;
use super::combiner::direction;
use super::walk::Importer;
use crate::syntax::ast::{Attr, Element, Op, Region, Type, Value};
use evoxc_core::{DType, Tensor};
use evoxc_ir::Direction;
use evoxc_trace::emitter;
use rustc_hash::FxHashMap;

/// What a value of a comparator is. Arguments 2k and 2k + 1 are the elements of operand k.
#[derive(Clone, Debug, PartialEq)]
enum Is {
    /// An argument.
    Arg(usize),
    /// An argument, 0 for -0.
    Zeroed(usize),
    /// An argument, 0 for -0 and one NaN for all.
    Canonical(usize),
    Zero,
    Nan,
    /// Is an argument zero, or NaN?
    TestsZero(usize),
    TestsNan(usize),
    /// Does the first element come before the second, by these operands, descending or not?
    Before(Vec<(usize, bool)>),
    /// Are the elements of an operand equal?
    Equal(usize),
    /// Are the elements of an operand equal, and the first before the second by others?
    Then(usize, Vec<(usize, bool)>),
}

/// The keys that a comparator sorts by, each with whether it descends; `None` for any other comparator.
pub(super) fn keys<'a>(i: &Importer<'_, 'a>, region: &Region<'a>) -> Option<Vec<(usize, bool)>> {
    let (last, ops) = region.ops.split_last()?;
    let &[result] = last.operands.as_slice() else { return None };
    let mut known: FxHashMap<u32, Is> = region.args.iter().enumerate().map(|(k, v)| (v.0, Is::Arg(k))).collect();
    for op in ops {
        if let (&[result], Some(is)) = (op.results.as_slice(), step(i, op, &known)) {
            known.insert(result.0, is);
        }
    }
    match known.remove(&result.0) {
        Some(Is::Before(keys)) => {
            let distinct = keys.iter().enumerate().all(|(n, (k, _))| keys.iter().take(n).all(|(j, _)| j != k));
            distinct.then_some(keys)
        }
        _ => None,
    }
}

fn float(i: &Importer, v: Value) -> Option<DType> {
    match i.value_type(v)? {
        Type::Tensor(t) => match t.element {
            Element::Known(d) if d.is_float() => Some(d),
            _ => None,
        },
        _ => None,
    }
}

/// The number that a scalar constant is, if that is 0 or NaN.
fn number(t: &Tensor) -> Option<Is> {
    let x = t.cast(DType::F64).ok()?.item::<f64>().ok()?;
    if x == 0.0 && x.is_sign_positive() { Some(Is::Zero) } else { x.is_nan().then_some(Is::Nan) }
}

fn step<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, known: &FxHashMap<u32, Is>) -> Option<Is> {
    let at = |k: usize| -> Option<Is> {
        let v = *op.operands.get(k)?;
        match known.get(&v.0) {
            Some(is) => Some(is.clone()),
            // A constant from around the region.
            None => number(&emitter::splat(i.sym(op, v).ok()?)?),
        }
    };
    match op.name.split_once('.')?.1 {
        "constant" => match find(&op.attrs, "value")? {
            Attr::Dense(d) if d.ty.shape.as_ref().is_some_and(|s| s.is_empty()) => {
                number(i.literal(op, d).ok()?.tensor())
            }
            _ => None,
        },
        // A wider float has the same order.
        "convert" => {
            let (from, to) = (float(i, *op.operands.first()?)?, float(i, *op.results.first()?)?);
            (to.size() > from.size() || to == from).then(|| at(0)).flatten()
        }
        "select" => match (at(0)?, at(1)?, at(2)?) {
            (Is::TestsZero(a), Is::Zero, Is::Arg(b)) if a == b => Some(Is::Zeroed(a)),
            (Is::TestsNan(a), Is::Nan, Is::Zeroed(b)) if a == b => Some(Is::Canonical(a)),
            _ => None,
        },
        "and" => match (at(0)?, at(1)?) {
            (Is::Equal(k), Is::Before(keys)) | (Is::Before(keys), Is::Equal(k)) => Some(Is::Then(k, keys)),
            _ => None,
        },
        "or" => match (at(0)?, at(1)?) {
            (Is::Before(first), Is::Then(k, rest)) | (Is::Then(k, rest), Is::Before(first))
                if first.last().is_some_and(|(last, _)| *last == k) && first.len() == 1 =>
            {
                Some(Is::Before(first.into_iter().chain(rest).collect()))
            }
            _ => None,
        },
        "compare" => compare(op, at(0)?, at(1)?, float(i, *op.operands.first()?).is_some()),
        _ => None,
    }
}

fn compare(op: &Op, a: Is, b: Is, float: bool) -> Option<Is> {
    let (direction, total) = direction(op)?;
    match (direction, &a, &b) {
        (Direction::Eq, Is::Arg(k), Is::Zero) if float && !total => return Some(Is::TestsZero(*k)),
        (Direction::Ne, Is::Arg(k), Is::Arg(j)) if float && !total && k == j => return Some(Is::TestsNan(*k)),
        _ => {}
    }
    let (x, y) = match (a, b) {
        (Is::Canonical(x), Is::Canonical(y)) => (x, y),
        // Total order of floats as they are tells -0 from 0, and NaN from NaN.
        (Is::Arg(x), Is::Arg(y)) if !(float && total) => (x, y),
        _ => return None,
    };
    if x / 2 != y / 2 || x == y {
        return None;
    }
    match direction {
        Direction::Lt => Some(Is::Before(vec![(x / 2, x > y)])),
        Direction::Gt => Some(Is::Before(vec![(x / 2, x < y)])),
        Direction::Eq => Some(Is::Equal(x / 2)),
        Direction::Le | Direction::Ge | Direction::Ne => None,
    }
}
