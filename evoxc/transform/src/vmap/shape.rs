//! Data movement for all rows: axes move up by one.

use super::{Rows, Site};
use crate::no_rule;
use evoxc_core::{Dim, OpError};

pub(super) fn broadcast_in_dim(site: &Site, dims: &[usize]) -> Result<Rows, OpError> {
    let _ = (dims,);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn reshape(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn transpose(site: &Site, perm: &[usize]) -> Result<Rows, OpError> {
    let _ = (perm,);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn slice(site: &Site, start: &[Dim], limit: &[Dim], stride: &[i64]) -> Result<Rows, OpError> {
    let _ = (start, limit, stride);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn pad(site: &Site, low: &[Dim], high: &[Dim], interior: &[i64]) -> Result<Rows, OpError> {
    let _ = (low, high, interior);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn concatenate(site: &Site, axis: usize) -> Result<Rows, OpError> {
    let _ = (axis,);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn reverse(site: &Site, axes: &[usize]) -> Result<Rows, OpError> {
    let _ = (axes,);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}
