//! The programs of `tests/models`, which JAX exported, run as their users run them: by `evoxc run`, and again after a way
//! through every format. Expectations: what JAX computed (`tests/generate/models.py`).

mod program;

use program::Folder;
use std::path::{Path, PathBuf};

const MODELS: [(&str, usize); 3] = [("conv_net", 1), ("transformer_block", 1), ("solver", 2)];

fn file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/models").join(name).display().to_string()
}

/// The header and the data of a `.npy` file of version 1. Source: the format's documentation.
fn parts(path: &Path) -> (String, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..end].to_vec()).unwrap();
    (header.trim_end().to_string(), bytes[end..].to_vec())
}

/// Runs a program and compares its results with JAX's.
fn check(folder: &Folder, text: &str, model: &str, results: usize, backend: &[&str]) {
    let out = format!("{model}.results");
    let inputs = file(&format!("{model}.in.npz"));
    let args = [&["run", text, "--input", &inputs, "--output", &out], backend].concat();
    let (code, _, err) = folder.evoxc(&args);
    assert_eq!(code, 0, "{model}: {err}");
    for i in 0..results {
        let expected: PathBuf = file(&format!("{model}.out/{i}.npy")).into();
        let ((header, a), (other, b)) = (parts(&folder.path(&out).join(format!("{i}.npy"))), parts(&expected));
        assert_eq!(header, other, "{model}");
        if !header.contains("<f4") {
            assert_eq!(a, b, "{model}, result {i}");
            continue;
        }
        let numbers = |v: &[u8]| -> Vec<f32> {
            v.chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
        };
        for (x, y) in numbers(&a).into_iter().zip(numbers(&b)) {
            // Sums of at most 64 products, three layers deep: some units in the last place of numbers around 4.
            assert!((x - y).abs() <= 4e-6 * y.abs().max(1.0), "{model}, result {i}: {x}, expected {y}");
        }
    }
}

#[test]
fn on_the_interpreter() {
    let folder = Folder::new();
    for (model, results) in MODELS {
        check(&folder, &file(&format!("{model}.mlir")), model, results, &[]);
    }
}

#[test]
fn through_every_format() {
    let folder = Folder::new();
    for (model, results) in MODELS {
        let [graph, text, again] = ["evoxcgraph", "evx", "mlir"].map(|end| format!("{model}.{end}"));
        folder.ok(&["convert", &file(&format!("{model}.mlir")), &graph]);
        folder.ok(&["convert", &graph, &text]);
        folder.ok(&["convert", &text, &again]);
        for way in [&graph, &text, &again] {
            check(&folder, way, model, results, &[]);
        }
    }
}

#[test]
fn on_xla() {
    let Some(plugin) = program::plugin() else { return };
    let folder = Folder::with("EVOXC_PJRT_PLUGIN", plugin);
    for (model, results) in MODELS {
        check(&folder, &file(&format!("{model}.mlir")), model, results, &["--backend", "xla"]);
    }
}
