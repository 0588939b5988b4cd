//! From the tree of StableHLO and CHLO text to graphs.
//!
//! It owns the meaning of every op, as ops of the IR: one table from names to rules. It reads no text.

mod options;

pub use options::{CheckSite, ImportOptions, Imported, ParallelSite};

use evoxc_core::{ImportError, Result};
use evoxc_trace::Graph;

/// The graph of a module's entry function.
///
/// # Errors
/// [`evoxc_core::Error::Parse`] for text that does not parse, [`evoxc_core::Error::Import`] for an op that breaks a rule
/// of StableHLO or that has no form in a graph.
pub fn import(text: &str) -> Result<Graph> {
    Ok(import_with(text, &ImportOptions::default())?.graph)
}

/// [`import`] with options; gives the checks of a test program, if they were asked for.
///
/// # Errors
/// Those of [`import`].
pub fn import_with(_text: &str, _options: &ImportOptions) -> Result<Imported> {
    Err(ImportError {
        unsupported: None,
        op: "module".into(),
        message: "the import is not written yet".into(),
        remedy: None,
        line: 0,
        column: 0,
        source_line: String::new(),
    }
    .into())
}
