//! A checkpoint in memory.

use crate::config::Config;
use crate::io::Weights;
use crate::io::gguf::{self, Gguf};
use crate::{Error, Family, Params, Result, fit};
use evoxc::{DType, Dyn, Tensor};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A model's config and parameters.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// What config.json says.
    pub config: Config,
    /// The parameters, over the mapped files.
    pub params: Params<Tensor>,
    /// The family.
    pub family: Family,
    /// The tensors of the files that the model does not use; causal masks and other derived buffers are left out.
    pub unused_tensors: Vec<String>,
    /// The text of config.json, if there was one.
    pub(crate) config_json: Option<String>,
}

/// How to load.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Convert the parameters to this dtype; as they are stored, without a copy, by default.
    pub dtype: Option<DType>,
}

impl LoadOptions {
    /// Converts the parameters, which copies them.
    pub fn dtype(mut self, dtype: DType) -> LoadOptions {
        self.dtype = Some(dtype);
        self
    }
}

/// Loads a folder as `save_pretrained` writes it: config.json, and one safetensors file or shards with an index. The
/// files are mapped; nothing is read before it is used. Or loads a GGUF file (or the folder of one), which is dequantised
/// to f32.
///
/// # Errors
/// [`Error::Checkpoint`]: a file is missing or malformed, the family is unknown, a parameter is missing or has another
/// shape than the config asks for.
///
/// ```no_run
/// let loaded = evoxc_hf::load("path/to/checkpoint")?;
/// println!("{}: {} layers", loaded.family, loaded.config.layers());
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn load(path: impl AsRef<Path>) -> Result<Loaded> {
    load_with(path, LoadOptions::default(), &mut |_, _| {})
}

/// [`load`] with options; `progress` is told how many of how many parts (files, then tensors) are done.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    path: impl AsRef<Path>,
    options: LoadOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Loaded> {
    let folder = path.as_ref();
    if let Some(d) = options.dtype.filter(|d| !d.is_float()) {
        return Err(Error::Request(format!(
            "parameters are floats, and do not become {d}: load them as f32, f16, bf16 or f64"
        )));
    }
    if let Some(file) = gguf_file(folder)? {
        return load_gguf(&file, options, progress);
    }
    let config = Config::open(folder)?;
    let weights = Weights::open(folder, progress)?;
    let loaded = assemble(config, &weights, options, progress)?;
    Ok(Loaded { config_json: std::fs::read_to_string(folder.join("config.json")).ok(), ..loaded })
}

/// The GGUF file that a path names: the file itself, or the only one in a folder without a config.json.
fn gguf_file(path: &Path) -> Result<Option<PathBuf>> {
    if path.is_file() {
        return Ok(Some(path.into()));
    }
    if path.join("config.json").exists() || !path.is_dir() {
        return Ok(None);
    }
    let entries = std::fs::read_dir(path).map_err(|e| Error::io(path, &e))?;
    let files = entries.filter_map(|e| Some(e.ok()?.path()));
    let mut found: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "gguf")).collect();
    found.sort();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        several => {
            let names: Vec<_> = several.iter().filter_map(|p| p.file_name()?.to_str()).collect();
            Err(Error::file(path, format!("holds several GGUF files: {}", names.join(", "))).remedy("name one"))
        }
    }
}

/// A model out of a GGUF file, dequantised to f32.
fn load_gguf(path: &Path, options: LoadOptions, progress: &mut dyn FnMut(usize, usize)) -> Result<Loaded> {
    let file = Gguf::open(path)?;
    let mut config = gguf::config(&file)?;
    let (params, unused_tensors) = gguf::parameters(&file, &config, progress)?;
    let params = match options.dtype {
        None | Some(DType::F32) => params,
        Some(dtype) => {
            config.dtype = dtype;
            let leaves: Vec<Tensor> =
                Dyn::of(params).leaves().iter().map(|t| t.cast(dtype)).collect::<evoxc::Result<_>>()?;
            let mut leaves = leaves.into_iter();
            Params::try_build(&config, |name, _| leaves.next().ok_or_else(|| Error::tensor(path, name, "is missing")))?
        }
    };
    Ok(Loaded { family: config.family, config, params, unused_tensors, config_json: None })
}

/// Prefixes that some checkpoints leave out, and others add.
const PREFIXES: [&str; 3] = ["transformer.", "model.", "bert."];

/// The name under which the files hold a parameter.
fn find(weights: &Weights, name: &str) -> Option<String> {
    let mut names = vec![name.to_string()];
    names.extend(PREFIXES.iter().filter_map(|p| name.strip_prefix(p)).map(String::from));
    names.extend(PREFIXES.iter().map(|p| format!("{p}{name}")));
    // Before 2019 layer norms had a gamma and a beta.
    let old =
        |n: &String| Some(n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"));
    let older: Vec<String> = names.iter().filter_map(old).collect();
    names.into_iter().chain(older).find(|n| weights.entry(n).is_some())
}

/// Buffers that follow from the config.
fn derived(name: &str) -> bool {
    let ends = [".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq", "position_ids"];
    ends.iter().any(|e| name.ends_with(e)) || name == "lm_head.weight"
}

fn assemble(
    mut config: Config,
    weights: &Weights,
    options: LoadOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Loaded> {
    let (mut done, all) = (0, fit::names(&config).len());
    let mut used = BTreeSet::new();
    let mut stored: Option<(DType, String)> = None;
    let params = Params::try_build(&config, |name, shape| {
        let found = find(weights, name);
        let file = weights.file(found.as_deref().unwrap_or(name));
        let missing = || Error::tensor(file, name, "is missing, and the config needs it");
        let key = found.ok_or_else(missing)?;
        let entry = weights.entry(&key).ok_or_else(missing)?;
        if entry.shape != shape {
            let message = format!("has the shape {:?}, and the config needs {shape:?}", entry.shape);
            return Err(Error::tensor(file, &key, message));
        }
        let t = weights.tensor(&key)?;
        used.insert(key.clone());
        progress(done, all);
        done += 1;
        if !t.dtype().is_float() {
            return Err(Error::tensor(file, &key, format!("has elements of {}, which are no floats", t.dtype())));
        }
        let Some(dtype) = options.dtype else {
            let (first, of) = stored.get_or_insert((t.dtype(), key.clone()));
            if *first != t.dtype() {
                let message = format!("is stored as {}, but {of:?} as {first}", t.dtype());
                let remedy = "load them all as one dtype: `LoadOptions::default().dtype(F32)`, or `--dtype f32`";
                return Err(Error::tensor(file, &key, message).remedy(remedy));
            }
            return Ok(t);
        };
        Ok(if t.dtype() == dtype { t } else { t.cast(dtype)? })
    })?;
    progress(all, all);
    // What is in memory, whatever config.json says of it.
    config.dtype = options.dtype.or(stored.map(|(d, _)| d)).unwrap_or(config.dtype);
    let unused = weights.names().filter(|n| !used.contains(*n) && !derived(n)).map(String::from).collect();
    Ok(Loaded { family: config.family, config, params, unused_tensors: unused, config_json: None })
}
