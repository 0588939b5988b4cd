//! The commands, and what they share: backends, progress, output.

pub mod bench;
pub mod check;
pub mod embed;
pub mod generate;
pub mod inspect;
pub mod logits;

use evoxc::{AnyBackend, Backend, DType, Iree, Xla};
use evoxc_hf::{Error, LoadOptions, Loaded, Text};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why a command fails.
pub enum Failure {
    /// A run.
    Error(String),
    /// The command line or a checkpoint.
    Input(String),
    /// The output says so already.
    Reported,
}

impl From<Error> for Failure {
    fn from(e: Error) -> Failure {
        match e {
            Error::Checkpoint(c) => Failure::Input(one_line(&c.to_string())),
            Error::Request(m) => Failure::Input(m),
            other => Failure::Error(other.to_string()),
        }
    }
}

impl From<evoxc::Error> for Failure {
    fn from(e: evoxc::Error) -> Failure {
        Failure::Error(e.to_string())
    }
}

/// Control characters of a damaged file do not reach the terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Writes to the standard output; a reader that has gone away is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Error(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// What every command takes.
#[derive(clap::Args)]
pub struct Model {
    /// The checkpoint: a folder, or a GGUF file
    #[arg(value_name = "CKPT")]
    pub checkpoint: PathBuf,
    /// The backend: native, interp, xla, iree
    #[arg(short, long, default_value = "native")]
    pub backend: String,
    /// Convert the parameters to this dtype: f32, f16, bf16, f64
    #[arg(long)]
    pub dtype: Option<DType>,
}

impl Model {
    pub fn load(&self) -> Result<Loaded, Failure> {
        load(&self.checkpoint, self.dtype)
    }
    pub fn backend(&self) -> Result<AnyBackend, Failure> {
        let all = evoxc::backends();
        if let Some(b) = all.iter().find(|b| b.name() == self.backend) {
            return Ok(b.clone());
        }
        match self.backend.as_str() {
            "xla" => Ok(AnyBackend::new(Xla::from_env()?)),
            "iree" => Ok(AnyBackend::new(Iree::default())),
            other => {
                let names: Vec<&str> = all.iter().map(Backend::name).collect();
                Err(Failure::Input(format!("there is no backend `{other}`; there are {}, xla, iree", names.join(", "))))
            }
        }
    }
    pub fn text(&self) -> Result<Text, Failure> {
        let path = &self.checkpoint;
        let folder = if path.is_file() { path.parent().unwrap_or(Path::new(".")) } else { path };
        Ok(Text::open(folder)?)
    }
}

/// Loads with a bar, which shows only where loading takes a while and a person looks on.
pub fn load(path: &Path, dtype: Option<DType>) -> Result<Loaded, Failure> {
    let mut options = LoadOptions::default();
    if let Some(d) = dtype {
        if !d.is_float() {
            return Err(Failure::Input(format!("--dtype takes f32, f16, bf16 or f64, not {d}")));
        }
        options = options.dtype(d);
    }
    let bar = ProgressBar::new(0).with_style(
        ProgressStyle::with_template("loading {bar:32} {pos}/{len}").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let loaded = evoxc_hf::load_with(path, options, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    Ok(loaded?)
}

/// Token ids separated by commas.
pub fn ids(text: &str) -> Result<Vec<i32>, String> {
    let one = |s: &str| s.trim().parse::<i32>().map_err(|_| format!("`{s}` is no token id"));
    text.split(',').map(one).collect()
}

/// A prompt: text, or ids.
#[derive(clap::Args)]
pub struct Prompt {
    /// The text
    #[arg(required_unless_present = "ids", conflicts_with = "ids")]
    pub prompt: Option<String>,
    /// Token ids, separated by commas, instead of a text
    #[arg(long, value_name = "ID,ID")]
    pub ids: Option<String>,
}

impl Prompt {
    /// The tokens; the tokenizer is read for a text only.
    pub fn tokens(&self, text: Option<&Text>) -> Result<Vec<i32>, Failure> {
        match (&self.ids, &self.prompt, text) {
            (Some(list), ..) => ids(list).map_err(Failure::Input),
            (None, Some(prompt), Some(text)) => Ok(text.encode(prompt)?),
            (None, ..) => Err(Failure::Input("give a text, or --ids".into())),
        }
    }
}
