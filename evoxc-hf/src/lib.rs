//! HuggingFace checkpoints as one graph: load, run, train, generate.
//!
//! A model is a config and a tree of parameters. [`forward`] makes a graph function of them that captures no weights, so
//! it is traced, transformed and compiled as any other.
//!
//! ```no_run
//! use evoxc::prelude::*;
//! # fn main() -> evoxc::Result<()> {
//! let loaded = evoxc_hf::load("path/to/checkpoint")?;
//! let fwd = evoxc_hf::forward(&loaded.config, 32)?;
//! let exe = build(fwd, evoxc_hf::specs(&loaded.config, 1, 32), &Native::default())?;
//! let ids = Tensor::from_vec((0..32).collect::<Vec<i32>>(), [1, 32])?;
//! let logits = exe.run((loaded.params.clone(), ids))?;
//! # Ok(())
//! # }
//! ```

mod config;
mod error;
mod families;
mod fit;
mod forward;
mod generate;
pub mod io;
mod load;
mod pack;
mod predict;
mod reference;
mod runner;
mod save;
mod text;
pub mod train;

pub use config::{Config, Family, Model};
pub use error::{CheckpointError, Error, Result};
pub use families::layers::{Cache, Place};
pub use families::{Activation, Params, bert, gpt2, llama};
pub use forward::{
    Logits, cache_specs, cached_specs, encode, encode_specs, forward, forward_cached, param_names, param_specs, specs,
};
pub use generate::{GenerateOptions, Generation, Generator, Sampler, Tokens, generate};
pub use load::{LoadOptions, Loaded, load, load_with};
pub use pack::{Packed, pack_params, packed_specs, place_params, unpack};
pub use predict::{Encoder, Predictor};
pub use reference::{ReferenceOutput, reference_encode, reference_logits};
pub use runner::Runner;
pub use save::save;
pub use text::{Text, TextStream};

/// The code of the pages on checkpoints compiles.
#[cfg(doctest)]
#[doc = include_str!("../../docs/huggingface.md")]
#[doc = include_str!("../../docs/embeddings.md")]
struct Pages;
