//! Transposes of data movement.

use super::{Cotangents, Site};
use crate::no_rule;
use evoxc_core::{Dim, OpError};

/// Summed over what was repeated.
pub(super) fn broadcast_in_dim(site: &Site, dims: &[usize]) -> Result<Cotangents, OpError> {
    let _ = (dims,);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Reshaped back.
pub(super) fn reshape(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Permuted back.
pub(super) fn transpose(site: &Site, perm: &[usize]) -> Result<Cotangents, OpError> {
    let _ = (perm,);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Padded by zeros.
pub(super) fn slice(site: &Site, start: &[Dim], limit: &[Dim], stride: &[i64]) -> Result<Cotangents, OpError> {
    let _ = (start, limit, stride);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Sliced; the rest belongs to the padding value.
pub(super) fn pad(site: &Site, low: &[Dim], high: &[Dim], interior: &[i64]) -> Result<Cotangents, OpError> {
    let _ = (low, high, interior);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Sliced apart.
pub(super) fn concatenate(site: &Site, axis: usize) -> Result<Cotangents, OpError> {
    let _ = (axis,);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Reversed.
pub(super) fn reverse(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// A barrier of their own.
pub(super) fn barrier(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}
