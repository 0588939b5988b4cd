//! Tangents of sort and top_k: the permutation that orders the values orders their tangents.

use super::{Jvp, Site, Tangents};
use evoxc_core::{I32, OpError, Shape, spec};
use evoxc_ir::{Op, Region};
use evoxc_trace::{Sym, emitter, iota};
use smallvec::smallvec;

/// Writes a sort, by keys or by a body, with positions as one more operand: they say where the tangents come from.
pub(super) fn sort(walk: &mut Jvp, op: &Op, axis: usize) -> Result<(), OpError> {
    let mut operands = walk.primals(&op.operands);
    let Some(shape) = operands.first().map(|x| x.shape()) else { return Ok(()) };
    operands.push(iota(I32, &shape, axis));
    let mut regions = vec![];
    for r in &op.regions {
        match with_positions(walk, r)? {
            Some(r) => regions.push(r),
            None => return Ok(()),
        }
    }
    let Some(sorted) = emitter::emit_regions(op.prim.clone(), &operands, regions) else { return Ok(()) };
    let Some((&order, values)) = sorted.split_last() else { return Ok(()) };
    for ((v, x), &y) in op.results.iter().zip(&op.operands).zip(values) {
        // There is nothing to take of an axis without elements.
        let t = walk.tangent.get(x).map(|&t| if shape[axis] == 0 { t } else { t.take_along_axis(order, axis) });
        walk.define(*v, y, t);
    }
    Ok(())
}

/// The body of a comparator that takes two positions more, which it does not use.
fn with_positions(walk: &Jvp, r: &Region) -> Result<Option<Region>, OpError> {
    let mut types = emitter::types(&r.args);
    types.extend(vec![spec(I32, Shape::scalar()); 2]);
    let args = emitter::open_region(&types);
    let mut env = walk.primal.clone();
    env.extend(r.args.iter().zip(&args).filter_map(|(&v, &a)| Some((v, emitter::value(a)?))));
    let done = r.ops.iter().try_for_each(|o| {
        let _at = emitter::at(o.loc);
        emitter::replay(o, &mut env)
    });
    let results: Vec<Sym> = r.results.iter().map(|v| emitter::sym(env.get(v).copied().unwrap_or(*v))).collect();
    let region = emitter::close_region("sort_by", if done.is_ok() { &results } else { &[] });
    done.map(|()| region)
}

/// Taken at the same indices.
pub(super) fn top_k(site: &Site) -> Tangents {
    smallvec![site.t[0].map(|t| t.take_along_axis(site.y[1], -1)), None]
}
