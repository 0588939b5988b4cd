//! The functions inside feed-forward blocks, under transformers' names.

use crate::Result;
use crate::config::Keys;
use evoxc::prelude::*;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// x·Φ(x), exactly.
    Gelu,
    /// Its tanh form.
    GeluTanh,
    /// x·σ(x).
    Silu,
    /// max(x, 0).
    Relu,
    /// tanh(x).
    Tanh,
}

impl Activation {
    pub(crate) fn read(k: &mut Keys, key: &str, default: Activation) -> Result<Activation> {
        Ok(match k.text(key)?.as_deref() {
            None => default,
            Some("gelu") => Activation::Gelu,
            Some("gelu_new" | "gelu_pytorch_tanh" | "gelu_fast") => Activation::GeluTanh,
            Some("silu" | "swish") => Activation::Silu,
            Some("relu") => Activation::Relu,
            Some("tanh") => Activation::Tanh,
            Some(other) => {
                return Err(k.bad(
                    key,
                    format!("is {other:?}; there are gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, silu, relu, tanh"),
                ));
            }
        })
    }
    /// Of every element.
    pub fn apply(self, x: Sym) -> Sym {
        match self {
            Activation::Gelu => x.gelu(),
            Activation::GeluTanh => x.gelu_tanh(),
            Activation::Silu => x.silu(),
            Activation::Relu => x.maximum(0.0),
            Activation::Tanh => x.tanh(),
        }
    }
}
