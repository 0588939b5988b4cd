//! The choice of the next token, as part of the graph.

use super::GenerateOptions;
use evoxc::DimLike;
use evoxc::prelude::*;

/// What sampling remembers.
#[derive(Tree, Clone, Debug)]
pub struct Sampler<T> {
    /// The key, where tokens are drawn.
    pub key: Option<T>,
    /// bool `[B, vocab]`: the tokens that each text holds, where they are penalised.
    pub seen: Option<T>,
}

/// The next token of each row, i32 `[B]`, of f32 `[B, vocab]` logits.
#[defn]
pub(super) fn next(logits: Sym, state: Sampler<Sym>, options: &GenerateOptions) -> (Sym, Sampler<Sym>) {
    let mut x = logits;
    if let Some(seen) = state.seen {
        let p = options.repetition_penalty;
        x = seen.select((x > 0.0).select(x / p, x * p), x);
    }
    let (token, key) = match state.key {
        None => (x.argmax(-1), None),
        Some(key) => {
            let (now, later) = random::split(key);
            (draw(x / options.temperature, now, options), Some(later))
        }
    };
    let vocab = logits.dim(1);
    let mark = |seen: Sym| seen | iota(I32, [vocab], 0).expand_dims(0).eq(token.expand_dims(1));
    (token, Sampler { key, seen: state.seen.map(mark) })
}

/// Draws from a distribution given by its logits, cut off as the options say.
#[defn]
fn draw(x: Sym, key: Sym, options: &GenerateOptions) -> Sym {
    let vocab = x.dim(1);
    if options.top_k.is_none() && options.top_p.is_none() {
        return random::categorical(key, [x.dim(0)], x);
    }
    // Without k all are sorted.
    let k = options.top_k.map_or(vocab, |k| k.min(i32::MAX as usize).to_dim().min(vocab));
    let (mut best, index) = x.top_k(k);
    if let Some(p) = options.top_p {
        let share = best.softmax(-1);
        // The first stays whatever its share: nothing comes before it.
        let before = share.cumsum(-1) - share;
        best = (before < p).select(best, f64::NEG_INFINITY);
    }
    let place = random::categorical(key, [x.dim(0)], best);
    index.take_along_axis(place.expand_dims(1), 1).squeeze(1)
}
