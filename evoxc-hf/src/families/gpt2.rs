//! GPT-2: "Language Models are Unsupervised Multitask Learners" (Radford et al., 2019), after transformers' names.
//!
//! Layer norm comes before each block, positions are learned, and the head is the embedding. Dense layers are stored
//! `[in, out]`.

use super::layers::{LeafOf, Norm, Sight, layer_norm, merge_heads, split_heads, wide};
use crate::Result;
use crate::config::Keys;
use crate::fit::MAX_LAYERS;
use evoxc::prelude::*;

/// The sizes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Tokens.
    pub vocab: usize,
    /// The longest sequence.
    pub positions: usize,
    /// Width.
    pub width: usize,
    /// Layers.
    pub layers: usize,
    /// Heads.
    pub heads: usize,
    /// Width inside the feed-forward blocks.
    pub inner: usize,
    /// What is added to variances.
    pub eps: f64,
    /// The function inside the feed-forward blocks.
    pub activation: Activation,
    /// Are scores divided by √(features of a head)?
    pub scale: bool,
    /// Are scores divided by the layer's number, from 1?
    pub scale_by_layer: bool,
    /// Is the head the embedding?
    pub tied: bool,
}

pub use super::activation::Activation;

impl Config {
    pub(crate) fn read(k: &mut Keys) -> Result<Config> {
        let width = k.size("n_embd")?;
        let c = Config {
            vocab: k.size("vocab_size")?,
            positions: k.size("n_positions")?,
            width,
            layers: k.layers("n_layer")?,
            heads: k.size("n_head")?,
            inner: k.size_or_none("n_inner")?.unwrap_or(4 * width),
            eps: k.positive("layer_norm_epsilon")?.unwrap_or(1e-5),
            activation: Activation::read(k, "activation_function", Activation::GeluTanh)?,
            scale: k.flag("scale_attn_weights", true)?,
            scale_by_layer: k.flag("scale_attn_by_inverse_layer_idx", false)?,
            tied: k.flag("tie_word_embeddings", true)?,
        };
        if !c.width.is_multiple_of(c.heads) {
            return Err(k.bad("n_head", format!("{} does not divide n_embd {}", c.heads, c.width)));
        }
        if k.flag("add_cross_attention", false)? {
            return Err(k.bad("add_cross_attention", "is true; decoders with an encoder are not there"));
        }
        k.ignore(&["n_ctx", "reorder_and_upcast_attn", "attn_pdrop", "embd_pdrop", "resid_pdrop"]);
        k.ignore(&[
            "summary_activation",
            "summary_first_dropout",
            "summary_proj_to_labels",
            "summary_type",
            "summary_use_proj",
        ]);
        Ok(c)
    }
}

/// A dense layer stored as `[in, out]`.
#[derive(Tree, Clone, Debug)]
pub struct Conv1d<T> {
    /// `[in, out]`
    pub weight: T,
    /// `[out]`
    pub bias: T,
}

/// One layer.
#[derive(Tree, Clone, Debug)]
pub struct Layer<T> {
    /// Before attention.
    pub ln_1: Norm<T>,
    /// Queries, keys and values beside each other.
    pub c_attn: Conv1d<T>,
    /// After attention.
    pub attn_proj: Conv1d<T>,
    /// Before the feed-forward block.
    pub ln_2: Norm<T>,
    /// Into it.
    pub c_fc: Conv1d<T>,
    /// Out of it.
    pub mlp_proj: Conv1d<T>,
}

/// The model's parameters.
#[derive(Tree, Clone, Debug)]
pub struct Params<T> {
    /// Token embedding `[vocab, width]`
    pub wte: T,
    /// Position embedding `[positions, width]`
    pub wpe: T,
    /// The layers.
    pub h: Vec<Layer<T>>,
    /// The last norm.
    pub ln_f: Norm<T>,
    /// The head `[vocab, width]`, where it is not the embedding.
    pub lm_head: Option<T>,
}

impl<T> Params<T> {
    pub(crate) fn build<E>(c: &Config, leaf: LeafOf<'_, T, E>) -> Result<Params<T>, E> {
        let w = c.width;
        let wte = leaf("transformer.wte.weight", &[c.vocab, w])?;
        let wpe = leaf("transformer.wpe.weight", &[c.positions, w])?;
        let mut h = vec![];
        for i in 0..c.layers.min(MAX_LAYERS) {
            let dense = |name: &str, input, output, leaf: LeafOf<'_, T, E>| {
                let name = format!("transformer.h.{i}.{name}");
                let weight = leaf(&format!("{name}.weight"), &[input, output])?;
                Ok(Conv1d { weight, bias: leaf(&format!("{name}.bias"), &[output])? })
            };
            h.push(Layer {
                ln_1: Norm::build(&format!("transformer.h.{i}.ln_1"), w, leaf)?,
                c_attn: dense("attn.c_attn", w, 3 * w, leaf)?,
                attn_proj: dense("attn.c_proj", w, w, leaf)?,
                ln_2: Norm::build(&format!("transformer.h.{i}.ln_2"), w, leaf)?,
                c_fc: dense("mlp.c_fc", w, c.inner, leaf)?,
                mlp_proj: dense("mlp.c_proj", c.inner, w, leaf)?,
            });
        }
        let ln_f = Norm::build("transformer.ln_f", w, leaf)?;
        let lm_head = (!c.tied).then(|| leaf("lm_head.weight", &[c.vocab, w])).transpose()?;
        Ok(Params { wte, wpe, h, ln_f, lm_head })
    }
}

/// x·w + b.
#[defn]
fn dense(x: Sym, p: Conv1d<Sym>) -> Sym {
    x.matmul(wide(p.weight)) + wide(p.bias)
}

/// Masked multi-head attention.
#[defn]
fn attention(x: Sym, p: Layer<Sym>, c: &Config, layer: usize, sight: &mut Sight) -> Sym {
    let features = c.width / c.heads;
    let qkv = dense(x, p.c_attn);
    let part = |i: usize| split_heads(qkv.slice(s![.., .., i * c.width..(i + 1) * c.width]), c.heads, features);
    let scale = if c.scale { 1.0 / (features as f64).sqrt() } else { 1.0 };
    let scale = if c.scale_by_layer { scale / (layer + 1) as f64 } else { scale };
    let heads = sight.attend(layer, part(0), part(1), part(2), None, Some(scale));
    dense(merge_heads(heads), p.attn_proj)
}

/// The feed-forward block.
#[defn]
fn mlp(x: Sym, p: Layer<Sym>, c: &Config) -> Sym {
    let inner = c.activation.apply(dense(x, p.c_fc));
    dense(inner, p.mlp_proj)
}

/// The hidden states after the last norm, `[B, T, width]`.
#[defn]
pub(crate) fn hidden(p: Params<Sym>, ids: Sym, c: &Config, sight: &mut Sight) -> Sym {
    let positions = sight.positions(ids);
    let mut x = wide(p.wte.take(ids, 0)) + wide(p.wpe.take(positions, 0));
    for (i, layer) in p.h.iter().enumerate() {
        x = x + attention(layer_norm(x, layer.ln_1.clone(), c.eps), layer.clone(), c, i, sight);
        x = x + mlp(layer_norm(x, layer.ln_2.clone(), c.eps), layer.clone(), c);
    }
    layer_norm(x, p.ln_f.clone(), c.eps)
}

/// The logits of the next token, `[…, vocab]`.
#[defn]
pub(crate) fn head(p: Params<Sym>, x: Sym) -> Sym {
    x.matmul(wide(p.lm_head.unwrap_or(p.wte)).t())
}
