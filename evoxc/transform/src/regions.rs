//! Regions as the walks write them: always closed again, without dead ops; and bodies of functions as regions.

use evoxc_core::OpError;
use evoxc_ir::{FuncRef, Op, Prim, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Writes a region: `f` is given its arguments and gives its results. Dead ops are removed.
pub(crate) fn region(
    op: &str,
    args: &[TensorType],
    f: impl FnOnce(&[Sym]) -> Result<Vec<Sym>, OpError>,
) -> Result<Region, OpError> {
    let args = emitter::open_region(args);
    let done = f(&args);
    let results = done.as_deref().unwrap_or_default();
    emitter::prune(0, results);
    let region = emitter::close_region(op, results);
    done?;
    region.ok_or_else(poisoned)
}

/// Writes an op with regions, or a call.
#[track_caller]
pub(crate) fn emit(prim: Prim, operands: &[Sym], regions: Vec<Region>) -> Result<SmallVec<[Sym; 1]>, OpError> {
    emitter::emit_regions(prim, operands, regions).ok_or_else(poisoned)
}

/// A call without rules.
pub(crate) fn call(callee: FuncRef, remat: bool) -> Prim {
    Prim::Call { callee, jvp: None, forward: None, vjp: None, batch: None, captures: None, remat }
}

/// The body of a function that a call names, as a closed region whose ops are to be walked.
pub(crate) fn inlined(name: &FuncRef) -> Result<Region, OpError> {
    let f = emitter::function(name).ok_or_else(|| OpError::new("call", format!("there is no function @{}", name.0)))?;
    region("call", &f.inputs(), |args| emitter::inline_function(&f, args))
}

/// Appends a region's ops with other values in the place of its arguments (and of what else `env` names).
pub(crate) fn replay(r: &Region, env: &mut FxHashMap<Value, Value>) -> Result<Vec<Sym>, OpError> {
    r.ops.iter().try_for_each(|op| emitter::replay(op, env))?;
    Ok(r.results.iter().map(|v| emitter::sym(env.get(v).copied().unwrap_or(*v))).collect())
}

/// Says in `env` what stands for each of these values.
pub(crate) fn bind(env: &mut FxHashMap<Value, Value>, values: &[Value], syms: &[Sym]) {
    for (&v, &s) in values.iter().zip(syms) {
        if let Some(s) = emitter::value(s) {
            env.insert(v, s);
        }
    }
}

/// What an op uses: its operands, and what its regions use from around them.
pub(crate) fn uses(op: &Op) -> impl Iterator<Item = Value> + '_ {
    op.operands.iter().copied().chain(op.regions.iter().flat_map(emitter::captures))
}

/// Has the op, or one in its regions or in what it calls, an effect?
pub(crate) fn has_effect(op: &Op) -> bool {
    // Each function is looked at once: calls of calls multiply.
    fn any(op: &Op, seen: &mut FxHashSet<String>) -> bool {
        let own = match &op.prim {
            Prim::Call { callee, .. } => {
                seen.insert(callee.0.clone())
                    && emitter::function(callee).is_some_and(|f| f.body.ops.iter().any(|op| any(op, seen)))
            }
            p => p.has_effect(),
        };
        own || op.regions.iter().any(|r| r.ops.iter().any(|op| any(op, seen)))
    }
    any(op, &mut FxHashSet::default())
}

/// Removes what prints: for ops that compute once more what has been printed already. Collectives stay, for their values.
pub(crate) fn silence(r: &mut Region) -> Result<(), OpError> {
    r.ops.retain(|op| !matches!(op.prim, Prim::Print { .. }));
    for op in &mut r.ops {
        op.regions.iter_mut().try_for_each(silence)?;
        if has_effect(op)
            && let Prim::Call { callee, .. } = &mut op.prim
        {
            let mut body = inlined(callee)?;
            silence(&mut body)?;
            // Its rules stay: they are for later derivatives.
            *callee = emitter::outline(&format!("{}_silent", callee.0), body).0;
        }
    }
    Ok(())
}

/// May the region run for ever on values that it is not meant for?
pub(crate) fn may_hang(r: &Region) -> bool {
    r.ops.iter().any(|op| matches!(op.prim, Prim::WhileLoop {}) || any_inside(op, may_hang))
}

/// The values that the ops of a region make, not counting those inside their regions.
pub(crate) fn made(ops: &[Op]) -> FxHashSet<Value> {
    ops.iter().flat_map(|op| op.results.iter().copied()).collect()
}

fn poisoned() -> OpError {
    OpError::new("", "a value of the derivative or of the rows could not be computed; another error says why")
}

/// Is it so of a region of the op, or of the body of the function that it calls?
pub(crate) fn any_inside(op: &Op, is: impl Fn(&Region) -> bool) -> bool {
    match &op.prim {
        Prim::Call { callee, .. } => emitter::function(callee).is_some_and(|f| is(&f.body)),
        _ => op.regions.iter().any(is),
    }
}
