//! CHLO: ops that are broadcast, and special functions, as composites.

use super::elementwise::comparison;
use super::shape::splat;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::{Attr, Dense, DenseData, Op, TensorType};
use evoxc_core::{Dim, Scalar, Shape, Tensor};
use evoxc_ir::{Binary, Direction, Literal, Prim, SortOrder, Unary};
use evoxc_trace::Sym;

/// The two operands, broadcast together: by trailing axes, or as `broadcast_dimensions` says where the smaller goes.
pub fn together<'a>(i: &Importer<'_, 'a>, op: &Op<'a>) -> Done<[Sym; 2]> {
    let [a, b] = i.operands(op)?;
    let (x, y) = (i.shape(op, a)?, i.shape(op, b)?);
    let given = match i.ints(op, "broadcast_dimensions")? {
        Some(list) => Some(i.to_axes(op, "broadcast_dimensions", list)?),
        None => None,
    };
    let rank = x.rank().max(y.rank());
    let trailing = |s: &Shape| (rank - s.rank()..rank).collect::<Vec<usize>>();
    let axes = |s: &Shape, other: &Shape| match &given {
        Some(list) if s.rank() < other.rank() && list.len() == s.rank() => list.clone(),
        _ => trailing(s),
    };
    let (p, q) = (axes(&x, &y), axes(&y, &x));
    let shape = merged(i, op, rank, &[(&x, &p), (&y, &q)])?;
    Ok([widened(i, op, a, &shape, p)?, widened(i, op, b, &shape, q)?])
}

/// The shape that all broadcast to.
fn merged(i: &Importer, op: &Op, rank: usize, parts: &[(&Shape, &[usize])]) -> Done<Shape> {
    let mut shape = vec![Dim::constant(1); rank];
    for (s, axes) in parts {
        for (&d, &a) in s.iter().zip(*axes) {
            let Some(to) = shape.get_mut(a) else { return Err(i.error(op, "`broadcast_dimensions` is out of range")) };
            if *to == 1 {
                *to = d;
            } else if d != 1 {
                i.unify(op, *to, d)?;
                if *to != d {
                    return Err(i.error(op, format!("axis {a} has size {to} in one operand and {d} in another")));
                }
            }
        }
    }
    Ok(shape.into_iter().collect())
}

fn widened(i: &Importer, op: &Op, x: Sym, shape: &Shape, dims: Vec<usize>) -> Done<Sym> {
    if i.shape(op, x)? == *shape {
        return Ok(x);
    }
    i.emit(op, Prim::BroadcastInDim { shape: shape.clone(), dims }, &[x])
}

pub fn broadcast_compare<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = together(i, op)?;
    Ok(vec![comparison(i, op, xs)?.into()])
}

pub fn broadcast_select<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<3>(op)?;
    let mut shapes = vec![];
    for x in xs {
        shapes.push(i.shape(op, x)?);
    }
    let rank = shapes.iter().map(Shape::rank).max().unwrap_or(0);
    let axes: Vec<Vec<usize>> = shapes.iter().map(|s| (rank - s.rank()..rank).collect()).collect();
    let parts: Vec<(&Shape, &[usize])> = shapes.iter().zip(axes.iter().map(|a| &a[..])).collect();
    let shape = merged(i, op, rank, &parts)?;
    let mut wide = vec![];
    for (x, a) in xs.into_iter().zip(axes) {
        wide.push(widened(i, op, x, &shape, a)?);
    }
    Ok(vec![i.emit(op, Prim::Select {}, &wide)?.into()])
}

pub fn bessel_i1e<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    Ok(vec![i.sound(op, x.i1e())?.into()])
}

/// x·x; of a complex number ((x - y)(x + y), 2xy), which loses less where the parts are alike.
pub fn square<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    if !i.dtype(op, x)?.is_complex() {
        return Ok(vec![i.emit(op, Prim::Binary(Binary::Mul), &[x, x])?.into()]);
    }
    let (re, im) = (x.real(), x.imag());
    // Infinities of both parts cancel to NaN in the product, not in the square.
    let real = re.abs().eq(im.abs()).select(re.zeros_like(), (re - im) * (re + im));
    Ok(vec![i.sound(op, real.complex(re * im * 2.0))?.into()])
}

/// The shared part of complex asin and acos: `sqrt((1 - z)(1 + z))`.
pub fn asin_acos_kernel<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let m = "it is an inner step of another expansion";
    let remedy = "export `chlo.asin` and `chlo.acos` themselves";
    Err(i.unsupported(op, evoxc_core::Unsupported::Op, m, remedy))
}

pub fn is_inf<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    Ok(vec![equals(i, op, x.abs(), f64::INFINITY)?.into()])
}

pub fn is_pos_inf<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    Ok(vec![equals(i, op, x, f64::INFINITY)?.into()])
}

pub fn is_neg_inf<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    Ok(vec![equals(i, op, x, f64::NEG_INFINITY)?.into()])
}

fn equals(i: &Importer, op: &Op, x: Sym, value: f64) -> Done<Sym> {
    let ty = i.ty(op, x)?;
    let other = evoxc_trace::full(ty.dtype, &ty.shape, value);
    i.emit(op, Prim::Compare { direction: Direction::Eq, order: SortOrder::Ieee }, &[x, other])
}

pub fn zeta<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, q] = i.operands(op)?;
    Ok(vec![i.sound(op, x.zeta(q))?.into()])
}

pub fn broadcast_zeta<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, q] = together(i, op)?;
    Ok(vec![i.sound(op, x.zeta(q))?.into()])
}

pub fn polygamma<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [n, x] = i.operands(op)?;
    Ok(vec![derivative(i, op, n, x)?.into()])
}

pub fn broadcast_polygamma<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [n, x] = together(i, op)?;
    Ok(vec![derivative(i, op, n, x)?.into()])
}

/// Digamma for n = 0, else (-1)ⁿ⁺¹ n! ζ(n + 1, x); NaN where n is negative or no integer.
fn derivative(i: &Importer, op: &Op, n: Sym, x: Sym) -> Done<Sym> {
    let one = n.ones_like();
    let even = (n * 0.5).floor().eq(n * 0.5);
    let sign = even.select(-one, one);
    let value = sign * (n + 1.0).lgamma().exp() * (n + 1.0).zeta(x);
    let whole = n.floor().eq(n) & n.ge(0.0);
    let digamma = i.emit(op, Prim::Unary(Unary::Digamma), &[x])?;
    let y = n.eq(0.0).select(digamma, value);
    let nan = x.full_like(f64::NAN);
    i.sound(op, whole.select(y, nan))
}

/// A constant of the operand's shape.
pub fn constant_like<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let ty = i.ty(op, x)?;
    let scalar = match i.needed(op, "value")? {
        Attr::Int(v) => Scalar::Int(*v),
        Attr::Float(v) => Scalar::Float(*v),
        Attr::Bool(v) => Scalar::Bool(*v),
        Attr::Dense(d) => match i.literal(op, d)? {
            Literal::Dense(t) | Literal::Splat(t, _) if t.rank() == 0 && t.dtype() == ty.dtype => {
                return Ok(vec![i.emit(op, Prim::Constant { value: splat(t, ty.shape) }, &[])?.into()]);
            }
            Literal::Dense(_) | Literal::Splat(..) => return Err(i.error(op, "its attribute `value` is no scalar")),
        },
        Attr::Opaque(text) => return opaque(i, op, text, ty),
        _ => return Err(i.error(op, "its attribute `value` is no number")),
    };
    let held = scalar.buffer(ty.dtype).and_then(|b| Tensor::from_parts(b, &[]));
    let Some(value) = held else { return Err(i.error(op, format!("{scalar} is no {}", ty.dtype))) };
    Ok(vec![i.emit(op, Prim::Constant { value: splat(value, ty.shape) }, &[])?.into()])
}

/// A number without a form of its own among attributes: `(1.0, 2.0) : complex<f32>`.
fn opaque<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, text: &'a str, ty: evoxc_core::TensorSpec) -> Done<Vec<Item>> {
    let element = crate::syntax::ast::Element::Known(ty.dtype);
    let scalar = TensorType { shape: Some(vec![]), bounds: vec![], element };
    let inner = text.trim().trim_start_matches("#complex.number<").trim_start_matches(':');
    let Some(end) = inner.find(')') else { return Err(i.error(op, "its attribute `value` is no number")) };
    let start = inner.find('(').unwrap_or(0);
    let data = DenseData::Text(inner.get(start..=end).unwrap_or(inner));
    let value = match i.literal(op, &Dense { ty: scalar, data, at: op.at })? {
        Literal::Dense(t) | Literal::Splat(t, _) => t,
    };
    Ok(vec![i.emit(op, Prim::Constant { value: splat(value, ty.shape) }, &[])?.into()])
}

/// e to the x + ln ½ and to the ln ½ - x: halves of exponentials that do not overflow before their sum does. CHLO is
/// defined by these steps, and programs are compared with what they give.
fn halves(i: &Importer, op: &Op, x: Sym) -> Done<[Sym; 2]> {
    let half = -std::f64::consts::LN_2;
    Ok([i.sound(op, (x + half).exp())?, i.sound(op, (-x + half).exp())?])
}

/// In f32 at least; complex numbers as they are.
fn real_or<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, complex: Unary, f: impl FnOnce(Sym) -> Done<Sym>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let dtype = i.dtype(op, x)?;
    if dtype.is_complex() || !dtype.is_float() {
        return Ok(vec![i.emit(op, Prim::Unary(complex), &[x])?.into()]);
    }
    let wide = i.cast(op, x, dtype.accumulator())?;
    let y = f(wide)?;
    Ok(vec![i.cast(op, y, dtype)?.into()])
}

pub fn cosh<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    real_or(i, op, Unary::Cosh, |x| {
        let [a, b] = halves(i, op, x)?;
        i.sound(op, a + b)
    })
}

/// Below 1 by `expm1`, which loses nothing near 0.
pub fn sinh<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    real_or(i, op, Unary::Sinh, |x| {
        let [a, b] = halves(i, op, x)?;
        let e = x.expm1();
        let small = (e + e / (e + 1.0)) * 0.5;
        i.sound(op, x.abs().lt(1.0).select(small, a - b))
    })
}
