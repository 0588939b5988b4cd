//! Two families through the IREE compiler, where it is installed. Its runtime is not part of this crate's tests.

mod common;

use common::fixtures;
use evoxc::Iree;
use evoxc::prelude::*;
use std::path::{Path, PathBuf};

/// The compiler that the environment names, else the one that `.ci/compilers` installs.
fn compiler() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(Iree::ENV) {
        return Some(path.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/compilers/lib");
    let pythons = std::fs::read_dir(root).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()));
    let mut files = pythons.map(|p| p.join("site-packages/iree/compiler/_mlir_libs/libIREECompiler.so"));
    let found = files.find(|f| f.is_file());
    if found.is_none() {
        eprintln!("skipped: there is no IREE compiler; `.ci/compilers` installs one, or set {}", Iree::ENV);
    }
    found
}

/// The forward pass, and a step behind a cache, of known sizes: each compiles to bytecode.
#[test]
fn graphs_compile() -> evoxc::Result<()> {
    let (Some(models), Some(compiler)) = (fixtures(), compiler()) else { return Ok(()) };
    let iree = Iree::default().compiler(compiler);
    for name in ["gpt2", "qwen3"] {
        let c = evoxc_hf::load(models.join(name))?.config;
        let whole = trace(evoxc_hf::forward(&c, 12)?, evoxc_hf::specs(&c, 2, 12))?;
        assert!(!whole.lower(&iree)?.compile()?.artifact().vmfb().is_empty(), "{name}");
        let f = evoxc_hf::forward_cached(&c, evoxc_hf::Logits::Last)?;
        let step = trace(f, evoxc_hf::cached_specs(&c, 2, 1, 16))?;
        assert!(!step.lower(&iree)?.compile()?.artifact().vmfb().is_empty(), "{name}");
    }
    Ok(())
}
