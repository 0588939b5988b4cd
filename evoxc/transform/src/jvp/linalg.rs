//! Tangents of factorisations. Sources: Giles, "Collected matrix derivative results for forward and reverse mode
//! algorithmic differentiation" (2008), and the derivations that JAX cites.

use super::{Site, Tangents};
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_trace::Sym;

pub(super) fn cholesky(site: &Site, lower: bool) -> Result<Option<Sym>, OpError> {
    let _ = lower;
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

pub(super) fn triangular_solve(site: &Site) -> Result<Option<Sym>, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

pub(super) fn lu(site: &Site) -> Result<Tangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

pub(super) fn qr(site: &Site, full: bool) -> Result<Tangents, OpError> {
    let _ = full;
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

pub(super) fn eigh(site: &Site) -> Result<Tangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

pub(super) fn svd(site: &Site, full: bool) -> Result<Tangents, OpError> {
    let _ = full;
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}
