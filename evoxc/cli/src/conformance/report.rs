//! The report: text that ends with the line of counts, and JSON with a record a program.

use super::files::SourceFile;
use super::protocol::{Outcome, Place};
use crate::Failure;
use evoxc_stage::{AnyBackend, Backend};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What became of one program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The file, by its path in the folder.
    pub file: String,
    /// The line where its module starts.
    pub line: usize,
    /// Where it stands in the file, for the order of the report.
    #[serde(skip)]
    pub place: Place,
    /// Its function; empty where the module could not be read.
    pub program: String,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// How long it took.
    pub milliseconds: u64,
}

impl Record {
    /// A record.
    pub fn new(
        file: &SourceFile,
        place: Place,
        line: usize,
        program: String,
        outcome: Outcome,
        time: Duration,
    ) -> Record {
        let milliseconds = time.as_millis().try_into().unwrap_or(u64::MAX);
        Record { file: file.name.clone(), line, place, program, outcome, milliseconds }
    }
    /// `file.mlir:12 @main`.
    fn shown(&self) -> String {
        let program = if self.program.is_empty() { String::new() } else { format!(" @{}", self.program) };
        format!("{}:{}{program}", self.file, self.line)
    }
}

/// How many programs came to which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Counts {
    programs: usize,
    pass: usize,
    unsupported: usize,
    fail: usize,
}

fn count(records: &[Record]) -> Counts {
    let mut c = Counts { programs: records.len(), ..Counts::default() };
    for r in records {
        match r.outcome {
            Outcome::Pass => c.pass += 1,
            Outcome::Unsupported { .. } => c.unsupported += 1,
            Outcome::Fail { .. } => c.fail += 1,
        }
    }
    c
}

/// The reasons of what is unsupported, with their counts, the most frequent first.
fn reasons(records: &[Record]) -> Vec<(usize, &str)> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for r in records {
        if let Outcome::Unsupported { reason, .. } = &r.outcome {
            *counts.entry(reason).or_default() += 1;
        }
    }
    let mut out: Vec<_> = counts.into_iter().map(|(reason, n)| (n, reason)).collect();
    out.sort_by_key(|&(n, _)| std::cmp::Reverse(n));
    out
}

/// The report as text.
pub fn text(backend: &str, records: &[Record], verbose: bool) -> String {
    let mut out = String::new();
    for r in records {
        let shown = r.shown();
        match &r.outcome {
            Outcome::Pass if verbose => out += &format!("pass {shown}\n"),
            Outcome::Unsupported { message, .. } if verbose => out += &format!("unsupported {shown}: {message}\n"),
            Outcome::Pass | Outcome::Unsupported { .. } => {}
            Outcome::Fail { message } => out += &format!("fail {shown}: {message}\n"),
        }
    }
    let reasons = reasons(records);
    if !reasons.is_empty() {
        out += "unsupported:\n";
        for (n, reason) in reasons {
            out += &format!("{n:>6}  {reason}\n");
        }
    }
    let Counts { programs, pass, unsupported, fail } = count(records);
    out + &format!("{backend}: {pass} pass, {unsupported} unsupported, {fail} fail of {programs}\n")
}

#[derive(Serialize)]
struct Report<'a> {
    backend: &'a str,
    version: String,
    #[serde(flatten)]
    counts: Counts,
    reasons: BTreeMap<&'a str, usize>,
    records: &'a [Record],
}

/// Writes the JSON.
pub fn save(path: &Path, backend: &AnyBackend, records: &[Record]) -> Result<(), Failure> {
    let report = Report {
        backend: backend.name(),
        version: backend.version(),
        counts: count(records),
        reasons: reasons(records).into_iter().map(|(n, reason)| (reason, n)).collect(),
        records,
    };
    let failed = |e: &dyn std::fmt::Display| Failure::Error(format!("{}: {e}", path.display()));
    let text = serde_json::to_string_pretty(&report).map_err(|e| failed(&e))?;
    std::fs::write(path, text + "\n").map_err(|e| failed(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(file: &str, program: &str, outcome: Outcome) -> Record {
        let file = SourceFile { path: file.into(), name: file.into() };
        Record::new(&file, Place::default(), 3, program.into(), outcome, Duration::ZERO)
    }

    /// Source: the form that the issue of the conformance suite fixes, by hand.
    #[test]
    fn the_last_line_counts_and_reasons_are_grouped() {
        let refused = |reason: &str| Outcome::Unsupported { reason: reason.into(), message: "no".into() };
        let records = [
            record("a.mlir", "f", refused("small floats")),
            record("a.mlir", "g", refused("quantized types")),
            record("b.mlir", "", Outcome::fail("3:1: expected `func`")),
            record("c.mlir", "main", refused("quantized types")),
            record("d.mlir", "main", Outcome::Pass),
        ];
        let expected = "fail b.mlir:3: 3:1: expected `func`\nunsupported:\n     2  quantized types\n     1  small floats\n\
            toy: 1 pass, 3 unsupported, 1 fail of 5\n";
        assert_eq!(text("toy", &records, false), expected);
        let all = text("toy", &records, true);
        assert!(all.contains("pass d.mlir:3 @main\n") && all.contains("unsupported a.mlir:3 @f: no\n"), "{all}");
    }

    #[test]
    fn records_are_flat_json() {
        let json = serde_json::to_value(record("a.mlir", "f", Outcome::fail("x"))).unwrap();
        let expected = serde_json::json!({
            "file": "a.mlir", "line": 3, "program": "f", "outcome": "fail", "message": "x", "milliseconds": 0
        });
        assert_eq!(json, expected);
    }
}
