//! Batch normalisation, by the formulas of the specification.

use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::Op;
use evoxc_core::{Shape, TensorSpec};
use evoxc_ir::{Prim, Reducer};
use evoxc_trace::{Sym, full};

/// What the three ops share: the type, the feature axis, all others, epsilon.
struct Batch {
    ty: TensorSpec,
    axis: usize,
    others: Vec<usize>,
    epsilon: f64,
}

impl Batch {
    fn of<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, x: Sym) -> Done<Batch> {
        let ty = i.ty(op, x)?;
        let axis = i.axis(op, "feature_index")?;
        let others = (0..ty.rank()).filter(|&a| a != axis).collect();
        Ok(Batch { axis, others, epsilon: i.number(op, "epsilon")?, ty })
    }
    /// A value a feature, over the whole shape.
    fn wide(&self, i: &Importer, op: &Op, v: Sym) -> Done<Sym> {
        i.emit(op, Prim::BroadcastInDim { shape: self.ty.shape.clone(), dims: vec![self.axis] }, &[v])
    }
    fn sum(&self, i: &Importer, op: &Op, x: Sym) -> Done<Sym> {
        i.emit(op, Prim::Reduce { op: Reducer::Sum, axes: self.others.clone() }, &[x])
    }
    /// The number of elements a feature.
    fn count(&self, i: &Importer, op: &Op) -> Done<Sym> {
        let n = self.others.iter().filter_map(|&a| self.ty.shape.get(a)).copied().collect::<Shape>().size();
        match n.as_i64() {
            Some(n) => i.sound(op, full(self.ty.dtype, (), n as f64)),
            None => {
                let n = i.emit(op, Prim::DimSize { extent: n, dtype: evoxc_core::I64 }, &[])?;
                i.cast(op, n, self.ty.dtype)
            }
        }
    }
    fn scale(&self, variance: Sym) -> Sym {
        (variance + self.epsilon).sqrt()
    }
}

pub fn inference<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, scale, offset, mean, variance] = i.operands(op)?;
    let b = Batch::of(i, op, x)?;
    Ok(vec![normal(i, op, &b, [x, scale, offset, mean, variance])?.into()])
}

fn normal(i: &Importer, op: &Op, b: &Batch, [x, scale, offset, mean, variance]: [Sym; 5]) -> Done<Sym> {
    let centred = x - b.wide(i, op, mean)?;
    let deviation = b.wide(i, op, b.scale(variance))?;
    let y = b.wide(i, op, scale)? * (centred / deviation) + b.wide(i, op, offset)?;
    i.sound(op, y)
}

fn moments(i: &Importer, op: &Op, b: &Batch, x: Sym) -> Done<[Sym; 2]> {
    let n = b.count(i, op)?;
    let mean = i.sound(op, b.sum(i, op, x)? / n)?;
    let centred = i.sound(op, x - b.wide(i, op, mean)?)?;
    let variance = i.sound(op, b.sum(i, op, centred * centred)? / n)?;
    Ok([mean, variance])
}

pub fn training<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, scale, offset] = i.operands(op)?;
    let b = Batch::of(i, op, x)?;
    let [mean, variance] = moments(i, op, &b, x)?;
    let y = normal(i, op, &b, [x, scale, offset, mean, variance])?;
    Ok(vec![y.into(), mean.into(), variance.into()])
}

pub fn grad<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, scale, mean, variance, dy] = i.operands(op)?;
    let b = Batch::of(i, op, x)?;
    let n = b.count(i, op)?;
    let centred = i.sound(op, x - b.wide(i, op, mean)?)?;
    let deviation = i.sound(op, b.scale(variance))?;
    let d_offset = b.sum(i, op, dy)?;
    let d_product = b.sum(i, op, i.sound(op, dy * centred)?)?;
    let d_scale = i.sound(op, d_product / deviation)?;
    let inner = dy * n
        - b.wide(i, op, d_offset)?
        - centred * b.wide(i, op, i.sound(op, d_product / (variance + b.epsilon))?)?;
    let factor = b.wide(i, op, i.sound(op, scale / deviation / n)?)?;
    Ok(vec![i.sound(op, factor * inner)?.into(), d_scale.into(), d_offset.into()])
}
