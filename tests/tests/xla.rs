//! The value cases on XLA, where a plugin is installed: export, compile, run, compare.

use evoxc_stage::AnyBackend;
use evoxc_tests::{filetest, plugin};

#[test]
fn run() {
    let Some(xla) = plugin::xla() else { return };
    let failures = filetest::values(&AnyBackend::new(xla));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
