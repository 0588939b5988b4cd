//! Dot products and convolutions.

use super::convert::cast;
use super::reduction::{padded, surround};
use super::writer::{Val, Writer, number, signature};
use super::{Outcome, text};
use evoxc_core::{DType, spec};
use evoxc_ir::{AxisPair, ConvLayout, Padding, TensorType, Window};
use std::fmt::Write;

/// The operands and the dtype that sums have in StableHLO: bool counts in i32.
fn operands(w: &mut Writer<'_>, a: &Val, b: &Val, out: DType) -> (Val, Val, DType) {
    if out.is_bool() {
        (cast(w, a, DType::I32), cast(w, b, DType::I32), DType::I32)
    } else {
        (a.clone(), b.clone(), out)
    }
}

/// The sums in the dtype of the result.
fn rounded(w: &mut Writer<'_>, sum: Val, out: DType) -> Outcome<Val> {
    if !out.is_bool() {
        return Ok(sum);
    }
    let zero = w.splat(&sum.ty, 0)?;
    Ok(w.compare("NE", &sum, &zero))
}

/// The word for how exactly products are taken: by default some compilers drop bits of f32.
fn precision(wide: DType) -> Option<&'static str> {
    matches!(wide, DType::F32 | DType::C64).then_some("HIGHEST")
}

pub(super) fn dot(
    w: &mut Writer<'_>,
    a: &Val,
    b: &Val,
    batch: &AxisPair,
    contract: &AxisPair,
    ty: TensorType,
) -> Outcome<Val> {
    let out = ty.dtype;
    if w.options.lean && contract.lhs.iter().any(|&axis| a.shape()[axis] == 0) {
        // A sum of nothing ends the process of some compilers.
        return w.splat(&ty, 0);
    }
    let (a, b, wide) = operands(w, a, b, out);
    let mut attributes = String::new();
    for (name, pair) in [("batching_dims", batch), ("contracting_dims", contract)] {
        if name == "contracting_dims" || !pair.lhs.is_empty() {
            let _ = write!(attributes, ", {name} = {} x {}", text::brackets(&pair.lhs), text::brackets(&pair.rhs));
        }
    }
    if let Some(word) = precision(a.dtype()) {
        let _ = write!(attributes, ", precision = [{word}, {word}]");
    }
    let sum = w.typed("dot_general", &[&a, &b], &attributes, spec(wide, ty.shape));
    rounded(w, sum, out)
}

/// The axes of an operand: `b`, `f` and the like at their places, the spatial ones by number.
fn layout(rank: usize, named: [(Option<&usize>, char); 2], spatial: &[usize]) -> String {
    text::brackets((0..rank).map(|axis| {
        let letter = named.iter().find(|(a, _)| *a == Some(&axis)).map(|(_, c)| c.to_string());
        letter.unwrap_or_else(|| spatial.iter().position(|s| *s == axis).unwrap_or(0).to_string())
    }))
}

pub(super) fn convolution(
    w: &mut Writer<'_>,
    [a, b]: [&Val; 2],
    window: &Window,
    l: &ConvLayout,
    [feature_groups, batch_groups]: [usize; 2],
    ty: TensorType,
) -> Outcome<Val> {
    let out = ty.dtype;
    let (mut a, b, wide) = operands(w, a, b, out);
    let pair = |list: &[usize], names: [char; 2]| -> [(Option<usize>, char); 2] {
        [(list.first().copied(), names[0]), (list.get(1).copied(), names[1])]
    };
    let axes = |rank: usize, list: &[usize], names: [char; 2], spatial: &[usize]| {
        let [x, y] = pair(list, names);
        layout(rank, [(x.0.as_ref(), x.1), (y.0.as_ref(), y.1)], spatial)
    };
    let dims = format!(
        "{}x{}->{}",
        axes(a.rank(), &l.lhs, ['b', 'f'], &l.lhs_spatial),
        axes(b.rank(), &l.rhs, ['o', 'i'], &l.rhs_spatial),
        axes(a.rank(), &l.out, ['b', 'f'], &l.out_spatial),
    );
    let window = &super::reduction::filled(w, &a, window, &l.lhs_spatial, Some((&b, &l.rhs_spatial)));
    // Padding that cuts, or that is known only at run time, is done before.
    let plain = |p: &Padding| p.low.get().is_some() && p.high.get().is_some();
    let apart = !window.padding.iter().all(plain);
    if apart {
        let zero = w.dense(number(a.dtype(), 0)?);
        a = surround(w, &a, &zero, window, &l.lhs_spatial)?;
    }
    let window = &if apart { padded(window) } else { window.clone() };
    let pad = window.padding.iter().map(|p| format!("[{}, {}]", p.low, p.high));
    let precise = precision(a.dtype()).map_or(String::new(), |word| {
        format!(", precision_config = [#stablehlo<precision {word}>, #stablehlo<precision {word}>]")
    });
    let rhs = format!(
        "stablehlo.convolution({a}, {b}) dim_numbers = {dims}, window = {{stride = {}, pad = [{}], lhs_dilate = {}, \
         rhs_dilate = {}, reverse = {}}} {{batch_group_count = {batch_groups} : i64, feature_group_count = \
         {feature_groups} : i64{precise}}} : ",
        text::brackets(&window.stride),
        text::list(pad),
        text::brackets(&window.base_dilation),
        text::brackets(&window.window_dilation),
        text::brackets(window.reversal.iter().map(|r| r.0)),
    );
    let sum_ty = spec(wide, ty.shape);
    let rhs = rhs + &signature(&[&a, &b], &sum_ty);
    let sum = w.op(&rhs, sum_ty);
    rounded(w, sum, out)
}
