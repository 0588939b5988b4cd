//! The weights of a folder: one safetensors file, or shards and their index.

use super::{Entry, SafeTensors};
use crate::{Error, Result};
use evoxc::Tensor;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Every tensor of a checkpoint, whichever file it is in.
#[derive(Clone, Debug)]
pub struct Weights {
    files: Vec<SafeTensors>,
    /// The file of each tensor.
    place: BTreeMap<String, usize>,
    /// Where the names come from: the only file, or the index.
    source: PathBuf,
}

/// `model.safetensors.index.json`.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl Weights {
    /// The weights in a folder: `model.safetensors`, else the shards of `model.safetensors.index.json`. `progress` is told
    /// how many of how many files are open.
    ///
    /// # Errors
    /// Neither is there, or one of the files is malformed, missing, or lacks a tensor that the index places there.
    pub fn open(folder: &Path, progress: &mut dyn FnMut(usize, usize)) -> Result<Weights> {
        let (single, index) = (folder.join("model.safetensors"), folder.join("model.safetensors.index.json"));
        if single.exists() {
            progress(0, 1);
            let out = Weights::of(SafeTensors::open(&single)?);
            progress(1, 1);
            return Ok(out);
        }
        if !index.exists() {
            let message = "has neither model.safetensors nor model.safetensors.index.json";
            let remedy =
                "give the folder that the model was saved to, or a GGUF file; pickled weights (.bin) are not read";
            return Err(Error::file(folder, message).remedy(remedy));
        }
        Weights::sharded(&index, progress)
    }
    /// The weights of one file.
    pub fn of(file: SafeTensors) -> Weights {
        let place = file.entries().keys().map(|n| (n.clone(), 0)).collect();
        Weights { source: file.file().path().to_path_buf(), files: vec![file], place }
    }
    fn sharded(index: &Path, progress: &mut dyn FnMut(usize, usize)) -> Result<Weights> {
        let text = std::fs::read(index).map_err(|e| Error::io(index, &e))?;
        let Index { weight_map } =
            serde_json::from_slice(&text).map_err(|e| Error::file(index, format!("is no index of shards: {e}")))?;
        let names: BTreeSet<&String> = weight_map.values().collect();
        let folder = index.parent().unwrap_or(Path::new(""));
        let mut files = vec![];
        let mut number = BTreeMap::new();
        for name in &names {
            progress(files.len(), names.len());
            // The index stays in its folder.
            let plain = Path::new(name).components().all(|c| matches!(c, Component::Normal(_)));
            if !plain || name.is_empty() {
                return Err(Error::file(index, format!("{name:?} is no name of a file beside it")));
            }
            let path = folder.join(name);
            if !path.exists() {
                let message = format!("names the shard {name}, which is not there");
                return Err(Error::file(index, message).remedy("download the checkpoint again, whole"));
            }
            number.insert((*name).clone(), files.len());
            files.push(SafeTensors::open(&path)?);
        }
        progress(files.len(), names.len());
        let mut place = BTreeMap::new();
        for (tensor, shard) in &weight_map {
            let k = number.get(shard).copied().unwrap_or_default();
            if !files.get(k).is_some_and(|f| f.entries().contains_key(tensor)) {
                return Err(Error::tensor(index, tensor, format!("is not in {shard}, where the index places it")));
            }
            place.insert(tensor.clone(), k);
        }
        Ok(Weights { files, place, source: index.to_path_buf() })
    }
    /// The names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.place.keys().map(String::as_str)
    }
    /// What a file says of a tensor.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.files.get(*self.place.get(name)?)?.entries().get(name)
    }
    /// The file that a tensor is in; the only file, or the index, for a name that is nowhere.
    pub fn file(&self, name: &str) -> &Path {
        let file = self.place.get(name).and_then(|&k| self.files.get(k));
        file.map_or(&self.source, |f| f.file().path())
    }
    /// A tensor over its mapped file.
    ///
    /// # Errors
    /// There is none of that name, or evoxc has no dtype for it.
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        let file = self.place.get(name).and_then(|&k| self.files.get(k));
        file.ok_or_else(|| Error::tensor(&self.source, name, "is not in the checkpoint"))?.tensor(name)
    }
}
