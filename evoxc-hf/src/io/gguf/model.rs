//! Models out of GGUF files: llama.cpp's keys and names as a config and transformers' names.

use super::{Gguf, Metadata};
use crate::config::{Config, Family, Model};
use crate::families::{Activation, llama};
use crate::fit::{MAX_FEATURES, MAX_LAYERS};
use crate::{Error, Params, Result};
use evoxc::{F32, Tensor};

/// The metadata of a model, under its architecture's name.
struct Keys<'a> {
    file: &'a Gguf,
    architecture: &'a str,
}

impl Keys<'_> {
    fn bad(&self, key: &str, message: impl std::fmt::Display) -> Error {
        Error::tensor(self.file.file().path(), key, message)
    }
    fn get(&self, key: &str) -> (String, Option<&Metadata>) {
        let key = format!("{}.{key}", self.architecture);
        let value = self.file.metadata().get(&key);
        (key, value)
    }
    fn size_or_none(&self, key: &str) -> Result<Option<usize>> {
        let (key, value) = self.get(key);
        let Some(v) = value else { return Ok(None) };
        let n = v.int().and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=1 << 31).contains(n));
        n.map(Some).ok_or_else(|| self.bad(&key, "is no whole number from 1 to 2^31"))
    }
    fn size(&self, key: &str) -> Result<usize> {
        self.size_or_none(key)?.ok_or_else(|| self.bad(&self.get(key).0, "is missing"))
    }
    fn positive(&self, key: &str) -> Result<Option<f64>> {
        let (key, value) = self.get(key);
        let Some(v) = value else { return Ok(None) };
        let x = v.float().filter(|x| x.is_finite() && *x > 0.0);
        x.map(Some).ok_or_else(|| self.bad(&key, "is no number above 0"))
    }
    fn token(&self, key: &str) -> Option<i32> {
        self.file.metadata().get(key)?.int().and_then(|i| i32::try_from(i).ok()).filter(|i| *i >= 0)
    }
}

/// The config that the metadata says.
pub(crate) fn config(file: &Gguf) -> Result<Config> {
    let name = "general.architecture";
    let bad = |key: &str, m: String| Error::tensor(file.file().path(), key, m);
    let architecture = file.metadata().get(name).and_then(Metadata::text);
    let architecture = architecture.ok_or_else(|| bad(name, "is missing: the file holds no model".into()))?;
    let family = match architecture {
        "llama" => Family::Llama,
        "qwen2" => Family::Qwen2,
        "qwen3" => Family::Qwen3,
        other => return Err(bad(name, format!("is {other:?}; there are llama, qwen2 and qwen3"))),
    };
    let k = Keys { file, architecture };
    let (width, heads, layers) = (k.size("embedding_length")?, k.size("attention.head_count")?, k.size("block_count")?);
    if layers > MAX_LAYERS {
        return Err(k.bad(&k.get("block_count").0, format!("is {layers}; at most {MAX_LAYERS} are taken for a model")));
    }
    let features = match k.size_or_none("attention.key_length")? {
        Some(d) => d,
        None if width.is_multiple_of(heads) => width / heads,
        None => return Err(k.bad(&k.get("attention.head_count").0, format!("{heads} does not divide {width}"))),
    };
    let kv_heads = k.size_or_none("attention.head_count_kv")?.unwrap_or(heads);
    if !heads.is_multiple_of(kv_heads) || !features.is_multiple_of(2) || features > MAX_FEATURES {
        return Err(k.bad(
            &k.get("attention.head_count_kv").0,
            format!("{kv_heads} key heads of {features} for {heads} heads"),
        ));
    }
    if k.size_or_none("rope.dimension_count")?.is_some_and(|n| n != features) {
        return Err(k.bad(
            &k.get("rope.dimension_count").0,
            format!("is not {features}: heads that turn in part are not there"),
        ));
    }
    let (scaling, kind) = k.get("rope.scaling.type");
    let factor = match kind.and_then(Metadata::text) {
        None | Some("none") => 1.0,
        Some("linear") => k.positive("rope.scaling.factor")?.unwrap_or(1.0),
        Some(other) => return Err(k.bad(&scaling, format!("is {other:?}; there are none and linear"))),
    };
    let base = k.positive("rope.freq_base")?.unwrap_or(10_000.0);
    // Llama 3's scaling is a tensor of divisors.
    let divisors = match file.tensors().contains_key("rope_freqs.weight") {
        true => file.tensor("rope_freqs.weight")?.to_vec::<f32>()?,
        false => vec![1.0; features / 2],
    };
    if divisors.len() != features / 2 || !divisors.iter().all(|d| *d > 0.0) {
        return Err(bad("rope_freqs.weight", format!("has no {} divisors above 0", features / 2)));
    }
    let turn = |(i, d): (usize, &f32)| base.powf(-((2 * i) as f64) / features as f64) / factor / f64::from(*d);
    let frequencies = divisors.iter().enumerate().map(turn).collect();
    let tokens = file.metadata().get("tokenizer.ggml.tokens").and_then(Metadata::list).map(<[_]>::len);
    let rows = file.tensors().get("token_embd.weight").and_then(|t| t.shape.first().copied());
    let vocab =
        tokens.or(rows).ok_or_else(|| bad("token_embd.weight", "is missing: the file holds no model".into()))?;
    let model = llama::Config {
        vocab,
        positions: k.size("context_length")?,
        width,
        layers,
        heads,
        kv_heads,
        features,
        inner: k.size("feed_forward_length")?,
        eps: k.positive("attention.layer_norm_rms_epsilon")?.unwrap_or(1e-6),
        activation: Activation::Silu,
        frequencies,
        qkv_bias: file.tensors().contains_key("blk.0.attn_q.bias"),
        out_bias: file.tensors().contains_key("blk.0.attn_output.bias"),
        mlp_bias: file.tensors().contains_key("blk.0.ffn_gate.bias"),
        qk_norm: family == Family::Qwen3,
        windows: vec![k.size_or_none("attention.sliding_window")?; layers],
        tied: !file.tensors().contains_key("output.weight"),
    };
    let (bos, eos) = (k.token("tokenizer.ggml.bos_token_id"), k.token("tokenizer.ggml.eos_token_id"));
    let eos = eos.into_iter().collect();
    Ok(Config { family, model: Model::Llama(model), dtype: F32, bos, eos, unknown_keys: vec![] })
}

/// llama.cpp's name of a parameter.
fn stored_name(name: &str) -> Option<String> {
    let whole = match name {
        "model.embed_tokens.weight" => Some("token_embd.weight"),
        "model.norm.weight" => Some("output_norm.weight"),
        "lm_head.weight" => Some("output.weight"),
        _ => None,
    };
    if let Some(n) = whole {
        return Some(n.into());
    }
    let (layer, rest) = name.strip_prefix("model.layers.")?.split_once('.')?;
    let (part, kind) = rest.rsplit_once('.')?;
    let part = match part {
        "input_layernorm" => "attn_norm",
        "self_attn.q_proj" => "attn_q",
        "self_attn.k_proj" => "attn_k",
        "self_attn.v_proj" => "attn_v",
        "self_attn.o_proj" => "attn_output",
        "self_attn.q_norm" => "attn_q_norm",
        "self_attn.k_norm" => "attn_k_norm",
        "post_attention_layernorm" => "ffn_norm",
        "mlp.gate_proj" => "ffn_gate",
        "mlp.up_proj" => "ffn_up",
        "mlp.down_proj" => "ffn_down",
        _ => return None,
    };
    Some(format!("blk.{layer}.{part}.{kind}"))
}

/// The parameters in f32, in transformers' order, and the names of those that the file holds beside them.
pub(crate) fn parameters(
    file: &Gguf,
    config: &Config,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Params<Tensor>, Vec<String>)> {
    let path = file.file().path();
    let features = match &config.model {
        Model::Llama(c) => c.features,
        Model::Gpt2(_) | Model::Bert(_) => 0,
    };
    let mut used = std::collections::BTreeSet::from(["rope_freqs.weight".to_string()]);
    let all = file.tensors().len();
    let params = Params::try_build(config, |name, shape| {
        progress(used.len() - 1, all);
        let stored = stored_name(name).unwrap_or_else(|| name.into());
        let missing = || Error::tensor(path, &stored, "is missing, and the model needs it");
        let info = file.tensors().get(&stored).ok_or_else(missing)?;
        if info.shape != shape {
            let message = format!("has the shape {:?}, and the metadata asks for {shape:?}", info.shape);
            return Err(Error::tensor(path, &stored, message));
        }
        let t = file.tensor(&stored)?;
        used.insert(stored);
        // llama.cpp turns neighbouring rows of its llamas, transformers rows that are half a head apart.
        let turned = name.contains("self_attn.q_proj.") || name.contains("self_attn.k_proj.");
        if config.family == Family::Llama && turned { unturned(&t, features) } else { Ok(t) }
    })?;
    let unused = file.tensors().keys().filter(|n| !used.contains(*n)).cloned().collect();
    Ok((params, unused))
}

/// Rows 2i and 2i + 1 of each head become rows i and i + d/2.
fn unturned(t: &Tensor, features: usize) -> Result<Tensor> {
    let rows = t.shape().first().copied().unwrap_or_default();
    let row = t.len() / rows.max(1);
    let from = t.as_slice::<f32>()?;
    let mut to = Vec::with_capacity(from.len());
    for r in 0..rows {
        let (head, i) = (r / features * features, r % features);
        let half = features / 2;
        let source = head + if i < half { 2 * i } else { 2 * (i - half) + 1 };
        to.extend_from_slice(from.get(source * row..(source + 1) * row).unwrap_or_default());
    }
    Ok(Tensor::from_vec(to, t.shape())?)
}
