//! Control flow, calls, tuples and tokens.

use crate::import::attrs::text;
use crate::import::fault::Done;
use crate::import::item::{Item, leaves};
use crate::import::walk::Importer;
use crate::syntax::ast::{Op, Region};
use evoxc_core::{DType, Dim, Shape, TensorSpec, spec};
use evoxc_ir::Prim;
use evoxc_trace::Sym;

fn all<'m, 'a>(i: &Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    op.operands.iter().map(|&v| i.item(op, v).cloned()).collect()
}

/// The items with new tensors.
fn rebuilt(i: &Importer, op: &Op, like: &[Item], syms: Vec<Sym>) -> Done<Vec<Item>> {
    let mut syms = syms.into_iter();
    let items: Option<Vec<Item>> = like.iter().map(|item| item.rebuild(&mut syms)).collect();
    items.ok_or_else(|| i.error(op, "its results are not those of its regions"))
}

fn types(i: &Importer, op: &Op, syms: &[Sym]) -> Done<Vec<TensorSpec>> {
    syms.iter().map(|&s| i.ty(op, s)).collect()
}

pub fn while_loop<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let init = all(i, op)?;
    let [cond, body] = op.regions.as_slice() else { return Err(i.error(op, "it has two regions: cond and body")) };
    let mut syms = leaves(&init);
    let own = syms.len();
    let probes = i.probes_in(op, body, &mut syms)?;
    let state = types(i, op, &syms)?;
    let items = |new: &[Sym]| {
        let mut new = new.iter().copied();
        init.iter().map(|item| item.rebuild(&mut new)).collect()
    };
    let (_, test) = i.region(op, cond, &state, |_, new| items(new))?;
    let (next, step) = i.region(op, body, &state, |i, new| {
        i.watch(&probes, new.get(own..)?);
        items(new)
    })?;
    for (s, want) in leaves(&next).into_iter().zip(&state) {
        let got = i.shape(op, s)?;
        i.unify_shapes(op, &got, &want.shape)?;
    }
    let results = i.emit_regions(op, Prim::WhileLoop {}, &syms, vec![test, step])?;
    i.watched(op, &probes, results.get(own..).unwrap_or_default())?;
    rebuilt(i, op, &init, results)
}

/// Branches without arguments, which give the same types.
fn branches<'m, 'a>(
    i: &mut Importer<'m, 'a>,
    op: &Op,
    regions: &'m [Region<'a>],
) -> Done<(Vec<Item>, Vec<evoxc_ir::Region>)> {
    let mut first: Option<Vec<Item>> = None;
    let mut out = vec![];
    for region in regions {
        let (items, closed) = i.region(op, region, &[], |_, _| Some(vec![]))?;
        if let Some(first) = &first {
            for (a, b) in leaves(first).into_iter().zip(leaves(&items)) {
                let (a, b) = (i.shape(op, a)?, i.shape(op, b)?);
                i.unify_shapes(op, &a, &b)?;
            }
        }
        first.get_or_insert(items);
        out.push(closed);
    }
    match first {
        Some(items) => Ok((items, out)),
        None => Err(i.error(op, "it has no branches")),
    }
}

pub fn cond<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [pred] = i.operands(op)?;
    let (like, regions) = branches(i, op, &op.regions)?;
    let results = i.emit_regions(op, Prim::Cond {}, &[pred], regions)?;
    rebuilt(i, op, &like, results)
}

pub fn case<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [index] = i.operands(op)?;
    let index = i.cast(op, index, DType::I32)?;
    let (like, regions) = branches(i, op, &op.regions)?;
    let results = i.emit_regions(op, Prim::Switch {}, &[index], regions)?;
    rebuilt(i, op, &like, results)
}

/// `chlo.scan`: the inputs' slices along an axis, then the carry; gives the stacked outputs, then the last carry.
pub fn scan<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let operands = i.tensors(op)?;
    let [region] = op.regions.as_slice() else { return Err(i.error(op, "it has one region")) };
    let axis = i.axis_or(op, "dimension", i.axis_or(op, "scan_dimension", 0)?)?;
    let reverse = i.flag(op, "is_reverse")?;
    if region.args.len() != operands.len() {
        return Err(i.error(op, format!("its region takes {} arguments, not {}", operands.len(), region.args.len())));
    }
    // What a slice loses an axis of is an input; the carry has the types of the region's arguments.
    let mut inputs = 0;
    for (&x, &v) in operands.iter().zip(&region.args) {
        let (_, slice) = i.declared(op, v)?;
        if i.shape(op, x)?.rank() != slice.len() + 1 {
            break;
        }
        inputs += 1;
    }
    let (xs, carry) = operands.split_at(inputs);
    let to_front = |x: Sym| -> Done<Sym> {
        let rank = i.shape(op, x)?.rank();
        if axis >= rank {
            return Err(i.error(op, format!("axis {axis} is out of range for rank {rank}")));
        }
        let perm: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|&a| a != axis)).collect();
        if axis == 0 { Ok(x) } else { i.emit(op, Prim::Transpose { perm }, &[x]) }
    };
    let fronts: Vec<Sym> = xs.iter().map(|&x| to_front(x)).collect::<Done<_>>()?;
    let Some(&first) = fronts.first() else { return Err(i.error(op, "it scans at least one input")) };
    let length = i.shape(op, first)?.first().copied().unwrap_or(Dim::constant(0));
    let mut args = types(i, op, carry)?;
    for &x in &fronts {
        let t = i.ty(op, x)?;
        args.push(spec(t.dtype, t.shape.iter().skip(1).copied().collect::<Shape>()));
    }
    let n = carry.len();
    let (given, body) = i.region(op, region, &args, |_, syms| {
        let (carry, slices) = syms.split_at_checked(n)?;
        Some(slices.iter().chain(carry).map(|&s| s.into()).collect())
    })?;
    let outputs = leaves(&given).len().saturating_sub(n);
    let mut body = body;
    // Here the carry comes first.
    body.results.rotate_left(outputs);
    let all: Vec<Sym> = carry.iter().copied().chain(fronts).collect();
    let results = i.emit_regions(op, Prim::Scan { carry: n, length, reverse }, &all, vec![body])?;
    let (last, ys) = results.split_at(n.min(results.len()));
    let back = |y: Sym| -> Done<Item> {
        let rank = i.shape(op, y)?.rank();
        let perm: Vec<usize> = (1..=axis).chain(std::iter::once(0)).chain(axis + 1..rank).collect();
        Ok(if axis == 0 { y.into() } else { i.emit(op, Prim::Transpose { perm }, &[y])?.into() })
    };
    let stacked: Vec<Item> = ys.iter().map(|&y| back(y)).collect::<Done<_>>()?;
    Ok(stacked.into_iter().chain(last.iter().map(|&s| s.into())).collect())
}

pub fn call<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let args = all(i, op)?;
    let name = i.word(op, "callee")?;
    i.call(op, name, args)
}

/// A composite is what its decomposition computes.
pub fn composite<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let args = all(i, op)?;
    let Some(name) = text(i.needed(op, "decomposition")?) else {
        return Err(i.error(op, "its attribute `decomposition` names a function"));
    };
    i.call(op, name, args)
}

pub fn tuple<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    Ok(vec![Item::Tuple(all(i, op)?.into())])
}

pub fn get_tuple_element<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let items = all(i, op)?;
    let at = i.axis(op, "index")?;
    match items.as_slice() {
        [Item::Tuple(parts)] => match parts.get(at) {
            Some(part) => Ok(vec![part.clone()]),
            None => Err(i.error(op, format!("the tuple has {} elements, none at {at}", parts.len()))),
        },
        _ => Err(i.error(op, "it takes one tuple")),
    }
}

/// Tokens order what has effects, which is in the order of the text anyway.
pub fn token<'m, 'a>(_: &mut Importer<'m, 'a>, _: &'m Op<'a>) -> Done<Vec<Item>> {
    Ok(vec![Item::Token])
}
