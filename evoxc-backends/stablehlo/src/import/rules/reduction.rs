//! Reductions, windows, and the gradient of pooling. Named combiners become the named ops.

use crate::import::attrs::dims;
use crate::import::combiner;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::{Op, Region, Type, Value};
use evoxc_core::{DType, Dim, Shape, spec};
use evoxc_ir::{Binary, Padding, Prim, Reducer, Window};
use evoxc_trace::Sym;

/// The only region of an op.
fn only<'m, 'a>(i: &Importer<'m, 'a>, op: &'m Op<'a>) -> Done<&'m Region<'a>> {
    match op.regions.as_slice() {
        [one] => Ok(one),
        all => Err(i.error(op, format!("it has one region, not {}", all.len()))),
    }
}

/// Operands and their initial values, both of the dtypes that the body takes (which may be wider).
fn halves(i: &Importer, op: &Op, region: &Region) -> Done<(Vec<Sym>, Vec<Sym>)> {
    let mut xs = i.tensors(op)?;
    let n = xs.len() / 2;
    if n == 0 || xs.len() != 2 * n {
        return Err(i.error(op, format!("it takes n operands and n initial values; got {} in all", xs.len())));
    }
    let mut inits = xs.split_off(n);
    for ((x, init), &v) in xs.iter_mut().zip(&mut inits).zip(&region.args) {
        let dtype = body_dtype(i, op, v)?;
        *x = i.cast(op, *x, dtype)?;
        *init = i.cast(op, *init, dtype)?;
    }
    Ok((xs, inits))
}

fn body_dtype(i: &Importer, op: &Op, v: Value) -> Done<DType> {
    match i.value_type(v) {
        Some(Type::Tensor(t)) => i.element(op, &t.element),
        _ => Err(i.error(op, "its region takes scalars")),
    }
}

/// The body as a region of the graph on (accumulated..., element...).
fn body<'m, 'a>(i: &mut Importer<'m, 'a>, op: &Op, region: &'m Region<'a>, xs: &[Sym]) -> Done<evoxc_ir::Region> {
    let mut types = vec![];
    for &x in xs {
        types.push(spec(i.dtype(op, x)?, Shape::scalar()));
    }
    types.extend(types.clone());
    Ok(i.region(op, region, &types, |_, syms| Some(syms.iter().map(|&s| s.into()).collect()))?.1)
}

/// A named reduction's result, combined with the initial value unless that is its identity.
fn started(i: &mut Importer, op: &Op, y: Sym, init: Sym, named: Reducer, combine: Binary) -> Done<Sym> {
    if combiner::is_identity(init, named) {
        i.records.absorbed.push(init);
        return Ok(y);
    }
    let shape = i.shape(op, y)?;
    let start = i.repeat(op, init, &shape)?;
    i.emit(op, Prim::Binary(combine), &[start, y])
}

pub fn reduce<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let region = only(i, op)?;
    let (xs, inits) = halves(i, op, region)?;
    let axes = i.axes(op, "dimensions")?;
    if let (&[x], &[init], Some(c)) = (xs.as_slice(), inits.as_slice(), combiner::of(region))
        && let Some((named, combine)) = c.reducer(i.dtype(op, x)?)
    {
        let y = i.emit(op, Prim::Reduce { op: named, axes }, &[x])?;
        return Ok(vec![started(i, op, y, init, named, combine)?.into()]);
    }
    let region = body(i, op, region, &xs)?;
    let operands: Vec<Sym> = xs.into_iter().chain(inits).collect();
    let results = i.emit_regions(op, Prim::ReduceBody { axes }, &operands, vec![region])?;
    Ok(results.into_iter().map(Item::from).collect())
}

/// The window of an op: sizes must be there, all else has a default.
fn window<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, rank: usize) -> Done<Window> {
    let size = i.ints(op, "window_dimensions")?.unwrap_or_else(|| vec![1; rank]);
    let n = size.len();
    let list = |name: &str| -> Done<Vec<i64>> { Ok(i.ints(op, name)?.unwrap_or_else(|| vec![1; n])) };
    let plain = Window::new(dims(&size));
    let padding = match i.ints(op, "padding")? {
        Some(flat) => {
            flat.chunks_exact(2).map(|p| Padding { low: Dim::constant(p[0]), high: Dim::constant(p[1]) }).collect()
        }
        None => plain.padding.clone(),
    };
    Ok(Window {
        stride: list("window_strides")?,
        padding,
        base_dilation: list("base_dilations")?,
        window_dilation: list("window_dilations")?,
        ..plain
    })
}

pub fn reduce_window<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let region = only(i, op)?;
    let (xs, inits) = halves(i, op, region)?;
    let rank = match xs.first() {
        Some(&x) => i.shape(op, x)?.rank(),
        None => 0,
    };
    let window = window(i, op, rank)?;
    windows(i, op, region, xs, inits, window)
}

/// A reduction of these windows.
pub fn windows<'m, 'a>(
    i: &mut Importer<'m, 'a>,
    op: &Op,
    region: &'m Region<'a>,
    xs: Vec<Sym>,
    inits: Vec<Sym>,
    window: Window,
) -> Done<Vec<Item>> {
    if let (&[x], &[init], Some(c)) = (xs.as_slice(), inits.as_slice(), combiner::of(region))
        && let Some((named, combine)) = c.reducer(i.dtype(op, x)?)
    {
        // Padding counts as the initial value: only where it may be combined any number of times can it come after.
        let idempotent = match named {
            Reducer::Max | Reducer::Min | Reducer::And | Reducer::Or => true,
            Reducer::Sum | Reducer::Prod => false,
        };
        if idempotent || combiner::is_identity(init, named) {
            let y = i.emit(op, Prim::ReduceWindow { op: named, window }, &[x])?;
            return Ok(vec![started(i, op, y, init, named, combine)?.into()]);
        }
    }
    let region = body(i, op, region, &xs)?;
    let operands: Vec<Sym> = xs.into_iter().chain(inits).collect();
    let results = i.emit_regions(op, Prim::ReduceWindowBody { window }, &operands, vec![region])?;
    Ok(results.into_iter().map(Item::from).collect())
}

pub fn select_and_scatter<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, source, init] = i.operands(op)?;
    let [select, scatter] = op.regions.as_slice() else { return Err(i.error(op, "it has two regions")) };
    let window = window(i, op, i.shape(op, x)?.rank())?;
    let adds = combiner::of(scatter) == Some(combiner::Combiner::Op(Binary::Add));
    if let (Some(select), true) = (combiner::select(select), adds && combiner::is_identity(init, Reducer::Sum))
        && !i.dtype(op, x)?.is_complex()
        && !i.dtype(op, x)?.is_bool()
    {
        i.records.absorbed.push(init);
        return Ok(vec![i.emit(op, Prim::SelectAndScatter { select, window }, &[x, source])?.into()]);
    }
    let scalar = spec(i.dtype(op, x)?, Shape::scalar());
    let types = [scalar.clone(), scalar];
    let bind = |_: &mut Importer<'m, 'a>, syms: &[Sym]| Some(syms.iter().map(|&s| s.into()).collect());
    let (_, chosen) = i.region(op, select, &types, bind)?;
    let (_, added) = i.region(op, scatter, &types, bind)?;
    let prim = Prim::SelectAndScatterBody { window };
    let results = i.emit_regions(op, prim, &[x, source, init], vec![chosen, added])?;
    Ok(results.into_iter().map(Item::from).collect())
}
