//! Sort and top_k for all rows.

use super::{Rows, Site};
use crate::no_rule;
use evoxc_core::OpError;

pub(super) fn sort(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn top_k(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}
