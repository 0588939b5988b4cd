//! The native compiler: every value case with interpreted kernels and with C, and what its plans promise.

use evoxc::{Native, prelude::*};
use evoxc_backends::Edge;
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

/// Every argument, result and value in between touches a page that nobody may touch: what is read or written beyond one ends
/// the process, and `CASE=` in the environment shows the name of the case then. `ENGINES=all` does it with all kinds of code.
#[test]
fn value_cases_beside_guard_pages() {
    if cfg!(not(unix)) {
        eprintln!("skipped: there are no guard pages on this system");
        return;
    }
    let all = std::env::var("ENGINES").is_ok_and(|e| e == "all");
    let c = Native::c().cache_dir(concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels"));
    let more = [Native::avx2(), Native::interp(), c].into_iter().filter(|_| all);
    for native in [Native::default()].into_iter().chain(more).filter(|n| !n.devices().is_empty()) {
        for edge in [Edge::End, Edge::Start] {
            report(&filetest::values(&AnyBackend::new(native.clone().fenced(edge))));
        }
    }
}
