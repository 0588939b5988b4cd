//! Tangents of calls: by the rules that they carry, else by what the function does.

use super::define;
use crate::jvp::{Jvp, Mode};
use crate::{depend, differentiable, instantiate, no_rule, regions, zeros};
use evoxc_core::OpError;
use evoxc_ir::{FuncRef, Op, Prim, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};

/// Writes a call at least one of whose arguments has a tangent.
pub(super) fn call(walk: &mut Jvp, op: &Op, live: &[bool]) -> Result<(), OpError> {
    let Prim::Call { callee, jvp, forward, vjp, batch: _, captures, remat } = &op.prim else {
        return Err(OpError::new("", "it is no call"));
    };
    let has_rule = jvp.is_some() || vjp.is_some();
    let own = op.operands.len() - captures.unwrap_or(0).min(op.operands.len());
    if has_rule && op.operands[own..].iter().any(|v| walk.tangent.contains_key(v)) {
        let why =
            format!("@{} captures a value that is differentiated, which its custom rule says nothing of", callee.0);
        return Err(no_rule(&op.prim, &why, "pass that value as an argument"));
    }
    match (jvp, forward, vjp, walk.mode) {
        (_, Some(forward), Some(vjp), Mode::Split) => by_vjp(walk, op, forward, vjp, own),
        // A rule that applies its function to the tangents, in which that is linear: by what the function does, then.
        (Some(rule), _, _, _) if walk.rules.contains(rule) => inline(walk, op, callee),
        (Some(rule), _, _, _) => {
            walk.rules.push(rule.clone());
            let done = by_jvp(walk, op, rule, own);
            walk.rules.pop();
            done
        }
        (None, _, Some(_), _) => Err(no_rule(
            &op.prim,
            "it has a custom vjp only, which is no rule for forward mode",
            "use reverse mode (`grad`, `vjp`, `jacrev`), or give it a `custom_jvp` rule",
        )),
        _ if *remat => again(walk, op, callee, live),
        _ => inline(walk, op, callee),
    }
}

/// What the function does, in the place of the call.
fn inline(walk: &mut Jvp, op: &Op, callee: &FuncRef) -> Result<(), OpError> {
    let f = regions::inlined(callee)?;
    for (&a, v) in f.args.iter().zip(&op.operands) {
        walk.define(a, walk.primal(*v), walk.tangent.get(v).copied());
    }
    walk.region(&f)?;
    take(walk, op, &f.results);
    Ok(())
}

/// The op's results are what these values are.
fn take(walk: &mut Jvp, op: &Op, values: &[Value]) {
    for (&r, v) in op.results.iter().zip(values) {
        walk.define(r, walk.primal(*v), walk.tangent.get(v).copied());
    }
}

/// A call that recomputes: of a function of arguments and tangents. In [`Mode::Split`] the call itself stays and the
/// function is linear in the tangents, so nothing but the arguments is stored.
fn again(walk: &mut Jvp, op: &Op, callee: &FuncRef, live: &[bool]) -> Result<(), OpError> {
    let f = regions::inlined(callee)?;
    let mut operands = walk.primals(&op.operands).to_vec();
    let active: Vec<bool> = op.operands.iter().map(|v| walk.tangent.contains_key(v)).collect();
    // Which results have tangents says the function itself.
    let mut set = f.args.iter().zip(&active).filter(|(_, a)| **a).map(|(v, _)| *v).collect();
    let reached = depend::region(depend::Follow::Tangent, &f, &mut set);
    let live: Vec<bool> = live.iter().zip(reached).map(|(l, r)| *l && r).collect();
    if !live.contains(&true) {
        return emitter::replay(op, &mut walk.primal);
    }
    let live = live.as_slice();
    let t = walk.tangents(&op.operands);
    if walk.mode == Mode::Fused {
        let (name, outer) = emitter::outline(&format!("{}_jvp", callee.0), both(walk, &f, &active, live, true)?);
        operands.extend(t.into_iter().flatten().chain(outer));
        let results = regions::emit(regions::call(name, true), &operands, vec![])?;
        let (y, t) = results.split_at(op.results.len());
        define(walk, op, live, y, t);
        return Ok(());
    }
    let n = op.results.len();
    let mut linear = both(walk, &f, &active, live, false)?;
    if has_vjp(&f) {
        // The values are then those of the rules for reverse mode, as without the recomputation.
        let mut primal = both(walk, &f, &active, &vec![false; n], true)?;
        primal.args.truncate(f.args.len());
        let (name, outer) = emitter::outline(&format!("{}_forward", callee.0), primal);
        let x = [&operands[..], &outer].concat();
        let y = regions::emit(regions::call(name, true), &x, vec![])?;
        define(walk, op, &vec![false; n], &y, &[]);
    } else {
        emitter::replay(op, &mut walk.primal)?;
    }
    regions::silence(&mut linear)?;
    let (name, outer) = emitter::outline(&format!("{}_linear", callee.0), linear);
    operands.extend(t.into_iter().flatten().chain(outer));
    let t = regions::emit(regions::call(name, true), &operands, vec![])?;
    let y = walk.primals(&op.results);
    define(walk, op, live, &y, &t);
    Ok(())
}

/// A function's `values`, and the tangents of its `live` results, of its arguments and the tangents of the `active` ones.
fn both(walk: &Jvp, f: &Region, active: &[bool], live: &[bool], values: bool) -> Result<Region, OpError> {
    let mut types = emitter::types(&f.args);
    types.extend(types.clone().into_iter().zip(active).filter(|(_, a)| **a).map(|(t, _)| t));
    let mut inner = walk.within();
    regions::region("call", &types, |args| {
        let (x, t) = args.split_at(f.args.len());
        let mut t = t.iter().copied();
        for ((&a, &x), &active) in f.args.iter().zip(x).zip(active) {
            inner.define(a, x, if active { t.next() } else { None });
        }
        inner.region(f)?;
        let mut out = if values { inner.primals(&f.results).to_vec() } else { vec![] };
        out.extend(super::tangents(&inner, &f.results, live));
        Ok(out)
    })
}

/// Does a region call a function whose derivative is a rule for reverse mode?
fn has_vjp(r: &Region) -> bool {
    r.ops.iter().any(|op| matches!(&op.prim, Prim::Call { vjp: Some(_), .. }) || regions::any_inside(op, has_vjp))
}

/// By a rule for forward mode. In [`Mode::Split`] the rule, which is linear in the tangents, is itself differentiated
/// with respect to them: that gives the same function of the tangents, its primal ops apart from its linear ones.
fn by_jvp(walk: &mut Jvp, op: &Op, rule: &FuncRef, own: usize) -> Result<(), OpError> {
    let f = regions::inlined(rule)?;
    let (x, t) = f.args.split_at(op.operands.len().min(f.args.len()));
    let split = walk.mode == Mode::Split;
    for (&a, v) in x.iter().zip(&op.operands) {
        walk.define(a, walk.primal(*v), None);
    }
    for (&a, v) in t.iter().zip(&op.operands[..own]) {
        let tangent = walk.tangent.get(v).copied();
        if split {
            walk.define(a, zeros(&emitter::ty(a)), tangent);
        } else {
            walk.define(a, instantiate(tangent, walk.primal(*v)), None);
        }
    }
    walk.region(&f)?;
    let (y, t) = f.results.split_at(op.results.len().min(f.results.len()));
    for ((&r, &y), t) in op.results.iter().zip(y).zip(t) {
        let tangent = if split { walk.tangent.get(t).copied() } else { Some(walk.primal(*t)) };
        walk.define(r, walk.primal(y), tangent.filter(|_| differentiable(emitter::ty(r).dtype)));
    }
    Ok(())
}

/// By rules for reverse mode: the values are those of `forward`; the tangents are those of a call that stands for a
/// linear function of which only the transpose, `vjp`, is known. Transposition replaces it.
fn by_vjp(walk: &mut Jvp, op: &Op, forward: &FuncRef, vjp: &FuncRef, own: usize) -> Result<(), OpError> {
    let f = emitter::function(forward)
        .ok_or_else(|| OpError::new("call", format!("there is no function @{}", forward.0)))?;
    let out = emitter::inline_function(&f, &walk.primals(&op.operands))?;
    let (y, residuals) = out.split_at(op.results.len().min(out.len()));
    let mut operands = residuals.to_vec();
    operands.extend(op.operands[..own].iter().map(|v| instantiate(walk.tangent.get(v).copied(), walk.primal(*v))));
    let types: Vec<TensorType> = operands.iter().filter_map(|&s| emitter::type_of(s)).collect();
    let results = emitter::types(&op.results);
    let region = regions::region("call", &types, |_| Ok(results.iter().map(zeros).collect::<Vec<Sym>>()))?;
    let (name, _) = emitter::outline(&format!("{}_tangent", vjp.0), region);
    let mut prim = regions::call(name, false);
    if let Prim::Call { vjp: rule, .. } = &mut prim {
        *rule = Some(vjp.clone());
    }
    let t = regions::emit(prim, &operands, vec![])?;
    for ((&r, &y), (&t, ty)) in op.results.iter().zip(y).zip(t.iter().zip(&results)) {
        walk.define(r, y, differentiable(ty.dtype).then_some(t));
    }
    Ok(())
}
