//! `evoxc conformance`: runs a folder of StableHLO test programs on a backend and counts.
//!
//! Programs run in worker processes (this program again, in a mode of its own), so that a crash or a hang costs only the
//! program that caused it. This process reads no program: it hands out files, watches the clock, and reports.

mod files;
mod pool;
mod program;
mod protocol;
mod reasons;
mod report;
pub mod worker;

use crate::Failure;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "A program is a module with @main, or else each function without arguments of a module that
checks something. It passes if every check holds; it is unsupported if it is refused with an error that says which op or
feature is missing; whatever else happens (a wrong value, a panic, a crash, a hang, text that does not parse, a compiler that
fails) is a failure.

Examples:
  evoxc conformance testdata --backend interp
  evoxc conformance testdata --backend interp --filter math/ --json report.json -v
  evoxc conformance testdata --backend iree --target vmvx

Exit status: 0 no failures; 1 failures, or no programs; 2 the command line is at fault.";

/// The arguments of `evoxc conformance`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ConformanceArguments {
    /// A folder of .mlir files, with all folders in it, or one file.
    folder: PathBuf,
    /// The backend; `evoxc devices` lists them.
    #[arg(long, short, value_name = "NAME", default_value = "interp")]
    backend: String,
    /// What the backend compiles for, as in `evoxc run`.
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Writes a record of each program to a file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Runs the programs whose FILE:FUNCTION holds this text.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// A program that takes longer is stopped, and has failed.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..1 << 32))]
    timeout: u64,
    /// The number of worker processes; one a core by default.
    #[arg(long, short, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Lists every program with what became of it.
    #[arg(long, short)]
    verbose: bool,
}

/// Runs the programs and reports.
pub fn run(a: &ConformanceArguments) -> Result<(), Failure> {
    let backend = crate::backend::choose(Some(&a.backend), a.target.as_deref())?;
    let files = files::find(&a.folder)?;
    program::works(&backend)?;
    let jobs = a.jobs.or(std::thread::available_parallelism().ok()).map_or(1, usize::from);
    let pool = pool::Pool {
        worker: pool::command(&a.backend, a.target.as_deref(), a.filter.as_deref())?,
        limit: Duration::from_secs(a.timeout),
        jobs: jobs.min(files.len()),
    };
    let records = pool.run(&files)?;
    if records.is_empty() {
        let of = a.filter.as_ref().map_or(String::new(), |f| format!(" whose FILE:FUNCTION holds `{f}`"));
        return Err(Failure::Error(format!("{}: there are no test programs{of}", a.folder.display())));
    }
    // First what cannot be lost to a folder that is not there.
    crate::print(&report::text(&a.backend, &records, a.verbose))?;
    if let Some(path) = &a.json {
        report::save(path, &backend, &records)?;
    }
    if records.iter().any(|r| r.outcome.is_fail()) { Err(Failure::Reported) } else { Ok(()) }
}
