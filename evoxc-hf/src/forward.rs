//! The graph functions of a model: pure functions of parameters and tokens.

use crate::config::{Config, Model};
use crate::families::layers::{Cache, Place, Sight};
use crate::families::{Params, bert, gpt2, llama};
use crate::{Error, Result, fit};
use evoxc::DimLike;
use evoxc::prelude::*;

/// Hidden states after the last norm.
fn hidden(config: &Config, params: &Params<Sym>, ids: Sym, sight: &mut Sight) -> Option<Sym> {
    match (&config.model, params) {
        (Model::Gpt2(c), Params::Gpt2(p)) => Some(gpt2::hidden(p.clone(), ids, c, sight)),
        (Model::Llama(c), Params::Llama(p)) => Some(llama::hidden(p.clone(), ids, c, sight)),
        (Model::Gpt2(_) | Model::Llama(_) | Model::Bert(_), _) => None,
    }
}

/// Logits of hidden states.
fn head(params: &Params<Sym>, x: Sym) -> Option<Sym> {
    match params {
        Params::Gpt2(p) => Some(gpt2::head(p.clone(), x)),
        Params::Llama(p) => Some(llama::head(p.clone(), x)),
        Params::Bert(_) => None,
    }
}

/// Are the config's sizes a model's, and fits the sequence?
fn check(config: &Config, sequence: Dim) -> Result<()> {
    fit::config(config)?;
    let most = config.max_positions();
    match sequence.get() {
        Some(n) if n > most => {
            Err(Error::Request(format!("a sequence of {n} is longer than the {most} positions of the model")))
        }
        _ => Ok(()),
    }
}

fn decoder(config: &Config) -> Result<()> {
    if config.family.is_decoder() {
        return Ok(());
    }
    Err(Error::Request(format!("{} is an encoder and gives no logits; use `evoxc_hf::encode`", config.family)))
}

/// The forward pass as a graph function: `(params, input_ids) -> logits`, for i32 `[B, T]` ids, `[B, T, vocab]` logits: f32,
/// or f64 of parameters in f64. It captures no weights.
///
/// `sequence` is T: a number, or a [`Dim`] for every length.
///
/// # Errors
/// The model is an encoder, or `sequence` is longer than its positions.
///
/// ```
/// use evoxc::prelude::*;
/// let json = br#"{"model_type": "gpt2", "vocab_size": 16, "n_positions": 8, "n_embd": 4, "n_layer": 1, "n_head": 2}"#;
/// let config = evoxc_hf::Config::parse("config.json".as_ref(), json)?;
/// let (b, t) = (dim("B"), dim("T"));
/// let graph = trace(evoxc_hf::forward(&config, t)?, evoxc_hf::specs(&config, b, t))?;
/// assert_eq!(graph.output_specs(), [spec(F32, (b, t, 16))]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn forward(
    config: &Config,
    sequence: impl DimLike,
) -> Result<impl Fn(Params<Sym>, Sym) -> Sym + Clone + Send + Sync + 'static> {
    decoder(config)?;
    check(config, sequence.to_dim())?;
    let config = config.clone();
    Ok(move |params: Params<Sym>, ids: Sym| {
        let fault = fit::parameters(&config, &params, |p| p.spec()).or_else(|| fit::ids(ids));
        if let Some(fault) = fault {
            return unfit("evoxc_hf::forward", ids, fault, "evoxc_hf::specs");
        }
        let x = hidden(&config, &params, ids, &mut Sight::alone());
        x.and_then(|x| head(&params, x)).unwrap_or_else(|| stranger(&config, ids))
    })
}

/// An error of the trace: what is wrong, and which specs belong here.
#[track_caller]
fn unfit(op: &str, ids: Sym, fault: String, specs: &str) -> Sym {
    evoxc::fail(op, &[ids], fault, Some(format!("give it what `{specs}` says, of the config that it was made from")))
}

/// An error of the trace: the parameters are those of no decoder.
#[track_caller]
fn stranger(config: &Config, ids: Sym) -> Sym {
    unfit("evoxc_hf::forward", ids, format!("the parameters are no {}", config.family), "evoxc_hf::param_specs")
}

/// The specs of a model's parameters. A config of more than 100,000 layers, which no graph is made of, has those of so many.
pub fn param_specs(config: &Config) -> Params<TensorSpec> {
    let leaf = |_: &str, shape: &[usize]| Ok::<_, std::convert::Infallible>(spec(config.dtype, shape));
    match Params::try_build(config, leaf) {
        Ok(p) => p,
        Err(never) => match never {},
    }
}

/// The names of a model's parameters, as transformers saves them, in the order of their tree.
///
/// ```
/// let json = br#"{"model_type": "gpt2", "vocab_size": 16, "n_positions": 8, "n_embd": 4, "n_layer": 1, "n_head": 2}"#;
/// let config = evoxc_hf::Config::parse("config.json".as_ref(), json)?;
/// let names = evoxc_hf::param_names(&config);
/// assert_eq!((names.len(), names[2].as_str()), (16, "transformer.h.0.ln_1.weight"));
/// # Ok::<(), evoxc_hf::Error>(())
/// ```
pub fn param_names(config: &Config) -> Vec<String> {
    fit::names(config)
}

/// The specs of [`forward`]: the parameters, and i32 `[batch, sequence]`. Both extents may be [`Dim`]s.
pub fn specs(config: &Config, batch: impl DimLike, sequence: impl DimLike) -> (Params<TensorSpec>, TensorSpec) {
    (param_specs(config), spec(I32, (batch.to_dim(), sequence.to_dim())))
}

/// The encoder as a graph function: `(params, input) -> output`. It captures no weights.
///
/// # Errors
/// The model is a decoder, or `sequence` is longer than its positions.
pub fn encode(
    config: &Config,
    sequence: impl DimLike,
) -> Result<impl Fn(Params<Sym>, bert::Input<Sym>) -> bert::Output<Sym> + Clone + Send + Sync + 'static> {
    let Model::Bert(c) = config.model.clone() else {
        return Err(Error::Request(format!("{} is a decoder; use `evoxc_hf::forward`", config.family)));
    };
    check(config, sequence.to_dim())?;
    let config = config.clone();
    Ok(move |params: Params<Sym>, input: bert::Input<Sym>| {
        let fault = fit::parameters(&config, &params, |p| p.spec()).or_else(|| fit::encoder_input(&input));
        let no = match (&params, fault) {
            (Params::Bert(p), None) => return bert::encoder(p.clone(), input, &c),
            (_, Some(fault)) => unfit("evoxc_hf::encode", input.input_ids, fault, "evoxc_hf::encode_specs"),
            (Params::Gpt2(_) | Params::Llama(_), None) => stranger(&config, input.input_ids),
        };
        bert::Output { last_hidden_state: no, pooler_output: no, sentence_embedding: no }
    })
}

/// The specs of [`encode`].
pub fn encode_specs(
    config: &Config,
    batch: impl DimLike,
    sequence: impl DimLike,
) -> (Params<TensorSpec>, bert::Input<TensorSpec>) {
    let ids = spec(I32, (batch.to_dim(), sequence.to_dim()));
    (param_specs(config), bert::Input { input_ids: ids.clone(), attention_mask: ids.clone(), token_type_ids: ids })
}

/// Which positions get logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logits {
    /// Every one: `[B, T, vocab]`.
    All,
    /// The last: `[B, vocab]`, all that generation needs.
    Last,
}

/// The forward pass behind a cache, as a graph function: `(params, input_ids, place, cache) -> (logits, cache)`. The new
/// positions are written into the cache at `place.at`, in place where its storage is donated (moved in).
///
/// # Errors
/// The model is an encoder.
pub fn forward_cached(
    config: &Config,
    logits: Logits,
) -> Result<impl Fn(Params<Sym>, Sym, Place<Sym>, Cache<Sym>) -> (Sym, Cache<Sym>) + Clone + Send + Sync + 'static> {
    decoder(config)?;
    check(config, Dim::constant(0))?;
    let config = config.clone();
    Ok(move |params: Params<Sym>, ids: Sym, place: Place<Sym>, cache: Cache<Sym>| {
        let fault = fit::parameters(&config, &params, |p| p.spec());
        if let Some(fault) = fault.or_else(|| fit::cached(&config, ids, &place, &cache)) {
            return (unfit("evoxc_hf::forward_cached", ids, fault, "evoxc_hf::cached_specs"), cache);
        }
        let mut sight = Sight::cached(cache.clone(), place);
        let x = hidden(&config, &params, ids, &mut sight);
        let x = match logits {
            Logits::All => x,
            Logits::Last => x.map(|x| x.slice(s![.., -1.., ..]).squeeze(1)),
        };
        let logits = x.and_then(|x| head(&params, x)).unwrap_or_else(|| stranger(&config, ids));
        (logits, sight.into_cache().unwrap_or(cache))
    })
}

/// The specs of a cache of `capacity` positions, in f32.
pub fn cache_specs(config: &Config, batch: impl DimLike, capacity: impl DimLike) -> Cache<TensorSpec> {
    let (heads, features) = match &config.model {
        Model::Gpt2(c) => (c.heads, c.width.checked_div(c.heads).unwrap_or(0)),
        Model::Llama(c) => (c.kv_heads, c.features),
        Model::Bert(_) => (0, 0),
    };
    let one = spec(F32, (batch.to_dim(), heads, capacity.to_dim(), features));
    let layers = config.layers().min(fit::MAX_LAYERS);
    Cache { keys: vec![one.clone(); layers], values: vec![one; layers] }
}

/// The specs of [`forward_cached`].
pub fn cached_specs(
    config: &Config,
    batch: impl DimLike,
    sequence: impl DimLike,
    capacity: impl DimLike,
) -> (Params<TensorSpec>, TensorSpec, Place<TensorSpec>, Cache<TensorSpec>) {
    let (params, ids) = specs(config, batch, sequence);
    let place = Place { at: spec(I32, []), padding: spec(I32, [batch.to_dim()]) };
    (params, ids, place, cache_specs(config, batch, capacity))
}
