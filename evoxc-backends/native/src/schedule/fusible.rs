//! Which ops are expressions of the elements of their operands, and may so become part of a kernel.

use super::expand::Known;
use super::facts::Facts;
use super::group::{elements, rough};
use super::window::{self, Convolution};
use evoxc_core::Dim;
use evoxc_ir::{Op, Prim, TensorType, Value};

/// Products in a dot that are worth no library call.
const SMALL_DOT: f64 = 40_000.0;

/// Can a kernel compute the results of an op from its operands? If not, why.
pub(super) fn fusible(op: &Op, facts: &Facts) -> Result<(), &'static str> {
    let ty = |v: Value| facts.ty(v);
    let operand = |n: usize| op.operands.get(n).map(|&v| ty(v));
    if op.operands.iter().chain(&op.results).any(|&v| ty(v).dtype.is_complex()) {
        return Err("kernels have no complex numbers");
    }
    // A kernel goes over all of x, a library only over what it writes where x may be overwritten.
    let small_part = |all: &TensorType, part: &TensorType| {
        let number = op.operands.first().is_some_and(|&x| facts.splat_of(x));
        let (all, part) = (elements(&all.shape), elements(&part.shape));
        !number && all > 4096.0 && part < all / 4.0
    };
    match &op.prim {
        Prim::Unary(_)
        | Prim::Binary(_)
        | Prim::Compare { .. }
        | Prim::Select {}
        | Prim::Clamp {}
        | Prim::Convert { .. }
        | Prim::ReducePrecision { .. }
        | Prim::Constant { .. }
        | Prim::Iota { .. }
        | Prim::DimSize { .. }
        | Prim::BroadcastInDim { .. }
        | Prim::Reshape { .. }
        | Prim::Transpose { .. }
        | Prim::Pad { .. }
        | Prim::Concatenate { .. }
        | Prim::Reverse { .. }
        | Prim::StopGradient {}
        | Prim::Reduce { .. } => Ok(()),
        Prim::BitcastConvert { dtype } => match operand(0) {
            Some(x) if x.dtype.size() == dtype.size() => Ok(()),
            _ => Err("it changes the size of elements"),
        },
        Prim::Slice { start, limit, .. } => {
            let Some(x) = operand(0) else { return Err("an operand is missing") };
            let inside = x.shape.iter().zip(limit).all(|(&n, &l)| surely_at_most(l, n));
            if inside && start.iter().all(|&s| surely_at_most(Dim::constant(0), s)) {
                Ok(())
            } else {
                Err("whether it lies inside of its operand is known when it runs")
            }
        }
        Prim::DynamicSlice { sizes } => match operand(0) {
            Some(x) => fits(sizes, x),
            None => Err("an operand is missing"),
        },
        Prim::DynamicUpdateSlice {} => match (operand(0), operand(1)) {
            (Some(x), Some(update)) => {
                if small_part(x, update) {
                    Err("it writes a small part")
                } else {
                    fits(&update.shape, x)
                }
            }
            _ => Err("an operand is missing"),
        },
        Prim::Gather { sizes, .. } => match (operand(0), operand(1)) {
            (Some(x), Some(_)) => {
                if sizes.iter().any(|&d| d.lower_bound().is_none_or(|l| l < 1)) {
                    return Err("a slice may be empty");
                }
                fits(sizes, x)
            }
            _ => Err("an operand is missing"),
        },
        Prim::Argmax { axis } | Prim::Argmin { axis } => {
            let n = operand(0).and_then(|x| x.shape.get(*axis).copied());
            match n {
                Some(n)
                    if n.lower_bound().is_some_and(|l| l >= 1) && n.as_i64().is_none_or(|v| v <= i32::MAX.into()) =>
                {
                    Ok(())
                }
                _ => Err("whether its axis is empty is known when it runs"),
            }
        }
        Prim::Dot { batch, contract, .. } => {
            let (Some(l), Some(r)) = (operand(0), operand(1)) else { return Err("an operand is missing") };
            let axes = |of: &[usize]| of.iter().filter_map(|&i| l.shape.get(i)).map(|&d| rough(d)).product::<f64>();
            let all = |t: &TensorType| t.shape.iter().map(|&d| rough(d)).product::<f64>();
            let (b, k) = (axes(&batch.lhs), axes(&contract.lhs));
            let (m, n) = (all(l) / (b * k).max(1.0), all(r) / (b * k).max(1.0));
            let small = b * m * n * k <= SMALL_DOT;
            if small || m <= 1.0 || n <= 1.0 || k <= 4.0 { Ok(()) } else { Err("its products are worth blocking") }
        }
        Prim::RandomBits { dtype, .. } => {
            if dtype.is_unsigned() {
                Ok(())
            } else {
                Err("random bits are unsigned integers")
            }
        }
        Prim::Convolution { window, layout, feature_groups, batch_groups, .. } => {
            let (Some(l), Some(r), Some(&out)) = (operand(0), operand(1), op.results.first()) else {
                return Err("an operand is missing");
            };
            let (feature_groups, batch_groups) = (*feature_groups, *batch_groups);
            let c = Convolution { window, layout, feature_groups, batch_groups, lhs: &l.shape, rhs: &r.shape };
            let (products, features) = c.work(elements(&ty(out).shape));
            let few = if features <= 1.0 { 4e6 } else { 2e5 } * if window::is_dense(window) { 2.0 } else { 1.0 };
            if products <= few { Ok(()) } else { Err("its products are worth blocking") }
        }
        Prim::ReduceWindow { window, .. } => {
            if window::size(window).is_some_and(|n| n <= 32) {
                Ok(())
            } else {
                Err("its window is large")
            }
        }
        Prim::OptimizationBarrier {} => Err("it stands for memory"),
        Prim::Scatter { dims, .. } => {
            let (Some(x), Some(indices), Some(updates)) = (operand(0), operand(1), operand(2)) else {
                return Err("an operand is missing");
            };
            let free = (0..indices.rank()).filter(|d| *d != dims.index_vector && !dims.indices_batching.contains(d));
            if free.filter_map(|d| indices.shape.get(d)).any(|&n| n != Dim::constant(1)) {
                return Err("where it writes is known when it runs");
            }
            if small_part(x, updates) { Err("it writes a small part") } else { Ok(()) }
        }
        Prim::ScatterBody { .. } => Err("where it writes is known when it runs"),
        Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatter { .. }
        | Prim::SelectAndScatterBody { .. } => Err("it runs a region"),
        Prim::Cumulative { .. } => Err("each element depends on those before"),
        Prim::Sort { .. } | Prim::SortBody { .. } | Prim::TopK { .. } => Err("it sorts"),
        Prim::Fft { .. }
        | Prim::Cholesky { .. }
        | Prim::TriangularSolve { .. }
        | Prim::Lu {}
        | Prim::Qr { .. }
        | Prim::Eigh {}
        | Prim::Svd { .. } => Err("an algorithm of a library"),
        Prim::Cond {} | Prim::Switch {} | Prim::WhileLoop {} | Prim::Scan { .. } | Prim::Call { .. } => {
            Err("control flow")
        }
        Prim::AllReduce { .. }
        | Prim::AllReduceBody { .. }
        | Prim::AllGather { .. }
        | Prim::ReduceScatter { .. }
        | Prim::ReduceScatterBody { .. }
        | Prim::AllToAll { .. }
        | Prim::CollectivePermute { .. }
        | Prim::CollectiveBroadcast { .. }
        | Prim::RankIndex { .. } => Err("it exchanges values with other processes"),
        Prim::Print { .. } => Err("it prints"),
    }
}

fn fits(sizes: &[Dim], x: &TensorType) -> Result<(), &'static str> {
    if x.shape.iter().zip(sizes).all(|(&n, &s)| surely_at_most(s, n)) {
        Ok(())
    } else {
        Err("whether it fits into its operand is known when it runs")
    }
}

/// Is `a <= b` for all values of their symbols?
pub(super) fn surely_at_most(a: Dim, b: Dim) -> bool {
    a == b || (b - a).lower_bound().is_some_and(|l| l >= 0)
}
