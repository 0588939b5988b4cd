//! Tangents of data movement.

use super::{Site, Tangents};
use crate::instantiate;
use evoxc_trace::Sym;

/// Padded alike, with the tangent of the padding value.
pub(super) fn pad(site: &Site) -> Option<Sym> {
    Some(site.same(&[instantiate(site.t[0], site.x[0]), instantiate(site.t[1], site.x[1])]))
}

/// Concatenated alike.
pub(super) fn concatenate(site: &Site) -> Option<Sym> {
    let parts: Vec<Sym> = site.t.iter().zip(site.x).map(|(t, x)| instantiate(*t, *x)).collect();
    Some(site.same(&parts))
}

/// A barrier of their own.
pub(super) fn barrier(site: &Site) -> Tangents {
    let live: Vec<Sym> = site.t.iter().copied().flatten().collect();
    let mut kept = evoxc_trace::emitter::emit_regions(site.op.prim.clone(), &live, vec![]).into_iter().flatten();
    site.t.iter().map(|t| t.and_then(|_| kept.next())).collect()
}
