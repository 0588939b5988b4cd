//! The families of models: each a file that reads like its paper.

mod activation;
pub mod bert;
pub mod gpt2;
pub mod layers;
pub mod llama;
mod params;

pub use activation::Activation;

pub use params::Params;
