//! Transposes of gather, scatter and dynamic slices.

use super::{Cotangents, Input, Site};
use crate::places::{Places, clamped, scatter_dims};
use crate::{no_rule, zeros};
use evoxc_core::{Dim, I32, I64, OpError};
use evoxc_ir::{GatherDims, Prim, ScatterDims, ScatterOp, TensorType};
use evoxc_trace::{Sym, emitter, iota};
use smallvec::smallvec;

fn unexpected(site: &Site) -> OpError {
    no_rule(&site.op.prim, "it is linear in its data, not in its indices", "report this: a jvp rule wrote it")
}

/// Scatter-added on zeros, at the places that were read.
pub(super) fn gather(site: &Site, dims: &GatherDims, sizes: &[Dim], sorted: bool) -> Result<Cotangents, OpError> {
    let ([Input::Linear(x), Input::Known(indices)], Some(ct)) = (site.x, site.ct[0]) else {
        return Err(unexpected(site));
    };
    let bounds: Vec<Dim> = dims.start_map.iter().map(|&a| x.shape[a] - sizes[a]).collect();
    let indices = clamped(*indices, &bounds, dims.index_vector);
    let sorted = sorted && bounds.len() == 1;
    let add = Prim::Scatter { op: ScatterOp::Add, dims: scatter_dims(dims), sorted, unique: false };
    Ok(smallvec![Some(emitter::emit(add, &[zeros(x), indices, ct])), None])
}

/// The types of x and the updates, the indices, and the cotangent of a scatter.
fn scattered(site: &Site) -> Result<(TensorType, Sym, TensorType, Sym), OpError> {
    let [x, Input::Known(indices), u] = site.x else { return Err(unexpected(site)) };
    match (x.ty(), u.ty(), site.ct[0]) {
        (Some(x), Some(u), Some(ct)) => Ok((x, *indices, u, ct)),
        _ => Err(unexpected(site)),
    }
}

/// Itself for the operand, gathered for the updates.
pub(super) fn scatter_add(site: &Site, dims: &ScatterDims) -> Result<Cotangents, OpError> {
    let (x, indices, u, ct) = scattered(site)?;
    let to_x = site.x[0].is_linear().then_some(ct);
    let to_u = site.x[2].is_linear().then(|| Places::new(&x.shape, indices, &u.shape, dims).read(ct, 0));
    Ok(smallvec![to_x, None, to_u])
}

/// Zero where it was replaced; gathered for those updates that no later one replaced.
pub(super) fn scatter_set(site: &Site, dims: &ScatterDims, unique: bool) -> Result<Cotangents, OpError> {
    let (x, indices, u, ct) = scattered(site)?;
    let set = |x: Sym, u: Sym| emitter::emit(site.op.prim.clone(), &[x, indices, u]);
    let to_x = site.x[0].is_linear().then(|| set(ct, zeros(&u)));
    if !site.x[2].is_linear() {
        return Ok(smallvec![to_x, None, None]);
    }
    let places = Places::new(&x.shape, indices, &u.shape, dims);
    let mut to_u = places.read(ct, 0);
    let windows = (0..u.rank()).filter(|a| !dims.update_window.contains(a)).map(|a| u.shape[a]);
    let single = windows.fold(Dim::constant(1), |n, d| n * d) == 1;
    if !unique && !single {
        let size = u.shape.size();
        let dtype = if size.as_i64().is_some_and(|n| n <= i32::MAX.into()) { I32 } else { I64 };
        let own = iota(dtype, [size], 0).reshape(&u.shape);
        let ids = set(evoxc_trace::full(dtype, &x.shape, -1), own);
        to_u = places.read(ids, -1).eq(own).select(to_u, 0);
    }
    Ok(smallvec![to_x, None, Some(to_u)])
}

/// Scaled alike: linear in the operand alone.
pub(super) fn scatter_mul(site: &Site) -> Result<Cotangents, OpError> {
    match (site.x, site.ct[0]) {
        ([Input::Linear(_), Input::Known(indices), Input::Known(u)], Some(ct)) => {
            Ok(smallvec![Some(emitter::emit(site.op.prim.clone(), &[ct, *indices, *u])), None, None])
        }
        _ => Err(no_rule(&site.op.prim, "it is not linear in its updates", "report this: a jvp rule wrote it")),
    }
}

fn starts<'a>(site: &'a Site, from: usize) -> impl Iterator<Item = Sym> + 'a {
    site.x[from..].iter().filter_map(Input::known)
}

/// Written into zeros.
pub(super) fn dynamic_slice(site: &Site) -> Result<Cotangents, OpError> {
    let (Input::Linear(x), Some(ct)) = (&site.x[0], site.ct[0]) else { return Err(unexpected(site)) };
    let operands: Vec<Sym> = [zeros(x), ct].into_iter().chain(starts(site, 1)).collect();
    let mut out: Cotangents = smallvec![None; site.x.len()];
    out[0] = Some(emitter::emit(Prim::DynamicUpdateSlice {}, &operands));
    Ok(out)
}

/// Zero where it was replaced; sliced for the update.
pub(super) fn dynamic_update_slice(site: &Site) -> Result<Cotangents, OpError> {
    let (Some(u), Some(ct)) = (site.x[1].ty(), site.ct[0]) else { return Err(unexpected(site)) };
    let mut out: Cotangents = smallvec![None; site.x.len()];
    if site.x[0].is_linear() {
        let operands: Vec<Sym> = [ct, zeros(&u)].into_iter().chain(starts(site, 2)).collect();
        out[0] = Some(emitter::emit(Prim::DynamicUpdateSlice {}, &operands));
    }
    if site.x[1].is_linear() {
        let operands: Vec<Sym> = [ct].into_iter().chain(starts(site, 2)).collect();
        out[1] = Some(emitter::emit(Prim::DynamicSlice { sizes: u.shape.to_vec() }, &operands));
    }
    Ok(out)
}
