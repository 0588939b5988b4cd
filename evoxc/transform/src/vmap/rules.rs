//! One batching rule an op: the exhaustive match. Ops with control flow, and calls, are in `control`.

use super::contraction::Conv;
use super::{Rows, Site, collective, contraction, elementwise, indexing, linalg, ordering, reduction, shape, windows};
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::Prim;

/// The results for all rows.
pub(crate) fn rule(site: &Site) -> Result<Rows, OpError> {
    match site.prim {
        Prim::Unary(_)
        | Prim::Binary(_)
        | Prim::Compare { .. }
        | Prim::Convert { .. }
        | Prim::ReducePrecision { .. }
        | Prim::OptimizationBarrier {}
        | Prim::StopGradient {}
        | Prim::BitcastConvert { .. }
        | Prim::Print { .. } => elementwise::all(site),
        Prim::Select {} => elementwise::select(site),
        Prim::Clamp {} => elementwise::clamp(site),
        // They have no operands, so none is batched.
        Prim::Constant { .. } | Prim::Iota { .. } | Prim::DimSize { .. } | Prim::RankIndex { .. } => {
            elementwise::all(site)
        }
        Prim::BroadcastInDim { dims, .. } => shape::broadcast_in_dim(site, dims),
        Prim::Reshape { .. } => shape::reshape(site),
        Prim::Transpose { perm } => shape::transpose(site, perm),
        Prim::Slice { start, limit, stride } => shape::slice(site, start, limit, stride),
        Prim::Pad { low, high, interior } => shape::pad(site, low, high, interior),
        Prim::Concatenate { axis } => shape::concatenate(site, *axis),
        Prim::Reverse { axes } => shape::reverse(site, axes),
        Prim::Gather { dims, sizes, sorted } => indexing::gather(site, dims, sizes, *sorted),
        Prim::Scatter { op, dims, sorted, unique } => indexing::scatter(site, *op, dims, *sorted, *unique),
        Prim::DynamicSlice { sizes } => indexing::dynamic_slice(site, sizes),
        Prim::DynamicUpdateSlice {} => indexing::dynamic_update_slice(site),
        Prim::Dot { batch, contract, accumulate } => contraction::dot(site, batch, contract, *accumulate),
        Prim::Convolution { window, layout, feature_groups, batch_groups, accumulate } => {
            let (feature_groups, batch_groups, accumulate) = (*feature_groups, *batch_groups, *accumulate);
            contraction::convolution(site, &Conv { window, layout, feature_groups, batch_groups, accumulate })
        }
        Prim::Reduce { op, axes } => reduction::reduce(site, *op, axes),
        Prim::Argmax { axis } => reduction::argmax(site, *axis),
        Prim::Argmin { axis } => reduction::argmin(site, *axis),
        Prim::Cumulative { op, axis, reverse } => reduction::cumulative(site, *op, *axis, *reverse),
        Prim::ReduceWindow { op, window } => windows::reduce_window(site, *op, window),
        Prim::SelectAndScatter { select, window } => windows::select_and_scatter(site, *select, window),
        Prim::Sort { axis, keys, stable } => ordering::sort(site, *axis, keys, *stable),
        // Their operands have leading batch axes as they are.
        Prim::TopK { .. }
        | Prim::Fft { .. }
        | Prim::Cholesky { .. }
        | Prim::Lu {}
        | Prim::Qr { .. }
        | Prim::Eigh {}
        | Prim::Svd { .. }
        | Prim::RandomBits { .. } => linalg::leading(site),
        Prim::TriangularSolve { left, .. } => linalg::triangular_solve(site, *left),
        Prim::AllReduce { .. } | Prim::CollectivePermute { .. } => collective::rows(site, site.prim.clone()),
        Prim::AllGather { axis, count, groups } => {
            let (axis, count, groups) = (axis + 1, *count, groups.clone());
            collective::rows(site, Prim::AllGather { axis, count, groups })
        }
        Prim::ReduceScatter { op, axis, count, groups } => {
            let (op, axis, count, groups) = (*op, axis + 1, *count, groups.clone());
            collective::rows(site, Prim::ReduceScatter { op, axis, count, groups })
        }
        Prim::AllToAll { split, concat, count, groups } => {
            let (split, concat, count, groups) = (split + 1, concat + 1, *count, groups.clone());
            collective::rows(site, Prim::AllToAll { split, concat, count, groups })
        }
        Prim::CollectiveBroadcast { dynamic_root, .. } => collective::broadcast(site, *dynamic_root),
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
        | Prim::Call { .. } => {
            Err(no_rule(site.prim, "it has regions", "report this: ops with regions have rules elsewhere"))
        }
    }
}
