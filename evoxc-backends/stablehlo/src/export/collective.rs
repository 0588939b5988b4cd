//! Exchange of values between processes. How replica groups count processes is said by a channel and by
//! `use_global_device_ids`, as in StableHLO's strategies.

use super::Outcome;
use super::convert::cast;
use super::reduction::combine;
use super::text;
use super::writer::{Val, Writer};
use evoxc_core::{DType, OpError, Shape, spec};
use evoxc_ir::{Grouping, Op, Rank, Reducer, ReplicaGroups, TensorType};

/// `channel_handle = …, `, where there is a channel.
fn channel(of: Option<usize>) -> String {
    of.map_or(String::new(), |c| format!("channel_handle = #stablehlo.channel_handle<handle = {c}, type = 0>, "))
}

/// Lists of ids as a matrix, short ones filled with -1; `columns` where there is no list.
fn matrix(lists: &[Vec<usize>], columns: usize) -> String {
    let (rows, columns) = (lists.len(), lists.iter().map(Vec::len).max().unwrap_or(columns));
    let row = |l: &Vec<usize>| {
        let ids = l.iter().map(usize::to_string).chain(std::iter::repeat_n("-1".into(), columns - l.len()));
        text::brackets(ids)
    };
    let first = lists.first().and_then(|l| l.first());
    let uniform = lists.iter().all(|l| l.len() == columns && l.iter().all(|id| Some(id) == first));
    let elements = match first {
        None => String::new(),
        Some(id) if uniform => id.to_string(),
        Some(_) => text::brackets(lists.iter().map(row)),
    };
    format!("dense<{elements}> : tensor<{rows}x{columns}xi64>")
}

fn groups(g: &ReplicaGroups) -> String {
    format!("replica_groups = {}", matrix(&g.ids, 0))
}

/// What the op's form says of how ids count: after the groups where it has the flag, else by the channel alone.
fn flag(g: &ReplicaGroups, has_flag: bool) -> Outcome<&'static str> {
    let wrong = |message: &str| {
        Err(OpError::new("", format!("its groups count by `{}`, {message}", g.by.word()))
            .remedy("give the groups a channel, or count as the op does"))
    };
    if g.by == Grouping::FlattenedIds && g.ids.is_empty() {
        return wrong("and no list stands for all of them, whose number StableHLO wants to know");
    }
    match (g.by, g.channel.is_some(), has_flag) {
        (Grouping::CrossReplica, false, _) => Ok(""),
        (Grouping::CrossPartition, true, false) => Ok(""),
        (Grouping::CrossReplicaAndPartition, true, true) => Ok(""),
        (Grouping::FlattenedIds, true, true) => Ok(", use_global_device_ids"),
        (Grouping::CrossReplica, true, _) => wrong("but it has a channel"),
        (Grouping::CrossPartition, _, true) | (Grouping::CrossPartition, false, false) => {
            wrong("which StableHLO cannot say of it")
        }
        (Grouping::CrossReplicaAndPartition | Grouping::FlattenedIds, ..) => wrong("which StableHLO cannot say of it"),
    }
}

fn scalars(d: DType) -> [TensorType; 2] {
    let t = spec(d, Shape::scalar());
    [t.clone(), t]
}

/// A named combiner as a region.
fn named(w: &mut Writer<'_>, op: Reducer, d: DType) -> Outcome<Vec<Val>> {
    let args = w.block_arguments(&scalars(d));
    let [a, b] = args.as_slice() else { return Err(OpError::new("", "its body takes two values")) };
    Ok(vec![combine(w, op, a, b)?])
}

/// The body of the op as a region; it is written once for every operand.
fn bodied(w: &mut Writer<'_>, o: &Op) -> Outcome<Vec<Val>> {
    w.body_of(o, 0)
}

/// How the reducing ops combine.
#[derive(Clone, Copy)]
pub(super) enum By<'a> {
    /// A named combiner.
    Named(Reducer),
    /// The region of an op.
    Body(&'a Op),
}

impl By<'_> {
    fn write(self, w: &mut Writer<'_>, d: DType) -> Outcome<Vec<Val>> {
        match self {
            By::Named(op) => named(w, op, d),
            By::Body(o) => bodied(w, o),
        }
    }
    /// The dtype that it combines in.
    fn dtype(self, d: DType) -> DType {
        match self {
            By::Named(Reducer::Sum | Reducer::Prod) => d.accumulator(),
            By::Named(_) => d,
            By::Body(_) => d,
        }
    }
}

/// An op of one operand and result for each operand of evoxc's.
fn each(
    w: &mut Writer<'_>,
    xs: &[&Val],
    types: &[TensorType],
    mut write: impl FnMut(&mut Writer<'_>, &Val, &TensorType) -> Outcome<Val>,
) -> Outcome<Vec<Val>> {
    xs.iter().zip(types).map(|(x, ty)| write(w, x, ty)).collect()
}

/// A reduction over processes, of each operand alone.
fn reducing(
    w: &mut Writer<'_>,
    name: &str,
    attributes: &str,
    by: By<'_>,
    xs: &[&Val],
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    each(w, xs, types, |w, x, ty| {
        let d = by.dtype(x.dtype());
        let x = cast(w, x, d);
        let out = w.bodied(name, &[&x], attributes, &[spec(d, &ty.shape)], |w| by.write(w, d))?;
        let sum = out.into_iter().next().ok_or_else(|| OpError::new("", "it has no result"))?;
        Ok(cast(w, &sum, ty.dtype))
    })
}

pub(super) fn all_reduce(
    w: &mut Writer<'_>,
    by: By<'_>,
    g: &ReplicaGroups,
    xs: &[&Val],
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    // Of all processes, in whatever order.
    let all = g.by == Grouping::FlattenedIds && g.ids.is_empty() && matches!(by, By::Named(_));
    let flag = if all && g.channel.is_some() { "" } else { flag(g, true)? };
    let attributes = format!("{}{}{flag}", channel(g.channel), groups(g));
    reducing(w, "all_reduce", &attributes, by, xs, types)
}

pub(super) fn reduce_scatter(
    w: &mut Writer<'_>,
    by: By<'_>,
    axis: usize,
    g: &ReplicaGroups,
    xs: &[&Val],
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    let attributes = format!("{}{}, scatter_dimension = {axis} : i64{}", channel(g.channel), groups(g), flag(g, true)?);
    reducing(w, "reduce_scatter", &attributes, by, xs, types)
}

pub(super) fn all_gather(
    w: &mut Writer<'_>,
    axis: usize,
    g: &ReplicaGroups,
    xs: &[&Val],
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    let attributes = format!("all_gather_dim = {axis} : i64, {}{}{}", channel(g.channel), groups(g), flag(g, true)?);
    each(w, xs, types, |w, x, ty| Ok(w.generic("all_gather", &[x], &attributes, ty.clone())))
}

pub(super) fn all_to_all(
    w: &mut Writer<'_>,
    [split, concat, count]: [usize; 3],
    g: &ReplicaGroups,
    xs: &[&Val],
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    flag(g, false)?;
    let attributes = format!(
        "{}concat_dimension = {concat} : i64, {}, split_count = {count} : i64, split_dimension = {split} : i64",
        channel(g.channel),
        groups(g)
    );
    each(w, xs, types, |w, x, ty| Ok(w.generic("all_to_all", &[x], &attributes, ty.clone())))
}

pub(super) fn permute(
    w: &mut Writer<'_>,
    pairs: &[Vec<usize>],
    of: Option<usize>,
    xs: &[&Val],
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    let attributes = format!("{}source_target_pairs = {}", channel(of), matrix(pairs, 2));
    each(w, xs, types, |w, x, ty| Ok(w.generic("collective_permute", &[x], &attributes, ty.clone())))
}

pub(super) fn broadcast(
    w: &mut Writer<'_>,
    dynamic_root: bool,
    g: &ReplicaGroups,
    xs: &[&Val],
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    if dynamic_root {
        return Err(OpError::new("", "its roots are values of the program, which StableHLO's broadcast does not take")
            .remedy("gather and pick by `all_gather` and `take`, or make the first process the root"));
    }
    flag(g, false)?;
    let attributes = format!("{}{}", channel(g.channel), groups(g));
    each(w, xs, types, |w, x, ty| Ok(w.generic("collective_broadcast", &[x], &attributes, ty.clone())))
}

pub(super) fn rank(w: &mut Writer<'_>, of: Rank, ty: TensorType) -> Outcome<Val> {
    let name = match of {
        Rank::Replica => "replica_id",
        Rank::Partition => "partition_id",
        Rank::Flattened => {
            return Err(OpError::new("", "StableHLO has no flattened number of a process")
                .remedy("compute it from the replica's, the partition's and the number of partitions"));
        }
    };
    Ok(w.op(&format!("stablehlo.{name} : {}", text::ty(&ty)), ty))
}
