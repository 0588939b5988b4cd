//! Transposes of dot and convolution.

use super::{Cotangents, Site};
use crate::no_rule;
use evoxc_core::{DType, OpError};
use evoxc_ir::AxisPair;

/// A dot with the other operand.
pub(super) fn dot(
    site: &Site,
    batch: &AxisPair,
    contract: &AxisPair,
    accumulate: Option<DType>,
) -> Result<Cotangents, OpError> {
    let _ = (batch, contract, accumulate);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// A convolution with the other operand.
pub(super) fn convolution(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}
