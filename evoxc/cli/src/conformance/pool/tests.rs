//! Workers that crash, hang or babble, played by the shell.

use super::*;

/// Runs one file with a script as worker. The script's `start K` and `end` say what a worker says about program K.
fn records(script: &str, limit: Duration) -> Vec<(String, String)> {
    const SAY: &str = r#"
        say() { printf '\001evoxc %s\n' "$1"; }
        module() { say "{\"Module\":{\"module\":$1,\"line\":7}}"; }
        start() { say "{\"Start\":{\"place\":{\"module\":0,\"program\":$1},\"line\":7,\"program\":\"p$1\"}}"; }
        end() { say '{"End":{"outcome":"pass"}}'; }
        read job
        from() { case "$job" in *'"program":'"$1"'}'*) true;; *) false;; esac; }
    "#;
    let pool = Pool { worker: ["sh".into(), "-c".into(), format!("{SAY}{script}").into()].into(), limit, jobs: 1 };
    let file = SourceFile { path: "a.mlir".into(), name: "a.mlir".into() };
    let Ok(records) = pool.run(&[file]) else { panic!("the pool failed") };
    let outcome = |r: Record| match r.outcome {
        Outcome::Pass => (r.program, "pass".into()),
        Outcome::Unsupported { message, .. } | Outcome::Fail { message } => (r.program, message),
    };
    records.into_iter().map(outcome).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_crash_fails_its_program_alone() {
    let got = records(
        "module 0; from 0 && { start 0; end; start 1; echo 'stack overflow' >&2; kill -ABRT $$; }; start 2; end; say '\"Done\"'",
        LONG,
    );
    assert_eq!(got.len(), 3);
    assert_eq!([&got[0], &got[2]], [&pairs(&[("p0", "pass")])[0], &pairs(&[("p2", "pass")])[0]]);
    assert!(got[1].0 == "p1" && got[1].1.contains("signal: 6") && got[1].1.ends_with(": stack overflow"), "{got:?}");
}

#[test]
fn a_hang_fails_its_program_alone() {
    let got = records(
        "module 0; from 0 && { start 0; exec sleep 100; }; start 1; end; say '\"Done\"'",
        Duration::from_millis(500),
    );
    assert_eq!(got, pairs(&[("p0", "it runs for more than 500ms"), ("p1", "pass")]));
}

#[test]
fn a_crash_of_the_parser_fails_its_module() {
    let got = records("case \"$job\" in *'\"module\":0'*) module 0; exit 3;; esac; module 1; say '\"Done\"'", LONG);
    assert_eq!(got, pairs(&[("", "the process ended with exit status: 3")]));
}

#[test]
fn a_worker_that_says_nothing_is_not_started_for_ever() {
    assert_eq!(records("exit 4", LONG), pairs(&[("", "the process ended with exit status: 4")]));
}

#[test]
fn what_programs_print_is_passed_over() {
    let got = records("module 0; echo hello; start 0; printf 'x = 1'; end; say '\"Done\"'", LONG);
    assert_eq!(got, pairs(&[("p0", "pass")]));
}
