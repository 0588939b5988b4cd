//! Text as tokens, by the checkpoint's tokenizer.json.

use crate::{Error, Result};
use std::path::{Path, PathBuf};
use tokenizers::Tokenizer;

/// A tokenizer.
///
/// ```no_run
/// let text = evoxc_hf::Text::open("path/to/checkpoint")?;
/// let ids = text.encode("The capital of France is")?;
/// assert_eq!(text.decode(&ids)?, "The capital of France is");
/// # Ok::<(), evoxc_hf::Error>(())
/// ```
pub struct Text {
    file: PathBuf,
    tokenizer: Tokenizer,
}

impl Text {
    /// Reads the tokenizer.json in a folder (or of that name).
    ///
    /// # Errors
    /// It is not there, or is no tokenizer.
    pub fn open(path: impl AsRef<Path>) -> Result<Text> {
        let path = path.as_ref();
        let file = if path.is_dir() { path.join("tokenizer.json") } else { path.to_path_buf() };
        let bytes = std::fs::read(&file).map_err(|e| {
            let remedy = "give token ids, or the folder of a checkpoint that has a tokenizer.json";
            Error::io(&file, &e).remedy(remedy)
        })?;
        let mut tokenizer =
            Tokenizer::from_bytes(bytes).map_err(|e| Error::file(&file, format!("is no tokenizer: {e}")))?;
        // Checkpoints of encoders cut and pad by their own settings; batches are padded here.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| Error::file(&file, e.to_string()))?;
        Ok(Text { file, tokenizer })
    }
    /// The tokens of a text, with those that the tokenizer adds around it.
    ///
    /// # Errors
    /// The tokenizer's own.
    pub fn encode(&self, text: &str) -> Result<Vec<i32>> {
        let all = self.tokenizer.encode(text, true).map_err(|e| Error::file(&self.file, e.to_string()))?;
        let id = |&i: &u32| i32::try_from(i).map_err(|_| Error::file(&self.file, format!("has a token of id {i}")));
        all.get_ids().iter().map(id).collect()
    }
    /// The text of tokens, without the special ones.
    ///
    /// # Errors
    /// The tokenizer's own.
    pub fn decode(&self, tokens: &[i32]) -> Result<String> {
        self.decode_with(tokens, true)
    }
    /// The text of tokens, with or without the special ones.
    ///
    /// # Errors
    /// The tokenizer's own.
    pub fn decode_with(&self, tokens: &[i32], skip_special: bool) -> Result<String> {
        let ids: Vec<u32> = tokens.iter().filter_map(|&t| u32::try_from(t).ok()).collect();
        self.tokenizer.decode(&ids, skip_special).map_err(|e| Error::file(&self.file, e.to_string()))
    }
    /// The text of tokens that come one by one.
    pub fn stream(&self) -> TextStream<'_> {
        TextStream { text: self, stream: self.tokenizer.decode_stream(true) }
    }
}

/// Tokens to text, as they come: see [`Text::stream`].
pub struct TextStream<'t> {
    text: &'t Text,
    stream: tokenizers::DecodeStream<
        't,
        tokenizers::ModelWrapper,
        tokenizers::NormalizerWrapper,
        tokenizers::PreTokenizerWrapper,
        tokenizers::PostProcessorWrapper,
        tokenizers::DecoderWrapper,
    >,
}

impl TextStream<'_> {
    /// What a further token adds; nothing while a character is not whole.
    ///
    /// # Errors
    /// The tokenizer's own.
    pub fn push(&mut self, token: i32) -> Result<String> {
        let Ok(id) = u32::try_from(token) else { return Ok(String::new()) };
        let piece = self.stream.step(id).map_err(|e| Error::file(&self.text.file, e.to_string()))?;
        Ok(piece.unwrap_or_default())
    }
}
