//! Checkpoints, written.

use crate::config::Keys;
use crate::{Error, Loaded, Result, fit, io};
use evoxc::{DType, Dyn, Tensor};
use serde_json::{Map, Value};
use std::path::Path;

/// Writes a model to a folder as `save_pretrained` does: model.safetensors under transformers' names, and the config.json
/// that it was loaded with, with the dtype that the parameters have now. transformers reads it back.
///
/// # Errors
/// The folder cannot be made or written; a parameter is not on the host; the model came from a GGUF file, which has no
/// config.json.
pub fn save(loaded: &Loaded, folder: impl AsRef<Path>) -> Result<()> {
    let folder = folder.as_ref();
    let config = loaded.config_json.as_ref().ok_or_else(|| {
        Error::Request("the model came from a GGUF file; write a config.json, and its tensors with `io::save`".into())
    })?;
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, &e))?;
    let named = named(loaded)?;
    io::save(&folder.join("model.safetensors"), named.iter().map(|(n, t)| (n, t)), [])?;
    let file = folder.join("config.json");
    std::fs::write(&file, with_dtype(&file, config, loaded.config.dtype)?).map_err(|e| Error::io(&file, &e))
}

/// A config.json that says this dtype: transformers converts what it loads to what is said there.
fn with_dtype(file: &Path, text: &str, dtype: DType) -> Result<String> {
    if Keys::parse(file, text.as_bytes())?.dtype()? == dtype {
        return Ok(text.into());
    }
    let name = match dtype {
        DType::F16 => "float16",
        DType::BF16 => "bfloat16",
        DType::F64 => "float64",
        _ => "float32",
    };
    let mut map: Map<String, Value> =
        serde_json::from_str(text).map_err(|e| Error::file(file, format!("is no JSON object: {e}")))?;
    let key = if map.contains_key("torch_dtype") { "torch_dtype" } else { "dtype" };
    map.remove("dtype");
    map.insert(key.into(), name.into());
    serde_json::to_string_pretty(&map).map_err(|e| Error::file(file, e.to_string()))
}

/// The parameters under transformers' names.
pub(crate) fn named(loaded: &Loaded) -> Result<Vec<(String, Tensor)>> {
    if let Some(fault) = fit::parameters(&loaded.config, &loaded.params, Tensor::spec) {
        return Err(Error::Request(fault));
    }
    Ok(fit::names(&loaded.config).into_iter().zip(Dyn::of(loaded.params.clone()).leaves().iter().cloned()).collect())
}
