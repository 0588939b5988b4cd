//! Every value case through StableHLO text and back to the interpreter: what is written means what it should, whatever
//! compiler reads it.

use evoxc::stablehlo::{ExportOptions, export_module, import};
use evoxc_core::Error;
use evoxc_stage::AnyBackend;
use evoxc_tests::case::{files, read};
use evoxc_tests::engines::Engines;
use evoxc_tests::run::{Failure, execute, judge, load};

/// Cases whose op StableHLO cannot say; each is refused by an error that names it.
const REFUSED: [&str; 3] = ["collective_broadcast", "print", "rank_index"];

fn engines() -> AnyBackend {
    AnyBackend::new(Engines)
}

fn through_text(options: &ExportOptions) -> Vec<String> {
    let (engines, mut failures, mut count) = (engines(), vec![], 0);
    for file in files("run").unwrap() {
        for case in read(&file).unwrap() {
            let value = load(&case).unwrap();
            let mut fail = |e: String| failures.push(format!("{}: {e}", case.place()));
            let text = match export_module(&value.module, options) {
                Ok(text) => text,
                Err(Error::Backend(e)) if REFUSED.contains(&e.op.op.as_str()) && e.op.remedy.is_some() => continue,
                Err(e) => {
                    fail(e.to_string());
                    continue;
                }
            };
            count += 1;
            let again = match import(&text) {
                Ok(g) => g,
                Err(e) => {
                    fail(format!("{e}\n{text}"));
                    continue;
                }
            };
            match execute(&engines, again.module(), &value.inputs) {
                Ok(got) => judge(&got, &value).unwrap_or_else(|e| fail(format!("{e}\n{text}"))),
                Err(Failure::Unsupported(e) | Failure::Wrong(e)) => fail(format!("{e}\n{text}")),
            }
        }
    }
    println!("{count} cases, {} failures", failures.len());
    failures
}

fn report(failures: Vec<String>) {
    let shown: Vec<&str> = failures
        .iter()
        .take(if std::env::var_os("ALL").is_some() { usize::MAX } else { 5 })
        .map(String::as_str)
        .collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), shown.join("\n"));
}

#[test]
fn as_stablehlo() {
    report(through_text(&ExportOptions::default()));
}

#[test]
fn as_stablehlo_and_chlo() {
    report(through_text(&ExportOptions { chlo: true, ..ExportOptions::default() }));
}

#[test]
fn spelled_out_for_lean_compilers() {
    report(through_text(&ExportOptions { strict: true, lean: true, ..ExportOptions::default() }));
}
