//! `while_loop` for all rows.

use super::{body, define, get, marks, safe, types};
use crate::regions;
use crate::vmap::Vmap;
use crate::vmap::parts::spread;
use evoxc_core::{BOOL, OpError, spec};
use evoxc_ir::{Op, Region};
use evoxc_trace::Sym;

pub(super) fn repeat(walk: &mut Vmap, op: &Op) -> Result<(), OpError> {
    let [cond, step] = op.regions.as_slice() else { return Err(OpError::new("", "it has two regions")) };
    let (state, set) = marks(walk, op);
    if cond.results.iter().any(|v| set.contains(v)) {
        return until_all_are_done(walk, op, cond, step);
    }
    let regions = vec![body(walk, cond, &state, &[false])?, body(walk, step, &state, &state)?];
    let results = regions::emit(op.prim.clone(), &get(walk, &op.operands, &state), regions)?;
    define(walk, &op.results, &results, &state);
    Ok(())
}

/// A loop that ends at another step for every row: it runs while any row does. Rows that are done keep their state. The
/// first value of its state says which rows go on.
fn until_all_are_done(walk: &mut Vmap, op: &Op, cond: &Region, step: &Region) -> Result<(), OpError> {
    let all = vec![true; op.operands.len()];
    let init = get(walk, &op.operands, &all);
    let mut operands = vec![goes_on(walk, cond, &init)?];
    operands.extend(&init);
    let mut state = vec![spec(BOOL, [walk.size])];
    state.extend(types(walk, &step.args, &all));
    let until = regions::region("cond", &state, |args| Ok(vec![args[0].any(0)]))?;
    let body = regions::region("body", &state, |args| {
        let (going, now) = (args[0], &args[1..]);
        // A loop inside may not end on the state of a row that is done, or on what the body captures of it: those rows
        // repeat one that is not.
        let hangs = regions::may_hang(step);
        let used = if hangs { safe::repeat_rows(now, going, walk.size) } else { now.to_vec() };
        let before = if hangs { safe::shield(walk, step, going, true) } else { vec![] };
        define(walk, &step.args, &used, &all);
        walk.region(step)?;
        let next = get(walk, &step.results, &all);
        walk.written.extend(before);
        let next: Vec<Sym> = next.iter().zip(now).map(|(&n, &s)| choose(going, n, s)).collect();
        let mut out = vec![goes_on(walk, cond, &next)?];
        out.extend(next);
        Ok(out)
    })?;
    let results = regions::emit(op.prim.clone(), &operands, vec![until, body])?;
    define(walk, &op.results, results.get(1..).unwrap_or_default(), &all);
    Ok(())
}

/// Which rows go on from this state.
fn goes_on(walk: &mut Vmap, cond: &Region, state: &[Sym]) -> Result<Sym, OpError> {
    define(walk, &cond.args, state, &vec![true; state.len()]);
    walk.region(cond)?;
    get(walk, &cond.results, &[true]).first().copied().ok_or_else(|| OpError::new("", "its condition gives nothing"))
}

/// Row by row one of two values.
#[track_caller]
pub(super) fn choose(mask: Sym, a: Sym, b: Sym) -> Sym {
    use evoxc_trace::emitter;
    let Some(ty) = emitter::type_of(a) else { return a };
    let mask = if ty.rank() == 1 { mask } else { spread(mask, ty.shape, vec![0]) };
    emitter::emit(evoxc_ir::Prim::Select {}, &[mask, a, b])
}
