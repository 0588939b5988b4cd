//! Constants, and ops that move data.

use crate::import::attrs::dims;
use crate::import::fault::Done;
use crate::import::item::{Item, leaves};
use crate::import::known;
use crate::import::walk::Importer;
use crate::syntax::ast::{Attr, Op};
use evoxc_core::Dim;
use evoxc_ir::{Literal, Prim};

pub fn constant<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let Attr::Dense(d) = i.needed(op, "value")? else {
        return Err(i.error(op, "its attribute `value` is no dense constant"));
    };
    let value = i.literal(op, d)?;
    let known = known::of_literal(&value);
    Ok(vec![Item::Tensor(i.emit(op, Prim::Constant { value }, &[])?, known)])
}

/// A constant of one value over a shape.
pub fn splat(value: evoxc_core::Tensor, shape: evoxc_core::Shape) -> Literal {
    if shape.is_empty() { Literal::Dense(value) } else { Literal::Splat(value, shape) }
}

pub fn iota<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let ty = i.static_result(op, 0)?;
    let axis = i.axis(op, "iota_dimension")?;
    Ok(vec![i.emit(op, Prim::Iota { dtype: ty.dtype, shape: ty.shape, axis }, &[])?.into()])
}

pub fn broadcast_in_dim<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let shape = i.static_result(op, 0)?.shape;
    let dims = i.axes(op, "broadcast_dimensions")?;
    Ok(vec![i.emit(op, Prim::BroadcastInDim { shape, dims }, &[x])?.into()])
}

/// New axes of these sizes in front.
pub fn broadcast<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let sizes = i.needed_ints(op, "broadcast_sizes")?;
    let old = i.shape(op, x)?;
    let dims_of = (sizes.len()..sizes.len() + old.rank()).collect();
    let shape = dims(&sizes).into_iter().chain(old.iter().copied()).collect();
    Ok(vec![i.emit(op, Prim::BroadcastInDim { shape, dims: dims_of }, &[x])?.into()])
}

pub fn reshape<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let (_, declared) = i.declared_result(op, 0)?;
    let shape = match super::dynamic::remaining(i.shape(op, x)?.size(), &declared) {
        Some(shape) => shape,
        None => i.static_result(op, 0)?.shape,
    };
    Ok(vec![i.emit(op, Prim::Reshape { shape }, &[x])?.into()])
}

pub fn transpose<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let perm = i.axes(op, "permutation")?;
    Ok(vec![i.emit(op, Prim::Transpose { perm }, &[x])?.into()])
}

pub fn slice<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let start = dims(&i.needed_ints(op, "start_indices")?);
    let limit = dims(&i.needed_ints(op, "limit_indices")?);
    let stride = i.ints(op, "strides")?.unwrap_or_else(|| vec![1; start.len()]);
    Ok(vec![i.emit(op, Prim::Slice { start, limit, stride }, &[x])?.into()])
}

pub fn pad<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<2>(op)?;
    let rank = i.shape(op, xs[0])?.rank();
    let list = |name: &str| -> Done<Vec<i64>> { Ok(i.ints(op, name)?.unwrap_or_else(|| vec![0; rank])) };
    let (low, high): (Vec<Dim>, Vec<Dim>) = (dims(&list("edge_padding_low")?), dims(&list("edge_padding_high")?));
    let interior = list("interior_padding")?;
    Ok(vec![i.emit(op, Prim::Pad { low, high, interior }, &xs)?.into()])
}

pub fn concatenate<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let axis = i.axis(op, "dimension")?;
    Ok(vec![i.emit(op, Prim::Concatenate { axis }, &xs)?.into()])
}

pub fn reverse<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let axes = i.axes(op, "dimensions")?;
    Ok(vec![i.emit(op, Prim::Reverse { axes }, &[x])?.into()])
}

pub fn optimization_barrier<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let items: Vec<Item> = op.operands.iter().map(|&v| i.item(op, v).cloned()).collect::<Done<_>>()?;
    let held = leaves(&items);
    if held.is_empty() {
        return Ok(items);
    }
    let mut results = i.emit_regions(op, Prim::OptimizationBarrier {}, &held, vec![])?.into_iter();
    let rebuilt: Option<Vec<Item>> = items.iter().map(|item| item.rebuild(&mut results)).collect();
    rebuilt.ok_or_else(|| i.error(op, "it gives what it takes"))
}
