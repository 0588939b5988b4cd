//! Element-wise ops with attributes, conversions, and `map`.

use crate::import::combiner;
use crate::import::fault::Done;
use crate::import::item::{Item, leaves};
use crate::import::walk::Importer;
use crate::syntax::ast::Op;
use evoxc_core::{DType, Shape, Unsupported, spec};
use evoxc_ir::{Binary, Prim, Reducer, SortOrder, Unary};
use evoxc_trace::Sym;

impl<'m, 'a> Importer<'m, 'a> {
    /// In the body of `map`, where some operands stand for all elements, the others repeated as often.
    pub fn lifted<const N: usize>(&self, op: &Op, xs: [Sym; N]) -> Done<[Sym; N]> {
        let Some(shape) = self.frames.last().and_then(|f| f.lift.clone()) else { return Ok(xs) };
        let mut out = xs;
        if shape.is_empty() {
            return Ok(out);
        }
        let mut scalar = [false; N];
        for (s, x) in scalar.iter_mut().zip(xs) {
            *s = self.shape(op, x)?.is_empty();
        }
        if scalar.iter().all(|s| *s) {
            return Ok(out);
        }
        for (x, scalar) in out.iter_mut().zip(scalar) {
            if scalar {
                *x = self.repeat(op, *x, &shape)?;
            }
        }
        Ok(out)
    }
    /// A scalar repeated over a shape.
    pub fn repeat(&self, op: &Op, x: Sym, shape: &Shape) -> Done<Sym> {
        if shape.is_empty() {
            return Ok(x);
        }
        self.emit(op, Prim::BroadcastInDim { shape: shape.clone(), dims: vec![] }, &[x])
    }
    /// As another dtype; no op where it is the same.
    pub fn cast(&self, op: &Op, x: Sym, dtype: DType) -> Done<Sym> {
        if self.dtype(op, x)? == dtype { Ok(x) } else { self.emit(op, Prim::Convert { dtype }, &[x]) }
    }
}

pub fn compare<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<2>(op)?;
    let xs = i.lifted(op, xs)?;
    Ok(vec![comparison(i, op, xs)?.into()])
}

/// The comparison that the attributes of an op say.
pub fn comparison(i: &Importer, op: &Op, xs: [Sym; 2]) -> Done<Sym> {
    let Some((direction, total)) = combiner::direction(op) else {
        return Err(i.error(op, "its attribute `comparison_direction` is none of EQ, NE, GE, GT, LE, LT"));
    };
    let order = if total { SortOrder::Total } else { SortOrder::Ieee };
    i.emit(op, Prim::Compare { direction, order }, &xs)
}

pub fn select<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<3>(op)?;
    let xs = i.lifted(op, xs)?;
    Ok(vec![i.emit(op, Prim::Select {}, &xs)?.into()])
}

pub fn clamp<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<3>(op)?;
    let xs = i.lifted(op, xs)?;
    Ok(vec![i.emit(op, Prim::Clamp {}, &xs)?.into()])
}

pub fn convert<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let (dtype, _) = i.declared_result(op, 0)?;
    let from = i.dtype(op, x)?;
    // Of a complex number the real part is converted, to a bool as well.
    let x = if from.is_complex() && dtype.is_bool() { i.emit(op, Prim::Unary(Unary::Real), &[x])? } else { x };
    Ok(vec![i.cast(op, x, dtype)?.into()])
}

pub fn bitcast_convert<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let (dtype, _) = i.declared_result(op, 0)?;
    let from = i.dtype(op, x)?;
    if from == dtype {
        return Ok(vec![x.into()]);
    }
    if dtype.is_bool() {
        return Ok(vec![to_bits(i, op, x)?.into()]);
    }
    if from.is_bool() {
        return Ok(vec![from_bits(i, op, x, dtype)?.into()]);
    }
    Ok(vec![i.emit(op, Prim::BitcastConvert { dtype }, &[x])?.into()])
}

/// The unsigned dtype of a number's width.
fn word(i: &Importer, op: &Op, dtype: DType) -> Done<DType> {
    match dtype.bits() {
        8 => Ok(DType::U8),
        16 => Ok(DType::U16),
        32 => Ok(DType::U32),
        64 if !dtype.is_complex() => Ok(DType::U64),
        _ => {
            let m = format!("the bits of {dtype} have no integer of their width");
            Err(i.unsupported(op, Unsupported::Op, m, "take the real and the imaginary part"))
        }
    }
}

/// The bits of every number along a new last axis, the lowest first.
fn to_bits(i: &Importer, op: &Op, x: Sym) -> Done<Sym> {
    let ty = i.ty(op, x)?;
    let dtype = word(i, op, ty.dtype)?;
    let x = if ty.dtype == dtype { x } else { i.emit(op, Prim::BitcastConvert { dtype }, &[x])? };
    let mut shape = ty.shape.clone();
    shape.push(dtype.bits());
    let many = i.emit(op, Prim::BroadcastInDim { shape: shape.clone(), dims: (0..ty.rank()).collect() }, &[x])?;
    let at = i.emit(op, Prim::Iota { dtype, shape: shape.clone(), axis: ty.rank() }, &[])?;
    let moved = i.emit(op, Prim::Binary(Binary::ShiftRightLogical), &[many, at])?;
    let one = i.sound(op, evoxc_trace::ones(dtype, &shape))?;
    let bit = i.emit(op, Prim::Binary(Binary::And), &[moved, one])?;
    i.cast(op, bit, DType::BOOL)
}

/// Numbers of the bits along the last axis, the lowest first.
fn from_bits(i: &Importer, op: &Op, x: Sym, to: DType) -> Done<Sym> {
    let ty = i.ty(op, x)?;
    let dtype = word(i, op, to)?;
    let Some(axis) = ty.rank().checked_sub(1).filter(|&a| ty.shape.get(a).is_some_and(|d| *d == to.bits())) else {
        return Err(i.error(op, format!("{} bits make one {to}, so the last axis must have that size", to.bits())));
    };
    let bits = i.cast(op, x, dtype)?;
    let at = i.emit(op, Prim::Iota { dtype, shape: ty.shape.clone(), axis }, &[])?;
    let moved = i.emit(op, Prim::Binary(Binary::ShiftLeft), &[bits, at])?;
    let whole = i.emit(op, Prim::Reduce { op: Reducer::Or, axes: vec![axis] }, &[moved])?;
    if to == dtype { Ok(whole) } else { i.emit(op, Prim::BitcastConvert { dtype: to }, &[whole]) }
}

pub fn reduce_precision<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let bits = |name: &str| {
        u32::try_from(i.axis(op, name)?).map_err(|_| i.error(op, format!("its attribute `{name}` is too large")))
    };
    let (exponent_bits, mantissa_bits) = (bits("exponent_bits")?, bits("mantissa_bits")?);
    Ok(vec![i.emit(op, Prim::ReducePrecision { exponent_bits, mantissa_bits }, &[x])?.into()])
}

/// Of complex numbers -i log((x + iy) / sqrt(x² + y²)), as the specification defines it.
pub fn atan2<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<2>(op)?;
    let [y, x] = i.lifted(op, xs)?;
    let ty = i.ty(op, y)?;
    if !ty.dtype.is_complex() {
        return Ok(vec![i.emit(op, Prim::Binary(Binary::Atan2), &[y, x])?.into()]);
    }
    let zero = evoxc_trace::zeros(ty.dtype.real(), &ty.shape);
    let one = evoxc_trace::ones(ty.dtype.real(), &ty.shape);
    let unit = i.emit(op, Prim::Binary(Binary::Complex), &[zero, one])?;
    let angle = ((x + unit * y) / (x * x + y * y).sqrt()).log();
    Ok(vec![i.sound(op, -(unit * angle))?.into()])
}

/// `map` of element-wise ops is these ops on whole tensors; of others, a scan over the elements.
pub fn map<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let [region] = op.regions.as_slice() else { return Err(i.error(op, "it has one region")) };
    let Some(&first) = xs.first() else { return Err(i.error(op, "it takes at least one operand")) };
    let shape = i.shape(op, first)?;
    if region.args.len() != xs.len() {
        return Err(i.error(op, format!("its region takes {} arguments, not {}", xs.len(), region.args.len())));
    }
    for &x in &xs {
        let other = i.shape(op, x)?;
        i.unify_shapes(op, &shape, &other)?;
        if other != shape {
            return Err(i.error(op, "its operands have different shapes"));
        }
    }
    let elementwise = |name: &str| {
        use crate::import::table::{Rule, rule};
        matches!(rule(name), Some(Rule::Unary(_) | Rule::Binary(_)))
            || matches!(
                name.split_once('.').map(|n| n.1),
                Some("constant" | "compare" | "select" | "clamp" | "convert" | "reduce_precision" | "return" | "atan2")
            )
    };
    let ops = region.ops.len();
    if region.ops.iter().all(|op| elementwise(&op.name)) && ops > 0 {
        let before = match i.frames.last_mut() {
            Some(f) => f.lift.replace(shape.clone()),
            None => None,
        };
        for (&v, &x) in region.args.iter().zip(&xs) {
            i.define(op, v, x.into())?;
        }
        let results = i.body(region, op)?;
        if let Some(f) = i.frames.last_mut() {
            f.lift = before;
        }
        let [Item::Tensor(y, _)] = results.as_slice() else { return Err(i.error(op, "its region gives one tensor")) };
        let y = if i.shape(op, *y)?.is_empty() { i.repeat(op, *y, &shape)? } else { *y };
        return Ok(vec![y.into()]);
    }
    let n = shape.size();
    let flat = |x: Sym| i.emit(op, Prim::Reshape { shape: [n].into_iter().collect() }, &[x]);
    let flattened: Vec<Sym> = xs.iter().map(|&x| flat(x)).collect::<Done<_>>()?;
    let mut types = vec![];
    for &x in &xs {
        types.push(spec(i.dtype(op, x)?, Shape::scalar()));
    }
    let (_, body) = i.region(op, region, &types, |_, syms| Some(syms.iter().map(|&s| s.into()).collect()))?;
    let ys = i.emit_regions(op, Prim::Scan { carry: 0, length: n, reverse: false }, &flattened, vec![body])?;
    let ys: Vec<Item> = ys.into_iter().map(Item::from).collect();
    let back = |y: Sym| Ok(i.emit(op, Prim::Reshape { shape: shape.clone() }, &[y])?.into());
    leaves(&ys).into_iter().map(back).collect()
}
