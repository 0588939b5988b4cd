//! Every program of the conformance folder is read, where the folder is there.

use evoxc_stablehlo::syntax::{parse, split};
use std::path::{Path, PathBuf};

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "mlir") {
            out.push(path);
        }
    }
}

#[test]
fn every_conformance_program_is_read() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/stablehlo");
    let dir = std::env::var_os("EVOXC_CONFORMANCE").map_or(dir, PathBuf::from);
    let mut all = vec![];
    files(&dir, &mut all);
    if all.is_empty() {
        eprintln!("skipped: no conformance programs at {}; name their folder in EVOXC_CONFORMANCE", dir.display());
        return;
    }
    all.sort();
    let mut wrong = vec![];
    for path in &all {
        let text = std::fs::read_to_string(path).unwrap();
        for chunk in split(&text) {
            if let Err(e) = parse(chunk.text) {
                wrong.push(format!("{} (+{} lines): {e:?}", path.display(), chunk.lines_before));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
