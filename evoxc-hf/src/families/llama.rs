//! Llama: "LLaMA: Open and Efficient Foundation Language Models" (Touvron et al., 2023), and what differs from it in a
//! detail: Llama 3 (scaled rotary frequencies), Mistral (a sliding window), Qwen2 (biases), Qwen3 (normalised queries
//! and keys).
//!
//! RMS norm before each block, rotary positions, groups of query heads that share a key head, SwiGLU.

use super::Activation;
use super::layers::{LeafOf, Linear, Sight, linear, merge_heads, split_heads, wide};
use crate::Result;
use crate::config::{Family, Keys};
use crate::fit::{MAX_FEATURES, MAX_LAYERS};
use evoxc::prelude::*;

/// The sizes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Tokens.
    pub vocab: usize,
    /// The longest sequence that the model was trained for.
    pub positions: usize,
    /// Width.
    pub width: usize,
    /// Layers.
    pub layers: usize,
    /// Query heads.
    pub heads: usize,
    /// Key heads, each shared by heads / key heads query heads.
    pub kv_heads: usize,
    /// Features of a head.
    pub features: usize,
    /// Width inside the feed-forward blocks.
    pub inner: usize,
    /// What is added to mean squares.
    pub eps: f64,
    /// The function of the gate.
    pub activation: Activation,
    /// How far each pair of features turns a position.
    pub frequencies: Vec<f64>,
    /// Have queries, keys and values biases?
    pub qkv_bias: bool,
    /// Has the layer after attention one?
    pub out_bias: bool,
    /// Have the feed-forward blocks?
    pub mlp_bias: bool,
    /// Are queries and keys normalised, a head at a time?
    pub qk_norm: bool,
    /// How many positions back each layer sees; `None` for all.
    pub windows: Vec<Option<usize>>,
    /// Is the head the embedding?
    pub tied: bool,
}

impl Config {
    pub(crate) fn read(k: &mut Keys, family: Family) -> Result<Config> {
        let (width, heads) = (k.size("hidden_size")?, k.size("num_attention_heads")?);
        let layers = k.layers("num_hidden_layers")?;
        let kv_heads = k.size_or_none("num_key_value_heads")?.unwrap_or(heads);
        if !heads.is_multiple_of(kv_heads) {
            let message = format!("{kv_heads} does not divide num_attention_heads {heads}");
            return Err(k.bad("num_key_value_heads", message));
        }
        let features = match k.size_or_none("head_dim")? {
            Some(d) => d,
            None if width.is_multiple_of(heads) => width / heads,
            None => return Err(k.bad("num_attention_heads", format!("{heads} does not divide hidden_size {width}"))),
        };
        if !features.is_multiple_of(2) || features > MAX_FEATURES {
            let message = format!("is {features}: rotary positions need an even number up to {MAX_FEATURES}");
            return Err(k.bad("head_dim", message));
        }
        let bias = k.flag("attention_bias", false)?;
        let positions = k.size("max_position_embeddings")?;
        let windows = windows(k, family, layers)?;
        let c = Config {
            vocab: k.size("vocab_size")?,
            positions,
            width,
            layers,
            heads,
            kv_heads,
            features,
            inner: k.size("intermediate_size")?,
            eps: k.positive("rms_norm_eps")?.unwrap_or(1e-6),
            activation: Activation::read(k, "hidden_act", Activation::Silu)?,
            frequencies: frequencies(k, features, positions)?,
            qkv_bias: bias || family == Family::Qwen2,
            out_bias: bias,
            mlp_bias: k.flag("mlp_bias", false)?,
            qk_norm: family == Family::Qwen3,
            windows,
            tied: k.flag("tie_word_embeddings", false)?,
        };
        k.ignore(&["pretraining_tp"]);
        Ok(c)
    }
}

/// How many positions back each layer sees.
fn windows(k: &mut Keys, family: Family, layers: usize) -> Result<Vec<Option<usize>>> {
    let window = k.size_or_none("sliding_window")?;
    let from = k.count_or_none("max_window_layers")?;
    let kinds = k.texts("layer_types")?;
    // Qwen has a switch of its own; a window without it is not used.
    let used = match family {
        Family::Qwen2 | Family::Qwen3 => k.flag("use_sliding_window", false)?,
        Family::Mistral => true,
        Family::Llama | Family::Gpt2 | Family::Bert => false,
    };
    if let Some(kinds) = &kinds {
        if kinds.len() != layers {
            return Err(k.bad("layer_types", format!("has {} entries for {layers} layers", kinds.len())));
        }
        if let Some(other) = kinds.iter().find(|t| !matches!(t.as_str(), "full_attention" | "sliding_attention")) {
            let message = format!("has {other:?}; there are full_attention and sliding_attention");
            return Err(k.bad("layer_types", message));
        }
    }
    let Some(window) = window.filter(|_| used) else { return Ok(vec![None; layers]) };
    let slides = |i: usize| match &kinds {
        Some(kinds) => kinds.get(i).is_some_and(|t| t == "sliding_attention"),
        None => from.is_none_or(|n| i >= n),
    };
    Ok((0..layers).map(|i| slides(i).then_some(window)).collect())
}

/// Heads turn as a whole.
fn whole(k: &mut Keys) -> Result<()> {
    match k.positive("partial_rotary_factor")? {
        Some(p) if p != 1.0 => Err(k.bad("partial_rotary_factor", "is not 1; heads that turn in part are not there")),
        Some(_) | None => Ok(()),
    }
}

/// The rotary frequencies: base^(-2i/d), scaled as `rope_parameters` (or `rope_scaling` and `rope_theta`, as they were
/// spelled before) says.
fn frequencies(k: &mut Keys, features: usize, positions: usize) -> Result<Vec<f64>> {
    let (new, old) = (k.object("rope_parameters")?, k.object("rope_scaling")?);
    let theta = k.positive("rope_theta")?;
    whole(k)?;
    let mut about = new.or(old);
    let inner = about.as_mut().map(|a| a.positive("rope_theta")).transpose()?.flatten();
    let base = inner.or(theta).unwrap_or(10_000.0);
    let plain: Vec<f64> = (0..features / 2).map(|i| base.powf(-((2 * i) as f64) / features as f64)).collect();
    let Some(a) = &mut about else { return Ok(plain) };
    let (kind, older) = (a.text("rope_type")?, a.text("type")?);
    whole(a)?;
    let need = |a: &mut Keys, key: &str| a.positive(key)?.ok_or_else(|| a.bad(key, "is missing"));
    match kind.or(older).as_deref() {
        None if a.positive("factor")?.is_some() => Err(a.bad("factor", "is there without `rope_type`")),
        None | Some("default") => Ok(plain),
        Some("linear") => {
            let factor = need(a, "factor")?;
            Ok(plain.into_iter().map(|f| f / factor).collect())
        }
        // Long waves are stretched, short ones are not, and those between are in between (Dubey et al., 2024).
        Some("llama3") => {
            let factor = need(a, "factor")?;
            let (low, high) = (need(a, "low_freq_factor")?, need(a, "high_freq_factor")?);
            if high <= low {
                return Err(a.bad("high_freq_factor", format!("{high} is not above low_freq_factor {low}")));
            }
            let original = a.size_or_none("original_max_position_embeddings")?.unwrap_or(positions) as f64;
            let scaled = |f: f64| {
                let turns = original * f / std::f64::consts::TAU;
                let smooth = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                (1.0 - smooth) * f / factor + smooth * f
            };
            Ok(plain.into_iter().map(scaled).collect())
        }
        Some(other) => {
            let message = format!("is {other:?}; there are default, linear and llama3");
            Err(a.bad("rope_type", message))
        }
    }
}

/// One layer.
#[derive(Tree, Clone, Debug)]
pub struct Layer<T> {
    /// Before attention, `[width]`
    pub input_norm: T,
    /// Queries `[heads·d, width]`
    pub q: Linear<T>,
    /// Keys `[kv_heads·d, width]`
    pub k: Linear<T>,
    /// Values `[kv_heads·d, width]`
    pub v: Linear<T>,
    /// Of a head's queries, `[d]`
    pub q_norm: Option<T>,
    /// Of a head's keys, `[d]`
    pub k_norm: Option<T>,
    /// After attention `[width, heads·d]`
    pub o: Linear<T>,
    /// Before the feed-forward block, `[width]`
    pub post_norm: T,
    /// `[inner, width]`
    pub gate: Linear<T>,
    /// `[inner, width]`
    pub up: Linear<T>,
    /// `[width, inner]`
    pub down: Linear<T>,
}

/// The model's parameters.
#[derive(Tree, Clone, Debug)]
pub struct Params<T> {
    /// `[vocab, width]`
    pub embedding: T,
    /// The layers.
    pub layers: Vec<Layer<T>>,
    /// The last norm, `[width]`
    pub norm: T,
    /// The head `[vocab, width]`, where it is not the embedding.
    pub lm_head: Option<T>,
}

impl<T> Params<T> {
    pub(crate) fn build<E>(c: &Config, leaf: LeafOf<'_, T, E>) -> Result<Params<T>, E> {
        let (w, q, kv) = (c.width, c.heads * c.features, c.kv_heads * c.features);
        let embedding = leaf("model.embed_tokens.weight", &[c.vocab, w])?;
        let mut layers = vec![];
        for i in 0..c.layers.min(MAX_LAYERS) {
            let at = |name: &str| format!("model.layers.{i}.{name}");
            let norm = |name: &str, leaf: LeafOf<'_, T, E>| {
                c.qk_norm.then(|| leaf(&at(&format!("self_attn.{name}.weight")), &[c.features])).transpose()
            };
            layers.push(Layer {
                input_norm: leaf(&at("input_layernorm.weight"), &[w])?,
                q: Linear::build(&at("self_attn.q_proj"), q, w, c.qkv_bias, leaf)?,
                k: Linear::build(&at("self_attn.k_proj"), kv, w, c.qkv_bias, leaf)?,
                v: Linear::build(&at("self_attn.v_proj"), kv, w, c.qkv_bias, leaf)?,
                q_norm: norm("q_norm", leaf)?,
                k_norm: norm("k_norm", leaf)?,
                o: Linear::build(&at("self_attn.o_proj"), w, q, c.out_bias, leaf)?,
                post_norm: leaf(&at("post_attention_layernorm.weight"), &[w])?,
                gate: Linear::build(&at("mlp.gate_proj"), c.inner, w, c.mlp_bias, leaf)?,
                up: Linear::build(&at("mlp.up_proj"), c.inner, w, c.mlp_bias, leaf)?,
                down: Linear::build(&at("mlp.down_proj"), w, c.inner, c.mlp_bias, leaf)?,
            });
        }
        let norm = leaf("model.norm.weight", &[w])?;
        let lm_head = (!c.tied).then(|| leaf("lm_head.weight", &[c.vocab, w])).transpose()?;
        Ok(Params { embedding, layers, norm, lm_head })
    }
}

/// Root mean square normalisation (Zhang and Sennrich, 2019) over the last axis.
#[defn]
fn rms_norm(x: Sym, weight: Sym, eps: f64) -> Sym {
    x.rms_norm(-1, eps) * wide(weight)
}

/// Grouped-query attention (Ainslie et al., 2023) with rotary positions (Su et al., 2021).
#[defn]
fn attention(x: Sym, p: Layer<Sym>, c: &Config, layer: usize, positions: Sym, sight: &mut Sight) -> Sym {
    let mut q = split_heads(linear(x, p.q), c.heads, c.features);
    let mut k = split_heads(linear(x, p.k), c.kv_heads, c.features);
    let v = split_heads(linear(x, p.v), c.kv_heads, c.features);
    if let (Some(qn), Some(kn)) = (p.q_norm, p.k_norm) {
        q = rms_norm(q, qn, c.eps);
        k = rms_norm(k, kn, c.eps);
    }
    let turn = Rope::default().frequencies(c.frequencies.clone());
    let window = c.windows.get(layer).copied().flatten();
    let heads = sight.attend(layer, q.rope(positions, &turn), k.rope(positions, &turn), v, window, None);
    linear(merge_heads(heads), p.o)
}

/// SwiGLU (Shazeer, 2020).
#[defn]
fn mlp(x: Sym, p: Layer<Sym>, c: &Config) -> Sym {
    let gate = c.activation.apply(linear(x, p.gate));
    linear(gate * linear(x, p.up), p.down)
}

/// The hidden states after the last norm, `[B, T, width]`.
#[defn]
pub(crate) fn hidden(p: Params<Sym>, ids: Sym, c: &Config, sight: &mut Sight) -> Sym {
    let positions = sight.positions(ids);
    // Every head of a row turns alike: [B, T] becomes [B, 1, T].
    let positions = if positions.rank() == 2 { positions.expand_dims(1) } else { positions };
    let mut x = wide(p.embedding.take(ids, 0));
    for (i, layer) in p.layers.iter().enumerate() {
        x = x + attention(rms_norm(x, layer.input_norm, c.eps), layer.clone(), c, i, positions, sight);
        x = x + mlp(rms_norm(x, layer.post_norm, c.eps), layer.clone(), c);
    }
    rms_norm(x, p.norm, c.eps)
}

/// The logits of the next token, `[…, vocab]`.
#[defn]
pub(crate) fn head(p: Params<Sym>, x: Sym) -> Sym {
    x.matmul(wide(p.lm_head.unwrap_or(p.embedding)).t())
}
