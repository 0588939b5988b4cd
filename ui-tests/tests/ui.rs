//! Runs the cases: each `fail/*.rs` must give the message next to it, each `pass/*.rs` must compile without warnings and
//! run. `TRYBUILD=overwrite` writes the messages anew; read every one that changes.

#[test]
fn fail() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}

#[test]
fn pass() {
    trybuild::TestCases::new().pass("pass/*.rs");
}
