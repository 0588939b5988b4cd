//! Dots and convolutions.

use crate::import::attrs::Fields;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::{Attr, Op};
use evoxc_core::{DType, Dim};
use evoxc_ir::{AxisPair, ConvLayout, Flag, Padding, Prim, Window};
use evoxc_trace::Sym;

/// A product of two operands with a result of the declared dtype: accumulated in it where it is wider, of operands
/// converted to it where it is of another kind, rounded to it where it is narrower.
fn product<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, [a, b]: [Sym; 2], prim: impl Fn(Option<DType>) -> Prim) -> Done<Sym> {
    let (want, _) = i.declared_result(op, 0)?;
    let (x, y) = (i.dtype(op, a)?, i.dtype(op, b)?);
    let kind = |d: DType| (d.is_bool(), d.is_int(), d.is_float(), d.is_complex());
    if x != y || kind(x) != kind(want) {
        let (a, b) = (i.cast(op, a, want)?, i.cast(op, b, want)?);
        return i.emit(op, prim(None), &[a, b]);
    }
    if want.size() > x.size() {
        return i.emit(op, prim(Some(want)), &[a, b]);
    }
    let narrow = i.emit(op, prim(None), &[a, b])?;
    i.cast(op, narrow, want)
}

/// The last axis of the left operand with the first of the right one.
pub fn dot<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<2>(op)?;
    let Some(last) = i.shape(op, xs[0])?.rank().checked_sub(1) else {
        return Err(i.error(op, "a scalar has no axis to contract"));
    };
    let contract = AxisPair { lhs: vec![last], rhs: vec![0] };
    let prim = |accumulate| Prim::Dot { batch: AxisPair::default(), contract: contract.clone(), accumulate };
    Ok(vec![product(i, op, xs, prim)?.into()])
}

pub fn dot_general<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<2>(op)?;
    let d = i.record(op, "dot_dimension_numbers")?;
    let pair = |lhs: &str, rhs: &str| -> Done<AxisPair> {
        Ok(AxisPair { lhs: d.axes(i, op, lhs)?, rhs: d.axes(i, op, rhs)? })
    };
    let batch = pair("lhs_batching_dimensions", "rhs_batching_dimensions")?;
    let contract = pair("lhs_contracting_dimensions", "rhs_contracting_dimensions")?;
    let prim = |accumulate| Prim::Dot { batch: batch.clone(), contract: contract.clone(), accumulate };
    Ok(vec![product(i, op, xs, prim)?.into()])
}

pub fn einsum<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let equation = i.word(op, "einsum_config")?;
    let y = i.sound(op, evoxc_trace::einsum(equation, xs))?;
    let (want, _) = i.declared_result(op, 0)?;
    Ok(vec![i.cast(op, y, want)?.into()])
}

pub fn convolution<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x, k] = i.operands(op)?;
    let flat = i.ints(op, "padding")?.unwrap_or_default();
    let padding = flat.chunks_exact(2).map(|p| Padding { low: Dim::constant(p[0]), high: Dim::constant(p[1]) });
    convolved(i, op, x, k, padding.collect())
}

/// The axes of one operand of a convolution: the two that are no space, then those of space in order.
fn axes<'a>(
    i: &Importer<'_, 'a>,
    op: &Op<'a>,
    d: &Fields<'_, 'a>,
    short: (&str, [&str; 2]),
    long: [&str; 3],
) -> Done<(Vec<usize>, Vec<usize>)> {
    if d.get(long[2]).is_some() || d.get(long[0]).is_some() {
        let two = vec![d.axis(i, op, long[0])?, d.axis(i, op, long[1])?];
        return Ok((two, d.axes(i, op, long[2])?));
    }
    let Some(Attr::Array(list)) = d.get(short.0) else {
        return Err(i.error(op, format!("its dimension numbers have no `{}`", short.0)));
    };
    let letter = |w: &str| list.iter().position(|a| crate::import::attrs::text(a) == Some(w));
    let number = |n: i128| list.iter().position(|a| matches!(a, Attr::Int(k) if *k == n));
    let two: Option<Vec<usize>> = short.1.iter().map(|w| letter(w)).collect();
    let space: Option<Vec<usize>> = (0..list.len().saturating_sub(2)).map(|n| number(n as i128)).collect();
    two.zip(space).ok_or_else(|| i.error(op, format!("`{}` of its dimension numbers is no layout", short.0)))
}

/// A convolution with this padding; none is no padding.
pub fn convolved<'a>(i: &Importer<'_, 'a>, op: &Op<'a>, x: Sym, k: Sym, padding: Vec<Padding>) -> Done<Vec<Item>> {
    let d = i.record(op, "dimension_numbers")?;
    let raw = |a, b, c| [a, b, c];
    let input = raw("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions");
    let kernel = raw("kernel_output_feature_dimension", "kernel_input_feature_dimension", "kernel_spatial_dimensions");
    let output = raw("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions");
    let (lhs, lhs_spatial) = axes(i, op, &d, ("input", ["b", "f"]), input)?;
    let (rhs, rhs_spatial) = axes(i, op, &d, ("kernel", ["o", "i"]), kernel)?;
    let (out, out_spatial) = axes(i, op, &d, ("output", ["b", "f"]), output)?;
    let shape = i.shape(op, k)?;
    let size: Option<Vec<Dim>> = rhs_spatial.iter().map(|&a| shape.get(a).copied()).collect();
    let Some(size) = size else { return Err(i.error(op, "its dimension numbers do not fit the kernel's rank")) };
    let n = size.len();
    // Nobody verifies the strides of `dynamic_conv`: exporters have printed some for axes that are not there.
    let surplus = op.name.ends_with("dynamic_conv");
    let list = |name: &str| -> Done<Vec<i64>> {
        let mut list = i.ints(op, name)?.unwrap_or_else(|| vec![1; n]);
        if surplus {
            list.truncate(n);
        }
        Ok(list)
    };
    let reversal = i.ints(op, "window_reversal")?.unwrap_or_else(|| vec![0; n]);
    let plain = Window::new(size);
    let window = Window {
        stride: list("window_strides")?,
        padding: if padding.is_empty() { plain.padding.clone() } else { padding },
        base_dilation: list("lhs_dilation")?,
        window_dilation: list("rhs_dilation")?,
        reversal: reversal.into_iter().map(|r| Flag(r != 0)).collect(),
        ..plain
    };
    let layout = ConvLayout { lhs, lhs_spatial, rhs, rhs_spatial, out, out_spatial };
    let (feature_groups, batch_groups) =
        (i.axis_or(op, "feature_group_count", 1)?, i.axis_or(op, "batch_group_count", 1)?);
    let prim = |accumulate| Prim::Convolution {
        window: window.clone(),
        layout: layout.clone(),
        feature_groups,
        batch_groups,
        accumulate,
    };
    Ok(vec![product(i, op, [x, k], prim)?.into()])
}
