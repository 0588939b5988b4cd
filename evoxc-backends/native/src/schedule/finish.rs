//! The last pass over a kernel: indices in normal form, loops that are one, and nothing left over.

use super::build::Built;
use crate::kernel::{BufferDecl, Kernel, ScratchDecl};
use crate::uop::{Arena, Op, UOp, affine, renumbered, simplify_index, simplify_indices, substitute_all};
use evoxc_core::Dim;
use evoxc_ir::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A kernel before this pass.
pub(super) struct Draft {
    pub(super) arena: Arena,
    pub(super) stores: Vec<UOp>,
    pub(super) loops: Vec<UOp>,
    pub(super) buffers: Vec<(Value, BufferDecl)>,
    pub(super) scratch: Vec<ScratchDecl>,
    pub(super) params: Vec<Dim>,
}

/// The kernel of a draft.
pub(super) fn finish(mut d: Draft) -> Built {
    d.stores = simplify_indices(&mut d.arena, &d.stores);
    merge(&mut d);
    renumber(d)
}

/// What is done with the ranges of a kernel.
#[derive(Default)]
struct Uses {
    /// The indices of loads and stores.
    indices: FxHashSet<UOp>,
    /// Ranges that are used otherwise than in indices.
    fixed: FxHashSet<UOp>,
    /// The ranges of each reduction.
    closers: Vec<SmallVec<[UOp; 4]>>,
}

fn uses(arena: &Arena, roots: &[UOp]) -> Uses {
    let mut uses = Uses::default();
    let mut seen: FxHashSet<UOp> = roots.iter().copied().collect();
    let mut todo: Vec<UOp> = roots.to_vec();
    while let Some(u) = todo.pop() {
        let node = arena.get(u);
        let visited: SmallVec<[UOp; 4]> = match node.op {
            Op::Load | Op::Store => {
                uses.indices.insert(node.src[1]);
                node.src.iter().enumerate().filter(|(n, _)| *n != 1).map(|(_, &s)| s).collect()
            }
            Op::Reduce(_) | Op::End => {
                uses.closers.push(node.src[1..].iter().copied().collect());
                node.src[..1].iter().copied().collect()
            }
            Op::Range(..) => {
                uses.fixed.insert(u);
                continue;
            }
            _ => node.src.iter().copied().collect(),
        };
        todo.extend(visited.into_iter().filter(|&s| seen.insert(s)));
    }
    // What an index loads has an index of its own.
    let inside: Vec<UOp> = uses.indices.iter().copied().collect();
    let mut below = vec![];
    for index in inside {
        let mut todo = vec![index];
        let mut known = FxHashSet::default();
        while let Some(u) = todo.pop() {
            if matches!(arena.op(u), Op::Load | Op::Reduce(_) | Op::After) {
                below.push(u);
            } else {
                todo.extend(arena.src(u).iter().copied().filter(|&s| known.insert(s)));
            }
        }
    }
    // Rare: all ranges below count as used otherwise, those that a reduction closes there too.
    let mut known = FxHashSet::default();
    while let Some(u) = below.pop() {
        if matches!(arena.op(u), Op::Range(..)) {
            uses.fixed.insert(u);
        }
        below.extend(arena.src(u).iter().copied().filter(|&s| known.insert(s)));
    }
    uses
}

/// Makes one loop of two next to each other, where the memory that they go over is one run.
fn merge(d: &mut Draft) {
    let uses = uses(&d.arena, &d.stores);
    let mut indices: Vec<UOp> = uses.indices.iter().copied().collect();
    indices.sort_unstable();
    let mut runs: Vec<Vec<UOp>> = vec![d.loops.clone()];
    let mut closed: FxHashSet<UOp> = FxHashSet::default();
    for c in &uses.closers {
        if c.len() > 1 && c.iter().all(|r| closed.insert(*r)) {
            runs.push(c.to_vec());
        }
    }
    let mut replaced: FxHashMap<UOp, UOp> = FxHashMap::default();
    for (which, run) in runs.into_iter().enumerate() {
        // Ranges that several reductions close are one only if all close them side by side.
        let together = |a: UOp, b: UOp| {
            which == 0
                || uses.closers.iter().all(|c| match (c.iter().position(|&r| r == a), c.iter().position(|&r| r == b)) {
                    (Some(p), Some(q)) => p + 1 == q,
                    (p, q) => p == q,
                })
        };
        let mut kept: Vec<UOp> = vec![];
        // From the innermost: (range, its extent now).
        let mut inner: Option<(UOp, UOp)> = None;
        for &outer in run.iter().rev() {
            let Some(&extent) = d.arena.src(outer).first() else { continue };
            if let Some((range, size)) = inner {
                let free = !uses.fixed.contains(&outer) && !uses.fixed.contains(&range);
                let mut fits = free && together(outer, run[run.iter().position(|&r| r == outer).map_or(0, |p| p + 1)]);
                for &index in &indices {
                    if !fits {
                        break;
                    }
                    fits = match (affine(&mut d.arena, index, outer), affine(&mut d.arena, index, range)) {
                        (Some((c, _)), Some((by, _))) => {
                            let step = super::index::mul(&mut d.arena, by, size);
                            c == step || simplify_index(&mut d.arena, step) == c
                        }
                        _ => false,
                    };
                }
                if fits {
                    let all = super::index::mul(&mut d.arena, extent, size);
                    let all = simplify_index(&mut d.arena, all);
                    let zero = d.arena.index(0);
                    replaced.insert(outer, zero);
                    inner = Some((range, all));
                    continue;
                }
                kept.push(close(d, &mut replaced, range, size));
            }
            inner = Some((outer, extent));
        }
        if let Some((range, size)) = inner {
            kept.push(close(d, &mut replaced, range, size));
        }
        if which == 0 {
            kept.reverse();
            d.loops = kept;
        }
    }
    if !replaced.is_empty() {
        d.stores = substitute_all(&mut d.arena, &d.stores, &replaced);
        d.stores = simplify_indices(&mut d.arena, &d.stores);
    }
}

/// The range under its final extent.
fn close(d: &mut Draft, replaced: &mut FxHashMap<UOp, UOp>, range: UOp, size: UOp) -> UOp {
    let node = d.arena.get(range);
    if node.src.first() == Some(&size) {
        return range;
    }
    let (op, ty) = (node.op, node.ty);
    let new = d.arena.node(op, ty, &[size]);
    replaced.insert(range, new);
    new
}

/// Copies what the stores need, and numbers it in the order of its appearance.
fn renumber(d: Draft) -> Built {
    let mut live = vec![false; d.arena.len()];
    let mut todo: Vec<UOp> = d.stores.iter().chain(&d.loops).copied().collect();
    todo.extend(d.scratch.iter().map(|s| s.len));
    for &u in &todo {
        live[u.index()] = true;
    }
    while let Some(u) = todo.pop() {
        for &s in d.arena.src(u) {
            if !std::mem::replace(&mut live[s.index()], true) {
                todo.push(s);
            }
        }
    }
    let mut n = Numbers { map: vec![None; d.arena.len()], ..Numbers::default() };
    // The loops first, so that they have the first numbers; then the rest, sources before what uses them.
    for &l in &d.loops {
        if let Some(&extent) = d.arena.src(l).first() {
            n.copy_tree(&d.arena, extent);
        }
        n.copy(&d.arena, l);
    }
    for (u, _) in d.arena.iter() {
        if live[u.index()] && n.map[u.index()].is_none() {
            n.copy(&d.arena, u);
        }
    }
    let get = |u: &UOp| n.map[u.index()].unwrap_or(*u);
    let stores = d.stores.iter().map(get).collect();
    let loops = d.loops.iter().map(get).collect();
    let scratch = n.scratch.iter().filter_map(|&s| d.scratch.get(s as usize));
    let scratch = scratch.map(|s| ScratchDecl { dtype: s.dtype, len: get(&s.len) }).collect();
    let buffers: Vec<&(Value, BufferDecl)> = n.buffers.iter().filter_map(|&b| d.buffers.get(b as usize)).collect();
    let params: Vec<Dim> = n.params.iter().filter_map(|&p| d.params.get(p as usize)).copied().collect();
    Built {
        buffers: buffers.iter().map(|(v, _)| *v).collect(),
        kernel: Kernel {
            stores,
            loops,
            buffers: buffers.iter().map(|(_, decl)| decl.clone()).collect(),
            scratch,
            params: params.len() as u32,
            uops: n.arena,
        },
        params,
    }
}

#[derive(Default)]
struct Numbers {
    arena: Arena,
    map: Vec<Option<UOp>>,
    buffers: Vec<u32>,
    scratch: Vec<u32>,
    params: Vec<u32>,
    ranges: Vec<u32>,
    /// The new number of each, by the old one, in the same order.
    known: [Vec<Option<u32>>; 4],
}

impl Numbers {
    /// An extent: an expression of a few nodes.
    fn copy_tree(&mut self, from: &Arena, u: UOp) {
        let mut needed = vec![u];
        let mut at = 0;
        while let Some(&u) = needed.get(at) {
            needed.extend(from.src(u));
            at += 1;
        }
        needed.sort_unstable();
        needed.dedup();
        for u in needed {
            if self.map[u.index()].is_none() {
                self.copy(from, u);
            }
        }
    }
    fn copy(&mut self, from: &Arena, u: UOp) {
        let [buffers, scratch, params, ranges] = &mut self.known;
        let node = from.get(u);
        let op = match node.op {
            Op::Buffer(n) => Op::Buffer(renumbered(buffers, &mut self.buffers, n)),
            Op::Scratch(n) => Op::Scratch(renumbered(scratch, &mut self.scratch, n)),
            Op::Param(n) => Op::Param(renumbered(params, &mut self.params, n)),
            Op::Range(n, kind) => Op::Range(renumbered(ranges, &mut self.ranges, n), kind),
            op => op,
        };
        let mut src: SmallVec<[UOp; 4]> = node.src.iter().map(|s| self.map[s.index()].unwrap_or(*s)).collect();
        if matches!(op, Op::Reduce(_) | Op::End) {
            // Ranges that became part of others.
            let arena = &self.arena;
            let mut n = 0;
            src.retain(|s| {
                n += 1;
                n == 1 || matches!(arena.op(*s), Op::Range(..))
            });
        }
        let new = self.arena.node(op, node.ty, &src);
        self.map[u.index()] = Some(new);
    }
}
