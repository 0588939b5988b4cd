//! Sliding windows for all rows.

use super::{Rows, Site};
use crate::no_rule;
use evoxc_core::OpError;

pub(super) fn reduce_window(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}

pub(super) fn select_and_scatter(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}
