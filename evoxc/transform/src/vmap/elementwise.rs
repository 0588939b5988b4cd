//! Element-wise ops for all rows.

use super::{Rows, Site};
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_trace::{Sym, emitter};

/// The same op on all rows.
pub(super) fn all(site: &Site) -> Result<Rows, OpError> {
    let x: Vec<Sym> = (0..site.x.len()).map(|i| site.rows(i)).collect();
    Ok(emitter::emit_regions(site.prim.clone(), &x, vec![])
        .unwrap_or_else(|| site.y.iter().map(|_| emitter::poison()).collect()))
}

/// A scalar predicate that is batched is repeated along the other axes.
pub(super) fn select(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

/// Scalar bounds that are batched are repeated along the other axes.
pub(super) fn clamp(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}
