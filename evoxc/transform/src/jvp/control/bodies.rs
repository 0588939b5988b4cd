//! Tangents of ops whose combiner or order is a region on scalars.

use crate::jvp::{Jvp, collective};
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::{Op, Prim};

/// Refused: a named combiner has a rule, a scan has one for any body.
pub(super) fn op(_: &mut Jvp, op: &Op) -> Result<(), OpError> {
    if matches!(op.prim, Prim::AllReduceBody { .. } | Prim::ReduceScatterBody { .. }) {
        return Err(collective::bodied(&op.prim));
    }
    Err(no_rule(
        &op.prim,
        "the derivative of a combiner that is a region is not known",
        "use the named form (sum, max …), or write it as a `scan`",
    ))
}
