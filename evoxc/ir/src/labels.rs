//! The labels of an op's regions in the text form, and the functions that it names.

use crate::{FuncRef, Prim};
use smallvec::SmallVec;
use std::borrow::Cow;

enum Labels {
    Fixed(&'static [&'static str]),
    Branches,
}

impl Prim {
    /// The label of region `i`: `then`, `else`; `branch0` …; `cond`, `body`; `select`, `scatter`; `body`. A region that
    /// the op should not have is `region<i>`.
    pub fn region_label(&self, i: usize) -> Cow<'static, str> {
        match labels(self) {
            Labels::Branches => Cow::Owned(format!("branch{i}")),
            Labels::Fixed(names) => {
                names.get(i).map_or_else(|| Cow::Owned(format!("region{i}")), |&n| Cow::Borrowed(n))
            }
        }
    }
    /// The number of regions; `None` for a switch, which has any number.
    pub fn region_count(&self) -> Option<usize> {
        match labels(self) {
            Labels::Branches => None,
            Labels::Fixed(names) => Some(names.len()),
        }
    }
}

fn labels(prim: &Prim) -> Labels {
    Labels::Fixed(match prim {
        Prim::Switch { .. } => return Labels::Branches,
        Prim::Cond { .. } => &["then", "else"],
        Prim::WhileLoop { .. } => &["cond", "body"],
        Prim::SelectAndScatterBody { .. } => &["select", "scatter"],
        Prim::Scan { .. }
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::ScatterBody { .. }
        | Prim::SortBody { .. }
        | Prim::AllReduceBody { .. }
        | Prim::ReduceScatterBody { .. } => &["body"],
        Prim::Unary(_)
        | Prim::Binary(_)
        | Prim::Compare { .. }
        | Prim::Select { .. }
        | Prim::Clamp { .. }
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
        | Prim::DynamicUpdateSlice { .. }
        | Prim::Dot { .. }
        | Prim::Convolution { .. }
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
        | Prim::Lu { .. }
        | Prim::Qr { .. }
        | Prim::Eigh { .. }
        | Prim::Svd { .. }
        | Prim::Call { .. }
        | Prim::RandomBits { .. }
        | Prim::AllReduce { .. }
        | Prim::AllGather { .. }
        | Prim::ReduceScatter { .. }
        | Prim::AllToAll { .. }
        | Prim::CollectivePermute { .. }
        | Prim::CollectiveBroadcast { .. }
        | Prim::RankIndex { .. }
        | Prim::OptimizationBarrier { .. }
        | Prim::StopGradient { .. }
        | Prim::Print { .. } => &[],
    })
}

impl Prim {
    /// The functions that a call names: the callee, then its rules. Empty for other ops.
    ///
    /// ```
    /// use evoxc::ir::Prim;
    /// let op = Prim::from_text("stop_gradient", &mut |_| None)?;
    /// assert!(op.functions().is_empty());
    /// # Ok::<(), String>(())
    /// ```
    pub fn functions(&self) -> SmallVec<[&FuncRef; 4]> {
        match self {
            Prim::Call { callee, jvp, forward, vjp, batch, captures: _, remat: _ } => {
                std::iter::once(callee).chain([jvp, forward, vjp, batch].into_iter().flatten()).collect()
            }
            _ => SmallVec::new(),
        }
    }
    /// [`Prim::functions`], to be renamed.
    pub fn functions_mut(&mut self) -> SmallVec<[&mut FuncRef; 4]> {
        match self {
            Prim::Call { callee, jvp, forward, vjp, batch, captures: _, remat: _ } => {
                std::iter::once(callee).chain([jvp, forward, vjp, batch].into_iter().flatten()).collect()
            }
            _ => SmallVec::new(),
        }
    }
}
