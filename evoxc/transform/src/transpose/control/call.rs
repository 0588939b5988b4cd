//! Transposes of calls: of a function that recomputes, and of one whose transpose is a rule.

use super::{inner, known, zeros_for};
use crate::regions;
use crate::transpose::{Input, Transpose};
use evoxc_core::OpError;
use evoxc_ir::{FuncRef, Op, Prim, Value};
use evoxc_trace::{Sym, emitter};

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

/// The function's known ops are written once more, which is what recomputation means: behind a barrier, so that no
/// simplification finds them equal to those of the forward pass.
fn again(walk: &mut Transpose, op: &Op, ct: &[Option<Sym>], callee: &FuncRef) -> Result<(), OpError> {
    let f = regions::inlined(callee)?;
    let pairs = f.args.iter().copied().zip(op.operands.iter().copied());
    let (mut linear, mut values): (Vec<(Value, Value)>, Vec<(Value, Sym)>) = (vec![], vec![]);
    for (a, v) in pairs {
        match walk.input(v) {
            Input::Linear(_) => linear.push((a, v)),
            Input::Known(s) => values.push((a, s)),
        }
    }
    let syms: Vec<Sym> = values.iter().map(|(_, s)| *s).collect();
    if !syms.is_empty() {
        let kept = regions::emit(Prim::OptimizationBarrier {}, &syms, vec![])?;
        values.iter_mut().zip(&kept).for_each(|((_, s), k)| *s = *k);
    }
    let cts: Vec<(Value, Sym)> = f.results.iter().zip(ct).filter_map(|(&v, c)| Some((v, (*c)?))).collect();
    let back = inner(walk, &f, linear.iter().map(|(a, _)| *a), &values, &cts)?;
    for (a, v) in linear {
        if let Some(c) = back.of(a) {
            walk.add(v, c);
        }
    }
    Ok(())
}
