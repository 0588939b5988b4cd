//! The module as StableHLO text.

use evoxc_core::Result;
use evoxc_ir::Module;
use evoxc_stablehlo::{ExportOptions, export_module};

/// The text of a static module, whose function `main` may give inputs away to outputs by these pairs.
pub(crate) fn export(module: &Module, aliasing: Vec<(usize, usize)>) -> Result<String> {
    // Locations would stand in XLA's messages only, of which the first line is shown.
    let options = ExportOptions {
        locations: false,
        aliasing,
        alone: true,
        closed: true,
        unfolded: true,
        ..ExportOptions::default()
    };
    export_module(module, &options)
}
