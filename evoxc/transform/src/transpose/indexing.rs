//! Transposes of gather, scatter and dynamic slices.

use super::{Cotangents, Site};
use crate::no_rule;
use evoxc_core::{Dim, OpError};
use evoxc_ir::{GatherDims, ScatterDims};

/// Scatter-added on zeros.
pub(super) fn gather(site: &Site, dims: &GatherDims, sizes: &[Dim], sorted: bool) -> Result<Cotangents, OpError> {
    let _ = (dims, sizes, sorted);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Itself for the operand, gathered for the updates.
pub(super) fn scatter_add(site: &Site, dims: &ScatterDims) -> Result<Cotangents, OpError> {
    let _ = (dims,);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Zero where it was replaced; gathered for the updates.
pub(super) fn scatter_set(site: &Site, dims: &ScatterDims) -> Result<Cotangents, OpError> {
    let _ = (dims,);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Scaled alike.
pub(super) fn scatter_mul(site: &Site, dims: &ScatterDims) -> Result<Cotangents, OpError> {
    let _ = (dims,);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Written into zeros.
pub(super) fn dynamic_slice(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Zero where it was replaced; sliced for the update.
pub(super) fn dynamic_update_slice(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}
