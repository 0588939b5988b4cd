//! Types of collectives, and the sanity of their groups. How many processes there are is known only where a program runs,
//! so ops whose result's shape depends on the size of a group carry that size (`count`).

use super::reduction::reducer;
use super::{Check, Cx, Types};
use crate::{Grouping, Reducer, ReplicaGroups, TensorType};
use evoxc_core::{DType, Dim, Shape, spec};
use rustc_hash::FxHashSet;

/// Ids that no list repeats, lists that are not empty, and a channel where ids reach across partitions.
fn groups(cx: &Cx, g: &ReplicaGroups, accepted: &[Grouping]) -> Check {
    if !accepted.contains(&g.by) {
        let words: Vec<_> = accepted.iter().map(|by| by.word()).collect();
        return cx.fail(format!("its groups are {}, it works {}", g.by.word(), words.join(" or ")));
    }
    channel(cx, g.channel)?;
    match (g.by, g.channel) {
        (Grouping::CrossReplica, Some(c)) => {
            return cx.fail_with(
                format!("its groups are cross_replica and have channel {c}"),
                "leave out the channel, or say what the ids count beside replicas",
            );
        }
        (Grouping::CrossReplica, None) | (_, Some(_)) => {}
        (by, None) => {
            return cx.fail_with(format!("its groups are {} without a channel", by.word()), "give it a channel from 1");
        }
    }
    if let Some(i) = g.ids.iter().position(Vec::is_empty) {
        return cx.fail(format!("group {i} is empty"));
    }
    let mut seen = FxHashSet::default();
    match g.ids.iter().flatten().find(|&&id| !seen.insert(id)) {
        Some(id) => cx.fail(format!("`groups` holds id {id} twice")),
        None => Ok(()),
    }
}

fn channel(cx: &Cx, channel: Option<usize>) -> Check {
    if channel == Some(0) { cx.fail_with("channel 0 is none", "leave it out, or count from 1") } else { Ok(()) }
}

const REDUCING: &[Grouping] = &[Grouping::CrossReplica, Grouping::CrossReplicaAndPartition, Grouping::FlattenedIds];
const EXCHANGING: &[Grouping] = &[Grouping::CrossReplica, Grouping::CrossPartition];

/// All groups have `count` processes, as far as that can be told without the number of partitions.
fn sized(cx: &Cx, g: &ReplicaGroups, count: usize) -> Check {
    if count == 0 {
        return cx.fail("`count` is 0, a group has at least one process");
    }
    let partitions = g.by == Grouping::CrossReplicaAndPartition;
    let fits = |n: usize| if partitions { count.is_multiple_of(n) } else { count == n };
    if let Some((i, ids)) = g.ids.iter().enumerate().find(|(_, ids)| !fits(ids.len())) {
        let of = if partitions { "is no multiple of them" } else { "differs" };
        return cx.fail(format!("group {i} has {}, `count` is {count}, which {of}", super::count(ids.len(), "id")));
    }
    match g.ids.iter().position(|ids| g.ids.first().is_some_and(|first| first.len() != ids.len())) {
        Some(i) => cx.fail(format!("group {i} is not as large as group 0")),
        None => Ok(()),
    }
}

fn operands<'a>(cx: &Cx<'a>) -> Check<&'a [&'a TensorType]> {
    if cx.operands.is_empty() { cx.fail("it needs at least one operand") } else { Ok(cx.operands) }
}

fn same(cx: &Cx, xs: &[&TensorType]) -> Check<Types> {
    Ok(xs.iter().map(|t| cx.like(t)).collect())
}

pub(super) fn all_reduce(cx: &Cx, op: Reducer, g: &ReplicaGroups) -> Check<Types> {
    let xs = operands(cx)?;
    groups(cx, g, REDUCING)?;
    xs.iter().try_for_each(|x| reducer(cx, op, x.dtype))?;
    same(cx, xs)
}

pub(super) fn all_reduce_body(cx: &Cx, g: &ReplicaGroups) -> Check<Types> {
    let xs = operands(cx)?;
    groups(cx, g, REDUCING)?;
    body(cx, xs)?;
    same(cx, xs)
}

/// The only region takes two scalars of the dtype that all operands have, and gives one.
fn body(cx: &Cx, xs: &[&TensorType]) -> Check {
    let ([r], [first, rest @ ..]) = (cx.regions()?, xs) else { return cx.fail("it needs at least one operand") };
    for (i, x) in rest.iter().enumerate() {
        cx.same_dtype(("operand 0", first), (&format!("operand {}", i + 1), x))?;
    }
    let scalar = spec(first.dtype, Shape::scalar());
    cx.signature("arguments of `body`", &r.args, [&scalar, &scalar].into_iter())?;
    cx.signature("results of `body`", &r.results, [&scalar].into_iter())
}

/// Every operand with the extent of one axis changed.
fn along(cx: &Cx, xs: &[&TensorType], name: &str, axis: usize, f: impl Fn(Dim) -> Check<Dim>) -> Check<Types> {
    let mut out = Types::new();
    for x in xs {
        cx.axis(name, axis, x.rank())?;
        let mut shape = x.shape.clone();
        if let Some(d) = shape.dims_mut().get_mut(axis) {
            *d = f(*d)?;
        }
        cx.shape("a result", &shape)?;
        out.push(spec(x.dtype, shape));
    }
    Ok(out)
}

/// An extent in `count` equal parts.
fn part(cx: &Cx, name: &str, axis: usize, d: Dim, count: usize) -> Check<Dim> {
    match (d % count).as_i64() {
        Some(0) | None => Ok(d / count),
        Some(_) => cx.fail_with(
            format!("axis {axis} (`{name}`) has size {d}, which {count} parts do not share evenly"),
            "pad the axis to a multiple",
        ),
    }
}

pub(super) fn all_gather(cx: &Cx, axis: usize, count: usize, g: &ReplicaGroups) -> Check<Types> {
    let xs = operands(cx)?;
    groups(cx, g, REDUCING)?;
    sized(cx, g, count)?;
    along(cx, xs, "axis", axis, |d| Ok(d * count))
}

/// `op` is none with a body.
pub(super) fn reduce_scatter(
    cx: &Cx,
    op: Option<Reducer>,
    axis: usize,
    count: usize,
    g: &ReplicaGroups,
) -> Check<Types> {
    let xs = operands(cx)?;
    groups(cx, g, REDUCING)?;
    sized(cx, g, count)?;
    match op {
        Some(op) => xs.iter().try_for_each(|x| reducer(cx, op, x.dtype))?,
        None => body(cx, xs)?,
    }
    along(cx, xs, "axis", axis, |d| part(cx, "axis", axis, d, count))
}

pub(super) fn all_to_all(cx: &Cx, split: usize, concat: usize, count: usize, g: &ReplicaGroups) -> Check<Types> {
    let xs = operands(cx)?;
    groups(cx, g, EXCHANGING)?;
    sized(cx, g, count)?;
    if split == concat {
        return along(cx, xs, "split", split, |d| part(cx, "split", split, d, count).map(|_| d));
    }
    let parts = along(cx, xs, "split", split, |d| part(cx, "split", split, d, count))?;
    let parts: Vec<&TensorType> = parts.iter().collect();
    along(cx, &parts, "concat", concat, |d| Ok(d * count))
}

pub(super) fn permute(cx: &Cx, pairs: &[Vec<usize>], c: Option<usize>) -> Check<Types> {
    let xs = operands(cx)?;
    channel(cx, c)?;
    let (mut sources, mut targets) = (FxHashSet::default(), FxHashSet::default());
    for (i, pair) in pairs.iter().enumerate() {
        let &[source, target] = pair.as_slice() else {
            return cx.fail(format!("entry {i} of `pairs` is no pair of a source and a target"));
        };
        if !sources.insert(source) {
            return cx.fail(format!("`pairs` holds source {source} twice"));
        }
        if !targets.insert(target) {
            return cx.fail(format!("`pairs` holds target {target} twice"));
        }
    }
    same(cx, xs)
}

pub(super) fn broadcast(cx: &Cx, dynamic_root: bool, g: &ReplicaGroups) -> Check<Types> {
    let mut xs = operands(cx)?;
    groups(cx, g, EXCHANGING)?;
    if dynamic_root && let Some((root, data)) = xs.split_last() {
        let want = spec(DType::I32, [data.len()]);
        if data.is_empty() || !super::same(root, &want) {
            return cx.fail(format!("its last operand says the roots and must be {want}, got {root}"));
        }
        xs = data;
    }
    same(cx, xs)
}
