//! `evoxc bench`: its lines and its table.

mod program;

use program::Folder;
use serde_json::Value;

#[test]
fn a_line_of_json_for_each_workload_and_a_table_of_ratios() {
    let f = Folder::new();
    f.write(
        "peers.jsonl",
        "{\"workload\": \"tiny_64\", \"peer\": \"numpy\", \"median_ms\": 1e6, \"first_call_ms\": 1e6}\n\n",
    );
    let args = ["bench", "--backend", "interp", "--budget", "0", "--only", "tiny_64", "--compare", "peers.jsonl"];
    let text = f.ok(&args);
    let (line, table) = text.split_once('\n').expect("a line, then a table");
    let json: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!((json["workload"].as_str(), json["peer"].as_str()), (Some("tiny_64"), Some("evoxc-interp")));
    let time = |name: &str| json[name].as_f64().unwrap_or_else(|| panic!("no {name} in {line}"));
    assert!(0.0 < time("min_ms") && time("min_ms") <= time("median_ms") && time("first_call_ms") > 0.0);
    assert!(table.contains("| median call, ms | evoxc-interp | numpy |") && table.contains("×)"), "{table}");
}

#[test]
fn what_is_asked_wrongly_is_named() {
    let f = Folder::new();
    let e = f.fails(2, &["bench", "--backend", "interp", "--only", "tiny"]);
    assert!(e.contains("no workload `tiny`") && e.contains("tiny_64"), "{e}");
    f.write("bad.jsonl", "{\"workload\": \"w\", \"peer\": \"p\"}\nnot json\n");
    let e = f.fails(1, &["bench", "--backend", "interp", "--compare", "bad.jsonl"]);
    assert!(e.contains("bad.jsonl:2:"), "{e}");
    assert!(f.fails(1, &["bench", "--backend", "interp", "--compare", "none.jsonl"]).contains("none.jsonl"));
    assert!(f.fails(2, &["bench", "--backend", "interp", "--budget=-1"]).contains("--budget"));
}

#[test]
fn the_native_compiler_gives_what_the_interpreter_gives() {
    let names = "tiny_64,scan_rnn_1000x64,population32_chain10_merged,population32_chain10_separate";
    let text = Folder::new().ok(&["bench", "--backend", "native", "--check", "--only", names]);
    assert_eq!(text.matches(": ok (").count(), 4, "{text}");
}
