//! Types of control flow, calls and random bits.

use super::{Check, Cx, RegionType, Types, same, surely_greater};
use crate::{Algorithm, FuncRef, TensorType};
use evoxc_core::{DType, Dim, Shape, spec};

fn no_args(cx: &Cx, label: &str, r: &RegionType) -> Check {
    if r.args.is_empty() {
        return Ok(());
    }
    cx.fail(format!("region `{label}` takes no arguments (it captures), got {}", r.args.len()))
}

fn results(r: &RegionType, cx: &Cx) -> Types {
    r.results.iter().map(|t| cx.like(t)).collect()
}

/// Branches must give the same types.
fn agree(cx: &Cx, a: (&str, &RegionType), b: (&str, &RegionType)) -> Check {
    if a.1.results.len() != b.1.results.len() {
        return cx.fail(format!(
            "branch `{}` gives {} values, branch `{}` gives {}",
            a.0,
            a.1.results.len(),
            b.0,
            b.1.results.len()
        ));
    }
    for (i, (x, y)) in a.1.results.iter().zip(&b.1.results).enumerate() {
        if !same(x, y) {
            return cx.fail_with(
                format!("result {i} of branch `{}` is {x}, of branch `{}` it is {y}", a.0, b.0),
                "cast or broadcast one of them: both branches give the same types",
            );
        }
    }
    Ok(())
}

pub(super) fn cond(cx: &Cx) -> Check<Types> {
    let [pred] = cx.operands()?;
    cx.dtype("pred", pred.dtype, pred.dtype.is_bool(), "bool", "compare it: `x.ne(0)`")?;
    cx.scalar("pred", pred)?;
    let [yes, no] = cx.regions()?;
    no_args(cx, "then", yes)?;
    no_args(cx, "else", no)?;
    agree(cx, ("then", yes), ("else", no))?;
    Ok(results(yes, cx))
}

pub(super) fn switch(cx: &Cx) -> Check<Types> {
    let [index] = cx.operands()?;
    cx.dtype("index", index.dtype, index.dtype == DType::I32, "i32", "cast it: `.cast(I32)`")?;
    cx.scalar("index", index)?;
    let Some(first) = cx.regions.first() else { return cx.fail("it needs at least one branch") };
    for (i, r) in cx.regions.iter().enumerate() {
        let label = format!("branch{i}");
        no_args(cx, &label, r)?;
        agree(cx, ("branch0", first), (&label, r))?;
    }
    Ok(results(first, cx))
}

pub(super) fn while_loop(cx: &Cx) -> Check<Types> {
    let [cond, body] = cx.regions()?;
    let state = || cx.operands.iter().copied();
    cx.signature("arguments of `cond`", &cond.args, state())?;
    cx.signature("arguments of `body`", &body.args, state())?;
    cx.signature("results of `cond`", &cond.results, [&spec(DType::BOOL, Shape::scalar())].into_iter())?;
    cx.signature("results of `body` (the next state)", &body.results, state())?;
    Ok(state().map(|t| cx.like(t)).collect())
}

pub(super) fn scan(cx: &Cx, carry: usize, length: Dim) -> Check<Types> {
    cx.sound("length", &[length])?;
    if surely_greater(Dim::constant(0), length) {
        return cx.fail(format!("`length` is {length}"));
    }
    let Some((init, xs)) = cx.operands.split_at_checked(carry) else {
        return cx.fail(format!("`carry` is {carry}, but there are {} operands", cx.operands.len()));
    };
    let [body] = cx.regions()?;
    let mut args: Vec<TensorType> = init.iter().map(|t| cx.like(t)).collect();
    for (i, x) in xs.iter().enumerate() {
        match x.shape.split_first() {
            Some((&n, rest)) if n == length => args.push(spec(x.dtype, rest)),
            Some((n, _)) => {
                return cx
                    .fail(format!("axis 0 of operand {} has size {n}, but the scan has length {length}", carry + i));
            }
            None => return cx.fail(format!("operand {} is a scalar, it has no axis to scan", carry + i)),
        }
    }
    cx.signature("arguments of `body`", &body.args, args.iter())?;
    let Some((next, ys)) = body.results.split_at_checked(carry) else {
        return cx.fail(format!("`body` gives {} values, fewer than the {carry} of the carry", body.results.len()));
    };
    cx.signature("results of `body` (the next carry)", next, init.iter().copied())?;
    let stacked = ys.iter().map(|y| spec(y.dtype, [length].iter().chain(&y.shape).copied().collect::<Shape>()));
    let all: Types = next.iter().map(|t| cx.like(t)).chain(stacked).collect();
    for t in &all {
        cx.shape("a result", &t.shape)?;
    }
    Ok(all)
}

pub(super) fn call(cx: &Cx, callee: &FuncRef) -> Check<Types> {
    let [f] = cx.regions()?;
    let (want, got) = (f.args.len(), cx.operands.len());
    if want != got {
        return cx.fail(format!("@{} takes {want} arguments, got {got}", callee.0));
    }
    for (i, (w, g)) in f.args.iter().zip(cx.operands).enumerate() {
        if !same(w, g) {
            return cx.fail(format!("argument {i} of @{} must be {w}, got {g}", callee.0));
        }
    }
    Ok(results(f, cx))
}

pub(super) fn random_bits(cx: &Cx, algorithm: Algorithm, dtype: DType, shape: &Shape) -> Check<Types> {
    let [key] = cx.operands()?;
    let (key_dtype, words) = match algorithm {
        Algorithm::SplitMix64 => (DType::U64, None),
        Algorithm::Threefry2x32 => (DType::U32, Some(2)),
        Algorithm::Philox4x32 => (DType::U32, Some(4)),
    };
    cx.dtype("the result", dtype, dtype.is_unsigned(), "an unsigned integer", "take U32 bits and convert them")?;
    let make = "make keys with `random::key`";
    cx.dtype("key", key.dtype, key.dtype == key_dtype, key_dtype.name(), make)?;
    let batch = match (words, key.shape.split_last()) {
        (None, _) => &key.shape[..],
        (Some(n), Some((&last, batch))) if last == n => batch,
        (Some(n), _) => {
            return cx.fail_with(format!("the last axis of a {} key has size {n}", algorithm.word()), make);
        }
    };
    cx.result(dtype, batch.iter().chain(shape).copied().collect())
}
