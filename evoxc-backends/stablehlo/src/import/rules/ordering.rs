//! Sorts. A comparator that compares keys becomes a sort by them.

use crate::import::comparator;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::Op;
use evoxc_core::{DType, Dim, Scalar, Shape, spec};
use evoxc_ir::{Binary, Prim, SortKeys};
use evoxc_trace::Sym;

pub fn sort<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let [region] = op.regions.as_slice() else { return Err(i.error(op, "it has one region")) };
    let Some(&first) = xs.first() else { return Err(i.error(op, "it takes at least one operand")) };
    let rank = i.shape(op, first)?.rank();
    let axis = match i.ints(op, "dimension")?.as_deref() {
        None => rank.saturating_sub(1),
        Some(&[d]) => {
            // A negative axis counts from the end.
            let axis = if d < 0 { d + rank as i64 } else { d };
            usize::try_from(axis).map_err(|_| i.error(op, format!("axis {d} is out of range for rank {rank}")))?
        }
        Some(_) => return Err(i.error(op, "its attribute `dimension` is one number")),
    };
    let stable = i.flag(op, "is_stable")?;
    if let Some(keys) = comparator::keys(i, region)
        && let Some(order) = keys_first(&keys, xs.len())
        && real(i, op, &keys, &xs)?
    {
        let moved: Vec<Sym> = order.iter().filter_map(|&k| xs.get(k).copied()).collect();
        let prim = Prim::Sort { axis, keys: SortKeys(keys.iter().map(|(_, descends)| *descends).collect()), stable };
        let sorted = i.emit_regions(op, prim, &moved, vec![])?;
        let mut results: Vec<(usize, Sym)> = order.into_iter().zip(sorted).collect();
        results.sort_by_key(|(k, _)| *k);
        return Ok(results.into_iter().map(|(_, s)| s.into()).collect());
    }
    let mut types = vec![];
    for &x in &xs {
        let scalar = spec(i.dtype(op, x)?, Shape::scalar());
        types.extend([scalar.clone(), scalar]);
    }
    let (_, body) = i.region(op, region, &types, |_, syms| Some(syms.iter().map(|&s| s.into()).collect()))?;
    let results = i.emit_regions(op, Prim::SortBody { axis, stable }, &xs, vec![body])?;
    Ok(results.into_iter().map(Item::from).collect())
}

pub fn top_k<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let k = Dim::constant(i.axis(op, "k")? as i64);
    largest(i, op, x, k)
}

/// The operands in the order of a sort by keys: these first; `None` where a key is no operand.
fn keys_first(keys: &[(usize, bool)], n: usize) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = keys.iter().map(|(k, _)| *k).collect();
    order.extend((0..n).filter(|k| !keys.iter().any(|(j, _)| j == k)));
    (order.len() == n).then_some(order)
}

/// Complex numbers are no keys.
fn real(i: &Importer, op: &Op, keys: &[(usize, bool)], xs: &[Sym]) -> Done<bool> {
    for (k, _) in keys {
        match xs.get(*k) {
            Some(&x) if !i.dtype(op, x)?.is_complex() => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The `k` largest elements of the last axis and their indices, of the dtype that the text declares.
pub fn largest<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, x: Sym, k: Dim) -> Done<Vec<Item>> {
    // Floats are in total order here: NaN with its sign set is the smallest. Integers that compare so say where.
    let key = if i.dtype(op, x)?.is_float() { total_order_key(i, op, x)? } else { x };
    let results = i.emit_regions(op, Prim::TopK { k }, &[key], vec![])?;
    let &[values, indices] = results.as_slice() else { return Err(i.error(op, "it gives two results")) };
    let values = if key.spec() == x.spec() { values } else { i.sound(op, x.take_along_axis(indices, -1))? };
    let dtype = if op.results.len() == 2 { i.declared_result(op, 1)?.0 } else { DType::I32 };
    Ok(vec![values.into(), i.cast(op, indices, dtype)?.into()])
}

/// Signed integers that compare as floats do in total order.
fn total_order_key(i: &Importer, op: &Op, x: Sym) -> Done<Sym> {
    let (float, ty) = (i.dtype(op, x)?, i.ty(op, x)?);
    let dtype = match float.bits() {
        16 => DType::I16,
        32 => DType::I32,
        _ => DType::I64,
    };
    let bits = i.emit(op, Prim::BitcastConvert { dtype }, &[x])?;
    // Of negative numbers all bits but the sign are turned over.
    let all_but_sign = match dtype {
        DType::I16 => i128::from(i16::MAX),
        DType::I32 => i128::from(i32::MAX),
        _ => i128::from(i64::MAX),
    };
    let mask = evoxc_trace::full(dtype, &ty.shape, Scalar::Int(all_but_sign));
    let turned = i.emit(op, Prim::Binary(Binary::Xor), &[bits, mask])?;
    i.sound(op, bits.lt(0).select(turned, bits))
}
