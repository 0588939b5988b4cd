//! Which kernel computes which op: the one exhaustive match over ops.

use crate::collective;
use crate::kernels::{
    arg, binary, compare, contraction, convert, convolution, cumulative, fft, indexing, linalg, movement, random,
    reduce, sort, unary, window,
};
use crate::plan::{Extents, Step};
use crate::run::{Fault, Tensors};
use crate::symbols::Symbols;
use crate::world::Process;
use evoxc_core::{OpError, Tensor};
use evoxc_ir::Prim;
use smallvec::smallvec;
use std::io::Write;

/// Computes an op without regions.
pub(crate) fn compute(symbols: &Symbols, process: &Process, step: &Step, operands: Tensors) -> Result<Tensors, Fault> {
    if let Some(pick) = &step.pick {
        return Ok(smallvec![pick.run(&operands)?]);
    }
    let mut operands = operands.into_iter();
    let mut next = || operands.next().ok_or_else(|| OpError::new("", "an operand is missing"));
    let shape = |i: usize| -> Result<Extents, OpError> {
        step.types.get(i).map_or_else(|| Ok(Extents::new()), |t| symbols.extents(t))
    };
    let one: Tensor = match &step.prim {
        Prim::Unary(op) => unary::unary(*op, next()?)?,
        Prim::Binary(op) => binary::binary(*op, next()?, next()?)?,
        Prim::Compare { direction, order } => compare::compare(*direction, *order, &next()?, &next()?)?,
        Prim::Select {} => compare::select(&next()?, next()?, next()?)?,
        Prim::Clamp {} => compare::clamp(&next()?, next()?, &next()?)?,
        Prim::Convert { dtype } => convert::convert(&next()?, *dtype)?,
        Prim::BitcastConvert { dtype } => convert::bitcast(next()?, *dtype, &shape(0)?)?,
        Prim::ReducePrecision { exponent_bits, mantissa_bits } => {
            convert::reduce_precision(next()?, *exponent_bits, *mantissa_bits)?
        }
        Prim::Constant { value } => {
            let (extents, t) = (shape(0)?, value.tensor());
            let buffer = t.buffer();
            let whole = if buffer.len() == 1 { buffer.splat(extents.iter().product()) } else { buffer.clone() };
            Tensor::from_parts(whole, &extents).ok_or_else(|| OpError::new("", "the value does not fill its type"))?
        }
        Prim::Iota { dtype, axis, .. } => convert::iota(*dtype, &shape(0)?, *axis)?,
        Prim::DimSize { extent, dtype } => convert::dim_size(symbols.value(*extent)?, *dtype)?,
        Prim::BroadcastInDim { dims, .. } => movement::broadcast(next()?, &shape(0)?, dims)?,
        Prim::Reshape { .. } => movement::reshape(&next()?, &shape(0)?)?,
        Prim::Transpose { perm } => movement::transpose(&next()?, perm)?,
        Prim::Slice { start, limit, stride } => {
            let (start, limit) = (symbols.all_values(start)?, symbols.all_values(limit)?);
            movement::strided_slice(next()?, &start, &limit, stride, &shape(0)?)?
        }
        Prim::Pad { low, interior, .. } => {
            movement::pad(&next()?, &next()?, &symbols.all_values(low)?, interior, &shape(0)?)?
        }
        Prim::Concatenate { axis } => movement::concatenate(operands.as_slice(), *axis, &shape(0)?)?,
        Prim::Reverse { axes } => movement::reverse(&next()?, axes)?,
        Prim::Reduce { op, axes } => reduce::reduce(*op, &next()?, axes, &shape(0)?)?,
        Prim::Argmax { axis } => arg::arg(&next()?, *axis, true, &shape(0)?)?,
        Prim::Argmin { axis } => arg::arg(&next()?, *axis, false, &shape(0)?)?,
        Prim::RandomBits { algorithm, dtype, .. } => random::random_bits(&next()?, *algorithm, *dtype, &shape(0)?)?,
        Prim::OptimizationBarrier {} => return Ok(operands.collect()),
        Prim::StopGradient {} => next()?,
        Prim::Print { label } => {
            print(label, &next()?)?;
            return Ok(smallvec![]);
        }
        Prim::Gather { dims, sizes, sorted: _ } => {
            indexing::gather(&next()?, &next()?, dims, &symbols.sizes(sizes)?, &shape(0)?)?
        }
        Prim::Scatter { op, dims, sorted: _, unique: _ } => indexing::scatter(*op, next()?, &next()?, &next()?, dims)?,
        Prim::DynamicSlice { sizes } => {
            let x = next()?;
            let starts: Tensors = operands.collect();
            indexing::dynamic_slice(&x, &starts, &symbols.sizes(sizes)?)?
        }
        Prim::DynamicUpdateSlice {} => {
            let (x, update) = (next()?, next()?);
            let starts: Tensors = operands.collect();
            indexing::dynamic_update_slice(x, &update, &starts)?
        }
        Prim::Dot { batch, contract, accumulate } => {
            contraction::dot(&next()?, &next()?, batch, contract, *accumulate)?
        }
        Prim::Sort { axis, keys, stable } => {
            let xs: Tensors = operands.collect();
            return Ok(sort::sort(&xs, *axis, keys, *stable)?.into());
        }
        Prim::TopK { k } => return Ok(sort::top_k(&next()?, symbols.size(*k)?)?.into_iter().collect()),
        Prim::Convolution { window, layout, feature_groups, batch_groups, accumulate } => {
            let (lhs, rhs) = (next()?, next()?);
            let groups = convolution::Groups { feature: *feature_groups, batch: *batch_groups };
            let (window, out) = (symbols.window(window)?, accumulate.unwrap_or(lhs.dtype()));
            convolution::convolution(&lhs, &rhs, &window, layout, groups, out, &shape(0)?)?
        }
        Prim::ReduceWindow { op, window } => {
            window::reduce_window(*op, &next()?, &*symbols.window(window)?, &shape(0)?)?
        }
        Prim::SelectAndScatter { select, window } => {
            window::select_and_scatter(*select, &next()?, &next()?, &*symbols.window(window)?)?
        }
        Prim::Cumulative { op, axis, reverse } => cumulative::cumulative(*op, &next()?, *axis, *reverse)?,
        Prim::Fft { kind, length } => fft::fft(&next()?, *kind, &symbols.sizes(length)?)?,
        Prim::Cholesky { lower } => linalg::cholesky(&next()?, *lower)?,
        Prim::TriangularSolve { left, lower, unit_diagonal, transpose } => {
            linalg::triangular_solve(&next()?, &next()?, *left, *lower, *unit_diagonal, *transpose)?
        }
        Prim::Lu {} => return Ok(linalg::lu(&next()?)?.into_iter().collect()),
        Prim::Qr { full } => return Ok(linalg::qr(&next()?, *full)?.into_iter().collect()),
        Prim::Eigh {} => return Ok(linalg::eigh(&next()?)?.into_iter().collect()),
        Prim::Svd { full } => return Ok(linalg::svd(&next()?, *full)?.into_iter().collect()),
        Prim::AllReduce { .. }
        | Prim::AllGather { .. }
        | Prim::ReduceScatter { .. }
        | Prim::AllToAll { .. }
        | Prim::CollectivePermute { .. }
        | Prim::CollectiveBroadcast { .. } => return collective::run(process, step, operands.collect(), None),
        Prim::RankIndex { of } => collective::rank(process, *of)?,
        Prim::AllReduceBody { .. }
        | Prim::ReduceScatterBody { .. }
        | Prim::ScatterBody { .. }
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatterBody { .. }
        | Prim::SortBody { .. }
        | Prim::Cond {}
        | Prim::Switch {}
        | Prim::WhileLoop {}
        | Prim::Scan { .. }
        | Prim::Call { .. } => return Err(OpError::new("", "an op with regions is no kernel").into()),
    };
    Ok(smallvec![one])
}

/// Writes `label: value` to standard output at once, so that prints of one run stay in order.
fn print(label: &str, x: &Tensor) -> Result<(), OpError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{label}: {x}").and_then(|()| out.flush()).map_err(|e| OpError::new("print", e.to_string()))
}
