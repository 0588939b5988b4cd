//! Two families on XLA, where a plugin is installed: the graphs go through StableHLO.

mod common;

use common::{LOGITS, compare, fixtures, golden};
use evoxc::Xla;
use evoxc::prelude::*;
use evoxc_hf::GenerateOptions;
use std::path::{Path, PathBuf};

/// The plugin that the environment names, else the one that `.ci/compilers` installs.
fn plugin() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(Xla::ENV) {
        return Some(path.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/compilers/lib");
    let pythons = std::fs::read_dir(root).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()));
    let mut files = pythons.map(|p| p.join("site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"));
    let found = files.find(|f| f.is_file());
    if found.is_none() {
        eprintln!("skipped: there is no PJRT plugin; `.ci/compilers` installs one, or set {}", Xla::ENV);
    }
    found
}

#[test]
fn logits_and_tokens() -> evoxc::Result<()> {
    let (Some(models), Some(plugin)) = (fixtures(), plugin()) else { return Ok(()) };
    let xla = Xla::plugin(plugin)?;
    for name in ["gpt2", "qwen3"] {
        let loaded = evoxc_hf::load(models.join(name))?;
        let expected = golden(&models.join(name));
        let exe = build(evoxc_hf::forward(&loaded.config, 12)?, evoxc_hf::specs(&loaded.config, 2, 12), &xla)?;
        let got = exe.run((loaded.params.clone(), expected.tensor("input_ids")?))?;
        compare(name, &got.to(Device::cpu())?, &expected.tensor("logits")?, LOGITS.0, LOGITS.1);
        let prompt = expected.tensor("prompt_ids")?.to_vec::<i32>()?;
        let options = GenerateOptions::default().max_new_tokens(16);
        let tokens: Vec<i32> = evoxc_hf::generate(&loaded, &xla, prompt, options)?.collect::<Result<_, _>>()?;
        assert_eq!(tokens, expected.tensor("generated_ids")?.to_vec::<i32>()?, "{name}");
    }
    Ok(())
}
