//! One batching rule an op: the exhaustive match. Ops with control flow, and calls, are in `control`.

use super::{Rows, Site, contraction, elementwise, indexing, linalg, ordering, reduction, shape, windows};
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
        | Prim::Print { .. } => elementwise::all(site),
        Prim::Select {} => elementwise::select(site),
        Prim::Clamp {} => elementwise::clamp(site),
        Prim::BitcastConvert { .. } => elementwise::all(site),
        // They have no operands, so none is batched.
        Prim::Constant { .. } | Prim::Iota { .. } | Prim::DimSize { .. } => elementwise::all(site),
        Prim::BroadcastInDim { dims, .. } => shape::broadcast_in_dim(site, dims),
        Prim::Reshape { .. } => shape::reshape(site),
        Prim::Transpose { perm } => shape::transpose(site, perm),
        Prim::Slice { start, limit, stride } => shape::slice(site, start, limit, stride),
        Prim::Pad { low, high, interior } => shape::pad(site, low, high, interior),
        Prim::Concatenate { axis } => shape::concatenate(site, *axis),
        Prim::Reverse { axes } => shape::reverse(site, axes),
        Prim::Gather { dims, sizes, sorted } => indexing::gather(site, dims, sizes, *sorted),
        Prim::Scatter { .. } => indexing::scatter(site),
        Prim::DynamicSlice { sizes } => indexing::dynamic_slice(site, sizes),
        Prim::DynamicUpdateSlice {} => indexing::dynamic_update_slice(site),
        Prim::Dot { batch, contract, accumulate } => contraction::dot(site, batch, contract, *accumulate),
        Prim::Convolution { .. } => contraction::convolution(site),
        Prim::Reduce { op, axes } => reduction::reduce(site, *op, axes),
        Prim::Argmax { .. } | Prim::Argmin { .. } => reduction::arg(site),
        Prim::Cumulative { .. } => reduction::cumulative(site),
        Prim::ReduceWindow { .. } => windows::reduce_window(site),
        Prim::SelectAndScatter { .. } => windows::select_and_scatter(site),
        Prim::Sort { .. } => ordering::sort(site),
        Prim::TopK { .. } => ordering::top_k(site),
        // Their operands have leading batch axes as they are.
        Prim::Fft { .. }
        | Prim::Cholesky { .. }
        | Prim::Lu {}
        | Prim::Qr { .. }
        | Prim::Eigh {}
        | Prim::Svd { .. }
        | Prim::RandomBits { .. } => linalg::leading(site),
        Prim::TriangularSolve { .. } => linalg::leading(site),
        Prim::ScatterBody { .. }
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
