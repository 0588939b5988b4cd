//! Ops that take leading batch axes as they are.

use super::{Rows, Site};
use crate::no_rule;
use evoxc_core::OpError;

pub(super) fn leading(site: &Site) -> Result<Rows, OpError> {
    Err(no_rule(site.prim, "it is not written yet", "use another op"))
}
