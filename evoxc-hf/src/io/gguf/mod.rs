//! GGUF files (llama.cpp's): metadata, and tensors that are dequantised when they are read.

mod blocks;
mod model;
mod read;

pub use blocks::Stored;
pub use read::{Gguf, Metadata, TensorInfo};

pub(crate) use model::{config, parameters};
