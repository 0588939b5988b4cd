//! Types of dot and convolution, and the arithmetic of sliding windows.

use super::{Check, Cx, Types};
use crate::{AxisPair, ConvLayout, TensorType, Window};
use evoxc_core::{DType, Dim, Shape};
use smallvec::SmallVec;

/// The dtype of the result: the accumulator must be of the operands' kind and not narrower.
fn accumulator(cx: &Cx, operands: DType, accumulate: Option<DType>) -> Check<DType> {
    let Some(acc) = accumulate else { return Ok(operands) };
    let kind = (operands.is_int() && acc.is_int())
        || (operands.is_float() && acc.is_float())
        || (operands.is_complex() && acc.is_complex());
    if acc == operands || (kind && acc.size() > operands.size()) {
        return Ok(acc);
    }
    cx.fail_with(
        format!("{operands} cannot accumulate in {acc}"),
        "the accumulator is a wider dtype of the same kind; cast the result to a narrower one",
    )
}

fn check_pair(cx: &Cx, name: &str, pair: &AxisPair, a: &TensorType, b: &TensorType) -> Check {
    if pair.lhs.len() != pair.rhs.len() {
        return cx.fail(format!("`{name}` names {} axes of lhs and {} of rhs", pair.lhs.len(), pair.rhs.len()));
    }
    let adjective = if name == "batch" { "batch" } else { "contracting" };
    for (&i, &j) in pair.lhs.iter().zip(&pair.rhs) {
        let (Some(n), Some(m)) = (a.shape.get(i), b.shape.get(j)) else {
            return cx.fail(format!(
                "`{name}` pairs axis {i} of lhs with axis {j} of rhs, but the ranks are {} and {}",
                a.rank(),
                b.rank()
            ));
        };
        if n != m {
            return cx.fail_with(
                format!("{adjective} axis {i} of lhs has size {n}, axis {j} of rhs has size {m}"),
                "reshape or transpose an operand so that the sizes agree",
            );
        }
    }
    Ok(())
}

pub(super) fn dot(cx: &Cx, batch: &AxisPair, contract: &AxisPair, accumulate: Option<DType>) -> Check<Types> {
    let [a, b] = cx.operands()?;
    cx.same_dtype(("lhs", a), ("rhs", b))?;
    let dtype = accumulator(cx, a.dtype, accumulate)?;
    check_pair(cx, "batch", batch, a, b)?;
    check_pair(cx, "contract", contract, a, b)?;
    let used = |x: &[usize], y: &[usize]| -> SmallVec<[usize; 8]> { x.iter().chain(y).copied().collect() };
    let (left, right) = (used(&batch.lhs, &contract.lhs), used(&batch.rhs, &contract.rhs));
    cx.axes("batch and contract of lhs", &left, a.rank())?;
    cx.axes("batch and contract of rhs", &right, b.rank())?;
    let mut shape: Shape = batch.lhs.iter().filter_map(|&i| a.shape.get(i)).copied().collect();
    for (t, used) in [(a, &left), (b, &right)] {
        for (i, &d) in t.shape.iter().enumerate() {
            if !used.contains(&i) {
                shape.push(d);
            }
        }
    }
    cx.result(dtype, shape)
}

/// Checks a window over `rank` axes.
pub(super) fn check_window(cx: &Cx, w: &Window, rank: usize, may_reverse: bool) -> Check {
    for (name, n) in [
        ("size", w.size.len()),
        ("stride", w.stride.len()),
        ("padding", w.padding.len()),
        ("base_dilation", w.base_dilation.len()),
        ("window_dilation", w.window_dilation.len()),
        ("reversal", w.reversal.len()),
    ] {
        cx.lengths(name, n, rank)?;
    }
    cx.sound("size", &w.size)?;
    for p in &w.padding {
        cx.sound("padding", &[p.low, p.high])?;
    }
    for (name, list) in
        [("stride", &w.stride), ("base_dilation", &w.base_dilation), ("window_dilation", &w.window_dilation)]
    {
        if let Some((i, v)) = list.iter().enumerate().find(|(_, v)| **v < 1) {
            return cx.fail(format!("`{name}` of axis {i} is {v}, it must be at least 1"));
        }
    }
    if let Some((i, n)) = w.size.iter().enumerate().find(|(_, n)| n.upper_bound().is_some_and(|v| v < 1)) {
        return cx.fail(format!("the window's size along axis {i} is {n}, it must be at least 1"));
    }
    if !may_reverse && w.reversal.iter().any(|r| r.0) {
        return cx.fail("only the window of a convolution can be reversed");
    }
    Ok(())
}

/// `n` elements with gaps between them: `(n - 1) * dilation + 1`, and 0 for none.
fn dilated(n: Dim, dilation: i64) -> Dim {
    if dilation == 1 { n } else { ((n - 1) * dilation + 1).max(0) }
}

/// The number of places of the window along axis `i` of size `n`.
pub(super) fn window_extent(w: &Window, i: usize, n: Dim) -> Dim {
    let (Some(&size), Some(&stride), Some(pad), Some(&base), Some(&window)) =
        (w.size.get(i), w.stride.get(i), w.padding.get(i), w.base_dilation.get(i), w.window_dilation.get(i))
    else {
        return n;
    };
    let room = pad.low + dilated(n, base) + pad.high - dilated(size, window);
    // Where the window does not fit the quotient is at most -1, so that the maximum is StableHLO's 0.
    (room / stride + 1).max(0)
}

/// One list of axes that must be a permutation of all.
fn permutation(cx: &Cx, name: &str, lists: [&[usize]; 2], rank: usize) -> Check {
    let all: SmallVec<[usize; 8]> = lists.iter().flat_map(|l| l.iter().copied()).collect();
    if lists[0].len() != 2 {
        return cx.fail(format!("`{name}` names two axes, got {:?}", lists[0]));
    }
    if all.len() != rank {
        return cx.fail(format!("`{name}` and `{name}_spatial` name {} axes, the rank is {rank}", all.len()));
    }
    cx.axes(name, &all, rank)
}

fn groups(cx: &Cx, what: &str, n: Dim, by: usize) -> Check {
    if by == 1 || n % by == 0 {
        return Ok(());
    }
    cx.fail(format!("{what} has size {n}, which {by} groups do not divide"))
}

pub(super) fn convolution(
    cx: &Cx,
    w: &Window,
    layout: &ConvLayout,
    feature_groups: usize,
    batch_groups: usize,
    accumulate: Option<DType>,
) -> Check<Types> {
    let [x, k] = cx.operands()?;
    cx.same_dtype(("lhs", x), ("rhs", k))?;
    let dtype = accumulator(cx, x.dtype, accumulate)?;
    if x.rank() < 2 || x.rank() != k.rank() {
        return cx.fail(format!(
            "lhs has rank {}, rhs has rank {}; both need 2 + the spatial axes",
            x.rank(),
            k.rank()
        ));
    }
    let rank = x.rank();
    permutation(cx, "lhs", [&layout.lhs, &layout.lhs_spatial], rank)?;
    permutation(cx, "rhs", [&layout.rhs, &layout.rhs_spatial], rank)?;
    permutation(cx, "out", [&layout.out, &layout.out_spatial], rank)?;
    check_window(cx, w, rank - 2, true)?;
    if feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1) {
        return cx.fail(format!(
            "it has {feature_groups} feature groups and {batch_groups} batch groups; each is at least 1, one of them 1"
        ));
    }
    let (&[batch, feature], &[out_feature, in_feature], &[out_batch, out_channel]) =
        (layout.lhs.as_slice(), layout.rhs.as_slice(), layout.out.as_slice())
    else {
        return cx.fail("`lhs`, `rhs` and `out` name two axes each");
    };
    let (n, c, o, i) = (x.shape[batch], x.shape[feature], k.shape[out_feature], k.shape[in_feature]);
    groups(cx, "the batch axis of lhs", n, batch_groups)?;
    groups(cx, "the output feature axis of rhs", o, feature_groups)?;
    groups(cx, "the output feature axis of rhs", o, batch_groups)?;
    if i * feature_groups != c {
        return cx.fail_with(
            format!(
                "feature axis {feature} of lhs has size {c}, input feature axis {in_feature} of rhs has size {i} in {feature_groups} groups"
            ),
            "the input features of rhs times the groups must be the features of lhs; check the layouts",
        );
    }
    let mut shape: Shape = x.shape.clone();
    if let Some(d) = shape.dims_mut().get_mut(out_batch) {
        *d = if batch_groups == 1 { n } else { n / batch_groups };
    }
    if let Some(d) = shape.dims_mut().get_mut(out_channel) {
        *d = o;
    }
    let spatial = layout.lhs_spatial.iter().zip(&layout.rhs_spatial).zip(&layout.out_spatial);
    for (s, ((&from, &kernel), &to)) in spatial.enumerate() {
        if w.size.get(s) != k.shape.get(kernel) {
            return cx.fail(format!(
                "`window.size` of spatial axis {s} is not the size of axis {kernel} of rhs, {}",
                k.shape[kernel]
            ));
        }
        if let Some(d) = shape.dims_mut().get_mut(to) {
            *d = window_extent(w, s, x.shape[from]);
        }
    }
    cx.result(dtype, shape)
}
