//! The module as StableHLO text.

use crate::error::{Stage, error};
use evoxc_core::Result;
use evoxc_ir::Module;

/// The text of a static module, whose function `main` may give inputs away to outputs by these pairs.
pub(crate) fn export(_module: &Module, _pairs: Vec<(usize, usize)>) -> Result<String> {
    Err(error(Stage::Lower, "StableHLO is not written yet"))
}
