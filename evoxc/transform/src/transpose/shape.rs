//! Transposes of data movement.

use super::{Cotangents, Site};
use evoxc_core::{BOOL, Dim, OpError, Shape};
use evoxc_ir::{Prim, Reducer};
use evoxc_trace::{Sym, emitter, full};
use smallvec::smallvec;

/// A scalar zero of a value's dtype.
fn zero(like: Sym) -> Sym {
    match emitter::type_of(like) {
        Some(ty) => evoxc_trace::zeros(ty.dtype, Shape::scalar()),
        None => emitter::poison(),
    }
}

/// Summed over what was repeated.
pub(super) fn broadcast_in_dim(site: &Site, dims: &[usize]) -> Result<Cotangents, OpError> {
    let (Some(ty), Some(ct)) = (site.x[0].ty(), site.ct[0]) else { return Ok(smallvec![None]) };
    Ok(smallvec![Some(gathered(ct, &ty.shape, dims))])
}

/// What the elements of a value of `shape` become part of, added up: the transpose of `broadcast_in_dim`.
pub(super) fn gathered(ct: Sym, shape: &Shape, dims: &[usize]) -> Sym {
    let Some(from) = emitter::type_of(ct) else { return ct };
    let repeated = |(i, d): (usize, &Dim)| match dims.iter().position(|&a| a == i) {
        Some(k) => shape.get(k) != Some(d),
        None => *d != 1,
    };
    let axes: Vec<usize> = from.shape.iter().enumerate().filter(|&(i, d)| repeated((i, d))).map(|(i, _)| i).collect();
    let mut x = ct;
    if !axes.is_empty() {
        x = emitter::emit(Prim::Reduce { op: Reducer::Sum, axes: axes.clone() }, &[x]);
    }
    // Where each axis of x is now, in the order of x.
    let left: Vec<usize> = (0..from.rank()).filter(|a| !axes.contains(a)).collect();
    let perm: Vec<usize> = dims.iter().filter_map(|a| left.iter().position(|b| a == b)).collect();
    if !perm.is_sorted() {
        let ones = (0..left.len()).filter(|k| !perm.contains(k));
        x = emitter::emit(Prim::Transpose { perm: perm.iter().copied().chain(ones).collect() }, &[x]);
    }
    x.reshape(shape.clone())
}

/// Reshaped back.
pub(super) fn reshape(site: &Site) -> Result<Cotangents, OpError> {
    let Some(ty) = site.x[0].ty() else { return Ok(smallvec![None]) };
    Ok(smallvec![site.ct[0].map(|c| emitter::emit(Prim::Reshape { shape: ty.shape }, &[c]))])
}

/// Permuted back.
pub(super) fn transpose(site: &Site, perm: &[usize]) -> Result<Cotangents, OpError> {
    Ok(smallvec![site.ct[0].map(|c| permuted(c, &inverse(perm)))])
}

/// Where each axis went.
pub(super) fn inverse(perm: &[usize]) -> Vec<usize> {
    (0..perm.len()).filter_map(|a| perm.iter().position(|&p| p == a)).collect()
}

/// Transposed, where that changes anything.
pub(super) fn permuted(x: Sym, perm: &[usize]) -> Sym {
    if perm.is_sorted() { x } else { emitter::emit(Prim::Transpose { perm: perm.to_vec() }, &[x]) }
}

/// Padded by zeros: before the first element, between them, and after the last.
pub(super) fn slice(site: &Site, start: &[Dim], stride: &[i64]) -> Result<Cotangents, OpError> {
    let (Some(ty), Some(ct)) = (site.x[0].ty(), site.ct[0]) else { return Ok(smallvec![None]) };
    let Some(part) = emitter::type_of(ct) else { return Ok(smallvec![None]) };
    let interior: Vec<i64> = stride.iter().map(|k| k - 1).collect();
    let high = ty.shape.iter().zip(&part.shape).zip(start.iter().zip(&interior));
    let high = high.map(|((&n, &m), (&low, &gap))| n - low - dilated(m, gap)).collect();
    let pad = Prim::Pad { low: start.to_vec(), high, interior };
    Ok(smallvec![Some(emitter::emit(pad, &[ct, zero(ct)]))])
}

/// The extent of `n` elements with `gap` others between neighbours.
fn dilated(n: Dim, gap: i64) -> Dim {
    if gap == 0 { n } else { n + (n - 1).max(0) * gap }
}

/// Sliced; the rest, added up, belongs to the padding value.
pub(super) fn pad(site: &Site, low: &[Dim], high: &[Dim], interior: &[i64]) -> Result<Cotangents, OpError> {
    let (Some(ct), Some(ty)) = (site.ct[0], site.x[0].ty()) else { return Ok(smallvec![None, None]) };
    let x = site.x[0].is_linear().then(|| unpadded(ct, &ty.shape, low, high, interior));
    let value = site.x[1].is_linear().then(|| {
        // Where the padding is. A difference of sums would lose digits, and infinities.
        let inside = full(BOOL, &ty.shape, false);
        let outside = emitter::emit(site.op.prim.clone(), &[inside, full(BOOL, Shape::scalar(), true)]);
        outside.select(ct, 0).sum(..)
    });
    Ok(smallvec![x, value])
}

/// The elements of a value of `shape` that was padded; zero where they were cut off.
fn unpadded(ct: Sym, shape: &Shape, low: &[Dim], high: &[Dim], interior: &[i64]) -> Sym {
    let Some(wide) = emitter::type_of(ct) else { return ct };
    let zeros = vec![Dim::constant(0); shape.rank()];
    let stride: Vec<i64> = interior.iter().map(|gap| gap + 1).collect();
    let spans: Vec<Dim> = shape.iter().zip(interior).map(|(&n, &gap)| dilated(n, gap)).collect();
    let within = low.iter().chain(high).all(|d| d.lower_bound().is_some_and(|v| v >= 0));
    // Of a symbolic extent with gaps only what the second form cuts is surely the extent.
    let exact =
        shape.iter().zip(interior).all(|(n, &gap)| gap == 0 || n.lower_bound().is_some_and(|v| v > 0) || n.is_const());
    if within && exact {
        let limit = low.iter().zip(&spans).map(|(&lo, &span)| lo + span).collect();
        return emitter::emit(Prim::Slice { start: low.to_vec(), limit, stride }, &[ct]);
    }
    let ends: Vec<Dim> = shape.iter().zip(&stride).map(|(&n, &k)| n * k).collect();
    let back = Prim::Pad {
        low: low.iter().map(|&d| -d).collect(),
        high: ends.iter().zip(&wide.shape).zip(low).map(|((&end, &m), &lo)| end - m + lo).collect(),
        interior: vec![0; shape.rank()],
    };
    let aligned = emitter::emit(back, &[ct, zero(ct)]);
    if interior.iter().all(|&gap| gap == 0) {
        return aligned;
    }
    emitter::emit(Prim::Slice { start: zeros, limit: ends, stride }, &[aligned])
}

/// Sliced apart.
pub(super) fn concatenate(site: &Site, axis: usize) -> Result<Cotangents, OpError> {
    let Some(ct) = site.ct[0] else { return Ok(smallvec![None; site.x.len()]) };
    let mut from = Dim::constant(0);
    let part = |x: &super::Input| {
        let ty = x.ty()?;
        let start = from;
        from = from + *ty.shape.get(axis)?;
        x.is_linear().then(|| ct.slice_axis(axis, start, from))
    };
    Ok(site.x.iter().map(part).collect())
}

/// Reversed.
pub(super) fn reverse(site: &Site) -> Result<Cotangents, OpError> {
    Ok(smallvec![site.ct[0].map(|c| emitter::emit(site.op.prim.clone(), &[c]))])
}

/// A barrier of their own.
pub(super) fn barrier(site: &Site) -> Result<Cotangents, OpError> {
    let passed: Vec<Option<Sym>> = site.x.iter().zip(site.ct).map(|(x, ct)| ct.filter(|_| x.is_linear())).collect();
    let live: Vec<Sym> = passed.iter().copied().flatten().collect();
    let mut kept = emitter::emit_regions(site.op.prim.clone(), &live, vec![]).into_iter().flatten();
    Ok(passed.iter().map(|ct| ct.and_then(|_| kept.next())).collect())
}
