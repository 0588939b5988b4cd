//! Text generation: a prompt at once, then a token at a time behind a cache of keys and values.

mod options;
mod sample;

pub use options::GenerateOptions;
pub use sample::Sampler;

use crate::families::layers::{Cache, Place};
use crate::{Config, Error, Loaded, Logits, Params, Result, Runner, cached_specs, forward_cached};
use evoxc::prelude::*;
use evoxc::{Backend, DimLike};
use std::sync::Arc;

/// What a step is given.
type Given = (Params<Tensor>, Tensor, Place<Tensor>, Cache<Tensor>, Sampler<Tensor>);

/// What a step gives.
#[derive(Tree, Clone, Debug)]
struct Step<T> {
    /// i32 `[B]`
    token: T,
    /// bool `[B]`: are the logits numbers?
    finite: T,
    /// f32 `[B, vocab]`
    logits: T,
    cache: Cache<T>,
    sampler: Sampler<T>,
}

/// A model compiled for generation: a graph for prompts of any length, and one for a single token. Both take caches of any
/// capacity; a backend of static shapes (XLA) compiles them once for each length and capacity.
///
/// ```no_run
/// use evoxc::prelude::*;
/// use evoxc_hf::{GenerateOptions, Generator};
/// # fn main() -> evoxc::Result<()> {
/// let loaded = evoxc_hf::load("path/to/checkpoint")?;
/// let generator = Generator::new(&loaded, &Native::default(), 2, GenerateOptions::default())?;
/// for tokens in generator.start(&[vec![1, 2, 3], vec![4]])? {
///     println!("{:?}", tokens?); // one of each text; None once it has ended
/// }
/// # Ok(())
/// # }
/// ```
///
/// Clones share the compiled graphs.
#[derive(Clone)]
pub struct Generator(Arc<Inner>);

struct Inner {
    config: Config,
    params: Params<Tensor>,
    options: GenerateOptions,
    batch: usize,
    prefill: Runner<Given, Step<Tensor>>,
    decode: Runner<Given, Step<Tensor>>,
}

impl Generator {
    /// Compiles a model for `batch` texts at a time.
    ///
    /// # Errors
    /// [`Error::Request`] for an encoder or options out of their ranges; what compiling reports.
    pub fn new<B: Backend>(loaded: &Loaded, backend: &B, batch: usize, options: GenerateOptions) -> Result<Generator> {
        if let Some(fault) = options.fault() {
            return Err(Error::Request(fault));
        }
        let config = &loaded.config;
        let forward = forward_cached(config, Logits::Last)?;
        let chosen = options.clone();
        let step = move |params: Params<Sym>, ids: Sym, place: Place<Sym>, cache: Cache<Sym>, sampler: Sampler<Sym>| {
            let (logits, cache) = forward(params, ids, place, cache);
            let (token, sampler) = sample::next(logits, sampler, &chosen);
            // Of no number, the greatest is none either.
            let finite = logits.max(-1).is_finite();
            Step { token, finite, logits, cache, sampler }
        };
        let specs = |length: Dim| {
            let (params, ids, place, cache) = cached_specs(config, batch, length, dim("capacity"));
            let sampler = Sampler {
                key: (options.temperature > 0.0).then(random::key_spec),
                seen: (options.repetition_penalty != 1.0).then(|| spec(BOOL, [batch, config.vocab_size()])),
            };
            (params, ids, place, cache, sampler)
        };
        let prefill = Runner::new(step.clone(), specs(dim("length")), backend)?;
        let decode = Runner::new(step, specs(1.to_dim()), backend)?;
        let (config, params) = (config.clone(), loaded.params.clone());
        Ok(Generator(Arc::new(Inner { config, params, options, batch, prefill, decode })))
    }
    /// Starts a text for each prompt; shorter ones are padded at the start. The prompts are run at the first call of `next`.
    ///
    /// # Errors
    /// [`Error::Request`]: not as many prompts as the generator's batch, an empty or too long one, or a token that is not in
    /// the vocabulary.
    pub fn start(&self, prompts: &[impl AsRef<[i32]>]) -> Result<Generation> {
        let g = &self.0;
        let bad = |m: String| Err(Error::Request(m));
        if prompts.len() != g.batch {
            return bad(format!("{} prompts for a generator of {}", prompts.len(), g.batch));
        }
        let (vocab, most) = (g.config.vocab_size(), g.config.max_positions());
        let longest = prompts.iter().map(|p| p.as_ref().len()).max().unwrap_or_default();
        for p in prompts {
            let p = p.as_ref();
            if p.is_empty() {
                return bad("a prompt has no tokens; give it the token that text starts with (`config.bos`)".into());
            }
            if let Some(t) = p.iter().find(|&&t| !usize::try_from(t).is_ok_and(|t| t < vocab)) {
                return bad(format!("a prompt has the token {t}; the model has {vocab}"));
            }
        }
        if longest > most {
            return bad(format!("a prompt has {longest} tokens, and the model {most} positions"));
        }
        let new = g.options.max_new_tokens.min(most - longest);
        let padded = |p: &[i32]| std::iter::repeat_n(0, longest - p.len()).chain(p.iter().copied()).collect::<Vec<_>>();
        let ids: Vec<i32> = prompts.iter().flat_map(|p| padded(p.as_ref())).collect();
        let padding: Vec<i32> = prompts.iter().map(|p| (longest - p.as_ref().len()) as i32).collect();
        let (_, _, _, cache) = cached_specs(&g.config, g.batch, longest, longest + new);
        let zeros = |all: Vec<TensorSpec>| -> evoxc::Result<Vec<Tensor>> {
            all.into_iter().map(|s| Tensor::try_full(s.dtype, s.shape, 0)).collect()
        };
        let seen = || {
            let mut all = vec![false; g.batch * vocab];
            for (row, p) in prompts.iter().enumerate() {
                p.as_ref().iter().for_each(|&t| all[row * vocab + t as usize] = true);
            }
            Tensor::from_vec(all, [g.batch, vocab])
        };
        let sampler = Sampler {
            key: (g.options.temperature > 0.0).then(|| random::key(g.options.seed)),
            seen: (g.options.repetition_penalty != 1.0).then(seen).transpose()?,
        };
        Ok(Generation {
            generator: g.clone(),
            ids: Tensor::from_vec(ids, [g.batch, longest])?,
            at: 0,
            padding: Tensor::from_vec(padding, [g.batch])?,
            state: Some((Cache { keys: zeros(cache.keys)?, values: zeros(cache.values)? }, sampler)),
            left: new,
            ended: vec![false; g.batch],
            logits: None,
        })
    }
}

/// Texts being generated: an iterator over the next token of each.
pub struct Generation {
    generator: Arc<Inner>,
    /// What to run next.
    ids: Tensor,
    at: usize,
    padding: Tensor,
    /// `None` while a step has it.
    state: Option<(Cache<Tensor>, Sampler<Tensor>)>,
    left: usize,
    ended: Vec<bool>,
    logits: Option<Tensor>,
}

impl Generation {
    /// The logits that the last tokens were chosen from, f32 `[B, vocab]`, before any penalty.
    pub fn logits(&self) -> Option<&Tensor> {
        self.logits.as_ref()
    }
    fn step(&mut self) -> Result<Vec<Option<i32>>> {
        let g = self.generator.clone();
        let missing = || Error::Request("a step failed before, and its cache is gone; start again".into());
        let (cache, sampler) = self.state.take().ok_or_else(missing)?;
        let length = self.ids.shape().get(1).copied().unwrap_or_default();
        let place = Place { at: Tensor::from(self.at as i32), padding: self.padding.clone() };
        // Only the first run is of a prompt, which may be of one token.
        let exe = if self.at == 0 { &g.prefill } else { &g.decode };
        // The cache is moved in: its storage is written in place.
        let out = exe.run((g.params.clone(), self.ids.clone(), place, cache, sampler))?;
        let tokens = out.token.to_vec::<i32>()?;
        if let Some(row) = out.finite.to_vec::<bool>()?.iter().position(|f| !f) {
            let why = "are no numbers: the parameters hold some that are none, or the arithmetic overflows";
            return Err(Error::Request(format!("the logits of text {row} at token {} {why}", self.at + length - 1)));
        }
        self.at += length;
        self.left -= 1;
        self.ids = out.token.reshape([g.batch, 1])?;
        self.state = Some((out.cache, out.sampler));
        self.logits = Some(out.logits);
        let stop = g.options.stop.as_deref().unwrap_or(&g.config.eos);
        let mut shown = vec![];
        for (token, ended) in tokens.into_iter().zip(&mut self.ended) {
            *ended |= stop.contains(&token);
            shown.push((!*ended).then_some(token));
        }
        Ok(shown)
    }
}

impl Iterator for Generation {
    type Item = Result<Vec<Option<i32>>>;
    /// The next token of each text; `None` in a text's place once it has ended (the token that ends it is not given). Ends
    /// when all have, or at the limit.
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 || self.ended.iter().all(|&e| e) {
            return None;
        }
        match self.step() {
            Ok(all) if all.iter().all(Option::is_none) => None,
            Ok(all) => Some(Ok(all)),
            Err(e) => {
                self.left = 0;
                Some(Err(e))
            }
        }
    }
}

/// The tokens of one text, as they are generated.
pub struct Tokens(Generation);

impl Tokens {
    /// The logits that the last token was chosen from, f32 `[1, vocab]`, before any penalty.
    pub fn logits(&self) -> Option<&Tensor> {
        self.0.logits()
    }
}

impl Iterator for Tokens {
    type Item = Result<i32>;
    fn next(&mut self) -> Option<Result<i32>> {
        Some(self.0.next()?.map(|row| row.first().copied().flatten().unwrap_or_default()))
    }
}

/// Compiles a model for one text, and generates from a prompt of tokens. For more than one prompt make a [`Generator`],
/// which is compiled once.
///
/// # Errors
/// As [`Generator::new`] and [`Generator::start`]; each token may fail as a run may.
///
/// ```no_run
/// use evoxc::prelude::*;
/// use evoxc_hf::{GenerateOptions, generate};
/// # fn main() -> evoxc::Result<()> {
/// let loaded = evoxc_hf::load("path/to/checkpoint")?;
/// for token in generate(&loaded, &Native::default(), [1, 2, 3], GenerateOptions::default())? {
///     println!("{}", token?);
/// }
/// # Ok(())
/// # }
/// ```
pub fn generate<B: Backend>(
    loaded: &Loaded,
    backend: &B,
    prompt: impl AsRef<[i32]>,
    options: GenerateOptions,
) -> Result<Tokens> {
    Ok(Tokens(Generator::new(loaded, backend, 1, options)?.start(&[prompt])?))
}
