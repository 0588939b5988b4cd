//! Partial evaluation: the elements of small integer tensors as expressions of symbols.
//!
//! Shape operands are computed by ordinary ops; this follows them as far as constants and extents go. Symbols count as
//! at least 1, as exporters guarantee, so that tests such as the sign of an extent are decided.

use super::attrs;
use super::item::Known;
use super::walk::Importer;
use crate::syntax::ast::{Op, Value};
use evoxc_core::{Dim, TensorSpec};
use evoxc_ir::Literal;
use std::rc::Rc;

/// Tensors above this size are no shapes.
pub(super) const MAX_KNOWN: usize = 64;

/// The elements of a constant.
pub(super) fn of_literal(l: &Literal) -> Option<Known> {
    let n = l.ty().shape.to_static()?.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
    if n > MAX_KNOWN {
        return None;
    }
    let all = attrs::ints(l.tensor())?;
    Some(match l {
        Literal::Dense(_) => all.into_iter().map(Dim::constant).collect(),
        Literal::Splat(..) => vec![Dim::constant(*all.first()?); n].into(),
    })
}

/// A value that an expression is never below, where symbols are at least 1.
fn low(d: Dim) -> Option<i64> {
    d.as_i64().or_else(|| d.substitute(&mut |s| Some(s + 1)).lower_bound())
}

/// A value that an expression is never above.
fn high(d: Dim) -> Option<i64> {
    d.as_i64().or_else(|| d.substitute(&mut |s| Some(s + 1)).upper_bound())
}

fn truth(b: bool) -> Option<Dim> {
    Some(Dim::constant(i64::from(b)))
}

/// The truth of a bool.
fn bool_of(d: Dim) -> Option<bool> {
    d.as_i64().map(|v| v != 0)
}

fn less(a: Dim, b: Dim) -> Option<bool> {
    let gap = a - b;
    match (low(gap), high(gap)) {
        (_, Some(h)) if h < 0 => Some(true),
        (Some(l), _) if l >= 0 => Some(false),
        _ => None,
    }
}

fn equal(a: Dim, b: Dim) -> Option<bool> {
    let gap = a - b;
    if gap == 0 {
        return Some(true);
    }
    (low(gap).is_some_and(|l| l > 0) || high(gap).is_some_and(|h| h < 0)).then_some(false)
}

fn compare(direction: &str, a: Dim, b: Dim) -> Option<bool> {
    match direction {
        "EQ" => equal(a, b),
        "NE" => equal(a, b).map(|e| !e),
        "LT" => less(a, b),
        "GE" => less(a, b).map(|l| !l),
        "GT" => less(b, a),
        "LE" => less(b, a).map(|l| !l),
        _ => None,
    }
}

fn sign(a: Dim) -> Option<Dim> {
    match (low(a), high(a)) {
        (Some(l), _) if l > 0 => Some(Dim::constant(1)),
        (_, Some(h)) if h < 0 => Some(Dim::constant(-1)),
        _ if a == 0 => Some(a),
        _ => None,
    }
}

/// Division that truncates, as that of integers; extents divide downwards, which is the same from 0.
fn divide(a: Dim, b: Dim, remainder: bool) -> Option<Dim> {
    if let (Some(x), Some(y)) = (a.as_i64(), b.as_i64()) {
        return Some(Dim::constant(if remainder { x.checked_rem(y)? } else { x.checked_div(y)? }));
    }
    let exact = a / b;
    if !exact.is_poison() && exact * b == a {
        return Some(if remainder { Dim::constant(0) } else { exact });
    }
    if low(b)? <= 0 {
        return None;
    }
    let quotient = match (low(a), high(a)) {
        (Some(l), _) if l >= 0 => exact,
        (_, Some(h)) if h <= 0 => -(-a / b),
        _ => return None,
    };
    Some(if remainder { a - quotient * b } else { quotient })
}

fn zip(a: Known, b: Known, f: impl Fn(Dim, Dim) -> Option<Dim>) -> Option<Known> {
    if a.len() != b.len() {
        return None;
    }
    a.iter().zip(b.iter()).map(|(&x, &y)| f(x, y)).collect()
}

fn each(a: &Known, f: impl Fn(Dim) -> Option<Dim>) -> Option<Known> {
    a.iter().map(|&x| f(x)).collect()
}

/// The elements of an op's first result, if those of its operands decide them.
pub(super) fn evaluate(i: &Importer, op: &Op, ty: &TensorSpec) -> Option<Known> {
    if !(ty.dtype.is_int() || ty.dtype.is_bool()) {
        return None;
    }
    let n = ty.shape.to_static()?.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|n| *n <= MAX_KNOWN)?;
    let name = op.name.strip_prefix("stablehlo.")?;
    let operand = |k: usize| op.operands.get(k).and_then(|&v| i.known(v));
    let two = || operand(0).zip(operand(1));
    let known: Option<Known> = match name {
        "convert" if ty.dtype.is_bool() => each(&operand(0)?, |x| equal(x, Dim::constant(0)).and_then(|e| truth(!e))),
        "convert" | "reshape" | "optimization_barrier" => operand(0),
        "broadcast_in_dim" => {
            let x = operand(0)?;
            // As many elements as before stand in the same order if the axes do.
            let ordered = || i.axes(op, "broadcast_dimensions").is_ok_and(|d| d.is_sorted());
            if x.len() == 1 { Some(vec![*x.first()?; n].into()) } else { Some(x).filter(|x| x.len() == n && ordered()) }
        }
        "slice" if ty.rank() == 1 => {
            let at = |name| i.ints(op, name).ok().flatten().and_then(|v| v.first().copied());
            let (start, limit) = (at("start_indices")?, at("limit_indices")?);
            let by = usize::try_from(at("strides").unwrap_or(1)).ok().filter(|by| *by > 0)?;
            let x = operand(0)?;
            let part = x.get(usize::try_from(start).ok()?..usize::try_from(limit).ok()?)?;
            Some(part.iter().step_by(by).copied().collect())
        }
        // Along the first axis, rows follow one another.
        "concatenate" if i.axis(op, "dimension").is_ok_and(|axis| axis == 0) => {
            let parts: Option<Vec<Known>> = (0..op.operands.len()).map(operand).collect();
            Some(parts?.iter().flat_map(|p| p.iter().copied()).collect())
        }
        "iota" if ty.rank() == 1 => Some((0..n).map(|k| Dim::constant(k as i64)).collect()),
        "reverse" if ty.rank() == 1 => Some(operand(0)?.iter().rev().copied().collect()),
        "add" if !ty.dtype.is_bool() => two().and_then(|(a, b)| zip(a, b, |x, y| Some(x + y))),
        "subtract" => two().and_then(|(a, b)| zip(a, b, |x, y| Some(x - y))),
        "multiply" => two().and_then(|(a, b)| zip(a, b, |x, y| Some(x * y))),
        "divide" => two().and_then(|(a, b)| zip(a, b, |x, y| divide(x, y, false))),
        "remainder" => two().and_then(|(a, b)| zip(a, b, |x, y| divide(x, y, true))),
        "maximum" => two().and_then(|(a, b)| zip(a, b, |x, y| Some(x.max(y)))),
        "minimum" => two().and_then(|(a, b)| zip(a, b, |x, y| Some(x.min(y)))),
        "negate" => each(&operand(0)?, |x| Some(-x)),
        "abs" => each(&operand(0)?, |x| match sign(x)?.as_i64()? {
            s if s < 0 => Some(-x),
            _ => Some(x),
        }),
        "sign" => each(&operand(0)?, sign),
        "compare" => {
            let direction = i.word(op, "comparison_direction").ok()?;
            two().and_then(|(a, b)| zip(a, b, |x, y| compare(direction, x, y).and_then(truth)))
        }
        "and" if ty.dtype.is_bool() => logical(operand(0), operand(1), false),
        "or" if ty.dtype.is_bool() => logical(operand(0), operand(1), true),
        "not" if ty.dtype.is_bool() => each(&operand(0)?, |x| bool_of(x).and_then(|b| truth(!b))),
        "xor" if ty.dtype.is_bool() => two().and_then(|(a, b)| zip(a, b, |x, y| truth(bool_of(x)? != bool_of(y)?))),
        "select" if operand(0).is_none() => floor_division(i, op).or_else(|| floor_remainder(i, op)),
        "select" => {
            let p = operand(0)?;
            let whole = bool_of(*p.first()?).filter(|b| p.iter().all(|&x| bool_of(x) == Some(*b)));
            match whole {
                Some(true) => operand(1),
                Some(false) => operand(2),
                None => {
                    let (a, b) = operand(1).zip(operand(2))?;
                    let picked = p.iter().zip(a.iter().zip(b.iter()));
                    picked.map(|(&p, (&a, &b))| bool_of(p).map(|p| if p { a } else { b })).collect()
                }
            }
        }
        "clamp" => {
            let (low, x, high) = (operand(0)?, operand(1)?, operand(2)?);
            let (l, h) = (*low.first()?, *high.first()?);
            if low.len() != 1 || high.len() != 1 {
                return None;
            }
            each(&x, |x| Some(x.max(l).min(h)))
        }
        _ => None,
    };
    known.filter(|k| k.len() == n && k.iter().all(|d| !d.is_poison()))
}

/// And (or); one decided operand may be enough.
fn logical(a: Option<Known>, b: Option<Known>, decides: bool) -> Option<Known> {
    let sure = |k: &Option<Known>| k.as_ref().is_some_and(|k| k.iter().all(|&x| bool_of(x) == Some(decides)));
    if sure(&a) {
        return a;
    }
    if sure(&b) {
        return b;
    }
    let (a, b) = a.zip(b)?;
    let both = |x: bool, y: bool| if decides { x || y } else { x && y };
    let all: Option<Rc<[Dim]>> = a.iter().zip(b.iter()).map(|(&x, &y)| truth(both(bool_of(x)?, bool_of(y)?))).collect();
    all
}

/// Steps of what is recognised as a whole: divisions that round downwards, for StableHLO has only those that truncate,
/// and slices from a start to start + size.
pub(super) fn is_step(name: &str) -> bool {
    ["add", "divide", "remainder", "sign", "compare", "and", "subtract"]
        .iter()
        .any(|n| name.strip_prefix("stablehlo.") == Some(n))
}

/// The op that defines a value, if it is this one.
fn step<'m, 'a>(i: &Importer<'m, 'a>, v: Value, name: &str) -> Option<&'m Op<'a>> {
    i.defined(v).filter(|op| op.name.strip_prefix("stablehlo.") == Some(name))
}

fn pair(op: &Op) -> Option<[Value; 2]> {
    op.operands.as_slice().try_into().ok()
}

fn is(i: &Importer, v: Value, n: i64) -> bool {
    i.known(v).is_some_and(|k| k.iter().all(|d| *d == n))
}

/// The operands of a comparison in this direction.
fn compared(i: &Importer, v: Value, direction: &str) -> Option<[Value; 2]> {
    let op = step(i, v, "compare")?;
    (i.word(op, "comparison_direction").ok()? == direction).then(|| pair(op)).flatten()
}

/// `select(r and y differ in sign and r is not 0, r + y, r)` of the remainder `r` of `x / y` is that of the quotient
/// rounded downwards.
fn floor_remainder(i: &Importer, op: &Op) -> Option<Known> {
    let &[p, more, rest] = op.operands.as_slice() else { return None };
    let [x, y] = pair(step(i, rest, "remainder")?)?;
    let [r, by] = pair(step(i, more, "add")?)?;
    let [first, second] = pair(step(i, p, "and")?)?;
    let negative = |v: Value, x: Value| compared(i, v, "LT").is_some_and(|[a, zero]| a == x && is(i, zero, 0));
    let signs = |v: Value| {
        let positive = i.known(y).is_some_and(|k| k.iter().all(|&d| low(d).is_some_and(|l| l > 0)));
        compared(i, v, "NE").is_some_and(|[a, b]| negative(a, rest) && (negative(b, y) || (positive && is(i, b, 0))))
    };
    let some = |v: Value| compared(i, v, "NE").is_some_and(|[a, zero]| a == rest && is(i, zero, 0));
    if r != rest || by != y || !((signs(first) && some(second)) || (signs(second) && some(first))) {
        return None;
    }
    zip(i.known(x)?, i.known(y)?, |x, y| (low(y)? > 0).then(|| x - x / y * y))
}

/// `select(signs differ and remainder is not 0, q - 1, q)` of `q = x / y` is the quotient rounded downwards.
fn floor_division(i: &Importer, op: &Op) -> Option<Known> {
    let &[p, less, quotient] = op.operands.as_slice() else { return None };
    let [x, y] = pair(step(i, quotient, "divide")?)?;
    let [q, one] = pair(step(i, less, "subtract")?)?;
    let [first, second] = pair(step(i, p, "and")?)?;
    let differ = |v: Value| compared(i, v, "NE");
    let of_sign = |v: Value, x: Value| step(i, v, "sign").is_some_and(|op| op.operands == [x]);
    let signs = |v: Value| differ(v).is_some_and(|[a, b]| of_sign(a, x) && (of_sign(b, y) || is(i, b, 1)));
    let rest = |v: Value| {
        differ(v).is_some_and(|[a, b]| step(i, a, "remainder").is_some_and(|op| op.operands == [x, y]) && is(i, b, 0))
    };
    if q != quotient || !is(i, one, 1) || !((signs(first) && rest(second)) || (signs(second) && rest(first))) {
        return None;
    }
    zip(i.known(x)?, i.known(y)?, |x, y| (low(y)? > 0).then(|| x / y))
}
