//! The position of the first extreme element.

use super::parts::{emit, iota, others, spread};
use evoxc_core::{BOOL, I32};
use evoxc_ir::{Prim, Reducer};
use evoxc_trace::Sym;

/// Index (i32) of the first largest (smallest) element along `axis`; NaN before any number. The extreme first, which
/// propagates NaN, then the least index of what equals it: two reductions that every compiler has fast.
pub(super) fn first(x: Sym, axis: usize, largest: bool) -> Sym {
    let x = if x.dtype() == BOOL { x.cast(I32) } else { x };
    let shape = x.shape();
    let op = if largest { Reducer::Max } else { Reducer::Min };
    let best = emit(Prim::Reduce { op, axes: vec![axis] }, &[x]);
    let hit = x.eq(spread(best, &shape, others(shape.rank(), axis)));
    let hit = if x.dtype().is_float() { hit | x.ne(x) } else { hit };
    let at = hit.select(iota(I32, &shape, axis), i32::MAX);
    emit(Prim::Reduce { op: Reducer::Min, axes: vec![axis] }, &[at])
}
