//! BERT: "Pre-training of Deep Bidirectional Transformers" (Devlin et al., 2018), as an encoder.
//!
//! Layer norm after each residual sum, learned positions, attention in both directions but not to padding.

use super::Activation;
use super::layers::{LeafOf, Linear, Norm, layer_norm, linear, merge_heads, split_heads, wide};
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
    /// Kinds of tokens (first and second sentence).
    pub kinds: usize,
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
}

impl Config {
    pub(crate) fn read(k: &mut Keys) -> Result<Config> {
        let c = Config {
            vocab: k.size("vocab_size")?,
            positions: k.size("max_position_embeddings")?,
            kinds: k.size("type_vocab_size")?,
            width: k.size("hidden_size")?,
            layers: k.layers("num_hidden_layers")?,
            heads: k.size("num_attention_heads")?,
            inner: k.size("intermediate_size")?,
            eps: k.positive("layer_norm_eps")?.unwrap_or(1e-12),
            activation: Activation::read(k, "hidden_act", Activation::Gelu)?,
        };
        if !c.width.is_multiple_of(c.heads) {
            let message = format!("{} does not divide hidden_size {}", c.heads, c.width);
            return Err(k.bad("num_attention_heads", message));
        }
        if let Some(kind) = k.text("position_embedding_type")?.filter(|t| t != "absolute") {
            return Err(k.bad("position_embedding_type", format!("is {kind:?}; there is absolute")));
        }
        for key in ["is_decoder", "add_cross_attention"] {
            if k.flag(key, false)? {
                return Err(k.bad(key, "is true; BERT is there as an encoder"));
            }
        }
        k.ignore(&["attention_probs_dropout_prob", "hidden_dropout_prob", "classifier_dropout", "tie_word_embeddings"]);
        Ok(c)
    }
}

/// One layer.
#[derive(Tree, Clone, Debug)]
pub struct Layer<T> {
    /// Queries `[width, width]`
    pub query: Linear<T>,
    /// Keys `[width, width]`
    pub key: Linear<T>,
    /// Values `[width, width]`
    pub value: Linear<T>,
    /// After attention `[width, width]`
    pub output: Linear<T>,
    /// After that sum.
    pub output_norm: Norm<T>,
    /// Into the feed-forward block `[inner, width]`
    pub intermediate: Linear<T>,
    /// Out of it `[width, inner]`
    pub down: Linear<T>,
    /// After that sum.
    pub down_norm: Norm<T>,
}

/// The model's parameters.
#[derive(Tree, Clone, Debug)]
pub struct Params<T> {
    /// `[vocab, width]`
    pub words: T,
    /// `[positions, width]`
    pub positions: T,
    /// `[kinds, width]`
    pub kinds: T,
    /// After their sum.
    pub norm: Norm<T>,
    /// The layers.
    pub layers: Vec<Layer<T>>,
    /// Of the first token's state.
    pub pooler: Linear<T>,
}

impl<T> Params<T> {
    pub(crate) fn build<E>(c: &Config, leaf: LeafOf<'_, T, E>) -> Result<Params<T>, E> {
        let w = c.width;
        let words = leaf("embeddings.word_embeddings.weight", &[c.vocab, w])?;
        let positions = leaf("embeddings.position_embeddings.weight", &[c.positions, w])?;
        let kinds = leaf("embeddings.token_type_embeddings.weight", &[c.kinds, w])?;
        let norm = Norm::build("embeddings.LayerNorm", w, leaf)?;
        let mut layers = vec![];
        for i in 0..c.layers.min(MAX_LAYERS) {
            let at = |name: &str| format!("encoder.layer.{i}.{name}");
            layers.push(Layer {
                query: Linear::build(&at("attention.self.query"), w, w, true, leaf)?,
                key: Linear::build(&at("attention.self.key"), w, w, true, leaf)?,
                value: Linear::build(&at("attention.self.value"), w, w, true, leaf)?,
                output: Linear::build(&at("attention.output.dense"), w, w, true, leaf)?,
                output_norm: Norm::build(&at("attention.output.LayerNorm"), w, leaf)?,
                intermediate: Linear::build(&at("intermediate.dense"), c.inner, w, true, leaf)?,
                down: Linear::build(&at("output.dense"), w, c.inner, true, leaf)?,
                down_norm: Norm::build(&at("output.LayerNorm"), w, leaf)?,
            });
        }
        let pooler = Linear::build("pooler.dense", w, w, true, leaf)?;
        Ok(Params { words, positions, kinds, norm, layers, pooler })
    }
}

/// Sentences, padded to one length.
#[derive(Tree, Clone, Debug)]
pub struct Input<T> {
    /// i32 `[B, T]`
    pub input_ids: T,
    /// i32 `[B, T]`: 1 for a token, 0 for padding.
    pub attention_mask: T,
    /// i32 `[B, T]`: 0 for the first sentence, 1 for the second.
    pub token_type_ids: T,
}

/// What the encoder says of them.
#[derive(Tree, Clone, Debug)]
pub struct Output<T> {
    /// f32 `[B, T, width]`
    pub last_hidden_state: T,
    /// f32 `[B, width]`: tanh of a dense layer of the first token's state.
    pub pooler_output: T,
    /// f32 `[B, width]`: the mean state of the tokens, at length 1 (Reimers and Gurevych, 2019).
    pub sentence_embedding: T,
}

/// Attention in both directions, to what is no padding.
#[defn]
fn attention(x: Sym, p: Layer<Sym>, c: &Config, seen: Sym) -> Sym {
    let d = c.width / c.heads;
    let q = split_heads(linear(x, p.query), c.heads, d);
    let k = split_heads(linear(x, p.key), c.heads, d);
    let v = split_heads(linear(x, p.value), c.heads, d);
    let heads = q.scaled_dot_product_attention(k, v, Attention::default().mask(seen));
    linear(merge_heads(heads), p.output)
}

/// One layer.
#[defn]
fn layer(x: Sym, p: Layer<Sym>, c: &Config, seen: Sym) -> Sym {
    let x = layer_norm(x + attention(x, p.clone(), c, seen), p.output_norm, c.eps);
    let inner = c.activation.apply(linear(x, p.intermediate));
    layer_norm(x + linear(inner, p.down), p.down_norm, c.eps)
}

/// The encoder.
#[defn]
pub(crate) fn encoder(p: Params<Sym>, input: Input<Sym>, c: &Config) -> Output<Sym> {
    let ids = input.input_ids;
    let at = wide(p.positions.take(iota(I32, [ids.dim(1)], 0), 0));
    let sum = wide(p.words.take(ids, 0)) + at + wide(p.kinds.take(input.token_type_ids, 0));
    let mut x = layer_norm(sum, p.norm, c.eps);
    let mask = input.attention_mask;
    let seen = (mask != 0).reshape((mask.dim(0), 1, 1, mask.dim(1)));
    for l in p.layers {
        x = layer(x, l, c, seen);
    }
    let first = x.slice(s![.., 0..1, ..]).squeeze(1);
    let weights = mask.cast(x.dtype()).expand_dims(2);
    // A row of padding alone has no mean; 1e-9 keeps it finite, as sentence-transformers does.
    let mean = (x * weights).sum(1) / weights.sum(1).maximum(1e-9);
    let length = (mean * mean).sum(keep(1)).sqrt().maximum(1e-12);
    Output { last_hidden_state: x, pooler_output: linear(first, p.pooler).tanh(), sentence_embedding: mean / length }
}
