//! Runs the cases: each `fail/*.rs` must give the message next to it, each `pass/*.rs` must compile without warnings and
//! run. `TRYBUILD=overwrite` writes the messages anew; read every one that changes.

// One set of cases, so that the dependencies are built once and not also checked.
#[test]
fn cases() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*.rs");
    cases.pass("pass/*.rs");
}
