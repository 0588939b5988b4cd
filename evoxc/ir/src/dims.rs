//! Replacing the symbolic extents of an op's attributes: what calling a graph on other sizes needs.

use crate::{Literal, Padding, Prim, Window};
use evoxc_core::Dim;

impl Prim {
    /// Replaces every extent in the attributes by `f` of it.
    pub fn map_dims(&mut self, f: &mut dyn FnMut(Dim) -> Dim) {
        fn all(v: &mut [Dim], f: &mut dyn FnMut(Dim) -> Dim) {
            v.iter_mut().for_each(|d| *d = f(*d));
        }
        fn window(w: &mut Window, f: &mut dyn FnMut(Dim) -> Dim) {
            all(&mut w.size, f);
            w.padding.iter_mut().for_each(|p| *p = Padding { low: f(p.low), high: f(p.high) });
        }
        match self {
            Prim::Constant { value: Literal::Splat(_, shape) }
            | Prim::Iota { shape, .. }
            | Prim::BroadcastInDim { shape, .. }
            | Prim::Reshape { shape }
            | Prim::RandomBits { shape, .. } => all(shape.dims_mut(), f),
            Prim::DimSize { extent: d, .. } | Prim::TopK { k: d } | Prim::Scan { length: d, .. } => *d = f(*d),
            Prim::Slice { start, limit, .. } => {
                all(start, f);
                all(limit, f);
            }
            Prim::Pad { low, high, .. } => {
                all(low, f);
                all(high, f);
            }
            Prim::Gather { sizes, .. } | Prim::DynamicSlice { sizes } | Prim::Fft { length: sizes, .. } => {
                all(sizes, f)
            }
            Prim::Convolution { window: w, .. }
            | Prim::ReduceWindow { window: w, .. }
            | Prim::ReduceWindowBody { window: w }
            | Prim::SelectAndScatter { window: w, .. }
            | Prim::SelectAndScatterBody { window: w } => window(w, f),
            Prim::Unary(_)
            | Prim::Binary(_)
            | Prim::Compare { .. }
            | Prim::Select {}
            | Prim::Clamp {}
            | Prim::Convert { .. }
            | Prim::BitcastConvert { .. }
            | Prim::ReducePrecision { .. }
            | Prim::Constant { value: Literal::Dense(_) }
            | Prim::Transpose { .. }
            | Prim::Concatenate { .. }
            | Prim::Reverse { .. }
            | Prim::Scatter { .. }
            | Prim::ScatterBody { .. }
            | Prim::DynamicUpdateSlice {}
            | Prim::Dot { .. }
            | Prim::Reduce { .. }
            | Prim::ReduceBody { .. }
            | Prim::Argmax { .. }
            | Prim::Argmin { .. }
            | Prim::Cumulative { .. }
            | Prim::Sort { .. }
            | Prim::SortBody { .. }
            | Prim::Cholesky { .. }
            | Prim::TriangularSolve { .. }
            | Prim::Lu {}
            | Prim::Qr { .. }
            | Prim::Eigh {}
            | Prim::Svd { .. }
            | Prim::Cond {}
            | Prim::Switch {}
            | Prim::WhileLoop {}
            | Prim::Call { .. }
            | Prim::AllReduce { .. }
            | Prim::AllReduceBody { .. }
            | Prim::AllGather { .. }
            | Prim::ReduceScatter { .. }
            | Prim::ReduceScatterBody { .. }
            | Prim::AllToAll { .. }
            | Prim::CollectivePermute { .. }
            | Prim::CollectiveBroadcast { .. }
            | Prim::RankIndex { .. }
            | Prim::OptimizationBarrier {}
            | Prim::StopGradient {}
            | Prim::Print { .. } => {}
        }
    }
}
