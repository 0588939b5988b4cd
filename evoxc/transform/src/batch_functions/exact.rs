//! Which ops give the same bits for all rows together as for each alone.

use evoxc_ir::{Module, Op, Prim, Region};

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
        // As what is inside them.
        Prim::ScatterBody { .. }
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatterBody { .. }
        | Prim::SortBody { .. }
        | Prim::Cond {}
        | Prim::Switch {}
        | Prim::WhileLoop {}
        | Prim::Scan { .. }
        | Prim::Call { batch: None, .. } => Exact::Rule,
        // What the function's own rule for rows gives is not known.
        Prim::Call { batch: Some(_), .. } => Exact::Each,
        // Programs with effects are refused.
        Prim::Print { .. }
        | Prim::AllReduce { .. }
        | Prim::AllReduceBody { .. }
        | Prim::AllGather { .. }
        | Prim::ReduceScatter { .. }
        | Prim::ReduceScatterBody { .. }
        | Prim::AllToAll { .. }
        | Prim::CollectivePermute { .. }
        | Prim::CollectiveBroadcast { .. } => Exact::Each,
        Prim::RankIndex { .. } => Exact::Rule,
    }
}

/// Has an op, with all that is inside of it, no form for all rows that gives the same bits?
pub(super) fn once_a_row(module: &Module, op: &Op) -> bool {
    // Inside of a region the walk decides which operands have rows.
    let inner = |r: &Region| {
        r.ops.iter().any(|op| {
            let alone = match exact(&op.prim) {
                Exact::Rule => false,
                Exact::AllRows => matches!(op.prim, Prim::Dot { .. }),
                Exact::Each => true,
            };
            alone || once_a_row(module, op)
        })
    };
    let called = || match &op.prim {
        Prim::Call { callee, .. } => module.func(&callee.0).is_none_or(|f| inner(&f.body)),
        _ => false,
    };
    exact(&op.prim) == Exact::Each || op.regions.iter().any(inner) || called()
}
