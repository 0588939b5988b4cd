//! Collectives: what a process brings to the others of its group, and what it makes of what they bring.

use crate::kernels::{binary, convert, movement, reduce};
use crate::plan::Step;
use crate::run::{Fault, Tensors};
use crate::world::{Offer, Process};
use evoxc_core::{Buffer, DType, OpError, Result, Tensor};
use evoxc_ir::{Binary, Prim, Rank, Reducer, ReplicaGroups};

/// A body of two scalars.
pub(crate) type Body<'b> = &'b dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>;

/// The number of a process.
pub(crate) fn rank(process: &Process, of: Rank) -> Result<Tensor, OpError> {
    let (_, partitions) = process.grid();
    let n = match of {
        Rank::Replica => process.number / partitions.max(1),
        Rank::Partition => process.number % partitions.max(1),
        Rank::Flattened => process.number,
    };
    let n = u32::try_from(n).map_err(|_| OpError::new("", "the number of the process does not fit u32"))?;
    Ok(Tensor::from(n))
}

/// Runs a collective that exchanges values. `body` is for those with a region.
pub(crate) fn run(process: &Process, step: &Step, operands: Tensors, body: Option<Body>) -> Result<Tensors, Fault> {
    if let Prim::CollectivePermute { pairs, channel } = &step.prim {
        return Ok(permute(process, &step.prim, operands, pairs, *channel)?);
    }
    let groups = step.prim.groups().ok_or_else(|| OpError::new("", "this op has no groups"))?;
    let Some(met) = meet(process, &step.prim, groups, &operands)? else {
        // Only a broadcast leaves processes out.
        return Ok(operands.iter().take(step.types.len()).map(zeros).collect());
    };
    let combine = |xs: Vec<Tensor>| -> Result<Tensor, Fault> {
        let Some(body) = body.as_ref() else { return Err(OpError::new("", "a region is missing").into()) };
        Ok(reduce::across(&xs, &mut |args| body(args))?)
    };
    let mut out = Tensors::new();
    for k in 0..step.types.len() {
        let xs = met.operand(k)?;
        out.push(match &step.prim {
            Prim::AllReduce { op, .. } => named(*op, &xs)?,
            Prim::AllReduceBody { .. } => combine(xs)?,
            Prim::AllGather { axis, count, .. } => {
                met.expect(*count)?;
                gathered(&xs, *axis)?
            }
            Prim::ReduceScatter { op, axis, count, .. } => named(*op, &met.parts(&xs, *axis, *count)?)?,
            Prim::ReduceScatterBody { axis, count, .. } => combine(met.parts(&xs, *axis, *count)?)?,
            Prim::AllToAll { split, concat, count, .. } => gathered(&met.parts(&xs, *split, *count)?, *concat)?,
            Prim::CollectiveBroadcast { dynamic_root, .. } => {
                let root = if *dynamic_root { root(operands.last(), k, xs.len())? } else { 0 };
                xs.into_iter().nth(root).ok_or_else(|| OpError::new("", "the group is empty"))?
            }
            p => return Err(OpError::new(p.name(), "this op is no collective").into()),
        });
    }
    Ok(out)
}

/// What the members of a group brought.
struct Met {
    values: std::sync::Arc<Vec<Vec<Tensor>>>,
    /// The place of this process in the group.
    at: usize,
}

impl Met {
    /// Operand `k` of every member.
    fn operand(&self, k: usize) -> Result<Vec<Tensor>, OpError> {
        let of = |values: &Vec<Tensor>| values.get(k).cloned().ok_or_else(|| OpError::new("", "an operand is missing"));
        self.values.iter().map(of).collect()
    }
    /// The parts of these operands, in `count` along an axis, that this process gets.
    fn parts(&self, xs: &[Tensor], axis: usize, count: usize) -> Result<Vec<Tensor>, OpError> {
        self.expect(count)?;
        xs.iter().map(|x| part(x, axis, count, self.at)).collect()
    }
    fn expect(&self, count: usize) -> Result<(), OpError> {
        if self.values.len() == count {
            return Ok(());
        }
        Err(OpError::new("", format!("its group has {} processes here, `count` is {count}", self.values.len()))
            .remedy("the program was written for another number of replicas or partitions"))
    }
}

/// Meets the group that this process is in; none where a broadcast leaves it out.
fn meet(process: &Process, prim: &Prim, groups: &ReplicaGroups, operands: &[Tensor]) -> Result<Option<Met>, OpError> {
    let (replicas, partitions) = process.grid();
    let all = groups.processes(replicas, partitions).map_err(|m| {
        OpError::new("", m).remedy("run the program on that many replicas and partitions, as with `Replicas`")
    })?;
    let me = process.number;
    let found = all.iter().find_map(|g| g.iter().position(|&p| p == me).map(|at| (g, at)));
    let Some((group, at)) = found else {
        if matches!(prim, Prim::CollectiveBroadcast { .. }) {
            return Ok(None);
        }
        return Err(OpError::new("", format!("process {me} of {replicas} × {partitions} is in none of its groups"))
            .remedy("name every process in the groups"));
    };
    let values = process.meet(group, groups.channel.unwrap_or(0), offer(prim, group, operands.to_vec()))?;
    Ok(Some(Met { values, at }))
}

fn offer(prim: &Prim, group: &[usize], values: Vec<Tensor>) -> Offer {
    Offer { op: format!("{}{:?} of processes {group:?}", prim.name(), prim.attributes()), values }
}

/// All processes that the pairs name meet; those who send bring their values.
fn permute(
    process: &Process,
    prim: &Prim,
    operands: Tensors,
    pairs: &[Vec<usize>],
    channel: Option<usize>,
) -> Result<Tensors, OpError> {
    let mut ids: Vec<usize> = pairs.iter().flatten().copied().collect();
    ids.sort_unstable();
    ids.dedup();
    let groups = match channel {
        None => ReplicaGroups::across_replicas([ids]),
        Some(c) => ReplicaGroups { ids: vec![ids], by: evoxc_ir::Grouping::CrossPartition, channel: Some(c) },
    };
    let (replicas, partitions) = process.grid();
    let none = || operands.iter().map(zeros).collect::<Tensors>();
    if pairs.is_empty() {
        return Ok(none());
    }
    let all = groups.processes(replicas, partitions).map_err(|m| {
        OpError::new("", m.replace("the groups name", "the pairs name"))
            .remedy("run the program on that many replicas and partitions, as with `Replicas`")
    })?;
    let Some(group) = all.iter().find(|g| g.contains(&process.number)) else { return Ok(none()) };
    let values = process.meet(group, channel.unwrap_or(0), offer(prim, group, operands.to_vec()))?;
    let me = if channel.is_some() { process.number % partitions.max(1) } else { process.number / partitions.max(1) };
    let source = pairs.iter().find_map(|pair| match pair.as_slice() {
        &[source, target] if target == me => Some(source),
        _ => None,
    });
    // The group lists the ids in ascending order.
    let at = source.and_then(|s| groups.ids.first()?.binary_search(&s).ok());
    Ok(at.and_then(|at| values.get(at)).map_or_else(none, |v| v.iter().cloned().collect()))
}

fn zeros(x: &Tensor) -> Tensor {
    Tensor::from_parts(Buffer::zeros(x.dtype(), x.len()), x.shape()).unwrap_or_else(|| x.clone())
}

/// Combines in the order of the list.
fn named(op: Reducer, xs: &[Tensor]) -> Result<Tensor, OpError> {
    let combine = match op {
        Reducer::Sum => Binary::Add,
        Reducer::Prod => Binary::Mul,
        Reducer::Max => Binary::Max,
        Reducer::Min => Binary::Min,
        Reducer::And => Binary::And,
        Reducer::Or => Binary::Or,
    };
    let Some((first, rest)) = xs.split_first() else { return Err(OpError::new("", "the group is empty")) };
    let own = first.dtype();
    let wide = matches!(own, DType::F16 | DType::BF16) && matches!(op, Reducer::Sum | Reducer::Prod);
    let load = |x: &Tensor| if wide { convert::convert(x, DType::F32) } else { Ok(x.clone()) };
    let mut sum = load(first)?;
    for x in rest {
        sum = binary::binary(combine, sum, load(x)?)?;
    }
    if wide { convert::convert(&sum, own) } else { Ok(sum) }
}

/// The operands one after the other.
fn gathered(xs: &[Tensor], axis: usize) -> Result<Tensor, OpError> {
    let mut shape = xs.first().map(|x| x.shape().to_vec()).unwrap_or_default();
    if let Some(n) = shape.get_mut(axis) {
        *n = xs.iter().filter_map(|x| x.shape().get(axis)).sum();
    }
    movement::concatenate(xs, axis, &shape)
}

/// Part `at` of `count` equal ones along an axis.
fn part(x: &Tensor, axis: usize, count: usize, at: usize) -> Result<Tensor, OpError> {
    let n = x.shape().get(axis).copied().unwrap_or(0);
    if count == 0 || n % count != 0 {
        return Err(OpError::new("", format!("axis {axis} has size {n}, which {count} parts do not share evenly"))
            .remedy("pad the axis to a multiple"));
    }
    let size = n / count;
    let mut shape = x.shape().to_vec();
    let (mut start, mut limit) = (vec![0; x.rank()], shape.iter().map(|&n| n as i64).collect::<Vec<_>>());
    if let (Some(a), Some(b), Some(n)) = (start.get_mut(axis), limit.get_mut(axis), shape.get_mut(axis)) {
        (*a, *b, *n) = ((at * size) as i64, ((at + 1) * size) as i64, size);
    }
    movement::strided_slice(x.clone(), &start, &limit, &vec![1; x.rank()], &shape)
}

/// Which member of the group sends operand `k`.
fn root(roots: Option<&Tensor>, k: usize, members: usize) -> Result<usize, OpError> {
    let roots = roots.and_then(|t| t.to_vec::<i32>().ok()).unwrap_or_default();
    let root = roots.get(k).copied().ok_or_else(|| OpError::new("", "a root is missing"))?;
    usize::try_from(root).ok().filter(|&r| r < members).ok_or_else(|| {
        OpError::new("", format!("root {k} is {root}, the group has {members} processes, counted from 0"))
    })
}
