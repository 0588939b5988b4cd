//! Collectives: values that processes exchange while they run.
//!
//! A program may run as a grid of *replicas* (of the program) and *partitions* (of one replica); each of these processes
//! runs it on values of its own, and the functions here connect them. Who works together are [`ReplicaGroups`]. A
//! grid is simulated in one process of the operating system: by the interpreter (`Replicas`), or by compiled programs
//! (`Native::replicas`); a program that runs alone is the only partition of the only replica.
//!
//! ```
//! use evoxc::Replicas;
//! use evoxc::dist::{self, ReplicaGroups};
//! use evoxc::ir::Reducer;
//! use evoxc::prelude::*;
//!
//! /// Loss and gradient of a shard, averaged over two replicas.
//! #[defn]
//! fn step(w: Sym, x: Sym) -> (Sym, Sym) {
//!     let (loss, slope) = value_and_grad(|w: Sym| (x * w).square().mean(..)).call(w);
//!     let both = ReplicaGroups::across_replicas([[0, 1]]);
//!     let (loss, slope) = dist::all_reduce((loss, slope), Reducer::Sum, &both);
//!     (loss / 2, slope / 2)
//! }
//!
//! # fn main() -> evoxc::Result<()> {
//! let graph = trace(step, (spec(F32, []), spec(F32, [2])))?;
//! let grid = Replicas::new(&[vec![graph.module()], vec![graph.module()]])?;
//! let shard = |x: [f32; 2]| vec![Tensor::from(1f32), Tensor::from(x)];
//! let results = grid.run(vec![shard([1.0, 2.0]), shard([3.0, 4.0])])?;
//! // The mean of 1, 4, 9, 16; twice that.
//! assert_eq!(results[0][0].item::<f32>()?, 7.5);
//! assert_eq!(results[1][1].item::<f32>()?, 15.0);
//! # Ok(())
//! # }
//! ```
//!
//! All processes of a group must run the same collectives on the same types in the same order. So collectives are never
//! removed, merged or reordered, even where nothing uses what they give; and where control flow depends on values that
//! differ between processes, no branch or loop body may hold one. When they do not meet, that is an error.
//!
//! **Derivatives** are those of the map from what all processes hold to what all get: the cotangent of an operand is that
//! of the sum of the results of *all* processes. So `all_reduce` of a sum gives back the sum of the cotangents over the
//! group, as `psum` of JAX does under `pmap`, and a loss that every one of n processes computes alike counts n times:
//! divide by n, or take the gradient before the exchange, as above.

use crate::{Sym, axes, builder};
use evoxc_core::{AxisInt, Shape, Tree, TreeDef, spec};
use evoxc_ir::{Prim, Reducer};

#[doc(inline)]
pub use evoxc_ir::{Grouping, Rank, ReplicaGroups};

/// The op on all leaves at once; `more` is an operand that gives no result.
#[track_caller]
fn exchange<T: Tree<Sym>>(prim: Prim, tree: T, more: Option<Sym>) -> T {
    let (leaves, def) = TreeDef::flatten(tree);
    let operands: Vec<Sym> = leaves.iter().copied().chain(more).collect();
    rebuilt(&def, leaves.len(), builder::emit_regions(prim, &operands, vec![]))
}

/// The op with a body of two scalars on all leaves at once.
#[track_caller]
fn bodied<T: Tree<Sym>>(prim: Prim, tree: T, body: impl FnOnce(Sym, Sym) -> Sym) -> T {
    let (leaves, def) = TreeDef::flatten(tree);
    let name = prim.name();
    let scalar = leaves.first().and_then(|s| s.ty()).map(|t| spec(t.dtype, Shape::scalar()));
    let region = match scalar {
        Some(t) => {
            let args = builder::open_region(&[t.clone(), t]);
            let result = match args.as_slice() {
                &[a, b] => body(a, b),
                _ => Sym::POISON,
            };
            builder::close_region(&name, &[result])
        }
        None => None,
    };
    let results = match region {
        Some(r) => builder::emit_regions(prim, &leaves, vec![r]),
        None => None,
    };
    rebuilt(&def, leaves.len(), results)
}

#[track_caller]
fn rebuilt<T: Tree<Sym>>(def: &TreeDef, leaves: usize, results: Option<smallvec::SmallVec<[Sym; 1]>>) -> T {
    let results = results.map_or_else(|| vec![Sym::POISON; leaves], |r| r.to_vec());
    match def.unflatten(results) {
        Ok(t) => t,
        Err(e) => {
            builder::fail("tree", &[], e.to_string(), None);
            builder::abort()
        }
    }
}

/// An axis of the leaves, counted from the end of the first if it is negative.
#[track_caller]
fn axis_of<T: Tree<Sym>>(op: &str, tree: T, axis: impl AxisInt) -> (T, Option<usize>) {
    let (leaves, def) = TreeDef::flatten(tree);
    // Without leaves the op itself says what is wrong.
    let axis = leaves.first().map_or(Some(0), |&x| axes::one(op, x, axis.axis()));
    (rebuilt(&def, leaves.len(), Some(leaves.into())), axis)
}

/// Reduces every leaf element by element over the processes of a group; all of them get the result.
///
/// ```
/// use evoxc::dist::{self, ReplicaGroups};
/// use evoxc::ir::Reducer;
/// use evoxc::prelude::*;
/// let total = |x: Sym| dist::all_reduce(x, Reducer::Sum, &ReplicaGroups::everyone());
/// // Alone, a process is a group of one.
/// assert_eq!(evaluate(total, Tensor::from(2f32), &Interp)?.item::<f32>()?, 2.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// Recorded in the trace: groups that name a process twice or lack their channel, a dtype that the reducer does not take.
#[track_caller]
pub fn all_reduce<T: Tree<Sym>>(tree: T, op: Reducer, groups: &ReplicaGroups) -> T {
    exchange(Prim::AllReduce { op, groups: groups.clone() }, tree, None)
}

/// [`all_reduce`] with any `body` of two scalars, `(what is combined, the next)`; all leaves have one dtype. It has no
/// derivative.
///
/// ```
/// use evoxc::dist::{self, ReplicaGroups};
/// use evoxc::prelude::*;
/// use evoxc::Replicas;
/// let groups = ReplicaGroups::across_replicas([[0, 1]]);
/// let hypot = |x: Sym| dist::all_reduce_with(x, &groups, |a, b| (a * a + b * b).sqrt());
/// let g = trace(hypot, spec(F64, []))?;
/// let out = Replicas::new(&[vec![g.module()], vec![g.module()]])?
///     .run(vec![vec![Tensor::from(3.0)], vec![Tensor::from(4.0)]])?;
/// assert_eq!(out[1][0].item::<f64>()?, 5.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn all_reduce_with<T: Tree<Sym>>(tree: T, groups: &ReplicaGroups, body: impl FnOnce(Sym, Sym) -> Sym) -> T {
    bodied(Prim::AllReduceBody { groups: groups.clone() }, tree, body)
}

/// The leaves of the `count` processes of a group one after the other along `axis`, in the order of the group.
///
/// ```
/// use evoxc::dist::{self, ReplicaGroups};
/// use evoxc::prelude::*;
/// let f = |x: Sym| dist::all_gather(x, -1, 4, &ReplicaGroups::across_replicas([[0, 1, 2, 3]]));
/// assert_eq!(trace(f, spec(F32, (dim("B"), 3)))?.output_specs(), [spec(F32, (dim("B"), 12))]);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// Recorded in the trace: as of [`all_reduce`]; an axis out of range; groups of another size than `count`.
#[track_caller]
pub fn all_gather<T: Tree<Sym>>(tree: T, axis: impl AxisInt, count: usize, groups: &ReplicaGroups) -> T {
    match axis_of("all_gather", tree, axis) {
        (tree, Some(axis)) => exchange(Prim::AllGather { axis, count, groups: groups.clone() }, tree, None),
        (tree, None) => poisoned(tree),
    }
}

/// [`all_reduce`], of which each of the `count` processes of a group keeps one of as many equal parts along `axis`: the
/// first process the first.
///
/// ```
/// use evoxc::dist::{self, ReplicaGroups};
/// use evoxc::{ir::Reducer, prelude::*, Replicas};
/// let groups = ReplicaGroups::across_replicas([[0, 1]]);
/// let g = trace(|x: Sym| dist::reduce_scatter(x, Reducer::Sum, 0, 2, &groups), spec(I32, [2]))?;
/// let out = Replicas::new(&[vec![g.module()], vec![g.module()]])?
///     .run(vec![vec![Tensor::from([1, 2])], vec![Tensor::from([10, 20])]])?;
/// assert_eq!((out[0][0].to_vec::<i32>()?, out[1][0].to_vec::<i32>()?), (vec![11], vec![22]));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// Recorded in the trace: as of [`all_gather`]; an extent that is no multiple of `count`.
#[track_caller]
pub fn reduce_scatter<T: Tree<Sym>>(
    tree: T,
    op: Reducer,
    axis: impl AxisInt,
    count: usize,
    groups: &ReplicaGroups,
) -> T {
    match axis_of("reduce_scatter", tree, axis) {
        (tree, Some(axis)) => exchange(Prim::ReduceScatter { op, axis, count, groups: groups.clone() }, tree, None),
        (tree, None) => poisoned(tree),
    }
}

/// [`reduce_scatter`] with any `body` of two scalars, as in [`all_reduce_with`].
#[track_caller]
pub fn reduce_scatter_with<T: Tree<Sym>>(
    tree: T,
    axis: impl AxisInt,
    count: usize,
    groups: &ReplicaGroups,
    body: impl FnOnce(Sym, Sym) -> Sym,
) -> T {
    match axis_of("reduce_scatter", tree, axis) {
        (tree, Some(axis)) => bodied(Prim::ReduceScatterBody { axis, count, groups: groups.clone() }, tree, body),
        (tree, None) => poisoned(tree),
    }
}

/// Splits every leaf into `count` equal parts along the axis `split`, sends the i-th to the i-th process of the group,
/// and puts what it gets one after the other along `concat`. Groups are across replicas, or across partitions.
///
/// ```
/// use evoxc::dist::{self, ReplicaGroups};
/// use evoxc::{prelude::*, Replicas};
/// let groups = ReplicaGroups::across_replicas([[0, 1]]);
/// let g = trace(|x: Sym| dist::all_to_all(x, 0, 0, 2, &groups), spec(I32, [2]))?;
/// let out = Replicas::new(&[vec![g.module()], vec![g.module()]])?
///     .run(vec![vec![Tensor::from([1, 2])], vec![Tensor::from([3, 4])]])?;
/// assert_eq!((out[0][0].to_vec::<i32>()?, out[1][0].to_vec::<i32>()?), (vec![1, 3], vec![2, 4]));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// Recorded in the trace: as of [`reduce_scatter`]; groups of another kind.
#[track_caller]
pub fn all_to_all<T: Tree<Sym>>(
    tree: T,
    split: impl AxisInt,
    concat: impl AxisInt,
    count: usize,
    groups: &ReplicaGroups,
) -> T {
    let (tree, split) = axis_of("all_to_all", tree, split);
    match (split, axis_of("all_to_all", tree, concat)) {
        (Some(split), (tree, Some(concat))) => {
            exchange(Prim::AllToAll { split, concat, count, groups: groups.clone() }, tree, None)
        }
        (_, (tree, _)) => poisoned(tree),
    }
}

/// What the process sends that `pairs` of (source, target) name as the source of this one; zeros where none does. The
/// ids are those of replicas, or of partitions if there is a channel (from 1).
///
/// ```
/// use evoxc::{dist, prelude::*, Replicas};
/// let g = trace(|x: Sym| dist::collective_permute(x, [(0, 1)], None), spec(I32, []))?;
/// let out = Replicas::new(&[vec![g.module()], vec![g.module()]])?
///     .run(vec![vec![Tensor::from(7)], vec![Tensor::from(8)]])?;
/// assert_eq!((out[0][0].item::<i32>()?, out[1][0].item::<i32>()?), (0, 7));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// Recorded in the trace: a source or a target that two pairs name.
#[track_caller]
pub fn collective_permute<T: Tree<Sym>>(
    tree: T,
    pairs: impl IntoIterator<Item = (usize, usize)>,
    channel: Option<usize>,
) -> T {
    let pairs = pairs.into_iter().map(|(source, target)| vec![source, target]).collect();
    exchange(Prim::CollectivePermute { pairs, channel }, tree, None)
}

/// The leaves of the first process of the group; zeros outside of all groups, which are across replicas or across
/// partitions.
///
/// ```
/// use evoxc::dist::{self, ReplicaGroups};
/// use evoxc::{prelude::*, Replicas};
/// let groups = ReplicaGroups::across_replicas([[1, 0]]);
/// let g = trace(|x: Sym| dist::collective_broadcast(x, &groups), spec(I32, []))?;
/// let out = Replicas::new(&[vec![g.module()], vec![g.module()]])?
///     .run(vec![vec![Tensor::from(7)], vec![Tensor::from(8)]])?;
/// assert_eq!((out[0][0].item::<i32>()?, out[1][0].item::<i32>()?), (8, 8));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn collective_broadcast<T: Tree<Sym>>(tree: T, groups: &ReplicaGroups) -> T {
    exchange(Prim::CollectiveBroadcast { dynamic_root: false, groups: groups.clone() }, tree, None)
}

/// [`collective_broadcast`] where `roots`, an i32 vector with an entry a leaf, says which process of the group sends it.
#[track_caller]
pub fn collective_broadcast_from<T: Tree<Sym>>(tree: T, roots: Sym, groups: &ReplicaGroups) -> T {
    exchange(Prim::CollectiveBroadcast { dynamic_root: true, groups: groups.clone() }, tree, Some(roots))
}

/// The number of this process, a u32 scalar: of its replica, its partition, or of both (replica * partitions +
/// partition).
///
/// ```
/// use evoxc::dist::{self, Rank};
/// use evoxc::{prelude::*, Replicas};
/// let g = trace(|| dist::rank_index(Rank::Flattened), ())?;
/// let out = Replicas::new(&[vec![g.module(); 2], vec![g.module(); 2]])?.run(vec![vec![]; 4])?;
/// assert_eq!(out[3][0].item::<u32>()?, 3); // replica 1, partition 1
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn rank_index(of: Rank) -> Sym {
    builder::emit(Prim::RankIndex { of }, &[])
}

/// A tree of poisoned values of this structure; an error has been recorded.
#[track_caller]
fn poisoned<T: Tree<Sym>>(tree: T) -> T {
    let (leaves, def) = TreeDef::flatten(tree);
    rebuilt(&def, leaves.len(), None)
}
