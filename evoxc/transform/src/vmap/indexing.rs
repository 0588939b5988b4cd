//! Gather, scatter and dynamic slices for all rows.

use super::{Rows, Site};
use crate::no_rule;
use evoxc_core::{Dim, OpError};
use evoxc_ir::GatherDims;

pub(super) fn gather(site: &Site, dims: &GatherDims, sizes: &[Dim], sorted: bool) -> Result<Rows, OpError> {
    let _ = (dims, sizes, sorted);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn scatter(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn dynamic_slice(site: &Site, sizes: &[Dim]) -> Result<Rows, OpError> {
    let _ = (sizes,);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn dynamic_update_slice(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}
