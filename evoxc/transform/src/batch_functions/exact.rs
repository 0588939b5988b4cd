//! Which ops give the same bits for all rows together as for each alone.

use evoxc_ir::Prim;

/// How an op is computed for rows so that each has the bits that it has alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exact {
    /// By the vmap rule.
    Rule,
    /// By the vmap rule, when every operand has rows: one without would change sizes, and with them the order of sums.
    AllRows,
    /// Once a row.
    Each,
}

/// How an op is computed for rows.
pub(super) fn exact(prim: &Prim) -> Exact {
    match prim {
        // Their rules repeat operands without rows anyway; here that is done once for all classes.
        Prim::Unary(_) | Prim::Binary(_) | Prim::Compare { .. } => Exact::AllRows,
        Prim::Dot { .. } => Exact::AllRows,
        // Rows become groups of features, which sum in another order.
        Prim::Convolution { .. } => Exact::Each,
        Prim::Select {}
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
        | Prim::DynamicSlice { .. }
        | Prim::DynamicUpdateSlice {}
        | Prim::Reduce { .. }
        | Prim::Argmax { .. }
        | Prim::Argmin { .. }
        | Prim::ReduceWindow { .. }
        | Prim::SelectAndScatter { .. }
        | Prim::Cumulative { .. }
        | Prim::Sort { .. }
        | Prim::TopK { .. }
        | Prim::Fft { .. }
        | Prim::Cholesky { .. }
        | Prim::TriangularSolve { .. }
        | Prim::Lu {}
        | Prim::Qr { .. }
        | Prim::Eigh {}
        | Prim::Svd { .. }
        | Prim::RandomBits { .. }
        | Prim::OptimizationBarrier {}
        | Prim::StopGradient {} => Exact::Rule,
        // Rows of one region may take different ways through it.
        Prim::ScatterBody { .. }
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatterBody { .. }
        | Prim::SortBody { .. }
        | Prim::Cond {}
        | Prim::Switch {}
        | Prim::WhileLoop {}
        | Prim::Scan { .. }
        | Prim::Call { .. }
        // Programs with effects are refused.
        | Prim::Print { .. } => Exact::Each,
    }
}
