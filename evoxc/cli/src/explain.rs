//! `evoxc explain`: what the native compiler makes of a graph.

use crate::graph::GraphArgument;
use crate::{Failure, bindings, print};
use clap::Args;
use evoxc_backends::Native;
use evoxc_backends::schedule::{Amount, Row};
use evoxc_core::Dim;
use evoxc_stage::Backend;

const EXAMPLES: &str = "Examples:
  evoxc explain model.evx
  evoxc explain model.evoxcgraph --dim B=8 --schedule";

/// The arguments of `evoxc explain`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExplainArguments {
    #[command(flatten)]
    graph: GraphArgument,
    /// The value of a symbolic extent, for figures in numbers.
    #[arg(long = "dim", short, value_name = "SYMBOL=N")]
    dims: Vec<String>,
    /// The schedule in full, with every buffer, instead of the table.
    #[arg(long)]
    schedule: bool,
}

/// Prints the table.
pub fn run(a: &ExplainArguments) -> Result<(), Failure> {
    let dims = bindings::parse(&a.dims)?;
    let mut module = a.graph.read()?.module;
    module.verify()?;
    if !dims.is_empty() {
        let sizes: Vec<(Dim, Dim)> = dims.iter().map(|(&s, &n)| (s, Dim::constant(n))).collect();
        module = module.specialize(&sizes)?;
    }
    let lowered = Native::interp().lower(&module)?;
    let schedule = lowered.schedule();
    print(&if a.schedule { schedule.to_string() } else { table(&schedule.rows()) })
}

/// A table in Markdown; steps inside of loops are indented, and counted for one iteration.
fn table(rows: &[Row]) -> String {
    let header = ["step", "what", "loops", "reads", "writes", "computes", "why it is memory"].map(String::from);
    let mut lines = vec![header.to_vec()];
    let (mut read, mut written, mut flops) = (Dim::constant(0), Dim::constant(0), Dim::constant(0));
    for r in rows {
        let step = format!("{}{}", "  ".repeat(r.depth), r.kind);
        let amounts = [(r.read, "B"), (r.written, "B"), (r.flops, "flop")].map(|(n, unit)| Amount(n, unit).to_string());
        let [reads, writes, computes] = amounts;
        lines.push(vec![step, r.label.clone(), r.loops.clone(), reads, writes, computes, r.why.clone()]);
        (read, written, flops) = (read + r.read, written + r.written, flops + r.flops);
    }
    let totals = [(read, "B"), (written, "B"), (flops, "flop")].map(|(n, unit)| Amount(n, unit).to_string());
    let [reads, writes, computes] = totals;
    lines.push(vec![
        format!("{} step{}", rows.len(), if rows.len() == 1 { "" } else { "s" }),
        String::new(),
        String::new(),
        reads,
        writes,
        computes,
        String::new(),
    ]);
    let width = |i: usize| lines.iter().filter_map(|l| l.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    for (n, line) in lines.iter().enumerate() {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(c, &w)| format!("{c:w$}")).collect();
        text += &format!("| {} |\n", cells.join(" | "));
        if n == 0 {
            let rules: Vec<String> = widths.iter().map(|&w| "-".repeat(w)).collect();
            text += &format!("| {} |\n", rules.join(" | "));
        }
    }
    text
}
