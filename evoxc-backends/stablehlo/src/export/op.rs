//! The StableHLO of every primitive: one exhaustive match.

use super::collective::{self, By};
use super::writer::{Val, Writer};
use super::{Outcome, alone, bounds, contraction, control, convert, elementwise, indexing, linalg, reduction, shape};
use evoxc_core::{OpError, TensorSpec};
use evoxc_ir::{Binary, Op, Prim, TensorType};

/// Writes an op with its regions.
pub(super) type Nested = fn(&mut Writer<'_>, &Op, &[&Val], &[TensorType]) -> Outcome<Vec<Val>>;

/// What becomes of an op.
pub(super) enum Written {
    /// It is written, with these results.
    Done(Vec<Val>),
    /// It is to be written by this: not from within the match, whose frame is large and would stand on the stack once
    /// for every region around.
    Nested(Nested),
}

/// Writes one op, unless it has regions.
pub(super) fn write(w: &mut Writer<'_>, o: &Op, xs: &[&Val], types: &[TensorType]) -> Outcome<Written> {
    let one = |v: Outcome<Val>| v.map(|v| vec![v]);
    if w.options.alone
        && let Some(results) = alone::collective(w, &o.prim, xs, types)?
    {
        return Ok(Written::Done(results));
    }
    let done = match &o.prim {
        Prim::Unary(u) => one(elementwise::unary(w, *u, x(xs, 0)?, ty(types)?)),
        Prim::Binary(Binary::Pow) => {
            let small = o.operands.get(1).is_some_and(|&v| w.is_small(v));
            one(elementwise::power(w, x(xs, 0)?, x(xs, 1)?, small))
        }
        Prim::Binary(b) => {
            let second = w.unfolded(o, *b, x(xs, 1)?);
            one(elementwise::binary(w, *b, x(xs, 0)?, &second, ty(types)?))
        }
        Prim::Compare { direction, order } => one(elementwise::compare(w, *direction, *order, x(xs, 0)?, x(xs, 1)?)),
        Prim::Select {} => one(elementwise::select(w, x(xs, 0)?, x(xs, 1)?, x(xs, 2)?)),
        Prim::Clamp {} => one(elementwise::clamp(w, x(xs, 0)?, x(xs, 1)?, x(xs, 2)?)),
        Prim::Convert { dtype } => one(convert::convert(w, x(xs, 0)?, *dtype)),
        Prim::BitcastConvert { dtype: _ } => one(convert::bitcast(w, x(xs, 0)?, ty(types)?)),
        Prim::ReducePrecision { exponent_bits, mantissa_bits } => {
            one(convert::reduce_precision(w, x(xs, 0)?, *exponent_bits, *mantissa_bits))
        }
        Prim::Constant { value } => one(shape::constant(w, value)),
        Prim::Iota { dtype: _, shape: _, axis } => one(shape::iota(w, *axis, ty(types)?)),
        Prim::DimSize { extent, dtype } => one(shape::dim_size(w, *extent, *dtype)),
        Prim::BroadcastInDim { shape, dims } => one(w.broadcast(x(xs, 0)?, shape, dims)),
        Prim::Reshape { shape } => one(w.reshape(x(xs, 0)?, shape)),
        Prim::Transpose { perm } => one(shape::transpose(w, x(xs, 0)?, perm, ty(types)?)),
        Prim::Slice { start, limit, stride } => one(shape::slice(w, x(xs, 0)?, start, limit, stride, ty(types)?)),
        Prim::Pad { low, high, interior } => {
            one(shape::pad(w, x(xs, 0)?, x(xs, 1)?, [low, high], interior, ty(types)?))
        }
        Prim::Concatenate { axis } => one(shape::concatenate(w, xs, *axis, ty(types)?)),
        Prim::Reverse { axes } => one(shape::reverse(w, x(xs, 0)?, axes)),
        Prim::Gather { dims, sizes, sorted } => {
            let mut indices = w.kept(o, x(xs, 1)?);
            if w.options.lean {
                let known = o.operands.get(1).and_then(|&v| w.literal(v)).cloned();
                indices = bounds::gathered(w, x(xs, 0)?, &indices, dims, sizes, known.as_ref())?;
            }
            one(indexing::gather(w, x(xs, 0)?, &indices, dims, sizes, *sorted, ty(types)?))
        }
        Prim::Scatter { op, dims, sorted, unique } => {
            one(indexing::scatter(w, *op, o, xs, dims, [*sorted, *unique], ty(types)?))
        }
        Prim::DynamicSlice { sizes } => one(indexing::dynamic_slice(w, xs, sizes, ty(types)?)),
        Prim::DynamicUpdateSlice {} => one(indexing::dynamic_update_slice(w, xs, ty(types)?)),
        Prim::Dot { batch, contract, accumulate: _ } => {
            one(contraction::dot(w, x(xs, 0)?, x(xs, 1)?, batch, contract, ty(types)?))
        }
        Prim::Convolution { window, layout, feature_groups, batch_groups, accumulate: _ } => {
            one(contraction::convolution(
                w,
                [x(xs, 0)?, x(xs, 1)?],
                window,
                layout,
                [*feature_groups, *batch_groups],
                ty(types)?,
            ))
        }
        Prim::Reduce { op, axes } => one(reduction::reduce(w, *op, x(xs, 0)?, axes, ty(types)?)),
        Prim::ReduceWindow { op, window } => one(reduction::reduce_window(w, *op, x(xs, 0)?, window, ty(types)?)),
        Prim::TopK { k } => linalg::top_k(w, x(xs, 0)?, *k, types),
        Prim::Fft { kind, length } => one(linalg::fft(w, *kind, length, x(xs, 0)?, ty(types)?)),
        Prim::Cholesky { lower } => one(linalg::cholesky(w, x(xs, 0)?, *lower)),
        Prim::TriangularSolve { left, lower, unit_diagonal, transpose } => {
            one(linalg::triangular_solve(w, [x(xs, 0)?, x(xs, 1)?], [*left, *lower, *unit_diagonal], *transpose))
        }
        Prim::Cond {} => return Ok(Written::Nested(control::cond)),
        Prim::Switch {} => return Ok(Written::Nested(control::switch)),
        Prim::WhileLoop {} => return Ok(Written::Nested(control::while_loop)),
        Prim::ScatterBody { .. }
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatterBody { .. }
        | Prim::SortBody { .. }
        | Prim::AllReduceBody { .. }
        | Prim::ReduceScatterBody { .. } => return Ok(Written::Nested(bodied)),
        Prim::Call { callee, jvp: _, forward: _, vjp: _, batch: _, captures: _, remat: _ } => {
            control::call(w, &callee.0, xs, types)
        }
        Prim::AllReduce { op, groups } => collective::all_reduce(w, By::Named(*op), groups, xs, types),
        Prim::AllGather { axis, count: _, groups } => collective::all_gather(w, *axis, groups, xs, types),
        Prim::ReduceScatter { op, axis, count: _, groups } => {
            collective::reduce_scatter(w, By::Named(*op), *axis, groups, xs, types)
        }
        Prim::AllToAll { split, concat, count, groups } => {
            collective::all_to_all(w, [*split, *concat, *count], groups, xs, types)
        }
        Prim::CollectivePermute { pairs, channel } => collective::permute(w, pairs, *channel, xs, types),
        Prim::CollectiveBroadcast { dynamic_root, groups } => {
            collective::broadcast(w, *dynamic_root, groups, xs, types)
        }
        Prim::RankIndex { of } => one(collective::rank(w, *of, ty(types)?)),
        Prim::OptimizationBarrier {} => control::barrier(w, xs, types),
        // `expand` has replaced these.
        Prim::SelectAndScatter { select: _, window: _ }
        | Prim::StopGradient {}
        | Prim::Argmax { axis: _ }
        | Prim::Argmin { axis: _ }
        | Prim::Cumulative { op: _, axis: _, reverse: _ }
        | Prim::Sort { axis: _, keys: _, stable: _ }
        | Prim::Lu {}
        | Prim::Qr { full: _ }
        | Prim::Eigh {}
        | Prim::Svd { full: _ }
        | Prim::Scan { carry: _, length: _, reverse: _ }
        | Prim::RandomBits { algorithm: _, dtype: _, shape: _ }
        | Prim::Print { label: _ } => Err(no_form()),
    };
    done.map(Written::Done)
}

/// Writes an op whose body works on scalars.
fn bodied(w: &mut Writer<'_>, o: &Op, xs: &[&Val], types: &[TensorType]) -> Outcome<Vec<Val>> {
    if let Prim::ReduceBody { axes } = &o.prim {
        return reduction::reduce_body(w, o, xs, axes, types);
    }
    if let Prim::ReduceWindowBody { window } = &o.prim {
        return reduction::reduce_window_body(w, o, xs, window, types);
    }
    if let Prim::SelectAndScatterBody { window } = &o.prim {
        return reduction::select_and_scatter_body(w, o, xs, window);
    }
    if let Prim::SortBody { axis, stable } = &o.prim {
        return reduction::sort_body(w, o, xs, *axis, *stable, types);
    }
    if let Prim::ScatterBody { dims, sorted, unique } = &o.prim {
        return indexing::scatter_body(w, o, xs, dims, [*sorted, *unique], types);
    }
    if let Prim::AllReduceBody { groups } = &o.prim {
        return collective::all_reduce(w, By::Body(o), groups, xs, types);
    }
    if let Prim::ReduceScatterBody { axis, count: _, groups } = &o.prim {
        return collective::reduce_scatter(w, By::Body(o), *axis, groups, xs, types);
    }
    Err(no_form())
}

/// An op that StableHLO does not have and that nothing expanded.
pub(super) fn no_form() -> OpError {
    OpError::new("", "StableHLO has no such op, and its expansion is not known")
        .remedy("run this program on `Interp`, or write it with other ops")
}

/// The operand of that number.
fn x<'a>(xs: &[&'a Val], i: usize) -> Outcome<&'a Val> {
    xs.get(i).copied().ok_or_else(|| OpError::new("", format!("it has no operand {i}")))
}

/// The type of the only result.
fn ty(types: &[TensorType]) -> Outcome<TensorSpec> {
    types.first().cloned().ok_or_else(|| OpError::new("", "it has no result"))
}
