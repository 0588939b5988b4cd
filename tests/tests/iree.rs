//! The value cases on IREE's runtime: export, compile, run, compare. Run by `.ci/iree-runtime`.
#![cfg(feature = "iree-runtime")]

use evoxc_stage::AnyBackend;
use evoxc_tests::{filetest, plugin};

#[test]
fn run() {
    let Some(iree) = plugin::iree() else { return };
    let failures = filetest::values(&AnyBackend::new(iree));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
