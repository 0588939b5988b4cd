//! The parameters of any family, as one tree.

use super::{bert, gpt2, llama};
use crate::config::{Config, Model};
use evoxc::prelude::*;

/// The parameters of a model: a tree of specs, symbols or tensors.
#[derive(Tree, Clone, Debug)]
pub enum Params<T> {
    /// Of GPT-2.
    Gpt2(gpt2::Params<T>),
    /// Of Llama, Mistral, Qwen2 and Qwen3.
    Llama(llama::Params<T>),
    /// Of BERT.
    Bert(bert::Params<T>),
}

impl<T> Params<T> {
    /// Makes every parameter from its name in the checkpoint (as transformers saves it) and its shape, in a fixed order.
    ///
    /// # Errors
    /// The first that `leaf` gives.
    ///
    /// ```
    /// use evoxc_hf::{Config, Params};
    /// let json = br#"{"model_type": "gpt2", "vocab_size": 16, "n_positions": 8, "n_embd": 4, "n_layer": 1, "n_head": 2}"#;
    /// let config = Config::parse("config.json".as_ref(), json)?;
    /// let mut count = 0;
    /// Params::try_build(&config, |_name, shape| Ok::<_, ()>(count += shape.iter().product::<usize>())).ok();
    /// assert_eq!(count, 16 * 4 + 8 * 4 + (4 + 4 + 4 * 12 + 12 + 4 * 4 + 4 + 4 + 4 + 4 * 16 + 16 + 16 * 4 + 4) + 4 + 4);
    /// # Ok::<(), evoxc_hf::Error>(())
    /// ```
    pub fn try_build<E>(config: &Config, mut leaf: impl FnMut(&str, &[usize]) -> Result<T, E>) -> Result<Params<T>, E> {
        let leaf = &mut leaf;
        Ok(match &config.model {
            Model::Gpt2(c) => Params::Gpt2(gpt2::Params::build(c, leaf)?),
            Model::Llama(c) => Params::Llama(llama::Params::build(c, leaf)?),
            Model::Bert(c) => Params::Bert(bert::Params::build(c, leaf)?),
        })
    }
}
