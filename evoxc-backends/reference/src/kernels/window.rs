//! Reductions over sliding windows, and the scatter of pooling's gradient. Windows have constant extents here.

use super::combine::{Combine, Combiner, reducer};
use super::empty;
use super::taps::{Taps, element, taps};
use super::walk::{Dims, from_buffer, positions, scalar_at, slice, store, strides, tensor, try_positions};
use evoxc_core::{Buffer, OpError, Result, RunError, Tensor, with_buffer};
use evoxc_ir::{Reducer, SelectOp, Window};

/// A scalar computation of the program.
pub(crate) type Body<'a> = dyn FnMut(&[Tensor]) -> Result<Vec<Tensor>> + 'a;

fn run(e: OpError) -> RunError {
    RunError::Op(Box::new(e))
}

/// Reduces sliding windows; padding counts as the identity. Sums of halves accumulate in `f32` and round once.
///
/// Every named combiner is associative, so that the axes are reduced one after the other.
pub(crate) fn reduce_window(op: Reducer, x: &Tensor, window: &Window, out_shape: &[usize]) -> Result<Tensor, OpError> {
    fn reduce<T: Combine>(v: &[T], shape: &[usize], taps: &[Taps], out: &[usize], by: Combiner<T::Wide>) -> Vec<T> {
        let mut shape: Dims = shape.into();
        let mut v: Vec<T::Wide> = v.iter().map(|x| x.widen()).collect();
        for (d, t) in taps.iter().enumerate() {
            if t.is_identity(shape[d]) {
                continue;
            }
            v = along(&v, &shape, d, t, out[d], by);
            shape[d] = out[d];
        }
        v.into_iter().map(T::narrow).collect()
    }
    let name = "reduce_window";
    if out_shape.contains(&0) {
        return empty(x.dtype(), out_shape);
    }
    let t = taps(name, window, x.shape(), out_shape)?;
    with_buffer!(x.buffer(), v => tensor(name, reduce(v, x.shape(), &t, out_shape, reducer(op, name)?), out_shape))
}

fn along<T: Combine>(
    v: &[T],
    shape: &[usize],
    d: usize,
    taps: &Taps,
    places: usize,
    (combine, identity): Combiner<T>,
) -> Vec<T> {
    let (n, inner) = (shape[d], shape[d + 1..].iter().product::<usize>());
    let outer: usize = shape[..d].iter().product();
    let mut out = vec![identity; outer * places * inner];
    if out.is_empty() {
        return out;
    }
    for (row, to) in out.chunks_exact_mut(inner).enumerate() {
        let (o, place) = (row / places, row % places);
        for i in taps.elements(place) {
            let from = (o * n + i) * inner;
            to.iter_mut().zip(&v[from..from + inner]).for_each(|(a, &x)| *a = combine(*a, x));
        }
    }
    out
}

/// Reduces sliding windows of several operands with a body of scalars (accumulated…, element…); padding, and what lies
/// between dilated elements, counts as the initial values.
pub(crate) fn reduce_window_body(
    xs: &[Tensor],
    inits: &[Tensor],
    window: &Window,
    out_shape: &[usize],
    body: &mut Body<'_>,
) -> Result<Vec<Tensor>> {
    let name = "reduce_window";
    let Some(first) = xs.first() else { return Ok(vec![]) };
    if out_shape.contains(&0) {
        return xs.iter().map(|x| empty(x.dtype(), out_shape).map_err(|e| run(e).into())).collect();
    }
    let t = taps(name, window, first.shape(), out_shape).map_err(run)?;
    let sizes: Dims = t.iter().map(|t| t.size).collect();
    let s = strides(first.shape());
    let count: usize = out_shape.iter().product();
    let mut out: Vec<Buffer> = xs.iter().map(|x| Buffer::zeros(x.dtype(), count)).collect();
    let mut i = 0;
    try_positions(out_shape, |place| {
        let mut acc = inits.to_vec();
        try_positions(&sizes, |at| {
            let element = element(&t, place, at, &s);
            let values = xs.iter().zip(inits);
            acc.extend(values.map(|(x, init)| element.map_or_else(|| init.clone(), |e| scalar_at(x.buffer(), e))));
            acc = body(&acc)?;
            Ok::<(), evoxc_core::Error>(())
        })?;
        for (b, value) in out.iter_mut().zip(&acc) {
            store(name, b, i, value).map_err(run)?;
        }
        i += 1;
        Ok::<(), evoxc_core::Error>(())
    })?;
    out.into_iter().map(|b| from_buffer(name, b, out_shape).map_err(|e| run(e).into())).collect()
}

/// Adds each source element to the element of x that its window selects, on zeros. The first largest (smallest) is
/// selected, NaN before any number; padding never is. Halves accumulate in `f32` and round once.
pub(crate) fn select_and_scatter(
    select: SelectOp,
    x: &Tensor,
    source: &Tensor,
    window: &Window,
) -> Result<Tensor, OpError> {
    fn scatter<T: Combine>(v: &[T], source: &[T], shape: &[usize], places: &[usize], t: &[Taps], min: bool) -> Vec<T> {
        let sizes: Dims = t.iter().map(|t| t.size).collect();
        let s = strides(shape);
        let mut out = vec![T::Wide::ZERO; v.len()];
        let mut from = source.iter();
        let better =
            |a: T, b: T| !b.is_nan() && (a.is_nan() || if min { a.order(&b).is_lt() } else { a.order(&b).is_gt() });
        positions(places, |place| {
            let mut best: Option<usize> = None;
            positions(&sizes, |at| {
                if let Some(e) = element(t, place, at, &s)
                    && best.is_none_or(|b| better(v[e], v[b]))
                {
                    best = Some(e);
                }
            });
            if let (Some(&x), Some(b)) = (from.next(), best) {
                out[b] = out[b].add(x.widen());
            }
        });
        out.into_iter().map(T::narrow).collect()
    }
    let name = "select_and_scatter";
    if x.is_empty() {
        return Ok(x.clone());
    }
    let t = taps(name, window, x.shape(), source.shape())?;
    let min = match select {
        SelectOp::Max => false,
        SelectOp::Min => true,
    };
    with_buffer!(x.buffer(), v => {
        tensor(name, scatter(v, slice(name, source)?, x.shape(), source.shape(), &t, min), x.shape())
    })
}

/// The same with bodies: `select` (selected, candidate) says whether the selected element stays, `scatter`
/// (accumulated, source) combines; every element starts at `init`.
pub(crate) fn select_and_scatter_body(
    x: &Tensor,
    source: &Tensor,
    init: &Tensor,
    window: &Window,
    select: &mut Body<'_>,
    scatter: &mut Body<'_>,
) -> Result<Tensor> {
    let name = "select_and_scatter";
    if x.is_empty() {
        return Ok(x.clone());
    }
    let t = taps(name, window, x.shape(), source.shape()).map_err(run)?;
    let missing = || run(OpError::new(name, "a body must give one value"));
    let sizes: Dims = t.iter().map(|t| t.size).collect();
    let s = strides(x.shape());
    let mut out = init.buffer().splat(x.len());
    let mut i = 0;
    try_positions(source.shape(), |place| {
        let mut best: Option<usize> = None;
        try_positions(&sizes, |at| {
            let Some(e) = element(&t, place, at, &s) else { return Ok(()) };
            let stays = match best {
                None => false,
                Some(b) => {
                    let kept = select(&[scalar_at(x.buffer(), b), scalar_at(x.buffer(), e)])?;
                    kept.first().ok_or_else(missing)?.item::<bool>()?
                }
            };
            if !stays {
                best = Some(e);
            }
            Ok::<(), evoxc_core::Error>(())
        })?;
        if let Some(b) = best {
            let value = scatter(&[scalar_at(&out, b), scalar_at(source.buffer(), i)])?;
            store(name, &mut out, b, value.first().ok_or_else(missing)?).map_err(run)?;
        }
        i += 1;
        Ok::<(), evoxc_core::Error>(())
    })?;
    from_buffer(name, out, x.shape()).map_err(|e| run(e).into())
}
