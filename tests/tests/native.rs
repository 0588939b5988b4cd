//! The native compiler: every value case with interpreted kernels and with C, and what its plans promise.

use evoxc::{Native, prelude::*};
use evoxc_stage::AnyBackend;
use evoxc_tests::filetest;

fn report(failures: &[String]) {
    let shown = if std::env::var_os("ALL").is_some() { usize::MAX } else { 40 };
    let text = failures.iter().take(shown).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} failures\n{text}", failures.len());
}

#[test]
fn value_cases_with_interpreted_kernels() {
    report(&filetest::values(&AnyBackend::new(Native::interp())));
}

#[test]
fn value_cases_with_machine_code() {
    let native = Native::default();
    if native.devices().is_empty() {
        eprintln!("skipped: there is no code for this processor, and no C compiler");
        return;
    }
    report(&filetest::values(&AnyBackend::new(native)));
}

#[test]
fn value_cases_with_vectors_of_256_bits() {
    let native = Native::avx2();
    if native.devices().is_empty() {
        eprintln!("skipped: this processor has no AVX2");
        return;
    }
    report(&filetest::values(&AnyBackend::new(native)));
}

#[test]
fn value_cases_with_c() {
    // Compiled kernels are kept, so that only those that changed take a compiler's time again.
    let native = Native::c().cache_dir(concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels"));
    if native.devices().is_empty() {
        eprintln!("skipped: there is no C compiler; install gcc or clang");
        return;
    }
    report(&filetest::values(&AnyBackend::new(native)));
}
