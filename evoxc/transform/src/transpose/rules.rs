//! One transpose rule a linear op: the exhaustive match. Ops with regions, and calls, are in `control`.

use super::{
    Cotangents, Site, collective, contraction, convolution, elementwise, indexing, linalg, reduction, shape, windows,
};
use crate::matrices::Solve;
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::{Binary, CumOp, Prim, Reducer, ScatterOp, Unary};

/// The cotangents of the operands.
pub(crate) fn rule(site: &Site) -> Result<Cotangents, OpError> {
    match &site.op.prim {
        Prim::Unary(u) => match u {
            Unary::Neg | Unary::Real | Unary::Imag | Unary::Conj => elementwise::unary(*u, site),
            Unary::Exp
            | Unary::Exp2
            | Unary::Expm1
            | Unary::Log
            | Unary::Log2
            | Unary::Log1p
            | Unary::Sqrt
            | Unary::Rsqrt
            | Unary::Cbrt
            | Unary::Sin
            | Unary::Cos
            | Unary::Tan
            | Unary::Asin
            | Unary::Acos
            | Unary::Atan
            | Unary::Sinh
            | Unary::Cosh
            | Unary::Tanh
            | Unary::Asinh
            | Unary::Acosh
            | Unary::Atanh
            | Unary::Logistic
            | Unary::Erf
            | Unary::Erfc
            | Unary::ErfInv
            | Unary::Lgamma
            | Unary::Digamma
            | Unary::Floor
            | Unary::Ceil
            | Unary::RoundEven
            | Unary::RoundAway
            | Unary::Trunc
            | Unary::Abs
            | Unary::Sign
            | Unary::Not
            | Unary::Popcount
            | Unary::CountLeadingZeros
            | Unary::IsFinite => not_linear(site),
        },
        Prim::Binary(b) => match b {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Complex => elementwise::binary(*b, site),
            Binary::Rem
            | Binary::Pow
            | Binary::Max
            | Binary::Min
            | Binary::Atan2
            | Binary::Nextafter
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::ShiftLeft
            | Binary::ShiftRightLogical
            | Binary::ShiftRightArithmetic
            | Binary::Mulhi => not_linear(site),
        },
        Prim::Select {} => elementwise::select(site),
        Prim::Convert { .. } => elementwise::convert(site),
        Prim::ReducePrecision { .. } => elementwise::reduce_precision(site),
        Prim::BroadcastInDim { dims, .. } => shape::broadcast_in_dim(site, dims),
        Prim::Reshape { .. } => shape::reshape(site),
        Prim::Transpose { perm } => shape::transpose(site, perm),
        Prim::Slice { start, stride, .. } => shape::slice(site, start, stride),
        Prim::Pad { low, high, interior } => shape::pad(site, low, high, interior),
        Prim::Concatenate { axis } => shape::concatenate(site, *axis),
        Prim::Reverse { .. } => shape::reverse(site),
        Prim::OptimizationBarrier {} => shape::barrier(site),
        Prim::Gather { dims, sizes, sorted } => indexing::gather(site, dims, sizes, *sorted),
        Prim::Scatter { op, dims, unique, .. } => match op {
            ScatterOp::Add => indexing::scatter_add(site, dims),
            ScatterOp::Set => indexing::scatter_set(site, dims, *unique),
            ScatterOp::Mul => indexing::scatter_mul(site),
            ScatterOp::Min | ScatterOp::Max => not_linear(site),
        },
        Prim::DynamicSlice { .. } => indexing::dynamic_slice(site),
        Prim::DynamicUpdateSlice {} => indexing::dynamic_update_slice(site),
        Prim::Dot { batch, contract, accumulate } => contraction::dot(site, batch, contract, *accumulate),
        Prim::Convolution { .. } => convolution::convolution(site),
        Prim::Reduce { op: Reducer::Sum, axes } => reduction::sum(site, axes),
        Prim::Cumulative { op: CumOp::Sum, axis, reverse } => reduction::cumulative_sum(site, *axis, *reverse),
        Prim::ReduceWindow { op: Reducer::Sum, window } => windows::sum(site, window),
        Prim::SelectAndScatter { select, window } => windows::select_and_scatter(site, *select, window),
        Prim::Fft { kind, length } => linalg::fft(site, *kind, length),
        Prim::TriangularSolve { left, lower, unit_diagonal, transpose } => {
            let (left, lower, unit_diagonal) = (*left, *lower, *unit_diagonal);
            linalg::triangular_solve(site, Solve { left, lower, unit_diagonal, transpose: *transpose })
        }
        Prim::AllReduce { op: Reducer::Sum, .. } => collective::by(site, site.op.prim.clone()),
        Prim::AllGather { axis, count, groups } => {
            let (op, axis, count, groups) = (Reducer::Sum, *axis, *count, groups.clone());
            collective::by(site, Prim::ReduceScatter { op, axis, count, groups })
        }
        Prim::ReduceScatter { op: Reducer::Sum, axis, count, groups } => {
            collective::by(site, Prim::AllGather { axis: *axis, count: *count, groups: groups.clone() })
        }
        Prim::AllToAll { split, concat, count, groups } => {
            let (split, concat, count, groups) = (*concat, *split, *count, groups.clone());
            collective::by(site, Prim::AllToAll { split, concat, count, groups })
        }
        Prim::CollectivePermute { pairs, channel } => collective::permute(site, pairs, *channel),
        Prim::CollectiveBroadcast { .. } => collective::broadcast(site),
        Prim::AllReduce { .. }
        | Prim::AllReduceBody { .. }
        | Prim::ReduceScatter { .. }
        | Prim::ReduceScatterBody { .. }
        | Prim::RankIndex { .. }
        | Prim::Reduce { .. }
        | Prim::Cumulative { .. }
        | Prim::ReduceWindow { .. }
        | Prim::Compare { .. }
        | Prim::Clamp {}
        | Prim::BitcastConvert { .. }
        | Prim::Constant { .. }
        | Prim::Iota { .. }
        | Prim::DimSize { .. }
        | Prim::ScatterBody { .. }
        | Prim::ReduceBody { .. }
        | Prim::Argmax { .. }
        | Prim::Argmin { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatterBody { .. }
        | Prim::Sort { .. }
        | Prim::SortBody { .. }
        | Prim::TopK { .. }
        | Prim::Cholesky { .. }
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
        | Prim::StopGradient {}
        | Prim::Print { .. } => not_linear(site),
    }
}

/// For ops that no jvp rule writes on tangents.
fn not_linear(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not linear, so it cannot be transposed", "report this: a jvp rule wrote it"))
}
