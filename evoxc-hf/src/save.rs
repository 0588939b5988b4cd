//! Checkpoints, written.

use crate::{Error, Loaded, Result, fit, io};
use evoxc::{Dyn, Tensor};
use std::path::Path;

/// Writes a model to a folder as `save_pretrained` does: model.safetensors under transformers' names, and the config.json
/// that it was loaded with. transformers reads it back.
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
    std::fs::write(&file, config).map_err(|e| Error::io(&file, &e))
}

/// The parameters under transformers' names.
pub(crate) fn named(loaded: &Loaded) -> Result<Vec<(String, Tensor)>> {
    if let Some(fault) = fit::parameters(&loaded.config, &loaded.params, Tensor::spec) {
        return Err(Error::Request(fault));
    }
    Ok(fit::names(&loaded.config).into_iter().zip(Dyn::of(loaded.params.clone()).leaves().iter().cloned()).collect())
}
