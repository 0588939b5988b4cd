//! config.json as a typed value.

mod keys;

pub(crate) use keys::{IGNORED, Keys};

use crate::families::{bert, gpt2, llama};
use crate::{Error, Result};
use evoxc::DType;
use std::fmt;
use std::path::Path;

/// The families of models that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// GPT-2 (Radford et al., 2019), DistilGPT-2.
    Gpt2,
    /// Llama (Touvron et al., 2023), Llama 3; also SmolLM and others that use its architecture.
    Llama,
    /// Mistral (Jiang et al., 2023): Llama with a sliding window.
    Mistral,
    /// Qwen2 (Yang et al., 2024): Llama with biases of queries, keys and values.
    Qwen2,
    /// Qwen3 (Yang et al., 2025): Llama with normalised queries and keys.
    Qwen3,
    /// BERT (Devlin et al., 2018), an encoder; MiniLM.
    Bert,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 6] =
        [Family::Gpt2, Family::Llama, Family::Mistral, Family::Qwen2, Family::Qwen3, Family::Bert];
    /// The `model_type` of its config.json.
    pub fn name(self) -> &'static str {
        match self {
            Family::Gpt2 => "gpt2",
            Family::Llama => "llama",
            Family::Mistral => "mistral",
            Family::Qwen2 => "qwen2",
            Family::Qwen3 => "qwen3",
            Family::Bert => "bert",
        }
    }
    /// Does it generate text (all but the encoder)?
    pub fn is_decoder(self) -> bool {
        self != Family::Bert
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A model's architecture and sizes, as its config.json says.
///
/// ```
/// let json = br#"{"model_type": "gpt2", "vocab_size": 16, "n_positions": 8, "n_embd": 4, "n_layer": 1, "n_head": 2, "colour": 1}"#;
/// let config = evoxc_hf::Config::parse("config.json".as_ref(), json)?;
/// assert_eq!((config.vocab_size(), config.max_positions()), (16, 8));
/// assert_eq!(config.unknown_keys, ["colour"]);
/// # Ok::<(), evoxc_hf::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// The family.
    pub family: Family,
    /// Its sizes.
    pub model: Model,
    /// The dtype of the parameters in memory.
    pub dtype: DType,
    /// The token that text starts with.
    pub bos: Option<i32>,
    /// The tokens that end a text.
    pub eos: Vec<i32>,
    /// The keys of config.json that nothing here reads.
    pub unknown_keys: Vec<String>,
}

/// The sizes of a family's model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// Of GPT-2.
    Gpt2(gpt2::Config),
    /// Of Llama, Mistral, Qwen2 and Qwen3.
    Llama(llama::Config),
    /// Of BERT.
    Bert(bert::Config),
}

impl Config {
    /// Reads a config.json, as transformers 4 or 5 writes it; `file` is for messages.
    ///
    /// # Errors
    /// The text is no JSON object, `model_type` is none of [`Family::ALL`], a size is missing or does not fit the others,
    /// or it asks for a variant that is not there (a kind of rotary scaling, an activation).
    pub fn parse(file: &Path, text: &[u8]) -> Result<Config> {
        let mut k = Keys::parse(file, text)?;
        let name = k.text("model_type")?.ok_or_else(|| k.bad("model_type", "is missing"))?;
        let family = Family::ALL.into_iter().find(|f| f.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Family::ALL.iter().map(|f| f.name()).collect();
            let remedy = "export the model from Python as StableHLO, and run that";
            k.bad("model_type", format!("is {name:?}; there are {}", known.join(", "))).remedy(remedy)
        })?;
        let model = match family {
            Family::Gpt2 => Model::Gpt2(gpt2::Config::read(&mut k)?),
            Family::Llama | Family::Mistral | Family::Qwen2 | Family::Qwen3 => {
                Model::Llama(llama::Config::read(&mut k, family)?)
            }
            Family::Bert => Model::Bert(bert::Config::read(&mut k)?),
        };
        let dtype = k.dtype()?;
        let (bos, eos) = (k.tokens("bos_token_id")?.first().copied(), k.tokens("eos_token_id")?);
        k.tokens("pad_token_id")?;
        k.ignore(IGNORED);
        Ok(Config { family, model, dtype, bos, eos, unknown_keys: k.unread() })
    }
    /// The config.json of a folder, and the end tokens of its generation_config.json.
    pub(crate) fn open(folder: &Path) -> Result<Config> {
        let file = folder.join("config.json");
        let text = std::fs::read(&file).map_err(|e| Error::io(&file, &e))?;
        let mut out = Config::parse(&file, &text)?;
        let file = folder.join("generation_config.json");
        if file.exists() {
            let text = std::fs::read(&file).map_err(|e| Error::io(&file, &e))?;
            let mut k = Keys::parse(&file, &text)?;
            let eos = k.tokens("eos_token_id")?;
            if !eos.is_empty() {
                out.eos = eos;
            }
        }
        Ok(out)
    }
    /// The number of tokens.
    pub fn vocab_size(&self) -> usize {
        match &self.model {
            Model::Gpt2(c) => c.vocab,
            Model::Llama(c) => c.vocab,
            Model::Bert(c) => c.vocab,
        }
    }
    /// The longest sequence that the model was made for.
    pub fn max_positions(&self) -> usize {
        match &self.model {
            Model::Gpt2(c) => c.positions,
            Model::Llama(c) => c.positions,
            Model::Bert(c) => c.positions,
        }
    }
    /// The width of the residual stream.
    pub fn hidden_size(&self) -> usize {
        match &self.model {
            Model::Gpt2(c) => c.width,
            Model::Llama(c) => c.width,
            Model::Bert(c) => c.width,
        }
    }
    /// The number of layers.
    pub fn layers(&self) -> usize {
        match &self.model {
            Model::Gpt2(c) => c.layers,
            Model::Llama(c) => c.layers,
            Model::Bert(c) => c.layers,
        }
    }
}
