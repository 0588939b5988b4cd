//! `evoxc convert`: one form of a graph to another.

use crate::graph::GraphArgument;
use crate::{Failure, print};
use clap::{Args, ValueEnum};
use evoxc_stablehlo::{ExportOptions, export_module};
use std::path::{Path, PathBuf};

const EXAMPLES: &str =
    "The extension of OUTPUT says the form: .evoxcgraph a saved graph, .evx EvoXIR text, .mlir StableHLO
text. A saved graph alone keeps the trees of inputs and outputs.

Examples:
  evoxc convert model.mlir model.evoxcgraph
  evoxc convert model.evoxcgraph model.mlir --locations
  evoxc convert model.evoxcgraph - --to mlir";

/// A form of graphs.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Form {
    /// A saved graph.
    Evoxcgraph,
    /// EvoXIR text.
    Evx,
    /// StableHLO text.
    Mlir,
}

/// The arguments of `evoxc convert`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ConvertArguments {
    #[command(flatten)]
    graph: GraphArgument,
    /// The file to write, or - for the standard output.
    output: PathBuf,
    /// The form, where the extension of OUTPUT does not say it.
    #[arg(long, value_name = "FORM")]
    to: Option<Form>,
    /// Writes ops of CHLO where StableHLO has none, in StableHLO text, instead of spelling them out.
    #[arg(long)]
    chlo: bool,
    /// Writes where the user wrote each op, in StableHLO text.
    #[arg(long)]
    locations: bool,
}

/// Reads, and writes.
pub fn run(a: &ConvertArguments) -> Result<(), Failure> {
    let extension = a.output.extension().and_then(|e| e.to_str());
    let form = a.to.or_else(|| Form::from_str(extension?, true).ok()).ok_or_else(|| {
        let message = "its extension is none of .evoxcgraph, .evx, .mlir; give the form, as in --to mlir";
        Failure::Usage(format!("{}: {message}", a.output.display()))
    })?;
    let graph = a.graph.load()?;
    match form {
        Form::Evoxcgraph if a.output == Path::new("-") => {
            Err(Failure::Usage("a saved graph is a file: name it in place of -".into()))
        }
        Form::Evoxcgraph => Ok(graph.save(&a.output)?),
        Form::Evx => write(&a.output, &graph.to_string()),
        Form::Mlir => {
            let options = ExportOptions { chlo: a.chlo, locations: a.locations, ..ExportOptions::default() };
            write(&a.output, &export_module(graph.module(), &options)?)
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path == Path::new("-") {
        return print(text);
    }
    std::fs::write(path, text).map_err(|e| Failure::Error(format!("{}: {e}", path.display())))
}
