//! Backends behind libraries that tests look for: where they are, and what runs on them besides the compiled-in ones.

use evoxc::{Iree, Xla};
use evoxc_backends::backends;
use evoxc_stage::{AnyBackend, Backend, OptLevel};
use std::path::{Path, PathBuf};

/// The library to test with: the one that the environment names, else the one that `.ci/compilers` installs.
fn library(variable: &str, place: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        return Some(path.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/compilers/lib");
    let pythons = std::fs::read_dir(root).ok()?.filter_map(Result::ok).map(|e| e.path());
    let mut files = pythons.map(|p| p.join("site-packages").join(place));
    files.find(|f| f.is_file())
}

/// IREE with a compiler; without one it says so, and tests that need it end. Programs run only with the feature
/// `iree-runtime`.
pub fn iree() -> Option<Iree> {
    let found = library(Iree::ENV, "iree/compiler/_mlir_libs/libIREECompiler.so");
    if found.is_none() {
        eprintln!("skipped: there is no IREE compiler; `.ci/compilers` installs one, or set {}", Iree::ENV);
    }
    // Many small programs are compiled here, so they are not optimised.
    Some(Iree::default().compiler(found?).opt_level(OptLevel::O0))
}

/// The backend; without a plugin it says so, and tests that need it end.
pub fn xla() -> Option<Xla> {
    match library(Xla::ENV, "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so") {
        Some(path) => Some(Xla::plugin(path).unwrap()),
        None => {
            eprintln!("skipped: there is no PJRT plugin; `.ci/compilers` installs one, or set {}", Xla::ENV);
            None
        }
    }
}

/// Every backend that there is here: those that the list has, and XLA where a plugin is installed, which compiles many small
/// programs here and so does not optimise them.
pub fn every_backend() -> Vec<AnyBackend> {
    let mut list: Vec<AnyBackend> = backends().into_iter().filter(|b| !b.devices().is_empty()).collect();
    if list.iter().all(|b| b.name() != "xla") {
        list.extend(xla().map(|x| AnyBackend::new(x.opt_level(OptLevel::O0))));
    }
    list
}

/// Does every op round its own result? XLA's code fuses a product with the sum that follows, whatever its options.
pub fn rounds_each_op(b: &AnyBackend) -> bool {
    b.name() != "xla"
}
