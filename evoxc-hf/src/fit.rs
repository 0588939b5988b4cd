//! Whether parameters, caches and inputs are those that a config asks for.

use crate::config::{Config, Model};
use crate::families::layers::{Cache, Place};
use crate::families::{Params, bert};
use crate::forward::{cache_specs, param_specs};
use crate::{Error, Result};
use evoxc::prelude::*;
use evoxc::{Leaf, TreeDef};

/// More layers than this are taken for a mistake.
pub(crate) const MAX_LAYERS: usize = 100_000;
/// As many features of a head.
pub(crate) const MAX_FEATURES: usize = 1 << 16;

/// A model's parameters as transformers names them, in the order of their tree.
pub(crate) fn names(config: &Config) -> Vec<String> {
    let mut names = vec![];
    let gather = |name: &str, _: &[usize]| {
        names.push(name.to_string());
        Ok::<(), std::convert::Infallible>(())
    };
    let Ok(_) = Params::try_build(config, gather);
    names
}

/// What is wrong with the sizes of a config, whose fields anyone may change.
pub(crate) fn config(c: &Config) -> Result<()> {
    let (heads, kv_heads, features) = match &c.model {
        Model::Gpt2(c) => (c.heads, c.heads, c.width.checked_div(c.heads).unwrap_or(0)),
        Model::Bert(c) => (c.heads, c.heads, c.width.checked_div(c.heads).unwrap_or(0)),
        Model::Llama(c) => (c.heads, c.kv_heads, c.features),
    };
    let bad = |message: String| Err(Error::Request(format!("the config of {} {message}", c.family)));
    if c.layers() > MAX_LAYERS {
        return bad(format!("has {} layers; at most {MAX_LAYERS} are taken for a model", c.layers()));
    }
    if features == 0 || kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
        return bad(format!(
            "has {heads} heads and {kv_heads} key heads of {features} features; one does not divide the other"
        ));
    }
    match &c.model {
        Model::Gpt2(c) if c.width != heads * features => {
            bad(format!("has {heads} heads, which do not divide {}", c.width))
        }
        Model::Bert(c) if c.width != heads * features => {
            bad(format!("has {heads} heads, which do not divide {}", c.width))
        }
        Model::Llama(c) if c.windows.len() != c.layers => {
            bad(format!("has {} windows for {} layers", c.windows.len(), c.layers))
        }
        Model::Llama(c) if c.features != 2 * c.frequencies.len() => {
            bad(format!("has {} frequencies for heads of {} features", c.frequencies.len(), c.features))
        }
        Model::Gpt2(_) | Model::Bert(_) | Model::Llama(_) => Ok(()),
    }
}

/// Is this what a spec asks for, as far as both are known? Float for float: parameters may be of another than the config's.
fn other(got: &TensorSpec, wanted: &TensorSpec) -> bool {
    let kind = got.dtype.is_float() == wanted.dtype.is_float() && got.dtype.is_int() == wanted.dtype.is_int();
    let differ = |(a, b): (&Dim, &Dim)| matches!((a.get(), b.get()), (Some(a), Some(b)) if a != b);
    !kind || got.shape.rank() != wanted.shape.rank() || got.shape.iter().zip(wanted.shape.iter()).any(differ)
}

/// What is wrong with parameters: of another family, too many or few, of other shapes.
pub(crate) fn parameters<L: Leaf + Clone>(
    config: &Config,
    params: &Params<L>,
    spec: impl Fn(&L) -> TensorSpec,
) -> Option<String> {
    let (leaves, got) = TreeDef::flatten(params.clone());
    let (wanted, def) = TreeDef::flatten(param_specs(config));
    if let Some(e) = def.difference(&got) {
        return Some(format!("the parameters are no {} of {} layers: {e}", config.family, config.layers()));
    }
    let wrong = |((name, leaf), wanted): ((String, &L), &TensorSpec)| {
        let got = spec(leaf);
        other(&got, wanted).then(|| format!("the parameter {name} is {got}, and the config needs {wanted}"))
    };
    names(config).into_iter().zip(&leaves).zip(&wanted).find_map(wrong)
}

/// What is wrong with a trace's inputs, each beside what it should be.
fn inputs<'a>(all: impl IntoIterator<Item = (&'a str, Sym, TensorSpec)>) -> Option<String> {
    all.into_iter().find_map(|(name, got, wanted)| {
        let got = got.spec();
        other(&got, &wanted).then(|| format!("{name} is {got}, and {wanted} is needed"))
    })
}

/// Rows of tokens.
fn rows(ids: Sym) -> TensorSpec {
    // A rank that is none of these is reported against names of extents.
    if ids.rank() == 2 { spec(I32, ids.shape()) } else { spec(I32, (dim("B"), dim("T"))) }
}

/// What is wrong with ids.
pub(crate) fn ids(ids: Sym) -> Option<String> {
    inputs([("input_ids", ids, rows(ids))])
}

/// What is wrong with an encoder's input.
pub(crate) fn encoder_input(input: &bert::Input<Sym>) -> Option<String> {
    let wanted = rows(input.input_ids);
    inputs([
        ("input_ids", input.input_ids, wanted.clone()),
        ("attention_mask", input.attention_mask, wanted.clone()),
        ("token_type_ids", input.token_type_ids, wanted),
    ])
}

/// What is wrong with ids, a place and a cache.
pub(crate) fn cached(config: &Config, id: Sym, place: &Place<Sym>, cache: &Cache<Sym>) -> Option<String> {
    if let Some(fault) = ids(id) {
        return Some(fault);
    }
    let batch = id.dim(0);
    let fault = inputs([("place.at", place.at, spec(I32, [])), ("place.padding", place.padding, spec(I32, [batch]))]);
    if fault.is_some() {
        return fault;
    }
    let layers = config.layers();
    if (cache.keys.len(), cache.values.len()) != (layers, layers) {
        let (keys, values) = (cache.keys.len(), cache.values.len());
        return Some(format!("the cache has {keys} keys and {values} values, and the model {layers} layers"));
    }
    let first = cache.keys.first().filter(|k| k.rank() == 4).map_or(dim("capacity"), |k| k.dim(2));
    let wanted = cache_specs(config, batch, first);
    let named = |what: &'static str, got: &[Sym], wanted: Vec<TensorSpec>| {
        let pairs = got.iter().copied().zip(wanted).enumerate();
        pairs.map(|(i, (got, wanted))| (format!("cache.{what}[{i}]"), got, wanted)).collect::<Vec<_>>()
    };
    let mut all = named("keys", &cache.keys, wanted.keys);
    all.extend(named("values", &cache.values, wanted.values));
    inputs(all.iter().map(|(name, got, wanted)| (name.as_str(), *got, wanted.clone())))
}
