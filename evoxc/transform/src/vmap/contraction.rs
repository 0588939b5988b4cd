//! Dot and convolution for all rows.

use super::{Rows, Site};
use crate::no_rule;
use evoxc_core::{DType, OpError};
use evoxc_ir::AxisPair;

pub(super) fn dot(
    site: &Site,
    batch: &AxisPair,
    contract: &AxisPair,
    accumulate: Option<DType>,
) -> Result<Rows, OpError> {
    let _ = (batch, contract, accumulate);
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn convolution(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}
