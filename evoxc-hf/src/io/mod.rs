//! Files of weights: safetensors (one file, or shards and an index) and GGUF, in; safetensors, out.

mod header;
mod mapped;
mod safetensors;
mod shards;
mod write;

pub mod gguf;

pub use mapped::MappedFile;
pub use safetensors::{Entry, SafeTensors};
pub use shards::Weights;
pub use write::save;
