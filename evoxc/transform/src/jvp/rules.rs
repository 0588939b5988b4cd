//! One jvp rule an op: the exhaustive match. Ops with regions, and calls, are in `control`.

use super::{
    Site, Tangents, collective, contraction, cumulative, elementwise, indexing, linalg, ordering, reduction, shape,
    windows,
};
use crate::matrices::Solve;
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::{Prim, Unary};
use smallvec::smallvec;

/// Is the derivative of the op zero wherever it exists, or are its results without tangents?
pub(crate) fn ends_tangents(p: &Prim) -> bool {
    match p {
        Prim::Unary(u) => matches!(
            u,
            Unary::Floor
                | Unary::Ceil
                | Unary::RoundEven
                | Unary::RoundAway
                | Unary::Trunc
                | Unary::Not
                | Unary::Popcount
                | Unary::CountLeadingZeros
                | Unary::IsFinite
        ),
        Prim::Compare { .. }
        | Prim::BitcastConvert { .. }
        | Prim::Constant { .. }
        | Prim::Iota { .. }
        | Prim::DimSize { .. }
        | Prim::Argmax { .. }
        | Prim::Argmin { .. }
        | Prim::RandomBits { .. }
        | Prim::RankIndex { .. }
        | Prim::StopGradient {}
        | Prim::Print { .. } => true,
        _ => false,
    }
}

/// The tangents of the results.
pub(crate) fn rule(site: &Site) -> Result<Tangents, OpError> {
    Ok(match &site.op.prim {
        Prim::Unary(u) => smallvec![elementwise::unary(*u, site)?],
        Prim::Binary(b) => smallvec![elementwise::binary(*b, site)?],
        Prim::Select {} => smallvec![elementwise::select(site)],
        Prim::Clamp {} => smallvec![elementwise::clamp(site)],
        Prim::Convert { .. } | Prim::ReducePrecision { .. } => smallvec![elementwise::convert(site)],
        Prim::Compare { .. }
        | Prim::BitcastConvert { .. }
        | Prim::Constant { .. }
        | Prim::Iota { .. }
        | Prim::DimSize { .. }
        | Prim::Argmax { .. }
        | Prim::Argmin { .. }
        | Prim::RandomBits { .. }
        | Prim::RankIndex { .. }
        | Prim::StopGradient {}
        | Prim::Print { .. } => smallvec![None; site.y.len()],
        Prim::BroadcastInDim { .. }
        | Prim::Reshape { .. }
        | Prim::Transpose { .. }
        | Prim::Slice { .. }
        | Prim::Reverse { .. } => smallvec![site.t[0].map(|t| site.same(&[t]))],
        Prim::Pad { .. } => smallvec![shape::pad(site)],
        Prim::Concatenate { .. } => smallvec![shape::concatenate(site)],
        Prim::Gather { .. } => smallvec![indexing::gather(site)],
        Prim::Scatter { op, dims, sorted, unique } => smallvec![indexing::scatter(site, *op, dims, *sorted, *unique)?],
        Prim::DynamicSlice { .. } => smallvec![indexing::dynamic_slice(site)],
        Prim::DynamicUpdateSlice {} => smallvec![indexing::dynamic_update_slice(site)],
        Prim::Dot { .. } | Prim::Convolution { .. } => smallvec![contraction::bilinear(site)],
        Prim::Reduce { op, axes } => smallvec![reduction::reduce(site, *op, axes)],
        Prim::Cumulative { op, axis, reverse } => smallvec![cumulative::cumulative(site, *op, *axis, *reverse)],
        Prim::ReduceWindow { op, window } => smallvec![windows::reduce_window(site, *op, window)?],
        Prim::SelectAndScatter { .. } => smallvec![windows::select_and_scatter(site)],
        Prim::TopK { .. } => ordering::top_k(site),
        Prim::Fft { .. } => smallvec![site.t[0].map(|t| site.same(&[t]))],
        Prim::Cholesky { lower } => smallvec![linalg::cholesky(site, *lower)],
        Prim::TriangularSolve { left, lower, unit_diagonal, transpose } => {
            let (left, lower, unit_diagonal) = (*left, *lower, *unit_diagonal);
            smallvec![linalg::triangular_solve(site, Solve { left, lower, unit_diagonal, transpose: *transpose })]
        }
        Prim::Lu {} => linalg::lu(site),
        Prim::Qr { full } => linalg::qr(site, *full)?,
        Prim::Eigh {} => linalg::eigh(site),
        Prim::Svd { full } => linalg::svd(site, *full)?,
        Prim::OptimizationBarrier {} => shape::barrier(site),
        Prim::AllReduce { op, .. } | Prim::ReduceScatter { op, .. } => collective::reduced(site, *op)?,
        Prim::AllGather { .. } | Prim::AllToAll { .. } | Prim::CollectivePermute { .. } => collective::linear(site),
        Prim::CollectiveBroadcast { dynamic_root, .. } => collective::broadcast(site, *dynamic_root),
        Prim::AllReduceBody { .. } | Prim::ReduceScatterBody { .. } => return Err(collective::bodied(&site.op.prim)),
        Prim::ScatterBody { .. }
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatterBody { .. }
        | Prim::Sort { .. }
        | Prim::SortBody { .. }
        | Prim::Cond {}
        | Prim::Switch {}
        | Prim::WhileLoop {}
        | Prim::Scan { .. }
        | Prim::Call { .. } => {
            return Err(no_rule(&site.op.prim, "its rule is not in this table", "report this: its rule is elsewhere"));
        }
    })
}
