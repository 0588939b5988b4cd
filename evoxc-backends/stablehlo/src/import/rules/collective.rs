//! Collectives.

use crate::import::attrs::{Fields, find};
use crate::import::combiner;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::{Attr, Op, Region};
use evoxc_core::{Shape, spec};
use evoxc_ir::{Prim, Rank, Reducer, ReplicaGroups};
use evoxc_trace::Sym;

/// The rows of a matrix of ids.
fn rows<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, name: &str) -> Done<Vec<Vec<i64>>> {
    let a = i.needed(op, name)?;
    if let Attr::Array(rows) = a
        && rows.iter().any(|r| matches!(r, Attr::Array(_)))
    {
        return rows.iter().map(|r| i.to_ints(op, name, r)).collect();
    }
    let flat = i.to_ints(op, name, a)?;
    let width = match a {
        Attr::Dense(d) => d.ty.shape.as_ref().and_then(|s| s.get(1).copied().flatten()),
        _ => None,
    };
    match width.and_then(|w| usize::try_from(w).ok()) {
        Some(0) | None if flat.is_empty() => Ok(vec![]),
        Some(w) if w > 0 => Ok(flat.chunks(w).map(<[i64]>::to_vec).collect()),
        Some(_) | None => Err(i.error(op, format!("its attribute `{name}` is no matrix of ids"))),
    }
}

/// The channel's number, 0 without one.
fn channel<'a>(i: &Importer<'_, 'a>, op: &Op<'a>) -> Done<i64> {
    match find(&op.attrs, "channel_handle").or(find(&op.attrs, "channel_id")) {
        Some(Attr::Record(_, fields) | Attr::Dict(fields)) => {
            let handle = Fields { fields }.get("handle");
            let ints = handle.map(|a| i.to_ints(op, "channel_handle", a)).transpose()?;
            Ok(ints.and_then(|v| v.first().copied()).unwrap_or(0))
        }
        Some(a) => Ok(i.to_ints(op, "channel_handle", a)?.first().copied().unwrap_or(0)),
        None => Ok(0),
    }
}

fn reducing<'a>(i: &Importer<'_, 'a>, op: &Op<'a>) -> Done<ReplicaGroups> {
    let rows = rows(i, op, "replica_groups")?;
    let global = i.flag(op, "use_global_device_ids")?;
    ReplicaGroups::reducing(&rows, channel(i, op)?, global).map_err(|m| i.error(op, m))
}

fn exchanging<'a>(i: &Importer<'_, 'a>, op: &Op<'a>) -> Done<ReplicaGroups> {
    let rows = rows(i, op, "replica_groups")?;
    ReplicaGroups::exchanging(&rows, channel(i, op)?).map_err(|m| i.error(op, m))
}

fn items(results: Vec<Sym>) -> Vec<Item> {
    results.into_iter().map(Item::from).collect()
}

/// The operands' named reduction, or a region for the bodied op.
fn reduction<'m, 'a>(
    i: &mut Importer<'m, 'a>,
    op: &'m Op<'a>,
    xs: &[Sym],
) -> Done<(Option<Reducer>, Vec<evoxc_ir::Region>)> {
    let [region]: &[Region; 1] = op.regions.as_slice().try_into().map_err(|_| i.error(op, "it has one region"))?;
    let Some(&first) = xs.first() else { return Err(i.error(op, "it takes at least one operand")) };
    let dtype = i.dtype(op, first)?;
    if let Some((named, _)) = combiner::of(region).and_then(|c| c.reducer(dtype)) {
        return Ok((Some(named), vec![]));
    }
    let types = [spec(dtype, Shape::scalar()), spec(dtype, Shape::scalar())];
    let (_, body) = i.region(op, region, &types, |_, syms| Some(syms.iter().map(|&s| s.into()).collect()))?;
    Ok((None, vec![body]))
}

pub fn all_reduce<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let groups = reducing(i, op)?;
    let (named, body) = reduction(i, op, &xs)?;
    let prim = match named {
        Some(op) => Prim::AllReduce { op, groups },
        None => Prim::AllReduceBody { groups },
    };
    Ok(items(i.emit_regions(op, prim, &xs, body)?))
}

/// The sum over replicas.
pub fn cross_replica_sum<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let rows = rows(i, op, "replica_groups")?;
    let groups = ReplicaGroups::reducing(&rows, 0, false).map_err(|m| i.error(op, m))?;
    Ok(items(i.emit_regions(op, Prim::AllReduce { op: Reducer::Sum, groups }, &xs, vec![])?))
}

/// How many times longer an axis is in one type than in the other: the number of processes in a group.
fn processes(i: &Importer, op: &Op, x: Sym, axis: usize, gathered: bool) -> Done<usize> {
    let (_, result) = i.declared_result(op, 0)?;
    let shape = i.shape(op, x)?;
    let sizes = shape.get(axis).and_then(|d| d.as_i64()).zip(result.get(axis).copied().flatten());
    let Some((from, to)) = sizes else { return Err(i.error(op, format!("axis {axis} has no static size"))) };
    let (more, less) = if gathered { (to, from) } else { (from, to) };
    match usize::try_from(more.checked_div(less).unwrap_or(1)) {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(i.error(op, format!("axis {axis} has size {from} before and {to} after"))),
    }
}

pub fn all_gather<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let axis = i.axis(op, "all_gather_dim")?;
    let Some(&first) = xs.first() else { return Err(i.error(op, "it takes at least one operand")) };
    let count = processes(i, op, first, axis, true)?;
    let prim = Prim::AllGather { axis, count, groups: reducing(i, op)? };
    Ok(items(i.emit_regions(op, prim, &xs, vec![])?))
}

pub fn reduce_scatter<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let axis = i.axis(op, "scatter_dimension")?;
    let Some(&first) = xs.first() else { return Err(i.error(op, "it takes at least one operand")) };
    let count = processes(i, op, first, axis, false)?;
    let groups = reducing(i, op)?;
    let (named, body) = reduction(i, op, &xs)?;
    let prim = match named {
        Some(op) => Prim::ReduceScatter { op, axis, count, groups },
        None => Prim::ReduceScatterBody { axis, count, groups },
    };
    Ok(items(i.emit_regions(op, prim, &xs, body)?))
}

pub fn all_to_all<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let prim = Prim::AllToAll {
        split: i.axis(op, "split_dimension")?,
        concat: i.axis(op, "concat_dimension")?,
        count: i.axis(op, "split_count")?,
        groups: exchanging(i, op)?,
    };
    Ok(items(i.emit_regions(op, prim, &xs, vec![])?))
}

pub fn collective_permute<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let pairs = rows(i, op, "source_target_pairs")?;
    let pairs = pairs.into_iter().map(|p| i.to_axes(op, "source_target_pairs", p)).collect::<Done<_>>()?;
    let channel = usize::try_from(channel(i, op)?).ok().filter(|&c| c > 0);
    Ok(items(i.emit_regions(op, Prim::CollectivePermute { pairs, channel }, &xs, vec![])?))
}

pub fn collective_broadcast<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let groups = exchanging(i, op)?;
    // A root that is computed is one more operand.
    let dynamic_root = i.flag(op, "has_dynamic_root")? || xs.len() == op.results.len() + 1;
    Ok(items(i.emit_regions(op, Prim::CollectiveBroadcast { dynamic_root, groups }, &xs, vec![])?))
}

pub fn partition_id<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    Ok(vec![i.emit(op, Prim::RankIndex { of: Rank::Partition }, &[])?.into()])
}

pub fn replica_id<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    Ok(vec![i.emit(op, Prim::RankIndex { of: Rank::Replica }, &[])?.into()])
}
