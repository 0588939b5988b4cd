//! The gradient of pooling without a scatter: for consumers that lack StableHLO's `select_and_scatter`.

use super::parts::emit;
use evoxc_core::{BF16, BOOL, Dim, F16, F32, I32, OpError};
use evoxc_ir::{Prim, SelectOp, Window};
use evoxc_trace::{Sym, full};

/// Adds each source element to the element of x that its window selects: the first largest (smallest), NaN before any
/// number. What stands at one place of all windows is a strided slice of x; the first of the best of these places is
/// found one by one, and what is added at a place is padded back to where it came from.
pub(super) fn gradient(select: SelectOp, window: &Window, x: Sym, source: Sym) -> Result<Sym, OpError> {
    if let Some(size) = window.size.iter().find(|d| d.as_i64().is_none()) {
        return Err(OpError::new("", format!("a window of {size} elements is not known"))
            .remedy("trace it with a window that is a number"));
    }
    if source.shape().iter().any(|d| *d == 0) {
        return Ok(x.zeros_like());
    }
    let d = x.dtype();
    let wide = if matches!(d, F16 | BF16) { F32 } else { d };
    let (x, source) = (x.cast(wide), source.cast(wide));
    let none = vec![0; x.rank()];
    let low: Vec<Dim> = window.padding.iter().map(|p| p.low).collect();
    let high: Vec<Dim> = window.padding.iter().map(|p| p.high).collect();
    let surround = |x: Sym, value: Sym| {
        emit(Prim::Pad { low: low.clone(), high: high.clone(), interior: none.clone() }, &[x, value])
    };
    // Elements of the padding are never selected.
    let inside = surround(full(BOOL, x.shape(), true), full(BOOL, [], false));
    let padded = surround(x, full(wide, [], false));
    let places = places(window);
    let at = |x: Sym, place: &[i64]| {
        let start: Vec<Dim> = place.iter().map(|&p| Dim::constant(p)).collect();
        let extents = source.shape();
        let limit = start.iter().zip(&window.stride).zip(extents.iter());
        let limit = limit.map(|((&s, &stride), &n)| s + (n - 1) * stride + 1).collect();
        emit(Prim::Slice { start, limit, stride: window.stride.clone() }, &[x])
    };
    let nan = |x: Sym| x.ne(x);
    let better = |a: Sym, b: Sym| {
        let before = match (wide.is_complex(), select) {
            (true, SelectOp::Max) => !super::complex::at_least(b, a),
            (true, SelectOp::Min) => !super::complex::at_most(b, a),
            (false, SelectOp::Max) => a.gt(b),
            (false, SelectOp::Min) => a.lt(b),
        };
        if wide.is_float() || wide.is_complex() { !nan(b) & (nan(a) | before) } else { before }
    };
    let mut best: Option<(Sym, Sym, Sym)> = None;
    for (i, place) in places.iter().enumerate() {
        let (value, here) = (at(padded, place), at(inside, place));
        let number = full(I32, source.shape(), i as i64);
        best = Some(match best {
            None => (value, here, number),
            Some((old, found, chosen)) => {
                let take = here & (!found | better(value, old));
                (take.select(value, old), found | here, take.select(number, chosen))
            }
        });
    }
    let Some((_, found, chosen)) = best else { return Ok(x.zeros_like().cast(d)) };
    let zero = full(wide, [], false);
    let mut sum = padded.zeros_like();
    for (i, place) in places.iter().enumerate() {
        let part = (found & chosen.eq(i as i64)).select(source, 0);
        let low: Vec<Dim> = place.iter().map(|&p| Dim::constant(p)).collect();
        let extents = padded.shape();
        let used = source.shape();
        let high = extents.iter().zip(used.iter()).zip(place.iter().zip(&window.stride));
        let high = high.map(|((&whole, &n), (&p, &stride))| whole - p - ((n - 1) * stride + 1)).collect();
        let interior = window.stride.iter().map(|s| s - 1).collect();
        sum += emit(Prim::Pad { low, high, interior }, &[part, zero]);
    }
    // Cuts the padding off: it is negative now.
    let (low, high) = (low.iter().map(|&l| -l).collect(), high.iter().map(|&h| -h).collect());
    Ok(emit(Prim::Pad { low, high, interior: none }, &[sum, zero]).cast(d))
}

/// Every place of a window, in row-major order.
fn places(window: &Window) -> Vec<Vec<i64>> {
    let mut out = vec![vec![]];
    for size in &window.size {
        let n = size.as_i64().unwrap_or(0);
        out = out.into_iter().flat_map(|p: Vec<i64>| (0..n).map(move |i| [p.as_slice(), &[i]].concat())).collect();
    }
    out
}
