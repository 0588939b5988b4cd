//! Ops whose shapes are operands: these become extents where they are known, and errors where data decides them.

use super::contraction;
use super::indexing;
use crate::import::fault::{Done, Fault};
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::{Op, Value};
use evoxc_core::{DType, Dim, Shape, Unsupported};
use evoxc_ir::{Padding, Prim};
use evoxc_trace::Sym;

/// The shape of so many elements of which all extents but one (or none) are given.
pub fn remaining(size: Dim, declared: &[Option<i64>]) -> Option<Shape> {
    let mut missing = declared.iter().filter(|d| d.is_none());
    let rest = declared.iter().flatten().fold(Dim::constant(1), |n, &d| n * d);
    let last = match (missing.next(), missing.next()) {
        (Some(_), None) if rest != 0 => size / rest,
        _ => return None,
    };
    (!last.is_poison()).then(|| declared.iter().map(|d| d.map_or(last, Dim::constant)).collect())
}

impl<'m, 'a> Importer<'m, 'a> {
    fn depends(&self, op: &Op, what: &str) -> Box<Fault> {
        let m = format!("{what} is computed from data, not from constants and extents");
        self.unsupported(op, Unsupported::DataDependentShape, m, "export the program for static or symbolic shapes")
    }
    /// The elements of a shape operand, whose symbols become extents.
    pub fn extents(&mut self, op: &Op, v: Option<&Value>, what: &str) -> Done<Vec<Dim>> {
        let Some(known) = v.and_then(|&v| self.known(v)) else { return Err(self.depends(op, what)) };
        let mut symbols = vec![];
        known.iter().for_each(|d| d.symbols(&mut symbols));
        self.used.extend(symbols);
        Ok(known.to_vec())
    }
    /// A shape operand, or what the text declares where it is not known.
    fn target(&mut self, op: &Op, v: Option<&Value>, what: &str) -> Done<Shape> {
        let (_, declared) = self.declared_result(op, 0)?;
        match self.extents(op, v, what) {
            Ok(dims) => Ok(dims.into_iter().collect()),
            Err(e) => declared.into_iter().map(|d| d.map(Dim::constant)).collect::<Option<Shape>>().ok_or(e),
        }
    }
    /// A shape operand whose elements are constants.
    fn constants(&mut self, op: &Op, v: Option<&Value>, what: &str) -> Done<Vec<i64>> {
        let dims = self.extents(op, v, what)?;
        let all: Option<Vec<i64>> = dims.iter().map(|d| d.as_i64()).collect();
        all.ok_or_else(|| self.depends(op, what))
    }
}

pub fn get_dimension_size<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let axis = i.axis(op, "dimension")?;
    let shape = i.shape(op, x)?;
    let Some(&extent) = shape.get(axis) else {
        return Err(i.error(op, format!("axis {axis} is out of range for rank {}", shape.rank())));
    };
    let size = i.emit(op, Prim::DimSize { extent, dtype: DType::I32 }, &[])?;
    Ok(vec![Item::Tensor(size, Some(vec![extent].into()))])
}

/// Cuts an axis to a size that is known; that of the axis itself changes nothing.
pub fn set_dimension_size<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<2>(op)?;
    let axis = i.axis(op, "dimension")?;
    let size = i.extents(op, op.operands.get(1), "the size of an axis")?;
    let shape = i.shape(op, xs[0])?;
    let (Some(&size), Some(&now)) = (size.first(), shape.get(axis)) else {
        return Err(i.error(op, format!("axis {axis} is out of range for rank {}", shape.rank())));
    };
    if size == now {
        return Ok(vec![xs[0].into()]);
    }
    let start = vec![Dim::constant(0); shape.rank()];
    let mut limit: Vec<Dim> = shape.to_vec();
    if let Some(l) = limit.get_mut(axis) {
        *l = size;
    }
    let stride = vec![1; shape.rank()];
    Ok(vec![i.emit(op, Prim::Slice { start, limit, stride }, &xs[..1])?.into()])
}

pub fn dynamic_reshape<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, _] = i.operands(op)?;
    let (_, declared) = i.declared_result(op, 0)?;
    let from = i.shape(op, x)?;
    let shape = match i.target(op, op.operands.get(1), "the shape of the result") {
        Ok(shape) => shape,
        Err(e) => remaining(from.size(), &declared).ok_or(e)?,
    };
    if shape == from {
        return Ok(vec![x.into()]);
    }
    Ok(vec![i.emit(op, Prim::Reshape { shape }, &[x])?.into()])
}

pub fn dynamic_broadcast_in_dim<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, _] = i.operands(op)?;
    let shape = i.target(op, op.operands.get(1), "the shape of the result")?;
    let dims = i.axes(op, "broadcast_dimensions")?;
    Ok(vec![i.emit(op, Prim::BroadcastInDim { shape, dims }, &[x])?.into()])
}

pub fn dynamic_iota<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let shape = i.target(op, op.operands.first(), "the shape of the result")?;
    let (dtype, _) = i.declared_result(op, 0)?;
    let axis = i.axis(op, "iota_dimension")?;
    Ok(vec![i.emit(op, Prim::Iota { dtype, shape, axis }, &[])?.into()])
}

pub fn dynamic_pad<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, value, ..] = i.operands::<5>(op)?;
    let low = i.extents(op, op.operands.get(2), "the padding")?;
    let high = i.extents(op, op.operands.get(3), "the padding")?;
    let gaps = i.extents(op, op.operands.get(4), "the padding")?;
    let mut x = x;
    for (axis, &gap) in gaps.iter().enumerate().filter(|(_, gap)| !gap.is_const()) {
        x = spread(i, op, x, value, axis, gap)?;
    }
    let interior = gaps.iter().map(|gap| gap.as_i64().unwrap_or(0)).collect();
    Ok(vec![i.emit(op, Prim::Pad { low, high, interior }, &[x, value])?.into()])
}

impl Importer<'_, '_> {
    /// The sizes of a slice whose limit is its start and known sizes, added.
    fn summed(&self, op: &Op) -> Option<Vec<Dim>> {
        let (start, limit) = (op.operands.get(1)?, op.operands.get(2)?);
        let sum = self.defined(*limit).filter(|op| op.name.ends_with(".add"))?;
        let &[a, b] = sum.operands.as_slice() else { return None };
        let size = if a == *start { b } else { a };
        (a == *start || b == *start).then(|| self.known(size))?.map(|k| k.to_vec())
    }
}

/// Gaps of a symbolic size between the elements of an axis: behind each one, but for the last.
fn spread(i: &Importer, op: &Op, x: Sym, value: Sym, axis: usize, gap: Dim) -> Done<Sym> {
    let old = i.shape(op, x)?;
    let Some(&n) = old.get(axis) else { return Err(i.error(op, "its padding has more entries than its operand axes")) };
    let with = |parts: &[Dim]| -> Shape {
        let (before, after) = (old.iter().take(axis), old.iter().skip(axis + 1));
        before.chain(parts).chain(after).copied().collect()
    };
    let split = i.emit(op, Prim::Reshape { shape: with(&[n, Dim::constant(1)]) }, &[x])?;
    let none = vec![Dim::constant(0); old.rank() + 1];
    let mut high = none.clone();
    if let Some(h) = high.get_mut(axis + 1) {
        *h = gap;
    }
    let padded = i.emit(op, Prim::Pad { low: none, high, interior: vec![0; old.rank() + 1] }, &[split, value])?;
    let whole = i.emit(op, Prim::Reshape { shape: with(&[n * (gap + 1)]) }, &[padded])?;
    let (start, stride) = (vec![Dim::constant(0); old.rank()], vec![1; old.rank()]);
    let limit = with(&[n * (gap + 1) - gap]).to_vec();
    i.emit(op, Prim::Slice { start, limit, stride }, &[whole])
}

/// A slice of bounds that are known; or of a size that is known, at starts that data decide.
pub fn real_dynamic_slice<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, starts, ..] = i.operands::<4>(op)?;
    let stride = i.constants(op, op.operands.get(3), "the stride of a slice")?;
    let (_, declared) = i.declared_result(op, 0)?;
    let known = |at: usize| op.operands.get(at).and_then(|&v| i.known(v)).filter(|k| k.len() == declared.len());
    let bounds = known(1).zip(known(2));
    let plain = stride.iter().all(|&s| s == 1);
    let sizes: Option<Vec<Dim>> = match &bounds {
        Some((start, limit)) => Some(limit.iter().zip(start.iter()).map(|(&l, &s)| l - s).collect()),
        None => declared
            .iter()
            .map(|d| d.map(Dim::constant))
            .collect::<Option<_>>()
            .or_else(|| i.summed(op).filter(|s| s.len() == declared.len())),
    };
    // Starts with a symbol that the sizes lack are data: an index, not an extent.
    let mut extents = vec![];
    sizes.iter().flatten().for_each(|d| d.symbols(&mut extents));
    let shape = i.shape(op, x)?;
    shape.iter().for_each(|d| d.symbols(&mut extents));
    let is_data = |start: &Dim| {
        let mut symbols = vec![];
        start.symbols(&mut symbols);
        symbols.iter().any(|s| !extents.contains(s))
    };
    if let Some((start, limit)) = &bounds
        && !(plain && start.iter().any(is_data))
    {
        i.extents(op, op.operands.get(1), "the start of a slice")?;
        i.extents(op, op.operands.get(2), "the end of a slice")?;
        let prim = Prim::Slice { start: start.to_vec(), limit: limit.to_vec(), stride };
        return Ok(vec![i.emit(op, prim, &[x])?.into()]);
    }
    match sizes {
        Some(sizes) if plain => {
            let mut symbols = vec![];
            sizes.iter().for_each(|d| d.symbols(&mut symbols));
            i.used.extend(symbols);
            let mut operands = vec![x];
            for k in 0..sizes.len() as i64 {
                let (start, limit) = (vec![Dim::constant(k)], vec![Dim::constant(k + 1)]);
                let one = i.emit(op, Prim::Slice { start, limit, stride: vec![1] }, &[starts])?;
                operands.push(i.emit(op, Prim::Reshape { shape: Shape::scalar() }, &[one])?);
            }
            Ok(vec![i.emit(op, Prim::DynamicSlice { sizes }, &operands)?.into()])
        }
        Some(_) | None => Err(i.depends(op, "a bound of the slice")),
    }
}

pub fn dynamic_gather<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, indices, _] = i.operands(op)?;
    let sizes = i.extents(op, op.operands.get(2), "the size of a slice")?;
    indexing::gathered(i, op, x, indices, sizes)
}

pub fn dynamic_conv<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, kernel, _] = i.operands(op)?;
    let flat = i.extents(op, op.operands.get(2), "the padding")?;
    let padding = flat.chunks_exact(2).map(|p| Padding { low: p[0], high: p[1] }).collect();
    contraction::convolved(i, op, x, kernel, padding)
}
