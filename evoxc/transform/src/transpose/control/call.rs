//! Transposes of calls: of a function that recomputes, and of one whose transpose is a rule.

use super::{inner, known, zeros_for};
use crate::regions;
use crate::transpose::{Input, Transpose};
use evoxc_core::{Dim, OpError};
use evoxc_ir::{FuncRef, Op, Prim, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::FxHashSet;

pub(super) fn call(
    walk: &mut Transpose,
    op: &Op,
    ct: &[Option<Sym>],
    callee: &FuncRef,
    vjp: Option<&FuncRef>,
) -> Result<(), OpError> {
    match vjp {
        Some(rule) => by_rule(walk, op, ct, rule),
        None => again(walk, op, ct, callee),
    }
}

/// The rule takes the residuals and the cotangents of all results, and gives the cotangents of the arguments, whose
/// tangents are the last operands.
fn by_rule(walk: &mut Transpose, op: &Op, ct: &[Option<Sym>], rule: &FuncRef) -> Result<(), OpError> {
    let f = emitter::function(rule).ok_or_else(|| OpError::new("call", format!("there is no function @{}", rule.0)))?;
    let n = op.operands.len() - f.body.results.len().min(op.operands.len());
    let (residuals, tangents) = op.operands.split_at(n);
    let mut args = residuals.iter().map(|&v| known(walk, v)).collect::<Result<Vec<Sym>, _>>()?;
    args.extend(zeros_for(op, ct));
    let cts = emitter::inline_function(&f, &args)?;
    for (&v, &c) in tangents.iter().zip(&cts) {
        walk.add(v, c);
    }
    Ok(())
}

/// The function's known ops are written once more, which is what recomputation means: in a call that recomputes too, so
/// that derivatives of it store no more, and behind a barrier, so that no simplification finds these ops equal to those
/// of the forward pass.
fn again(walk: &mut Transpose, op: &Op, ct: &[Option<Sym>], callee: &FuncRef) -> Result<(), OpError> {
    let f = regions::inlined(callee)?;
    let (mut linear, mut values): (Vec<(Value, Value)>, Vec<(Value, Sym)>) = (vec![], vec![]);
    for (&a, &v) in f.args.iter().zip(&op.operands) {
        match walk.input(v) {
            Input::Linear(_) => linear.push((a, v)),
            Input::Known(s) => values.push((a, s)),
        }
    }
    let cts: Vec<(Value, Sym)> = f.results.iter().zip(ct).filter_map(|(&v, c)| Some((v, (*c)?))).collect();
    let operands: Vec<Sym> = values.iter().chain(&cts).map(|(_, s)| *s).collect();
    let types: Vec<TensorType> = operands.iter().filter_map(|&s| emitter::type_of(s)).collect();
    let mut reached = vec![];
    let mut region = regions::region("call", &types, |args| {
        let (x, ct) = args.split_at(values.len());
        let kept = if x.is_empty() { None } else { Some(regions::emit(Prim::OptimizationBarrier {}, x, vec![])?) };
        let kept = kept.as_deref().unwrap_or_default();
        let values: Vec<(Value, Sym)> = values.iter().zip(kept).map(|((a, _), &k)| (*a, k)).collect();
        let cts: Vec<(Value, Sym)> = cts.iter().zip(ct).map(|((v, _), &c)| (*v, c)).collect();
        let back = inner(walk, &f, linear.iter().map(|(a, _)| *a), &values, &cts)?;
        let found = linear.iter().filter_map(|(a, v)| Some((*v, back.of(*a)?)));
        let (vs, cs): (Vec<Value>, Vec<Sym>) = found.unzip();
        reached = vs;
        Ok(cs)
    })?;
    if reached.is_empty() {
        return Ok(());
    }
    let operands = narrow(&mut region, operands);
    let (name, outer) = emitter::outline(&format!("{}_transpose", callee.0), region);
    let results = regions::emit(regions::call(name, true), &[operands, outer].concat(), vec![])?;
    for (&v, &c) in reached.iter().zip(&results) {
        walk.add(v, c);
    }
    Ok(())
}

/// Takes off the arguments that the region does not read and that no extent needs; gives the operands that are left.
fn narrow(r: &mut Region, operands: Vec<Sym>) -> Vec<Sym> {
    let read =
        |r: &Region| -> FxHashSet<Value> { r.ops.iter().flat_map(regions::uses).chain(r.results.clone()).collect() };
    let used = read(r);
    if let Some(barrier) = r.ops.first_mut().filter(|op| matches!(op.prim, Prim::OptimizationBarrier {})) {
        let pairs = barrier.operands.iter().zip(&barrier.results).filter(|(_, y)| used.contains(y));
        (barrier.operands, barrier.results) = pairs.map(|(x, y)| (*x, *y)).unzip();
    }
    let used = read(r);
    let symbols = |v: Value| {
        let mut all = vec![];
        emitter::ty(v).shape.iter().for_each(|d| d.symbols(&mut all));
        all
    };
    let read = r.args.iter().filter(|a| used.contains(a));
    let mut known: FxHashSet<Dim> = read.flat_map(|&a| symbols(a)).collect();
    let mut kept = |a: Value| {
        let new = symbols(a).into_iter().filter(|&s| known.insert(s)).count();
        used.contains(&a) || new > 0
    };
    let (args, operands) = r.args.iter().zip(operands).filter(|(a, _)| kept(**a)).map(|(a, s)| (*a, s)).unzip();
    r.args = args;
    operands
}
