//! The cost model: is a value computed again wherever it is used, or kept in memory?
//!
//! All figures are rough times in nanoseconds on one core. They decide between programs that compute the same.

use super::expand::{Known, depths};
use super::facts::Facts;
use super::group::{At, Group, elements};
use crate::uop::UOp;
use evoxc_ir::{Op, Value};
use smallvec::SmallVec;

/// One instruction for one element, in vectors.
const ARITHMETIC: f64 = 0.06;
/// A kernel more.
const KERNEL: f64 = 300.0;
/// Bytes that stay in a cache.
const CACHE: f64 = 4e6;
/// A byte in a cache, and in memory.
const NEAR: f64 = 0.025;
const FAR: f64 = 0.1;
/// Work that is worth more than one thread.
const THREADS: f64 = 65536.0;

/// What is done with a value.
#[derive(Debug)]
pub(super) enum Choice {
    /// It is computed where it is used.
    Fuse,
    /// It is kept, for a reason to tell people.
    Keep(String),
}

/// The choice for a value that a kernel can compute, and that kernels use at those contexts.
pub(super) fn choose(op: &Op, v: Value, facts: &Facts, uses: &[(&Group, usize, At)]) -> Choice {
    let ty = facts.ty(v);
    let (size, work) = (elements(&ty.shape).max(1.0), facts.work(v));
    if work == 0.0 {
        return Choice::Fuse;
    }
    let reduces = depths(&op.prim) > 0;
    let (mut times, mut kernels) = (0.0, SmallVec::<[usize; 4]>::new());
    for &(g, n, at) in uses {
        let ranges = g.ranges_of(at);
        let mut evaluations = g.iterations(&ranges);
        if reduces {
            let outer = loops(g, &ranges);
            if !fits(g, &outer) {
                // It would be done anew for every element.
                let others = g.index.iter().filter(|r| g.is_loop(**r) && !ranges.contains(r));
                let others: SmallVec<[UOp; 4]> = others.copied().collect();
                evaluations *= g.iterations(&others);
            }
            // Every thread would do all of it.
            if outer.is_empty() && work * size >= THREADS && elements(&g.shape) >= 4096.0 {
                return Choice::Keep("a reduction of all, that every thread would repeat".into());
            }
        }
        times += evaluations;
        if !kernels.contains(&n) {
            kernels.push(n);
        }
    }
    let again = (times - size).max(0.0) * work * ARITHMETIC;
    let bytes = size * ty.dtype.size() as f64;
    let byte = if bytes > CACHE { FAR } else { NEAR };
    let keeping = KERNEL + bytes * byte * (1.0 + kernels.len() as f64);
    if again <= keeping {
        Choice::Fuse
    } else {
        Choice::Keep(format!("computed {:.0} times else, for {:.1} us", times / size, again / 1e3))
    }
}

/// The ranges over elements of outputs.
fn loops(g: &Group, ranges: &[UOp]) -> SmallVec<[UOp; 4]> {
    ranges.iter().copied().filter(|&r| g.is_loop(r)).collect()
}

/// Can the loops be in an order in which a reduction over these, and all those before, is done once?
fn fits(g: &Group, outer: &[UOp]) -> bool {
    let part = |a: &[UOp], b: &[UOp]| a.iter().all(|r| b.contains(r));
    g.nest.iter().all(|set| part(set, outer) || part(outer, set))
}

/// A reduction is part of the kernel: the loops that it depends on come first.
pub(super) fn nest(g: &mut Group, at: At) {
    let outer = loops(g, &g.ranges_of(at));
    if !outer.is_empty() && fits(g, &outer) && !g.nest.contains(&outer) {
        let at = g.nest.iter().position(|set| set.len() > outer.len()).unwrap_or(g.nest.len());
        g.nest.insert(at, outer);
    }
}
