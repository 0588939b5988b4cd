//! Transposes of `cond` and `switch`: the same choice, whose branches give the cotangents of what they captured.

use super::{captured, inner, known};
use crate::transpose::Transpose;
use crate::{depend, regions, zeros};
use evoxc_core::OpError;
use evoxc_ir::{Op, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::FxHashSet;

pub(super) fn branch(walk: &mut Transpose, op: &Op, ct: &[Option<Sym>]) -> Result<(), OpError> {
    let x = op.operands.iter().map(|&v| known(walk, v)).collect::<Result<Vec<Sym>, _>>()?;
    let captured = captured(walk, op);
    let cts = |r: &evoxc_ir::Region| -> Vec<(Value, Sym)> {
        r.results.iter().zip(ct).filter_map(|(&v, c)| Some((v, (*c)?))).collect()
    };
    let mut reached: FxHashSet<Value> = FxHashSet::default();
    for r in &op.regions {
        let mut set = cts(r).into_iter().map(|(v, _)| v).collect();
        depend::needed(r, &mut set);
        reached.extend(set);
    }
    let wanted: Vec<Value> = captured.iter().copied().filter(|v| reached.contains(v)).collect();
    let mut branches = vec![];
    for r in &op.regions {
        branches.push(regions::region("branch", &[], |_| {
            let back = inner(walk, r, captured.iter().copied(), &[], &cts(r))?;
            Ok(wanted.iter().map(|&v| back.of(v).unwrap_or_else(|| zeros(&emitter::ty(v)))).collect())
        })?);
    }
    let results = regions::emit(op.prim.clone(), &x, branches)?;
    for (&v, &c) in wanted.iter().zip(&results) {
        walk.add(v, c);
    }
    Ok(())
}
