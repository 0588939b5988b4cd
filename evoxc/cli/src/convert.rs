//! `evoxc convert`: one form of a graph to another.

use crate::graph::GraphArgument;
use crate::{Failure, print};
use clap::Args;
use evoxc_stablehlo::{ExportOptions, export_module};
use std::path::{Path, PathBuf};

const EXAMPLES: &str =
    "The extension of OUTPUT says the form: .evoxcgraph a saved graph, .evx EvoXIR text, .mlir StableHLO
text, on the standard output for -.mlir and -.evx. A saved graph alone keeps the trees of inputs and outputs.

Examples:
  evoxc convert model.mlir model.evoxcgraph
  evoxc convert model.evoxcgraph model.mlir --locations
  evoxc convert model.evoxcgraph -.mlir";

/// The arguments of `evoxc convert`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ConvertArguments {
    #[command(flatten)]
    graph: GraphArgument,
    /// The file to write.
    output: PathBuf,
    /// Writes ops of CHLO where StableHLO has none, in StableHLO text, instead of spelling them out.
    #[arg(long)]
    chlo: bool,
    /// Writes where the user wrote each op, in StableHLO text.
    #[arg(long)]
    locations: bool,
}

/// Reads, and writes.
pub fn run(a: &ConvertArguments) -> Result<(), Failure> {
    let graph = a.graph.load()?;
    match a.output.extension().and_then(|e| e.to_str()) {
        Some("evoxcgraph") => Ok(graph.save(&a.output)?),
        Some("evx") => write(&a.output, &graph.to_string()),
        Some("mlir") => {
            let options = ExportOptions { chlo: a.chlo, locations: a.locations, ..ExportOptions::default() };
            write(&a.output, &export_module(graph.module(), &options)?)
        }
        _ => {
            let message = format!("{}: its extension is none of .evoxcgraph, .evx, .mlir", a.output.display());
            Err(Failure::Usage(message))
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path.file_stem().is_some_and(|s| s == "-") && path.parent().is_none_or(|p| p == Path::new("")) {
        return print(text);
    }
    std::fs::write(path, text).map_err(|e| Failure::Error(format!("{}: {e}", path.display())))
}
