//! Which elements of its operands an op needs for one element of its result: the index arithmetic of movement.

use super::fusible::surely_at_most;
use super::group::{At, Context, Group, Indices, Step};
use super::index::{add, both, div_mod, less, mul, sub, unflat};
use super::matmul::free;
use super::random::words;
use super::window::Convolution;
use crate::uop::{Alu, Op as UOpKind, Ty, UOp};
use evoxc_core::{DType, Dim, OpError, Shape};
use evoxc_ir::{Op, Prim, TensorType, Value};
use smallvec::{SmallVec, smallvec};

/// What is known of values while a routine is scheduled.
pub(super) trait Known {
    /// The type of a value.
    fn ty(&self, v: Value) -> &TensorType;
    /// How many reductions are on the longest path to it.
    fn depth(&self, v: Value) -> u32;
}

/// The step that computes an element of an op's first result.
pub(super) fn expand(g: &mut Group, op: &Op, place: usize, at: At, known: &dyn Known) -> Result<Step, OpError> {
    let Context { index, gate } = g.context(at);
    let mut step = Step { op: place, at, from: smallvec![], extra: smallvec![], inside: None };
    let shape_of = |n: usize| operand(op, n).map(|v| known.ty(v).shape.clone());
    match &op.prim {
        Prim::Unary(_)
        | Prim::Binary(_)
        | Prim::Compare { .. }
        | Prim::Convert { .. }
        | Prim::BitcastConvert { .. }
        | Prim::ReducePrecision { .. }
        | Prim::StopGradient {}
        | Prim::Select {}
        | Prim::Clamp {} => {
            for &v in &op.operands {
                // Scalars beside tensors: a predicate, or bounds.
                let scalar = known.ty(v).rank() == 0 && !index.is_empty();
                step.from.push(if scalar { g.at(Indices::new(), gate) } else { at });
            }
        }
        Prim::Constant { .. } | Prim::Iota { .. } | Prim::DimSize { .. } => {}
        Prim::BroadcastInDim { shape, dims } => {
            let from = shape_of(0)?;
            let zero = g.arena.index(0);
            let index = from.iter().zip(dims).map(|(&n, &d)| match (index.get(d), shape.get(d)) {
                (Some(_), Some(&to)) if n != to => zero,
                (Some(&i), _) => i,
                (None, _) => zero,
            });
            let index = index.collect();
            step.from.push(g.at(index, gate));
        }
        Prim::Reshape { shape } => {
            let from = shape_of(0)?;
            let index = reshaped(g, &index, shape, &from)?;
            step.from.push(g.at(index, gate));
        }
        Prim::Transpose { perm } => {
            let mut from = index.clone();
            for (&i, &p) in index.iter().zip(perm) {
                if let Some(slot) = from.get_mut(p) {
                    *slot = i;
                }
            }
            step.from.push(g.at(from, gate));
        }
        Prim::Slice { start, stride, .. } => {
            let mut from = Indices::new();
            for ((&i, &s), &by) in index.iter().zip(start).zip(stride) {
                let (s, by) = (g.extent(s)?, g.arena.index(by));
                let scaled = mul(&mut g.arena, i, by);
                from.push(add(&mut g.arena, scaled, s));
            }
            step.from.push(g.at(from, gate));
        }
        Prim::Reverse { axes } => {
            let shape = shape_of(0)?;
            let mut from = index.clone();
            for &d in axes {
                if let (Some(slot), Some(&n)) = (from.get_mut(d), shape.get(d)) {
                    let n = g.extent(n)?;
                    let one = g.arena.index(1);
                    let last = sub(&mut g.arena, n, one);
                    *slot = sub(&mut g.arena, last, *slot);
                }
            }
            step.from.push(g.at(from, gate));
        }
        Prim::Pad { low, high, interior } => {
            let shape = shape_of(0)?;
            let (mut from, mut inside) = (Indices::new(), None);
            for (d, &i) in index.iter().enumerate() {
                let dim = |of: &[Dim]| of.get(d).copied().unwrap_or(Dim::constant(0));
                let (low, high, n) = (dim(low), dim(high), dim(&shape));
                let gap = interior.get(d).copied().unwrap_or(0) + 1;
                let low_node = g.extent(low)?;
                let mut p = sub(&mut g.arena, i, low_node);
                let end = g.extent((n - 1) * gap + 1)?;
                let not_cut = |d: Dim| d.upper_bound().is_some_and(|u| u <= 0);
                if !not_cut(low) {
                    let zero = g.arena.index(0);
                    inside = gated(g, inside, zero, p, true);
                }
                if !not_cut(high) || n.lower_bound().is_none_or(|l| l < 1) {
                    inside = gated(g, inside, p, end, false);
                }
                if gap > 1 {
                    let by = g.arena.index(gap);
                    let (q, r) = div_mod(&mut g.arena, p, by);
                    let zero = g.arena.index(0);
                    let on = g.arena.alu(Alu::Eq, &[r, zero]);
                    inside = both(&mut g.arena, inside, Some(on));
                    p = q;
                }
                from.push(p);
            }
            let under = both(&mut g.arena, gate, inside);
            step.from.push(g.at(from, under));
            step.from.push(g.at(Indices::new(), gate));
            step.extra.extend(inside);
        }
        Prim::Concatenate { axis } => {
            let Some(&i) = index.get(*axis) else { return Err(broken(op)) };
            let (mut offset, mut below) = (Dim::constant(0), None);
            for (k, &v) in op.operands.iter().enumerate() {
                let n = known.ty(v).shape.get(*axis).copied().unwrap_or(Dim::constant(0));
                let start = g.extent(offset)?;
                offset = offset + n;
                let end = g.extent(offset)?;
                let mut inside = below;
                let this = if k + 1 == op.operands.len() {
                    None
                } else {
                    Some(match less(&mut g.arena, i, end) {
                        Ok(b) => g.arena.constant(DType::BOOL, b.into()),
                        Err(u) => u,
                    })
                };
                inside = both(&mut g.arena, inside, this);
                let mut from = index.clone();
                from[*axis] = sub(&mut g.arena, i, start);
                let under = both(&mut g.arena, gate, inside);
                step.from.push(g.at(from, under));
                if let Some(c) = this {
                    step.extra.push(c);
                    let not = g.arena.alu(Alu::Not, &[c]);
                    below = both(&mut g.arena, below, Some(not));
                }
            }
        }
        Prim::Reduce { axes, .. } => {
            let shape = shape_of(0)?;
            let depth = result_depth(op, known);
            let (from, ranges) = reduced(g, &index, &shape, axes, depth)?;
            step.extra = ranges;
            step.from.push(g.at(from, gate));
        }
        Prim::Argmax { axis } | Prim::Argmin { axis } => {
            let shape = shape_of(0)?;
            let depth = result_depth(op, known);
            for pass in [depth - 1, depth] {
                let (from, ranges) = reduced(g, &index, &shape, &[*axis], pass)?;
                step.extra.push(ranges[0]);
                step.from.push(g.at(from, gate));
            }
        }
        Prim::Dot { batch, contract, .. } => {
            let (l, r) = (shape_of(0)?, shape_of(1)?);
            let depth = result_depth(op, known);
            let zero = g.arena.index(0);
            let mut left: Indices = smallvec![zero; l.rank()];
            let mut right: Indices = smallvec![zero; r.rank()];
            for (place, (&i, &j)) in contract.lhs.iter().zip(&contract.rhs).enumerate() {
                let n = g.extent(l[i])?;
                let k = g.reduce_range(depth, place as u32, n);
                (left[i], right[j]) = (k, k);
                step.extra.push(k);
            }
            let mut out = index.iter().copied();
            for (&i, &j) in batch.lhs.iter().zip(&batch.rhs) {
                let b = out.next().ok_or_else(|| broken(op))?;
                (left[i], right[j]) = (b, b);
            }
            for d in free(l.rank(), &batch.lhs, &contract.lhs) {
                left[d] = out.next().ok_or_else(|| broken(op))?;
            }
            for d in free(r.rank(), &batch.rhs, &contract.rhs) {
                right[d] = out.next().ok_or_else(|| broken(op))?;
            }
            step.from.push(g.at(left, gate));
            step.from.push(g.at(right, gate));
        }
        Prim::Gather { dims, sizes, .. } => {
            let (table, indices) = (operand(op, 0)?, operand(op, 1)?);
            let (shape, rank) = (shape_of(0)?, known.ty(indices).rank());
            let batch: Indices =
                index.iter().enumerate().filter(|(d, _)| !dims.offset.contains(d)).map(|(_, &i)| i).collect();
            let zero = g.arena.index(0);
            let mut from: Indices = smallvec![zero; shape.rank()];
            let mut starts: SmallVec<[At; 3]> = smallvec![];
            for (component, &d) in dims.start_map.iter().enumerate() {
                let start = component_at(g, &batch, dims.index_vector, rank, component, gate);
                starts.push(start);
                let start = g.pending(indices, start);
                from[d] = clamped(g, start, sizes[d], shape[d])?;
            }
            for (&d, &of) in dims.operand_batching.iter().zip(&dims.indices_batching) {
                from[d] = batch[of - usize::from(of > dims.index_vector)];
            }
            let window = free(known.ty(table).rank(), &dims.collapsed, &dims.operand_batching);
            for (d, &offset) in window.into_iter().zip(&dims.offset) {
                from[d] = add(&mut g.arena, from[d], index[offset]);
            }
            step.from.push(g.at(from, gate));
            step.from.extend(starts);
        }
        Prim::DynamicSlice { sizes } => {
            let shape = shape_of(0)?;
            let scalar = g.at(Indices::new(), gate);
            let mut from = index.clone();
            for (d, &v) in op.operands.iter().skip(1).enumerate() {
                let start = g.pending(v, scalar);
                let start = clamped(g, start, sizes[d], shape[d])?;
                from[d] = add(&mut g.arena, start, index[d]);
            }
            step.from.push(g.at(from, gate));
            step.from.extend(op.operands.iter().skip(1).map(|_| scalar));
        }
        Prim::DynamicUpdateSlice {} => {
            let (all, part) = (shape_of(0)?, shape_of(1)?);
            let scalar = g.at(Indices::new(), gate);
            let (mut from, mut inside) = (index.clone(), None);
            for (d, &v) in op.operands.iter().skip(2).enumerate() {
                if part[d] == all[d] {
                    continue;
                }
                let start = g.pending(v, scalar);
                let start = clamped(g, start, part[d], all[d])?;
                let p = sub(&mut g.arena, index[d], start);
                inside = within(g, inside, p, part[d])?;
                from[d] = p;
            }
            let under = both(&mut g.arena, gate, inside);
            step.from.push(at);
            step.from.push(g.at(from, under));
            step.from.extend(op.operands.iter().skip(2).map(|_| scalar));
            step.extra.extend(inside);
        }
        Prim::Scatter { dims, .. } => {
            let (indices, updates) = (operand(op, 1)?, shape_of(2)?);
            let rank = known.ty(indices).rank();
            let zero = g.arena.index(0);
            // One update at most goes to each element: that of its batch.
            let mut batch: Indices = smallvec![zero; rank - usize::from(dims.index_vector < rank)];
            for (&d, &of) in dims.operand_batching.iter().zip(&dims.indices_batching) {
                batch[of - usize::from(of > dims.index_vector)] = index[d];
            }
            let mut offsets = index.clone();
            let mut starts: SmallVec<[At; 3]> = smallvec![];
            for (component, &d) in dims.scatter_map.iter().enumerate() {
                let start = component_at(g, &batch, dims.index_vector, rank, component, gate);
                starts.push(start);
                let start = g.pending(indices, start);
                offsets[d] = sub(&mut g.arena, index[d], start);
            }
            let (mut inside, mut from) = (None, smallvec![zero; updates.rank()]);
            let scattered = free(updates.rank(), &dims.update_window, &[]);
            for (d, &i) in scattered.into_iter().zip(&batch) {
                from[d] = i;
            }
            let window = free(index.len(), &dims.inserted, &dims.operand_batching);
            for (d, &to) in window.into_iter().zip(&dims.update_window) {
                if offsets[d] != index[d] || !surely_at_most(shape_of(0)?[d], updates[to]) {
                    inside = within(g, inside, offsets[d], updates[to])?;
                }
                from[to] = offsets[d];
            }
            for &d in &dims.inserted {
                let hit = g.arena.alu(Alu::Eq, &[offsets[d], zero]);
                inside = both(&mut g.arena, inside, Some(hit));
            }
            let under = both(&mut g.arena, gate, inside);
            step.from.push(at);
            step.from.extend(starts);
            step.from.push(g.at(from, under));
            step.extra.extend(inside);
        }
        Prim::ReduceWindow { window, .. } => {
            let (shape, depth) = (shape_of(0)?, result_depth(op, known));
            let taps = super::window::reduced(g, window, &index, &shape, depth, gate)?;
            (step.from, step.extra, step.inside) = (taps.from, taps.ranges, taps.inside);
        }
        Prim::Convolution { window, layout, feature_groups, batch_groups, .. } => {
            let (lhs, rhs) = (&shape_of(0)?, &shape_of(1)?);
            let (feature_groups, batch_groups) = (*feature_groups, *batch_groups);
            let c = Convolution { window, layout, feature_groups, batch_groups, lhs, rhs };
            let taps = c.taps(g, &index, result_depth(op, known), gate)?;
            (step.from, step.extra, step.inside) = (taps.from, taps.ranges, taps.inside);
        }
        Prim::RandomBits { algorithm, shape, .. } => {
            let batch = index.len() - shape.rank().min(index.len());
            for word in 0..words(*algorithm) {
                let mut from: Indices = index[..batch].into();
                if known.ty(operand(op, 0)?).rank() > batch {
                    from.push(g.arena.index(word as i64));
                }
                step.from.push(g.at(from, gate));
            }
        }
        _ => return Err(broken(op)),
    }
    Ok(step)
}

/// The operands of the elements of a step, in their order.
pub(super) fn sources(op: &Op) -> SmallVec<[Value; 4]> {
    match &op.prim {
        Prim::Argmax { .. } | Prim::Argmin { .. } => op.operands.iter().chain(&op.operands).copied().collect(),
        Prim::Gather { dims, .. } => {
            let indices = op.operands.get(1).copied();
            op.operands.iter().take(1).copied().chain(indices.into_iter().cycle().take(dims.start_map.len())).collect()
        }
        Prim::RandomBits { algorithm, .. } => op.operands.iter().copied().cycle().take(words(*algorithm)).collect(),
        Prim::Scatter { dims, .. } => {
            let indices = op.operands.get(1).copied();
            let starts = indices.into_iter().cycle().take(dims.scatter_map.len());
            op.operands.iter().take(1).copied().chain(starts).chain(op.operands.get(2).copied()).collect()
        }
        _ => op.operands.iter().copied().collect(),
    }
}

/// The element of indices that holds a component of a start.
fn component_at(g: &mut Group, batch: &[UOp], vector: usize, rank: usize, component: usize, gate: Option<UOp>) -> At {
    let c = g.arena.index(component as i64);
    let mut from: Indices = batch.into();
    if vector < rank {
        from.insert(vector.min(from.len()), c);
    }
    g.at(from, gate)
}

/// One gate more: that `p`, of which nothing is known, is from 0 to below `n`.
fn within(g: &mut Group, gate: Option<UOp>, p: UOp, n: Dim) -> Result<Option<UOp>, OpError> {
    let (zero, n) = (g.arena.index(0), g.extent(n)?);
    let above = g.arena.alu(Alu::Le, &[zero, p]);
    let below = g.arena.alu(Alu::Lt, &[p, n]);
    let gate = both(&mut g.arena, gate, Some(above));
    Ok(both(&mut g.arena, gate, Some(below)))
}

fn result_depth(op: &Op, known: &dyn Known) -> u32 {
    op.results.first().map_or(1, |&v| known.depth(v))
}

/// How many depths of reductions an op takes.
pub(super) fn depths(prim: &Prim) -> u32 {
    match prim {
        Prim::Reduce { .. } | Prim::Dot { .. } | Prim::ReduceWindow { .. } | Prim::Convolution { .. } => 1,
        Prim::Argmax { .. } | Prim::Argmin { .. } => 2,
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
        | Prim::RandomBits { .. }
        | Prim::BroadcastInDim { .. }
        | Prim::Reshape { .. }
        | Prim::Transpose { .. }
        | Prim::Slice { .. }
        | Prim::Pad { .. }
        | Prim::Concatenate { .. }
        | Prim::Reverse { .. }
        | Prim::StopGradient {}
        | Prim::OptimizationBarrier {}
        | Prim::DynamicSlice { .. }
        | Prim::DynamicUpdateSlice {}
        | Prim::Gather { .. }
        | Prim::Scatter { .. } => 0,
        // No kernel expresses them.
        Prim::ScatterBody { .. }
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatter { .. }
        | Prim::SelectAndScatterBody { .. }
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
        | Prim::AllReduce { .. }
        | Prim::AllReduceBody { .. }
        | Prim::AllGather { .. }
        | Prim::ReduceScatter { .. }
        | Prim::ReduceScatterBody { .. }
        | Prim::AllToAll { .. }
        | Prim::CollectivePermute { .. }
        | Prim::CollectiveBroadcast { .. }
        | Prim::RankIndex { .. }
        | Prim::Print { .. } => 0,
    }
}

/// The element of a reduction's operand, and the ranges over the reduced axes.
fn reduced(
    g: &mut Group,
    index: &[UOp],
    shape: &Shape,
    axes: &[usize],
    depth: u32,
) -> Result<(Indices, SmallVec<[UOp; 2]>), OpError> {
    let mut kept = index.iter().copied();
    let (mut from, mut ranges) = (Indices::new(), SmallVec::new());
    for (d, &n) in shape.iter().enumerate() {
        if axes.contains(&d) {
            let n = g.extent(n)?;
            let r = g.reduce_range(depth, ranges.len() as u32, n);
            ranges.push(r);
            from.push(r);
        } else {
            let zero = g.arena.index(0);
            from.push(kept.next().unwrap_or(zero));
        }
    }
    Ok((from, ranges))
}

/// One bound more.
fn gated(g: &mut Group, gate: Option<UOp>, x: UOp, y: UOp, or_equal: bool) -> Option<UOp> {
    let test = if or_equal {
        // x <= y is not y < x.
        match less(&mut g.arena, y, x) {
            Ok(false) => return gate,
            Ok(true) => g.arena.constant(DType::BOOL, 0),
            Err(_) => g.arena.alu(Alu::Le, &[x, y]),
        }
    } else {
        match less(&mut g.arena, x, y) {
            Ok(true) => return gate,
            Ok(false) => g.arena.constant(DType::BOOL, 0),
            Err(u) => u,
        }
    };
    both(&mut g.arena, gate, Some(test))
}

/// The indices in `to` of the element at indices of `from`, two shapes of one size: axis by axis where runs of axes have
/// equal sizes.
fn reshaped(g: &mut Group, index: &[UOp], from: &Shape, to: &Shape) -> Result<Indices, OpError> {
    let zero = g.arena.index(0);
    let mut out: Indices = smallvec![zero; to.rank()];
    let (mut i, mut j) = (0, 0);
    while i < from.rank() || j < to.rank() {
        // The shortest runs of equal size.
        let (start, begin) = (i, j);
        let one = Dim::constant(1);
        let (mut p, mut q) = (one, one);
        if i < from.rank() {
            p = from[i];
            i += 1;
        }
        if j < to.rank() {
            q = to[j];
            j += 1;
        }
        while p != q && (i < from.rank() || j < to.rank()) {
            let more_left = match (p.as_i64(), q.as_i64()) {
                (Some(p), Some(q)) => p < q,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                // Symbols on both sides: whole shapes are surely equal.
                (None, None) => i <= j,
            };
            if (more_left || j == to.rank()) && i < from.rank() {
                p = p * from[i];
                i += 1;
            } else {
                q = q * to[j];
                j += 1;
            }
        }
        let ones = |s: &[Dim]| s.iter().all(|&d| d == one);
        if i - start == 1 && j - begin == 1 {
            out[begin] = index[start];
        } else if !ones(&to[begin..j]) {
            let extents = g.extents(&from[start..i])?;
            let at = super::index::flat(&mut g.arena, &index[start..i], &extents);
            let extents = g.extents(&to[begin..j])?;
            unflat(&mut g.arena, at, &extents, &mut out[begin..j]);
        }
    }
    Ok(out)
}

pub(super) fn operand(op: &Op, n: usize) -> Result<Value, OpError> {
    op.operands.get(n).copied().ok_or_else(|| broken(op))
}

/// What a verified module does not hold.
pub(super) fn broken(op: &Op) -> OpError {
    OpError::new(op.prim.name(), "it has no element-wise form").remedy("verify the module first").at(op.loc)
}

/// Clamps the start of a slice of `size` elements so that it fits into `n`.
fn clamped(g: &mut Group, start: UOp, size: Dim, n: Dim) -> Result<UOp, OpError> {
    if size == n {
        return Ok(g.arena.index(0));
    }
    let (zero, last) = (g.arena.index(0), g.extent(n - size)?);
    let low = g.arena.alu(Alu::Max, &[start, zero]);
    Ok(g.arena.alu(Alu::Min, &[low, last]))
}

/// An integer as an index; what exceeds one is the greatest.
pub(super) fn as_index(g: &mut Group, u: UOp) -> UOp {
    match g.arena.ty(u).dtype {
        DType::I64 => u,
        DType::U64 => {
            let most = g.arena.constant(DType::U64, i64::MAX as u64);
            let low = g.arena.alu(Alu::Min, &[u, most]);
            g.arena.node(UOpKind::Convert, Ty::INDEX, &[low])
        }
        _ => g.arena.node(UOpKind::Convert, Ty::INDEX, &[u]),
    }
}
