//! `evoxc conformance`: the sample in tests/conformance, the whole suite where it is there, and programs that fail in
//! every way.

mod program;

use program::Folder;
use std::path::{Path, PathBuf};

/// Expectations: the sample's programs, counted by hand; all hold but the three that are left out.
#[test]
fn the_sample() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let (code, out, err) = Folder::new().evoxc(&["conformance", &sample.display().to_string()]);
    let expected = "unsupported:
     1  element types without a dtype
     1  infeed, outfeed, send, recv
     1  quantized types
interp: 10 pass, 3 unsupported, 0 fail of 13
";
    assert_eq!((code, out.as_str(), err.as_str()), (0, expected, ""));
}

/// The only reasons for which a program of the suite may be unsupported on the interpreter.
const REASONS: [&str; 4] =
    ["quantized types", "element types without a dtype", "infeed, outfeed, send, recv", "data-dependent shapes"];

/// The folder of the whole suite.
fn suite() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/stablehlo");
    let dir = std::env::var_os("EVOXC_CONFORMANCE").map_or(dir, PathBuf::from);
    if dir.is_dir() {
        return Some(dir);
    }
    eprintln!("skipped: no conformance programs at {}; name their folder in EVOXC_CONFORMANCE", dir.display());
    None
}

/// The exit status, output and report of the suite.
fn run_suite(f: &Folder, dir: &Path, backend: &str) -> (i32, String, serde_json::Value) {
    let (code, out, err) =
        f.evoxc(&["conformance", &dir.display().to_string(), "--backend", backend, "--json", "report.json"]);
    let report = std::fs::read_to_string(f.path("report.json")).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    (code, out, serde_json::from_str(&report).unwrap())
}

/// On XLA at least 90 % of what the interpreter passes pass; what fails is in a list, with a part of what is said, and
/// the list holds nothing else.
#[test]
fn the_suite_on_xla() {
    let Some(dir) = suite() else { return };
    let Some(plugin) = program::plugin() else { return };
    let f = Folder::with("EVOXC_PJRT_PLUGIN", plugin);
    let (_, out, report) = run_suite(&f, &dir, "xla");
    let list = include_str!("../../../tests/unsupported/xla-conformance.txt");
    let mut excused: Vec<(&str, &str)> = list
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(|l| l.split_once(" | ").unwrap_or_else(|| panic!("`{l}` has no message")))
        .collect();
    let mut wrong = vec![];
    for r in report["records"].as_array().unwrap().iter().filter(|r| r["outcome"] == "fail") {
        let text = |field: &str| r[field].as_str().unwrap().to_string();
        let (program, message) = (format!("{} {}", text("file"), text("program")), text("message"));
        match excused.iter().position(|(p, m)| *p == program && message.contains(m)) {
            Some(i) => drop(excused.swap_remove(i)),
            None => wrong.push(format!("{program}: {message}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\n{out}");
    // The suite in the folder may be another part of the project's, which does not hold every program of the list.
    excused.retain(|(p, _)| {
        report["records"]
            .as_array()
            .unwrap()
            .iter()
            .any(|r| format!("{} {}", r["file"].as_str().unwrap(), r["program"].as_str().unwrap()) == *p)
    });
    assert!(excused.is_empty(), "these pass, or say something else: {excused:#?}");
    let count = |what: &str| report[what].as_u64().unwrap();
    let (_, _, here) = run_suite(&f, &dir, "interp");
    assert!(count("pass") * 10 >= here["pass"].as_u64().unwrap() * 9, "{out}");
}

#[test]
fn the_suite_on_the_interpreter() {
    let Some(dir) = suite() else { return };
    let f = Folder::new();
    let (code, out, report) = run_suite(&f, &dir, "interp");
    assert_eq!(code, 0, "{out}");
    let reasons = report["reasons"].as_object().unwrap();
    let others: Vec<_> = reasons.keys().filter(|r| !REASONS.contains(&r.as_str())).collect();
    assert!(others.is_empty(), "unsupported for other reasons: {others:?}\n{out}");
    let count = |what: &str| report[what].as_u64().unwrap();
    assert_eq!(count("programs"), report["records"].as_array().unwrap().len() as u64);
    assert!(count("pass") * 100 >= count("programs") * 93, "{out}");
}

/// The native compiler passes what the interpreter passes, and refuses what it refuses.
#[test]
fn the_suite_on_native() {
    let Some(dir) = suite() else { return };
    let f = Folder::new();
    let (_, _, here) = run_suite(&f, &dir, "interp");
    let (code, out, report) = run_suite(&f, &dir, "native");
    assert_eq!(code, 0, "{out}");
    for what in ["programs", "pass", "reasons"] {
        assert_eq!(report[what], here[what], "{out}");
    }
}

const ENDLESS: &str = "func.func @main() {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.while(%i = %0) : tensor<i32>
  cond {
    %t = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %n = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  check.expect_eq_const %1, dense<0> : tensor<i32>
  func.return
}
";
const HUGE: &str = "func.func @main() -> tensor<1000000x1000000x1000000xf64> {
  %0 = stablehlo.constant dense<0.0> : tensor<f64>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f64>) -> tensor<1000000x1000000x1000000xf64>
  func.return %1 : tensor<1000000x1000000x1000000xf64>
}
";
const WRONG: &str = "func.func @wrong() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 3]> : tensor<2xi32>
  func.return
}
func.func @right() {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  check.expect_close %0, %0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  func.return
}

// -----

func.func @later() {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  check.expect_eq_const %0, dense<false> : tensor<i1>
  func.return
}
";

/// A folder in which every program fails but one, each in its own way.
fn failing() -> Folder {
    let f = Folder::new();
    std::fs::create_dir_all(f.path("d/sub")).unwrap();
    f.write("d/a_wrong.mlir", WRONG);
    f.write("d/b_endless.mlir", ENDLESS);
    f.write("d/c_text.mlir", "func.func @main() {\n  %0 = stablehlo.constant dense<[1, 2> : tensor<2xi32>\n");
    f.write("d/d_bytes.mlir", [0xff, 0xfe]);
    f.write("d/sub/huge.mlir", HUGE);
    f.write("d/other.txt", "no program");
    f
}

#[test]
fn every_way_to_fail_is_counted_and_costs_itself_alone() {
    let f = failing();
    let (code, out, err) = f.evoxc(&["conformance", "d", "--timeout", "2", "--jobs", "2", "--json", "r.json"]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    let starts = [
        "fail a_wrong.mlir:1 @wrong: expect_eq in line 3: element [1] is 2, expected 3 (1 of 2 elements)",
        "fail a_wrong.mlir:13 @later: expect_eq in line 16: true, expected false",
        "fail b_endless.mlir:1 @main: it runs for more than 2s",
        "fail c_text.mlir:1: 3:1: expected an op",
        "fail d_bytes.mlir:1: stream did not contain valid UTF-8",
        "fail sub/huge.mlir:1 @main: ",
        "interp: 1 pass, 0 unsupported, 6 fail of 7",
    ];
    assert_eq!(lines.len(), starts.len(), "{out}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\nis not\n{start}");
    }
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(f.path("r.json")).unwrap()).unwrap();
    assert_eq!([&report["pass"], &report["fail"], &report["programs"]], [1, 6, 7]);
    assert_eq!(report["records"][1]["program"], "right");
    assert_eq!(report["records"][1]["outcome"], "pass");
}

#[test]
fn filters_files_and_functions() {
    let f = failing();
    let run = |filter: &str| f.evoxc(&["conformance", "d", "--filter", filter, "-v"]);
    assert_eq!(run("a_wrong.mlir:ri").1, "pass a_wrong.mlir:1 @right\ninterp: 1 pass, 0 unsupported, 0 fail of 1\n");
    assert!(run("sub/").1.ends_with("interp: 0 pass, 0 unsupported, 1 fail of 1\n"));
    let (code, _, err) = run("nothing");
    assert!(code == 1 && err.contains("no test programs whose FILE:FUNCTION holds `nothing`"), "{err}");
    // A report that cannot be written does not cost the other one.
    let (code, out, err) = f.evoxc(&["conformance", "d", "--filter", "a_wrong.mlir:ri", "--json", "no/r.json"]);
    assert_eq!((code, out.as_str()), (1, "interp: 1 pass, 0 unsupported, 0 fail of 1\n"));
    assert!(err.contains("no/r.json"), "{err}");
    // One file in place of a folder.
    assert!(f.evoxc(&["conformance", "d/a_wrong.mlir"]).1.ends_with("interp: 1 pass, 0 unsupported, 2 fail of 3\n"));
}

#[test]
fn what_is_refused() {
    let f = failing();
    assert!(f.fails(1, &["conformance", "none"]).contains("none: "));
    std::fs::create_dir_all(f.path("empty")).unwrap();
    assert_eq!(f.fails(1, &["conformance", "empty"]), "error: empty: there are no .mlir files");
    assert!(f.fails(2, &["conformance", "d", "--backend", "abacus"]).contains("there are: interp"));
    // A backend that does not work at all is no reason for programs to be unsupported.
    assert!(f.fails(1, &["conformance", "d", "--backend", "xla"]).contains("EVOXC_PJRT_PLUGIN"));
    for bad in [&["--timeout", "0"][..], &["--jobs", "0"], &["--filter"]] {
        assert_eq!(f.evoxc(&[&["conformance", "d"], bad].concat()).0, 2, "{bad:?}");
    }
}
