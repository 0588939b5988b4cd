//! Collectives of a program that runs as the only partition of the only replica: a group has one process, which gets back
//! what it brings. Nothing of them is left to the compiler, which may know few of them or none.

use super::Outcome;
use super::writer::{Val, Writer};
use evoxc_core::{DType, OpError};
use evoxc_ir::{Prim, TensorType};

/// The results of a collective; `None` for an op that is none.
///
/// # Errors
/// It needs other processes.
pub(super) fn collective(
    w: &mut Writer<'_>,
    prim: &Prim,
    xs: &[&Val],
    types: &[TensorType],
) -> Outcome<Option<Vec<Val>>> {
    let count = match prim {
        Prim::CollectivePermute { pairs, channel: _ } => return permute(w, pairs, xs, types).map(Some),
        Prim::RankIndex { of: _ } => return Ok(Some(vec![w.scalar(DType::U32, 0)?])),
        Prim::AllGather { axis: _, count, groups: _ }
        | Prim::ReduceScatter { op: _, axis: _, count, groups: _ }
        | Prim::ReduceScatterBody { axis: _, count, groups: _ }
        | Prim::AllToAll { split: _, concat: _, count, groups: _ } => *count,
        // The root of one process is that one, also where it is a value.
        Prim::AllReduce { op: _, groups: _ }
        | Prim::AllReduceBody { groups: _ }
        | Prim::CollectiveBroadcast { dynamic_root: _, groups: _ } => 1,
        Prim::Unary(_)
        | Prim::Binary(_)
        | Prim::Compare { .. }
        | Prim::Select {}
        | Prim::Clamp {}
        | Prim::Convert { .. }
        | Prim::BitcastConvert { .. }
        | Prim::ReducePrecision { .. }
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
        | Prim::Scatter { .. }
        | Prim::ScatterBody { .. }
        | Prim::DynamicSlice { .. }
        | Prim::DynamicUpdateSlice {}
        | Prim::Dot { .. }
        | Prim::Convolution { .. }
        | Prim::Reduce { .. }
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindow { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatter { .. }
        | Prim::SelectAndScatterBody { .. }
        | Prim::Argmax { .. }
        | Prim::Argmin { .. }
        | Prim::Cumulative { .. }
        | Prim::Sort { .. }
        | Prim::SortBody { .. }
        | Prim::TopK { .. }
        | Prim::Fft { .. }
        | Prim::Cholesky { .. }
        | Prim::TriangularSolve { .. }
        | Prim::Lu {}
        | Prim::Qr { .. }
        | Prim::Eigh {}
        | Prim::Svd { .. }
        | Prim::Cond {}
        | Prim::Switch {}
        | Prim::WhileLoop {}
        | Prim::Scan { .. }
        | Prim::Call { .. }
        | Prim::RandomBits { .. }
        | Prim::OptimizationBarrier {}
        | Prim::StopGradient {}
        | Prim::Print { .. } => return Ok(None),
    };
    if count != 1 {
        return Err(refuse(format!("its groups have {count} processes")));
    }
    let groups = match prim.groups() {
        Some(groups) => groups.processes(1, 1).map_err(refuse)?,
        None => vec![],
    };
    if groups.iter().flatten().any(|&process| process == 0) {
        return Ok(Some(xs.iter().take(types.len()).map(|&x| x.clone()).collect()));
    }
    if matches!(prim, Prim::CollectiveBroadcast { .. }) {
        // It gives zeros to those whom it leaves out.
        return zeros(w, types).map(Some);
    }
    Err(refuse("the only process is in none of its groups".into()))
}

fn permute(w: &mut Writer<'_>, pairs: &[Vec<usize>], xs: &[&Val], types: &[TensorType]) -> Outcome<Vec<Val>> {
    match pairs.iter().flatten().find(|&&id| id > 0) {
        Some(id) => Err(refuse(format!("the pairs name process {id}"))),
        None if pairs.is_empty() => zeros(w, types),
        None => Ok(xs.iter().map(|&x| x.clone()).collect()),
    }
}

fn zeros(w: &mut Writer<'_>, types: &[TensorType]) -> Outcome<Vec<Val>> {
    types.iter().map(|t| w.splat(t, 0)).collect()
}

fn refuse(message: String) -> OpError {
    OpError::new("", format!("{message}; here a program runs as the only partition of the only replica"))
        .remedy("give it groups of one process, or run as many with `Replicas`")
}
