//! Operands made safe: what rows compute in a branch that they do not take.
//!
//! A `cond` whose predicate differs from row to row runs both branches on all rows and selects. Rows that do not take a
//! branch could compute there what gives NaN in the derivative (zero times infinity), though their result is dropped.
//! So for these rows the branch works on other values: those of the first row that takes it, for which the program
//! means to run it. That is a `select` whose second value is cut off from differentiation, so no cotangent of theirs
//! reaches the operand. A captured value that all rows share is cut off likewise if no row takes the branch. Branches
//! that only move or add values need none of that. A branch that prints, exchanges values between processes, or holds a
//! `while_loop` (which may not end on values that it is not meant for) is besides skipped when no row takes it.

use super::repeat::choose;
use crate::vmap::Vmap;
use crate::vmap::parts::spread;
use crate::{differentiable, regions, zeros};
use evoxc_core::{Dim, I32, Shape};
use evoxc_ir::{Binary, Op, Prim, Reducer, Region, Unary, Value};
use evoxc_trace::{Sym, emitter};

/// Must the branch be skipped when no row takes it?
pub(super) fn must_be_guarded(r: &Region) -> bool {
    regions::may_hang(r) || r.ops.iter().any(regions::has_effect)
}

/// Puts safe values in the place of what the branch captures; gives what stood there before. `guarded`: the branch runs
/// only if a row takes it.
pub(super) fn shield(walk: &mut Vmap, r: &Region, mask: Sym, guarded: bool) -> Vec<(Value, Value)> {
    if !may_spoil(r) && !guarded {
        return vec![];
    }
    let mut before = vec![];
    let captured = emitter::captures(r);
    let (rows, shared): (Vec<Value>, Vec<Value>) = captured.into_iter().partition(|v| walk.batched.contains(v));
    let syms: Vec<Sym> = rows.iter().map(|&v| walk.get(v).sym).collect();
    let mut set = |v: Value, new: Sym| {
        if let Some(new) = emitter::value(new) {
            before.push((v, walk.written.insert(v, new).unwrap_or(v)));
        }
    };
    for (&v, s) in rows.iter().zip(repeat_rows(&syms, mask, walk.size)) {
        set(v, s);
    }
    let mut any = None;
    for v in shared.into_iter().filter(|&v| !guarded && differentiable(emitter::ty(v).dtype)) {
        let x = walk.get(v).sym;
        if emitter::splat(x).is_none() {
            let any = *any.get_or_insert_with(|| mask.any(0));
            let safe = emitter::emit(Prim::Select {}, &[any, x, x.stop_gradient()]);
            if let Some(new) = emitter::value(safe) {
                before.push((v, walk.written.insert(v, new).unwrap_or(v)));
            }
        }
    }
    before
}

/// The values with the rows that are not of `mask` replaced by the first that is.
pub(super) fn repeat_rows(xs: &[Sym], mask: Sym, size: Dim) -> Vec<Sym> {
    if xs.is_empty() || size.as_i64().is_some_and(|n| n < 2) {
        return xs.to_vec();
    }
    // The first row of the mask, or one out of range, which a slice clamps. (An argmax of no rows is an error.)
    let number = emitter::emit(Prim::Iota { dtype: I32, shape: [size].into_iter().collect(), axis: 0 }, &[]);
    let first = mask.select(number, i32::MAX).min(0);
    xs.iter().map(|&x| row(x, first, size).map_or(x, |r| choose(mask, x, r))).collect()
}

/// One row in the place of all, cut off from differentiation.
fn row(x: Sym, index: Sym, size: Dim) -> Option<Sym> {
    let ty = emitter::type_of(x)?;
    let rank = ty.rank();
    // Rows of a symbolic number may be none; then there is none to slice.
    let source = if size.as_i64().is_some() || size.lower_bound().is_some_and(|n| n > 0) {
        x
    } else {
        let (mut high, none) = (vec![Dim::constant(0); rank], vec![Dim::constant(0); rank]);
        high[0] = Dim::constant(1);
        let zero = zeros(&evoxc_core::spec(ty.dtype, []));
        emitter::emit(Prim::Pad { low: none, high, interior: vec![0; rank] }, &[x, zero])
    };
    let mut sizes: Vec<Dim> = ty.shape.to_vec();
    sizes[0] = Dim::constant(1);
    let mut operands = vec![source, index];
    if rank > 1 {
        let start = zeros(&evoxc_core::spec(I32, []));
        operands.resize(rank + 1, start);
    }
    let one = emitter::emit(Prim::DynamicSlice { sizes }, &operands);
    let shape: Shape = ty.shape.clone();
    Some(spread(one.stop_gradient(), shape, (0..rank).collect()))
}

/// Can a derivative of the region be NaN although zero goes in? Not if it only moves, adds and compares.
fn may_spoil(r: &Region) -> bool {
    let spoils = |op: &Op| {
        let typed = op.results.iter().any(|&v| differentiable(emitter::ty(v).dtype));
        (typed && !linear(op)) || op.regions.iter().any(may_spoil)
    };
    r.ops.iter().any(spoils)
}

fn linear(op: &Op) -> bool {
    match &op.prim {
        Prim::Unary(u) => {
            matches!(u, Unary::Neg | Unary::Real | Unary::Imag | Unary::Conj | Unary::Sign | Unary::Floor | Unary::Ceil)
        }
        Prim::Binary(b) => matches!(b, Binary::Add | Binary::Sub | Binary::Complex),
        Prim::Reduce { op, .. } => *op == Reducer::Sum,
        Prim::Select {}
        | Prim::Convert { .. }
        | Prim::Constant { .. }
        | Prim::Iota { .. }
        | Prim::DimSize { .. }
        | Prim::BroadcastInDim { .. }
        | Prim::Reshape { .. }
        | Prim::Transpose { .. }
        | Prim::Slice { .. }
        | Prim::Pad { .. }
        | Prim::Concatenate { .. }
        | Prim::Reverse { .. }
        | Prim::Gather { .. }
        | Prim::DynamicSlice { .. }
        | Prim::DynamicUpdateSlice {}
        | Prim::RandomBits { .. }
        | Prim::OptimizationBarrier {}
        | Prim::StopGradient {}
        // Those with regions are what is inside them.
        | Prim::Cond {}
        | Prim::Switch {}
        | Prim::WhileLoop {}
        | Prim::Scan { .. } => true,
        _ => false,
    }
}
