//! Transposes of sliding windows.

use super::{Cotangents, Input, Site, Transpose};
use crate::{no_rule, taps};
use evoxc_core::OpError;
use evoxc_ir::{Direction, Op, Prim, Reducer, SelectOp, Window};
use evoxc_trace::{Sym, emitter};
use smallvec::smallvec;

/// Each window's cotangent goes to its elements: a sum over windows of the cotangents, strides and base dilation
/// exchanged.
pub(super) fn sum(site: &Site, window: &Window) -> Result<Cotangents, OpError> {
    let (Some(x), Some(ct)) = (site.x[0].ty(), site.ct[0]) else { return Ok(smallvec![None]) };
    let window = taps::transposed(window, &x.shape, &ct.shape());
    Ok(smallvec![Some(emitter::emit(Prim::ReduceWindow { op: Reducer::Sum, window }, &[ct]))])
}

/// Taken from where it was scattered to.
pub(super) fn select_and_scatter(site: &Site, select: SelectOp, window: &Window) -> Result<Cotangents, OpError> {
    match (site.x, site.ct[0]) {
        ([Input::Known(x), Input::Linear(source)], Some(ct)) => {
            Ok(smallvec![None, Some(taps::selected(*x, ct, window, &source.shape, select))])
        }
        _ => Err(no_rule(&site.op.prim, "it is linear in its source alone", "report this: a jvp rule wrote it")),
    }
}

/// The reduction of pairs (value, tangent) that the jvp rule of a maximum writes: scattered to what was selected.
pub(super) fn pairs(walk: &mut Transpose, op: &Op, window: &Window, ct: &[Option<Sym>]) -> Result<(), OpError> {
    let (&[x, t, _, _], [_, ct], [body]) = (&op.operands[..], ct, &op.regions[..]) else { return Err(foreign(op)) };
    let (Input::Known(values), Some(ct)) = (walk.input(x), *ct) else { return Err(foreign(op)) };
    let select = match body.ops.first().map(|o| &o.prim) {
        Some(Prim::Compare { direction: Direction::Ge, .. }) => SelectOp::Max,
        Some(Prim::Compare { direction: Direction::Le, .. }) => SelectOp::Min,
        _ => return Err(foreign(op)),
    };
    walk.add(t, emitter::emit(Prim::SelectAndScatter { select, window: window.clone() }, &[values, ct]));
    Ok(())
}

fn foreign(op: &Op) -> OpError {
    no_rule(&op.prim, "its body is a program", "use the named forms: `.max_pool(..)`, `.avg_pool(..)`")
}
