//! `evoxc bench`: the reference workloads on a backend, and beside other systems.
//!
//! The workloads and the lines that are printed are those of the script that times other systems, so that `--compare`
//! can join the two.

mod check;
mod compare;
mod extra;
mod formulas;
mod timing;
mod workloads;

use crate::{Failure, backend, print};
use clap::Args;
use evoxc_stage::Backend;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str =
    "A line of JSON for each workload: {\"workload\", \"peer\", \"median_ms\", \"min_ms\", \"first_call_ms\"};
first_call_ms is trace + compile + first run. Times compare only within one run on one idle machine.

Examples:
  evoxc bench --backend native
  evoxc bench --only softmax_4096x1024,tiny_64
  evoxc bench --compare peers.jsonl
  evoxc bench --check";

/// The arguments of `evoxc bench`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct BenchArguments {
    /// The backend; `evoxc devices` lists them. The native compiler by default.
    #[arg(long, short, value_name = "NAME")]
    backend: Option<String>,
    /// The workloads to run, separated by commas; all by default.
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Seconds to spend on each workload, beside its first call.
    #[arg(long, default_value_t = 4.0, value_name = "SECONDS")]
    budget: f64,
    /// Times nothing: compares the results with the reference interpreter's.
    #[arg(long, conflicts_with_all = ["compare", "budget"])]
    check: bool,
    /// Lines of JSON of other systems, which are joined to a table of ratios at the end.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

/// What is printed of a workload.
#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Timed {
        workload: &'a str,
        peer: &'a str,
        #[serde(flatten)]
        times: timing::Times,
    },
    Failed {
        workload: &'a str,
        peer: &'a str,
        error: String,
    },
}

fn line(l: &Line) -> String {
    // Strings and finite numbers have a form in JSON.
    serde_json::to_string(l).map(|t| t + "\n").unwrap_or_default()
}

/// Runs the workloads.
pub fn run(a: &BenchArguments) -> Result<(), Failure> {
    let backend = backend::choose(Some(a.backend.as_deref().unwrap_or("native")), None)?;
    let peers = a.compare.as_deref().map(compare::read).transpose()?;
    if !a.budget.is_finite() || a.budget < 0.0 {
        return Err(Failure::Usage("--budget takes a number of seconds, not below 0".into()));
    }
    let all = workloads::all();
    if let Some(unknown) = a.only.iter().find(|n| all.iter().all(|w| w.name != n.as_str())) {
        let names: Vec<&str> = all.iter().map(|w| w.name).collect();
        return Err(Failure::Usage(format!("there is no workload `{unknown}`; there are: {}", names.join(", "))));
    }
    let chosen = || all.iter().filter(|w| a.only.is_empty() || a.only.iter().any(|n| n == w.name));
    if a.check {
        return check::run(chosen(), &backend);
    }
    let peer = format!("evoxc-{}", backend.name());
    let mut rows = vec![];
    for w in chosen() {
        let text = match (w.run)(&backend, Duration::from_secs_f64(a.budget)) {
            Ok(t) => {
                rows.push((w.name, t));
                line(&Line::Timed { workload: w.name, peer: &peer, times: t })
            }
            Err(e) => line(&Line::Failed { workload: w.name, peer: &peer, error: e.to_string() }),
        };
        print(&text)?;
    }
    match peers {
        Some(peers) => print(&compare::table(&peer, &rows, &peers)),
        None => Ok(()),
    }
}
