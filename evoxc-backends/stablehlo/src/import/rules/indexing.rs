//! Gather, scatter and dynamic slices.

use crate::import::attrs::dims;
use crate::import::combiner;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::Op;
use evoxc_core::{Dim, Shape, spec};
use evoxc_ir::{GatherDims, Prim, ScatterDims};
use evoxc_trace::Sym;

pub fn gather<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, indices] = i.operands(op)?;
    let sizes = dims(&i.needed_ints(op, "slice_sizes")?);
    gathered(i, op, x, indices, sizes)
}

/// A gather of slices of these sizes.
pub fn gathered<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, x: Sym, indices: Sym, sizes: Vec<Dim>) -> Done<Vec<Item>> {
    let d = i.record(op, "dimension_numbers")?;
    let dims = GatherDims {
        offset: d.axes(i, op, "offset_dims")?,
        collapsed: d.axes(i, op, "collapsed_slice_dims")?,
        operand_batching: d.axes(i, op, "operand_batching_dims")?,
        indices_batching: d.axes(i, op, "start_indices_batching_dims")?,
        start_map: d.axes(i, op, "start_index_map")?,
        index_vector: d.axis(i, op, "index_vector_dim")?,
    };
    let sorted = i.flag(op, "indices_are_sorted")?;
    Ok(vec![i.emit(op, Prim::Gather { dims, sizes, sorted }, &[x, indices])?.into()])
}

pub fn scatter<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let n = xs.len() / 2;
    if n == 0 || xs.len() != 2 * n + 1 {
        return Err(i.error(op, format!("it takes n operands, indices and n updates; got {} in all", xs.len())));
    }
    let d = i.record(op, "scatter_dimension_numbers")?;
    let dims = ScatterDims {
        update_window: d.axes(i, op, "update_window_dims")?,
        inserted: d.axes(i, op, "inserted_window_dims")?,
        operand_batching: d.axes(i, op, "input_batching_dims")?,
        indices_batching: d.axes(i, op, "scatter_indices_batching_dims")?,
        scatter_map: d.axes(i, op, "scatter_dims_to_operand_dims")?,
        index_vector: d.axis(i, op, "index_vector_dim")?,
    };
    let (sorted, unique) = (i.flag(op, "indices_are_sorted")?, i.flag(op, "unique_indices")?);
    let [region] = op.regions.as_slice() else { return Err(i.error(op, "it has one region")) };
    let mut types = vec![];
    for &x in &xs[..n] {
        types.push(spec(i.dtype(op, x)?, Shape::scalar()));
    }
    if let ([ty], Some(c)) = (types.as_slice(), combiner::of(region))
        && let Some(named) = c.scatter(ty.dtype)
    {
        return Ok(vec![i.emit(op, Prim::Scatter { op: named, dims, sorted, unique }, &xs)?.into()]);
    }
    types.extend(types.clone());
    let (_, body) = i.region(op, region, &types, |_, syms| Some(syms.iter().map(|&s| s.into()).collect()))?;
    let results = i.emit_regions(op, Prim::ScatterBody { dims, sorted, unique }, &xs, vec![body])?;
    Ok(results.into_iter().map(Item::from).collect())
}

/// Starts as scalars of one dtype.
fn starts(i: &Importer, op: &Op, xs: &[Sym]) -> Done<Vec<Sym>> {
    let Some(&first) = xs.first() else { return Ok(vec![]) };
    let dtype = i.dtype(op, first)?;
    xs.iter().map(|&s| i.cast(op, s, dtype)).collect()
}

pub fn dynamic_slice<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let Some((&x, rest)) = xs.split_first() else { return Err(i.error(op, "it takes an operand and its starts")) };
    let sizes = dims(&i.needed_ints(op, "slice_sizes")?);
    let operands: Vec<Sym> = std::iter::once(x).chain(starts(i, op, rest)?).collect();
    Ok(vec![i.emit(op, Prim::DynamicSlice { sizes }, &operands)?.into()])
}

pub fn dynamic_update_slice<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let [x, update, rest @ ..] = xs.as_slice() else {
        return Err(i.error(op, "it takes an operand, an update and its starts"));
    };
    let operands: Vec<Sym> = [*x, *update].into_iter().chain(starts(i, op, rest)?).collect();
    Ok(vec![i.emit(op, Prim::DynamicUpdateSlice {}, &operands)?.into()])
}

/// Rows of an axis by index, the leading axes batched: a gather.
pub fn torch_index_select<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, indices] = i.operands(op)?;
    let (axis, batch) = (i.axis(op, "dim")?, i.axis(op, "batch_dims")?);
    let (shape, index) = (i.shape(op, x)?, i.shape(op, indices)?);
    if axis >= shape.rank() || batch > axis || batch > index.rank() {
        return Err(i.error(op, format!("axis {axis} and {batch} batch axes do not fit its operands")));
    }
    let chosen = index.rank() - batch;
    let rank = shape.rank() - 1 + chosen;
    let dims = GatherDims {
        offset: (batch..axis).chain(axis + chosen..rank).collect(),
        collapsed: vec![axis],
        operand_batching: (0..batch).collect(),
        indices_batching: (0..batch).collect(),
        start_map: vec![axis],
        index_vector: index.rank(),
    };
    let one = |k: usize| k == axis || k < batch;
    let sizes = shape.iter().enumerate().map(|(k, &d)| if one(k) { Dim::constant(1) } else { d }).collect();
    Ok(vec![i.emit(op, Prim::Gather { dims, sizes, sorted: false }, &[x, indices])?.into()])
}
