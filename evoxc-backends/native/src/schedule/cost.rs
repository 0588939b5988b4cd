//! The cost model: is a value computed again wherever it is used, kept for a row of the kernel, or kept in memory?
//!
//! All figures are rough times in nanoseconds on one core. They decide between programs that compute the same.

use super::expand::{Known, depths};
use super::facts::Facts;
use super::group::{At, Group, Row, elements, rough};
use crate::uop::{AxisKind, Op as UOpKind, UOp};
use evoxc_ir::{Op, Prim, Value};
use smallvec::SmallVec;

/// One instruction for one element, in vectors.
const ARITHMETIC: f64 = 0.06;
/// A kernel more.
const KERNEL: f64 = 300.0;
/// Bytes that stay in a cache.
const CACHE: f64 = 4e6;
/// A byte in the nearest cache, in one further off, and in memory.
const CLOSE: f64 = 0.01;
const NEAR: f64 = 0.025;
const FAR: f64 = 0.1;
/// Work that is worth more than one thread.
const THREADS: f64 = 65536.0;
/// Time that is worth a kernel of its own, where that has loops for threads.
const SHARED: f64 = 12_000.0;
/// Bytes of a row that is kept within a kernel, at most.
const ROW: f64 = 1e6;

/// Places at which a value is computed, at most.
const MANY: usize = 32;

/// What is done with a value.
#[derive(Debug)]
pub(super) enum Choice {
    /// It is computed where it is used; in the kernels named, once for a row.
    Fuse(SmallVec<[(usize, Row); 1]>),
    /// It is kept, for a reason to tell people.
    Keep(String),
}

/// The choice for a value that a kernel can compute, and that kernels use at those contexts.
pub(super) fn choose(op: &Op, v: Value, facts: &Facts, uses: &[(&Group, usize, At)]) -> Choice {
    let ty = facts.ty(v);
    let (size, work) = (elements(&ty.shape).max(1.0), facts.work(v));
    if work == 0.0 {
        return Choice::Fuse(SmallVec::new());
    }
    let bytes = size * ty.dtype.size() as f64;
    let reduces = depths(&op.prim) > 0;
    let mut kernels: SmallVec<[usize; 4]> = uses.iter().map(|(_, n, _)| *n).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let (mut total, mut rows) = (0.0, SmallVec::new());
    if uses.len() > MANY {
        return Choice::Keep("used at many places".into());
    }
    for &n in &kernels {
        let contexts: SmallVec<[(&Group, At); 4]> =
            uses.iter().filter(|(_, m, _)| *m == n).map(|(g, _, at)| (*g, *at)).collect();
        let mut again = 0.0;
        for &(g, at) in &contexts {
            let ranges = g.ranges_of(at);
            again += evaluations(g, &g.surroundings(at)) * work * ARITHMETIC;
            // Every thread would do all of it.
            if reduces && loops(g, &ranges).is_empty() && work * size >= THREADS && elements(&g.shape) >= 4096.0 {
                return Choice::Keep("a reduction of all, that every thread would repeat".into());
            }
            // One thread would do all of it.
            let alone = g.iterations(&loops(g, &ranges)) < 16.0 && elements(&g.shape) < 16.0;
            if reduces && alone && size >= 16.0 && work * size * ARITHMETIC >= SHARED {
                return Choice::Keep("reductions that threads share".into());
            }
        }
        let mut row = None;
        if contexts.len() > 1 && again > size * work * ARITHMETIC {
            let ats: SmallVec<[At; 4]> = contexts.iter().map(|(_, at)| *at).collect();
            if let Some((g, _)) = contexts.first()
                && let Some(r) = as_row(g, v, &ats, facts)
            {
                let once = evaluations(g, &g.surroundings(r.fill)) * work * ARITHMETIC;
                let traffic: f64 = contexts.iter().map(|(_, at)| g.iterations(&g.ranges_of(*at))).sum();
                let cost = once + traffic * ty.dtype.size() as f64 * CLOSE;
                if cost < again {
                    again = cost;
                    row = Some(r);
                }
            }
        }
        total += again;
        rows.extend(row.map(|r| (n, r)));
    }
    let byte = if bytes > CACHE { FAR } else { NEAR };
    // What is put together is kept part by part.
    let parts = if matches!(op.prim, Prim::Concatenate { .. }) { op.operands.len().max(1) as f64 } else { 1.0 };
    let keeping = size * work / parts * ARITHMETIC + KERNEL + bytes * byte * (1.0 + kernels.len() as f64);
    if total <= keeping {
        Choice::Fuse(rows)
    } else {
        Choice::Keep(format!("{:.1} us to compute where it is used, {:.1} us kept", total / 1e3, keeping / 1e3))
    }
}

/// How often what depends on these ranges is computed: loops around it that it does not depend on repeat it, unless they
/// are inside of those that it depends on.
fn evaluations(g: &Group, ranges: &[UOp]) -> f64 {
    let outer = loops(g, ranges);
    let mut times = g.iterations(ranges);
    if !hoisted(g, &outer) {
        let others = g.index.iter().filter(|r| g.is_loop(**r) && !outer.contains(r));
        let others: SmallVec<[UOp; 4]> = others.copied().collect();
        times *= g.iterations(&others);
    }
    times
}

/// The ranges over elements of outputs.
fn loops(g: &Group, ranges: &[UOp]) -> SmallVec<[UOp; 4]> {
    ranges.iter().copied().filter(|&r| g.is_loop(r)).collect()
}

/// Can the loops be in an order in which what depends on these is done once for each? The last loop, along which memory
/// is written, stays the last.
pub(super) fn hoisted(g: &Group, outer: &[UOp]) -> bool {
    let mut all = g.index.iter().filter(|r| g.is_loop(**r));
    let Some(last) = all.next_back() else { return true };
    if outer.contains(last) {
        return all.all(|r| outer.contains(r));
    }
    let part = |a: &[UOp], b: &[UOp]| a.iter().all(|r| b.contains(r));
    g.nest.iter().all(|set| part(set, outer) || part(outer, set))
}

/// Something is done once for each iteration of the loops that a context depends on: they come first.
pub(super) fn nest(g: &mut Group, at: At) {
    let outer = loops(g, &g.ranges_of(at));
    if !outer.is_empty() && hoisted(g, &outer) && !g.nest.contains(&outer) {
        let at = g.nest.iter().position(|set| set.len() > outer.len()).unwrap_or(g.nest.len());
        g.nest.insert(at, outer);
    }
}

/// A row of a value, if all contexts are elements of one: where some of the axes have the same indices, of loops alone.
pub(super) fn as_row(g: &Group, v: Value, contexts: &[At], facts: &Facts) -> Option<Row> {
    let all: SmallVec<[_; 4]> = contexts.iter().map(|&at| g.context(at)).collect();
    let (first, rest) = all.split_first()?;
    if all.iter().any(|c| c.gate.is_some()) {
        return None;
    }
    let shape = &facts.ty(v).shape;
    let axes: SmallVec<[usize; 4]> =
        (0..first.index.len()).filter(|&d| rest.iter().any(|c| c.index[d] != first.index[d])).collect();
    let fixed = (0..first.index.len()).filter(|d| !axes.contains(d)).map(|d| first.index[d]);
    let mut outer: SmallVec<[UOp; 4]> = SmallVec::new();
    for u in fixed {
        outer.extend(g.arena.ranges(u).iter().copied());
    }
    let elements: f64 = axes.iter().filter_map(|&d| shape.get(d)).map(|&d| rough(d)).product();
    if outer.iter().any(|&r| !g.is_loop(r)) || !hoisted(g, &outer) || elements * facts.ty(v).dtype.size() as f64 > ROW {
        return None;
    }
    if outer.is_empty() && elements * facts.work(v) >= THREADS {
        return None;
    }
    // Filled by the first loop that uses it, whose ranges are those of its axes.
    let whole = |n: usize| -> Option<u32> {
        let mut seen: SmallVec<[UOp; 4]> = SmallVec::new();
        let mut depth = 0;
        for &d in &axes {
            let r = all[n].index[d];
            let range = matches!(g.arena.op(r), UOpKind::Range(_, AxisKind::Reduce)) && !seen.contains(&r);
            if !range || g.known_extent(*shape.get(d)?) != g.arena.src(r).first().copied() {
                return None;
            }
            depth = depth.max(g.depth_of(r)?);
            seen.push(r);
        }
        Some(depth)
    };
    let fill = (0..all.len()).filter_map(|n| whole(n).map(|depth| (depth, n))).min();
    let (_, n) = fill?;
    Some(Row { value: v, fill: contexts[n], axes })
}
