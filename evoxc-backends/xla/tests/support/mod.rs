//! What these tests share: finding a plugin, and running StableHLO text.
#![allow(dead_code, reason = "each test file uses its part")]

use evoxc_core::{Result, Tensor, TensorSpec};
use evoxc_stage::{Backend, Program};
use evoxc_xla::{Xla, XlaProgram};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The plugin to test with: the one in the environment, else the one that `.ci/compilers` installs.
pub fn plugin() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(Xla::ENV) {
        return Some(path.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/compilers/lib");
    let pythons = std::fs::read_dir(root).ok()?.filter_map(Result::ok).map(|e| e.path());
    let mut files = pythons.map(|p| p.join("site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"));
    files.find(|f| f.is_file())
}

/// The backend; without a plugin it says so, and tests that need it end.
pub fn xla() -> Option<Xla> {
    match plugin() {
        Some(path) => Some(Xla::plugin(path).unwrap()),
        None => {
            eprintln!("skipped: there is no PJRT plugin; `.ci/compilers` installs one, or set {}", Xla::ENV);
            None
        }
    }
}

/// StableHLO text of a `main` with these types, compiled and loaded on the first device.
pub fn load(xla: &Xla, text: &str, inputs: &[TensorSpec], outputs: &[TensorSpec]) -> Result<Arc<dyn Program>> {
    let program = XlaProgram::from_text(text, inputs.to_vec(), outputs.to_vec())?;
    xla.load(&xla.compile(&program)?, xla.devices()[0])
}

/// Compiles and runs once.
pub fn run(xla: &Xla, text: &str, inputs: Vec<Tensor>, outputs: &[TensorSpec]) -> Result<Vec<Tensor>> {
    let specs: Vec<TensorSpec> = inputs.iter().map(Tensor::spec).collect();
    load(xla, text, &specs, outputs)?.run(inputs)
}
