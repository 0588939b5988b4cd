//! `evoxc-hf inspect`.

use super::{Failure, load, one_line, print};
use evoxc::Dyn;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The checkpoint: a folder, or a GGUF file
    #[arg(value_name = "CKPT")]
    checkpoint: PathBuf,
}

pub fn run(a: &Arguments) -> Result<(), Failure> {
    let loaded = load(&a.checkpoint, None)?;
    let c = &loaded.config;
    let names = evoxc_hf::param_names(c);
    let all = Dyn::of(loaded.params.clone());
    let mut out = format!(
        "{}: {} layers of width {}, {} tokens, {} positions\n\n",
        loaded.family,
        c.layers(),
        c.hidden_size(),
        c.vocab_size(),
        c.max_positions()
    );
    let widest = names.iter().map(String::len).max().unwrap_or(0);
    let (mut count, mut bytes) = (0usize, 0usize);
    for (name, t) in names.iter().zip(all.leaves()) {
        let size = t.len() * t.dtype().size();
        (count, bytes) = (count + t.len(), bytes + size);
        out +=
            &format!("{name:widest$}  {:>5}  {:>14}  {size:>12}\n", t.dtype().to_string(), format!("{:?}", t.shape()));
    }
    out += &format!("\n{} tensors, {count} parameters, {:.1} MB\n", names.len(), bytes as f64 / 1e6);
    if !loaded.unused_tensors.is_empty() {
        out += &format!("not used: {}\n", one_line(&loaded.unused_tensors.join(", ")));
    }
    if !c.unknown_keys.is_empty() {
        out += &format!("keys of config.json that nothing reads: {}\n", one_line(&c.unknown_keys.join(", ")));
    }
    print(&out)
}
