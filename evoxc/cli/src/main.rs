//! The program `evoxc`: prints, checks, draws, converts and runs graphs.
//!
//! It owns the command line and nothing else: what a graph is and how it runs is in the layers below. It exits with 0 on
//! success, 1 when a graph, file or run is at fault, and 2 when the command line is.

mod backend;
mod bench;
mod bindings;
mod conformance;
mod convert;
mod explain;
mod generate;
mod graph;
mod inputs;
mod npy;
mod npz;
mod output;
mod run;

use clap::{Parser, Subcommand};
use evoxc_stage::Backend;
use graph::GraphArgument;
use std::io::Write;
use std::process::ExitCode;

/// Prints, checks, draws, converts and runs evoxc graphs and StableHLO programs.
#[derive(Parser)]
#[command(name = "evoxc", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str =
    "A GRAPH is a saved graph (.evoxcgraph), EvoXIR text (.evx, or - for the standard input), or StableHLO
text as JAX and PyTorch export it (.mlir).

Examples:
  evoxc print model.evoxcgraph
  evoxc verify model.evx
  evoxc dot model.evoxcgraph | dot -Tsvg > model.svg
  evoxc run model.evoxcgraph --input x=x.npy --input w=weights.npz:w --output y.npy
  evoxc run model.evx --seed 1 --dim B=8
  evoxc run model.mlir --input x.npy --backend interp
  evoxc convert model.mlir model.evoxcgraph
  evoxc explain model.evx --dim B=8
  evoxc conformance testdata --backend interp

Exit status: 0 success; 1 the graph, a file or the run is at fault; 2 the command line is.";

#[derive(Subcommand)]
enum Command {
    /// Prints a graph as EvoXIR, one op a line with its location.
    #[command(after_help = "Example:\n  evoxc print model.evoxcgraph > model.evx")]
    Print(GraphArgument),
    /// Checks that a graph follows every rule of the IR.
    #[command(after_help = "Example:\n  evoxc verify model.evx")]
    Verify(GraphArgument),
    /// Prints a graph in the language of Graphviz.
    #[command(after_help = "Example:\n  evoxc dot model.evoxcgraph | dot -Tsvg > model.svg")]
    Dot(GraphArgument),
    /// Runs a graph on inputs from NumPy files, or on generated ones.
    Run(run::RunArguments),
    /// Writes a graph in another form: a saved graph, EvoXIR text, or StableHLO text.
    Convert(convert::ConvertArguments),
    /// Shows what the native compiler makes of a graph: kernels, the memory that they move, and why.
    Explain(explain::ExplainArguments),
    /// Runs a folder of StableHLO test programs, and counts what passes.
    Conformance(conformance::ConformanceArguments),
    /// Times the reference workloads on a backend.
    Bench(bench::BenchArguments),
    /// Runs test programs for `conformance`.
    #[command(hide = true)]
    ConformanceWorker(conformance::worker::WorkerArguments),
    /// Lists the backends compiled in, and the devices that this host has.
    #[command(after_help = "Example:\n  evoxc devices")]
    Devices,
}

/// Why the program fails.
pub enum Failure {
    /// The graph, a file or the run is at fault.
    Error(String),
    /// The command line is.
    Usage(String),
    /// The graph is, and the output says so already.
    Reported,
}

impl From<evoxc_core::Error> for Failure {
    fn from(e: evoxc_core::Error) -> Failure {
        Failure::Error(e.to_string())
    }
}

/// Writes to the standard output; a reader that has gone away (as `| head` does) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Error(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Print(g) => print(&g.read()?.module.to_string()),
        Command::Verify(g) => {
            let graph = g.read()?;
            graph.module.verify()?;
            let ops: usize = graph.module.funcs.iter().map(|f| f.body.ops.len()).sum();
            print(&format!("ok: functions: {}, ops: {ops}\n", graph.module.funcs.len()))
        }
        Command::Dot(g) => print(&g.read()?.module.to_dot()),
        Command::Run(arguments) => run::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Conformance(arguments) => conformance::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::ConformanceWorker(arguments) => conformance::worker::run(&arguments),
        Command::Devices => devices(),
    }
}

fn devices() -> Result<(), Failure> {
    let mut text = String::from("backends:\n");
    for b in evoxc_backends::backends() {
        let list: Vec<String> = b.devices().iter().map(ToString::to_string).collect();
        text += &format!("  {} {} ({})\n", b.name(), b.version(), list.join(", "));
    }
    text += "devices:\n";
    for d in evoxc_backends::devices() {
        text += &format!("  {d}\n");
    }
    print(&text)
}

fn main() -> ExitCode {
    match execute(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let (code, message) = match &failure {
                Failure::Error(m) => (1, m),
                Failure::Usage(m) => (2, m),
                Failure::Reported => return ExitCode::FAILURE,
            };
            eprintln!("error: {message}");
            ExitCode::from(code)
        }
    }
}
