//! Tangents of running combinations along an axis.
//!
//! Each is a linear recurrence `s[i] = a[i] s[i-1] + b[i]` in the tangents, where a is known: solved by doubling in
//! log n steps, or one step at a time by a scan where n is symbolic. Running maxima combine in the order of JAX's
//! associative scan, because that decides how ties are shared; along a symbolic axis each is shared with the one before.

use super::Site;
use super::elementwise::{sum, weights};
use super::reduction::shifted;
use evoxc_core::{Dim, spec};
use evoxc_ir::{Binary, CumOp, Prim};
use evoxc_trace::{Sym, emitter};

/// By the combiner.
pub(super) fn cumulative(site: &Site, op: CumOp, axis: usize, reverse: bool) -> Option<Sym> {
    let t = site.t[0]?;
    if op == CumOp::Sum {
        return Some(site.same(&[t]));
    }
    let turned = |x: Sym| if reverse { emitter::emit(Prim::Reverse { axes: vec![axis] }, &[x]) } else { x };
    let [x, y, t] = [site.x[0], site.y[0], t].map(turned);
    let n = *emitter::type_of(x)?.shape.get(axis)?;
    Some(turned(match op {
        CumOp::Sum => t,
        CumOp::Prod => recurrence(tail(x, axis, n), t * shifted(y, axis, 1, 1.0)?, axis, n)?,
        CumOp::Max => extremum(Binary::Max, [x, y, t], axis, n)?,
        CumOp::Min => extremum(Binary::Min, [x, y, t], axis, n)?,
        CumOp::Logsumexp => {
            let kept = ratio(head(y, axis, n), tail(y, axis, n));
            recurrence(kept, t * ratio(x, y), axis, n)?
        }
    }))
}

/// exp(a - b), and 1 of one infinity by itself: where all so far is -inf.
fn ratio(a: Sym, b: Sym) -> Sym {
    let difference = a - b;
    (a.eq(b) & difference.ne(difference)).select(0, difference).exp()
}

/// 1, or 0 of nothing; `n` without it is the extent of [`head`] and [`tail`].
fn one(n: Dim) -> Dim {
    n - (n - 1).max(0)
}

/// All but the first.
fn tail(x: Sym, axis: usize, n: Dim) -> Sym {
    x.slice_axis(axis, one(n), n)
}

/// All but the last.
fn head(x: Sym, axis: usize, n: Dim) -> Sym {
    x.slice_axis(axis, 0, (n - 1).max(0))
}

/// `s[0] = b[0]`, `s[i] = a[i-1] s[i-1] + b[i]`: a is known and has n - 1 elements, s is linear in b.
fn recurrence(mut a: Sym, mut b: Sym, axis: usize, n: Dim) -> Option<Sym> {
    let Some(length) = n.as_i64() else { return stepwise(a, b, axis, n) };
    let rank = emitter::type_of(b)?.rank();
    let zero = evoxc_trace::zeros(emitter::type_of(b)?.dtype, []);
    let mut step = 1;
    // Before each step b[i] holds what the last `step` elements give, and a[i - step] their product.
    while step < length {
        let mut low = vec![Dim::constant(0); rank];
        *low.get_mut(axis)? = Dim::constant(step);
        let before = b.slice_axis(axis, 0, length - step) * a;
        let pad = Prim::Pad { low, high: vec![Dim::constant(0); rank], interior: vec![0; rank] };
        b += emitter::emit(pad, &[before, zero]);
        if 2 * step < length {
            a = a.slice_axis(axis, step, length - step) * a.slice_axis(axis, 0, length - 2 * step);
        }
        step *= 2;
    }
    Some(b)
}

/// [`recurrence`] of symbolic length.
fn stepwise(a: Sym, b: Sym, axis: usize, n: Dim) -> Option<Sym> {
    let ty = emitter::type_of(b)?;
    // One more factor in front, which meets the carry's zero.
    let mut low = vec![Dim::constant(0); ty.rank()];
    *low.get_mut(axis)? = one(n);
    let pad = Prim::Pad { low, high: vec![Dim::constant(0); ty.rank()], interior: vec![0; ty.rank()] };
    let zero = evoxc_trace::zeros(ty.dtype, []);
    let a = emitter::emit(pad, &[a, zero]);
    let row =
        spec(ty.dtype, ty.shape.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, &d)| d).collect::<Vec<_>>());
    let start = evoxc_trace::zeros(row.dtype, &row.shape);
    let args = emitter::open_region(&[row.clone(), row.clone(), row]);
    let next = match args[..] {
        [s, a, b] => s * a + b,
        _ => emitter::poison(),
    };
    let body = emitter::close_region("scan", &[next, next])?;
    let prim = Prim::Scan { carry: 1, length: n, reverse: false };
    let results = emitter::emit_regions(prim, &[start, a.move_axis(axis, 0), b.move_axis(axis, 0)], vec![body])?;
    results.get(1).map(|s| s.move_axis(0, axis))
}

/// The running maximum or minimum of x is y: the tangents, in the order of an associative scan.
fn extremum(op: Binary, [x, y, t]: [Sym; 3], axis: usize, n: Dim) -> Option<Sym> {
    let Some(length) = n.as_i64() else {
        let (a, b) = weights(op, head(y, axis, n), tail(x, axis, n));
        let first = t.slice_axis(axis, 0, one(n));
        return recurrence(a, evoxc_trace::concat([first, tail(t, axis, n) * b], axis), axis, n);
    };
    if length < 2 {
        return Some(t);
    }
    let every = |v: Sym, from: i64, to: i64| strided(v, axis, from, to);
    // Neighbours combined in pairs: their running results are those of every second element.
    let pair = |v: Sym| (every(v, 0, length - 1), every(v, 1, length));
    let ((x0, x1), (t0, t1)) = (pair(x), pair(t));
    let (a, b) = weights(op, x0, x1);
    let half = length / 2;
    let odd_y = every(y, 1, length);
    let both = emitter::emit(Prim::Binary(op), &[x0, x1]);
    let odd = extremum(op, [both, odd_y, t0 * a + t1 * b], axis, Dim::constant(half))?;
    // The others follow from the one before.
    let first = t.slice_axis(axis, 0, 1);
    let evens = (length + 1) / 2;
    let even = if evens == 1 {
        first
    } else {
        let (before_y, before_t) = (odd_y.slice_axis(axis, 0, evens - 1), odd.slice_axis(axis, 0, evens - 1));
        let (a, b) = weights(op, before_y, every(x, 2, length));
        evoxc_trace::concat([first, before_t * a + every(t, 2, length) * b], axis)
    };
    sum(Some(placed(even, axis, 0, length, evens)?), Some(placed(odd, axis, 1, length, half)?))
}

/// Every second element of `from..to`.
fn strided(x: Sym, axis: usize, from: i64, to: i64) -> Sym {
    let Some(ty) = emitter::type_of(x) else { return x };
    let at = |d: Dim| move |i: usize, other: Dim| if i == axis { d } else { other };
    let (from, to) = (at(Dim::constant(from)), at(Dim::constant(to)));
    let start = (0..ty.rank()).map(|i| from(i, Dim::constant(0))).collect();
    let limit = ty.shape.iter().enumerate().map(|(i, &d)| to(i, d)).collect();
    let stride = (0..ty.rank()).map(|i| if i == axis { 2 } else { 1 }).collect();
    emitter::emit(Prim::Slice { start, limit, stride }, &[x])
}

/// `count` elements at every second place from `from` of `length`, zeros between.
fn placed(x: Sym, axis: usize, from: i64, length: i64, count: i64) -> Option<Sym> {
    let ty = emitter::type_of(x)?;
    let zeros = vec![Dim::constant(0); ty.rank()];
    let (mut low, mut high, mut interior) = (zeros.clone(), zeros, vec![0; ty.rank()]);
    *low.get_mut(axis)? = Dim::constant(from);
    *high.get_mut(axis)? = Dim::constant(length - from - (2 * count - 1));
    *interior.get_mut(axis)? = 1;
    Some(emitter::emit(Prim::Pad { low, high, interior }, &[x, evoxc_trace::zeros(ty.dtype, [])]))
}
