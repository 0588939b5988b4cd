//! Calls for all rows. One that carries rules stays a call, of functions for all rows, so that derivatives of it are
//! still those of its rules.

use super::{define, get, types};
use crate::vmap::{Mapped, Vmap, batched};
use crate::{differentiable, regions, zeros};
use evoxc_core::OpError;
use evoxc_ir::{FuncRef, Op, Prim, TensorType};
use evoxc_trace::{Sym, emitter};

pub(super) fn call(walk: &mut Vmap, op: &Op) -> Result<(), OpError> {
    let Prim::Call { callee, jvp, forward, vjp, batch, captures, remat } = &op.prim else {
        return Err(OpError::new("", "it is no call"));
    };
    let flags: Vec<bool> = op.operands.iter().map(|v| walk.batched.contains(v)).collect();
    if let Some(batch) = batch {
        return by_batch(walk, op, batch);
    }
    let rules = jvp.is_some() || vjp.is_some();
    if !rules && !remat {
        return inline(walk, op, callee);
    }
    let n = op.results.len();
    let own = flags.len() - captures.unwrap_or(0).min(flags.len());
    // With rules, all results have rows: so the callee and its rules agree.
    let (callee, results) = mapped(walk, callee, &flags, |_, m| rows_of(walk, m, |_| rules))?;
    let jvp = match jvp {
        Some(f) => {
            let tangents = [&flags[..], &flags[..own]].concat();
            Some(mapped(walk, f, &tangents, |_, m| rows_of(walk, m, |_| true))?.0)
        }
        None => None,
    };
    let (forward, vjp) = match (forward, vjp) {
        (Some(forward), Some(vjp)) => {
            let (forward, out) = mapped(walk, forward, &flags, |_, m| rows_of(walk, m, |i| i < n))?;
            let args = [out.get(n..).unwrap_or_default(), &vec![true; n]].concat();
            let (vjp, _) = mapped(walk, vjp, &args, |types, m| cotangents(walk, types, m, &flags))?;
            (Some(forward), Some(vjp))
        }
        _ => (None, None),
    };
    let prim = Prim::Call { callee, jvp, forward, vjp, batch: None, captures: *captures, remat: *remat };
    let y = regions::emit(prim, &get(walk, &op.operands, &flags), vec![])?;
    define(walk, &op.results, &y, &results);
    Ok(())
}

/// What the function does, in the place of the call.
fn inline(walk: &mut Vmap, op: &Op, callee: &FuncRef) -> Result<(), OpError> {
    let f = regions::inlined(callee)?;
    for (&a, &v) in f.args.iter().zip(&op.operands) {
        walk.define(a, walk.get(v));
    }
    walk.region(&f)?;
    for (&r, &v) in op.results.iter().zip(&f.results) {
        walk.define(r, walk.get(v));
    }
    Ok(())
}

/// The function's own rule for rows, which takes and gives them everywhere.
fn by_batch(walk: &mut Vmap, op: &Op, batch: &FuncRef) -> Result<(), OpError> {
    let all = vec![true; op.operands.len()];
    let Some(f) = emitter::function(batch) else {
        return Err(OpError::new("call", format!("there is no function @{}", batch.0)));
    };
    // A rule for any number of rows has a symbol for it.
    let first = f.inputs().iter().find_map(|t| t.shape.first().copied());
    let symbol = first.filter(|d| d.symbol_name().is_some() && *d != walk.size);
    let bound = symbol.and_then(|s| emitter::specialize(batch, s, walk.size));
    let batch = bound.as_ref().unwrap_or(batch);
    let takes = emitter::function(batch).map(|f| f.inputs()).unwrap_or_default();
    let want = types(walk, &op.operands, &all);
    let differ = |(a, b): (&TensorType, &TensorType)| a.dtype != b.dtype || a.shape != b.shape;
    if let Some((rule, rows)) = takes.iter().zip(&want).find(|(a, b)| differ((a, b))) {
        return Err(OpError::new(
            "call",
            format!("its rule for rows, @{}, takes {rule}, the rows are {rows}", batch.0),
        )
        .remedy("map over as many rows as the rule takes, or take the rule off the call"));
    }
    let results = regions::emit(regions::call(batch.clone(), false), &get(walk, &op.operands, &all), vec![])?;
    define(walk, &op.results, &results, &vec![true; op.results.len()]);
    Ok(())
}

/// Results for all rows where they are so already or where `force` says so; and which are.
fn rows_of(walk: &Vmap, values: &[Mapped], force: impl Fn(usize) -> bool) -> (Vec<Sym>, Vec<bool>) {
    let flags: Vec<bool> = values.iter().enumerate().map(|(i, m)| m.batched || force(i)).collect();
    let syms = values.iter().zip(&flags).map(|(&m, &b)| if b { batched(m, walk.size) } else { m.sym }).collect();
    (syms, flags)
}

/// Cotangents of arguments, of which those without rows get the sum over the rows.
fn cotangents(walk: &Vmap, types: &[TensorType], values: &[Mapped], flags: &[bool]) -> (Vec<Sym>, Vec<bool>) {
    let of = |((&m, ty), &flag): ((&Mapped, &TensorType), &bool)| match flag {
        true => batched(m, walk.size),
        false if differentiable(ty.dtype) => batched(m, walk.size).sum(0),
        false => zeros(ty),
    };
    let syms = values.iter().zip(types).zip(flags).map(of).collect();
    (syms, flags.to_vec())
}

/// The function for all rows, its arguments batched where `flags` say so; and which results `finish` gives with rows.
fn mapped(
    walk: &Vmap,
    name: &FuncRef,
    flags: &[bool],
    finish: impl FnOnce(&[TensorType], &[Mapped]) -> (Vec<Sym>, Vec<bool>),
) -> Result<(FuncRef, Vec<bool>), OpError> {
    let f = regions::inlined(name)?;
    let mut inner = Vmap::new(walk.size);
    let mut rows = vec![];
    let region = regions::region("call", &types(walk, &f.args, flags), |args| {
        define(&mut inner, &f.args, args, flags);
        inner.region(&f)?;
        let values: Vec<Mapped> = f.results.iter().map(|&v| inner.get(v)).collect();
        let (syms, which) = finish(&emitter::types(&f.results), &values);
        rows = which;
        Ok(syms)
    })?;
    let (name, _) = emitter::outline(&format!("{}_rows", name.0), region);
    Ok((name, rows))
}
