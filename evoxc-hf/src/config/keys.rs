//! The keys of a config.json: each is read once, with its type; what nothing read is listed.

use crate::error::shown;
use crate::fit::MAX_LAYERS;
use crate::{Error, Result};
use evoxc::{BF16, DType, F16, F32, F64};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// No extent of a model is larger; beyond it a number is taken for a mistake.
const MAX_SIZE: u64 = 1 << 31;

/// The object, and which of its keys were read.
pub(crate) struct Keys {
    file: PathBuf,
    /// Keys are shown with the objects that they are in.
    prefix: String,
    map: Map<String, Value>,
    read: BTreeSet<String>,
}

impl Keys {
    pub fn parse(file: &Path, text: &[u8]) -> Result<Keys> {
        let map = serde_json::from_slice(text).map_err(|e| Error::file(file, format!("is no JSON object: {e}")))?;
        Ok(Keys { file: file.into(), prefix: String::new(), map, read: BTreeSet::new() })
    }
    /// The error of a key.
    pub fn bad(&self, key: &str, message: impl std::fmt::Display) -> Error {
        Error::tensor(&self.file, &format!("{}{key}", self.prefix), message)
    }
    fn value(&mut self, key: &str) -> Option<&Value> {
        self.read.insert(key.into());
        self.map.get(key).filter(|v| !v.is_null())
    }
    fn wrong(&self, key: &str, expected: &str) -> Error {
        let got = self.map.get(key).map(|v| v.to_string()).unwrap_or_default();
        self.bad(key, format!("is {}, where {expected} is expected", shown(&got)))
    }
    /// A size; `None` where it is absent or null.
    pub fn size_or_none(&mut self, key: &str) -> Result<Option<usize>> {
        let Some(v) = self.value(key) else { return Ok(None) };
        match v.as_u64() {
            Some(n) if (1..=MAX_SIZE).contains(&n) => Ok(Some(n as usize)),
            _ => Err(self.wrong(key, "a whole number from 1 to 2^31")),
        }
    }
    /// A number from 0; `None` where it is absent or null.
    pub fn count_or_none(&mut self, key: &str) -> Result<Option<usize>> {
        let Some(v) = self.value(key) else { return Ok(None) };
        match v.as_u64() {
            Some(n) if n <= MAX_SIZE => Ok(Some(n as usize)),
            _ => Err(self.wrong(key, "a whole number from 0 to 2^31")),
        }
    }
    /// A size that must be there.
    pub fn size(&mut self, key: &str) -> Result<usize> {
        self.size_or_none(key)?.ok_or_else(|| self.bad(key, "is missing"))
    }
    /// A number of layers that must be there.
    pub fn layers(&mut self, key: &str) -> Result<usize> {
        match self.size(key)? {
            n if n <= MAX_LAYERS => Ok(n),
            n => Err(self.bad(key, format!("is {n}; at most {MAX_LAYERS} are taken for a model"))),
        }
    }
    /// A number.
    pub fn float(&mut self, key: &str) -> Result<Option<f64>> {
        let Some(v) = self.value(key) else { return Ok(None) };
        match v.as_f64().filter(|x| x.is_finite()) {
            Some(x) => Ok(Some(x)),
            None => Err(self.wrong(key, "a number")),
        }
    }
    /// A number above 0.
    pub fn positive(&mut self, key: &str) -> Result<Option<f64>> {
        match self.float(key)? {
            Some(x) if x <= 0.0 => Err(self.wrong(key, "a number above 0")),
            x => Ok(x),
        }
    }
    /// A truth value.
    pub fn flag(&mut self, key: &str, default: bool) -> Result<bool> {
        let Some(v) = self.value(key) else { return Ok(default) };
        v.as_bool().ok_or_else(|| self.wrong(key, "true or false"))
    }
    /// A string.
    pub fn text(&mut self, key: &str) -> Result<Option<String>> {
        let Some(v) = self.value(key) else { return Ok(None) };
        match v.as_str().map(String::from) {
            Some(s) => Ok(Some(s)),
            None => Err(self.wrong(key, "a string")),
        }
    }
    /// A list of strings.
    pub fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>> {
        let Some(v) = self.value(key) else { return Ok(None) };
        let list = v.as_array().and_then(|a| a.iter().map(|s| s.as_str().map(String::from)).collect());
        if list.is_none() { Err(self.wrong(key, "a list of strings")) } else { Ok(list) }
    }
    /// A token's id, or several.
    pub fn tokens(&mut self, key: &str) -> Result<Vec<i32>> {
        let Some(v) = self.value(key) else { return Ok(vec![]) };
        let one = |v: &Value| v.as_i64().and_then(|i| i32::try_from(i).ok());
        let all: Option<Vec<i32>> = match v {
            Value::Array(a) => a.iter().map(one).collect(),
            v => one(v).map(|i| vec![i]),
        };
        // Some checkpoints write -1 for none.
        let all = all.ok_or_else(|| self.wrong(key, "a token's id, or a list of them"))?;
        Ok(all.into_iter().filter(|&i| i >= 0).collect())
    }
    /// An object inside.
    pub fn object(&mut self, key: &str) -> Result<Option<Keys>> {
        let Some(v) = self.value(key) else { return Ok(None) };
        let Some(map) = v.as_object().cloned() else { return Err(self.wrong(key, "an object")) };
        let prefix = format!("{}{key}.", self.prefix);
        Ok(Some(Keys { file: self.file.clone(), prefix, map, read: BTreeSet::new() }))
    }
    /// The dtype of the stored weights: `dtype`, or `torch_dtype` as it was spelled before.
    pub fn dtype(&mut self) -> Result<DType> {
        let new = self.text("dtype")?;
        let old = self.text("torch_dtype")?;
        let key = if new.is_some() { "dtype" } else { "torch_dtype" };
        match new.or(old).as_deref().map(|s| s.trim_start_matches("torch.")) {
            None | Some("float32") => Ok(F32),
            Some("float16") => Ok(F16),
            Some("bfloat16") => Ok(BF16),
            Some("float64") => Ok(F64),
            Some(_) => Err(self.wrong(key, "float32, float16, bfloat16 or float64")),
        }
    }
    /// Keys that say nothing about the numbers that a forward pass computes.
    pub fn ignore(&mut self, keys: &[&str]) {
        self.read.extend(keys.iter().map(|k| k.to_string()));
    }
    /// The keys that nothing read.
    pub fn unread(&self) -> Vec<String> {
        let unread = self.map.keys().filter(|k| !self.read.contains(*k));
        unread.map(|k| format!("{}{k}", self.prefix)).collect()
    }
}

/// What every config.json may hold beside the model: the training's settings, and what transformers keeps there.
pub(crate) const IGNORED: &[&str] = &[
    "_name_or_path",
    "architectures",
    "transformers_version",
    "use_cache",
    "initializer_range",
    "output_attentions",
    "output_hidden_states",
    "return_dict",
    "tokenizer_class",
    "task_specific_params",
    "gradient_checkpointing",
    "attention_dropout",
    "unk_token_id",
    "sep_token_id",
    "cls_token_id",
    "mask_token_id",
];
