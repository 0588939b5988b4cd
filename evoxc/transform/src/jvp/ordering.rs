//! Tangents of sort and top_k: the permutation that orders the values orders their tangents.

use super::{Site, Tangents};
use crate::no_rule;
use evoxc_core::{Dim, OpError};
use evoxc_ir::SortKeys;

/// Permuted like the operands.
pub(super) fn sort(site: &Site, axis: usize, keys: &SortKeys, stable: bool) -> Result<Tangents, OpError> {
    let _ = (axis, keys, stable);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Taken at the same indices.
pub(super) fn top_k(site: &Site, k: Dim) -> Result<Tangents, OpError> {
    let _ = k;
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}
