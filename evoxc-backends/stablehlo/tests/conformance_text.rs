//! Every program of the conformance folder is read, and its constants, where the folder is there.

use evoxc_stablehlo::syntax::ast::{Attr, Element, Region};
use evoxc_stablehlo::syntax::{dense, parse, split};
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

/// Decodes the constants of a region, but for elements that evoxc has no dtype for.
fn constants(region: &Region<'_>, text: &str, note: &mut dyn FnMut(evoxc::Error)) {
    for op in &region.ops {
        for (_, attr) in &op.attrs {
            if let Attr::Dense(d) = attr
                && !matches!(d.ty.element, Element::Unsupported(_) | Element::Quantized(_))
                && let Err(e) = dense::decode(d, text)
            {
                note(e);
            }
        }
        op.regions.iter().for_each(|r| constants(r, text, note));
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
            let mut note =
                |e: evoxc::Error| wrong.push(format!("{} (+{} lines): {e:?}", path.display(), chunk.lines_before));
            match parse(chunk.text) {
                Err(e) => note(e),
                Ok(module) => {
                    let bodies = module.funcs.iter().filter_map(|f| f.body.as_ref());
                    bodies.for_each(|b| constants(b, chunk.text, &mut note));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
