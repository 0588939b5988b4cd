//! Orders and samples of what there is.

use super::bits::unit;
use super::continuous::extreme;
use super::key::Key;
use super::randint::randint;
use crate::ops::{convert, count_along, cut, filled, float, known, reshape};
use crate::{Operand, Opnd, Sym, builder};
use evoxc_core::{Dim, I32, I64, IntoShape, Scalar, Shape, U32};
use evoxc_ir::{Prim, SortKeys};

/// The lengths above which one more sort is needed: (2³² - 1)^(r/3) for r = 0, 1, 2, so that the chance of any two equal
/// sort keys stays small (as `jax.random.permutation`).
const ROUNDS: [i64; 3] = [1, 1625, 2_642_245];

/// What there is to choose from, `n` rows.
struct Population {
    n: Dim,
    rows: Option<Sym>,
}

impl Population {
    #[track_caller]
    fn of(op: &str, x: impl Operand) -> Option<Population> {
        let n = match x.operand() {
            Opnd::Scalar(Scalar::Int(i)) => i64::try_from(i).ok().map(Dim::constant),
            Opnd::Scalar(_) => None,
            Opnd::Dim(d) => Some(d),
            Opnd::Sym(s) => {
                let t = known(op, s)?;
                let Some(&n) = t.shape.first() else {
                    let remedy = "give a Rust integer or an extent for indices, or `.expand_dims(0)` it".to_string();
                    builder::fail(op, &[s], "there is no axis to take rows from", Some(remedy));
                    return None;
                };
                return Some(Population { n, rows: Some(s) });
            }
        };
        match n {
            Some(n) if n.as_i64().is_none_or(|n| (0..=i64::from(i32::MAX)).contains(&n)) => {
                Some(Population { n, rows: None })
            }
            _ => {
                let m = "the number of rows is not an integer from 0 to 2³¹ - 1";
                builder::fail(op, &[], m, Some("give a Rust integer, an extent, or a tensor of rows".into()));
                None
            }
        }
    }
    /// The rows of these indices.
    #[track_caller]
    fn rows(&self, index: Sym) -> Sym {
        match self.rows {
            Some(x) => x.take(index, 0),
            None => index,
        }
    }
}

/// A random order. Of an integer or an extent n: the indices 0 … n - 1 (i32), shuffled. Of a `Sym`: its rows along axis 0,
/// shuffled. The key's batch axes are in front.
///
/// The indices are sorted by random bits, once, or up to three times for long axes: `jax.random.permutation`, with its
/// orders for threefry keys.
///
/// ```
/// use evoxc::prelude::*;
/// let mut order = evaluate(|k: Sym| random::permutation(k, 10), random::key(1), &Interp)?.to_vec::<i32>()?;
/// order.sort();
/// assert_eq!(order, (0..10).collect::<Vec<_>>());
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A `Sym` without axes; a number that is no length.
#[track_caller]
pub fn permutation(key: Sym, x: impl Operand) -> Sym {
    let _at = builder::pin();
    let op = "permutation";
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    match Population::of(op, x) {
        Some(p) => p.rows(order(&key, p.n)),
        None => Sym::POISON,
    }
}

/// The indices 0 … n - 1 (i32), shuffled.
#[track_caller]
fn order(key: &Key, n: Dim) -> Sym {
    let row: Shape = [n].into_iter().collect();
    let axis = key.batch.rank();
    let mut index = count_along(&key.drawn(&row), axis);
    let mut key = key.clone();
    for limit in ROUNDS {
        if n.as_i64().is_some_and(|n| n <= limit) {
            break;
        }
        let [next, sub] = key.split();
        let mut by = sub.bits(U32, &row);
        if !n.is_const() {
            // A symbolic length may turn out not to need this round: sorting by zeros changes nothing.
            let n = builder::emit(Prim::DimSize { extent: n, dtype: I64 }, &[]);
            by = n.gt(limit).select(by, 0u32);
        }
        let [_, sorted] =
            builder::emit_many(Prim::Sort { axis, keys: SortKeys(vec![false]), stable: true }, &[by, index]);
        (index, key) = (sorted, next);
    }
    index
}

/// Options of [`choice`].
///
/// ```
/// use evoxc::{prelude::*, random::Choice};
/// let hand = |k: Sym| random::choice(k, [5], 52, Choice::default().distinct());
/// let mut cards = evaluate(hand, random::key(1), &Interp)?.to_vec::<i32>()?;
/// cards.sort();
/// cards.dedup();
/// assert_eq!(cards.len(), 5);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    distinct: bool,
    weights: Option<Sym>,
}

impl Choice {
    /// No row twice in one draw.
    pub fn distinct(mut self) -> Choice {
        self.distinct = true;
        self
    }
    /// Probabilities, up to a factor: a vector of floats, one a row.
    pub fn weights(mut self, p: Sym) -> Choice {
        self.weights = Some(p);
        self
    }
}

/// Rows drawn from a population, an integer or an extent (its indices, i32) or a `Sym` (its rows along axis 0); as
/// `jax.random.choice`: uniformly by [`randint`]; by weights through their running sums; distinct ones as the start of a
/// [`permutation`]; distinct ones by weights as the largest of log(weights) + [`gumbel`](super::gumbel). Shape: the key's
/// batch axes, `shape`, the rest of a row.
///
/// ```
/// use evoxc::{prelude::*, random::Choice};
/// let f = |k: Sym, rows: Sym| random::choice(k, [5], rows, Choice::default());
/// let graph = trace(f, (random::key_spec(), spec(F32, [10, 3])))?;
/// assert_eq!(graph.output_specs(), [spec(F32, [5, 3])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// As [`permutation`]; nothing to draw from; more distinct rows than there are; weights that are not a float vector with
/// one number a row.
#[track_caller]
pub fn choice(key: Sym, shape: impl IntoShape, from: impl Operand, options: Choice) -> Sym {
    let _at = builder::pin();
    let op = "choice";
    let shape = shape.into_shape();
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    let Some(p) = Population::of(op, from) else { return Sym::POISON };
    let (count, operands) = (shape.size(), p.rows.as_slice());
    if p.n == 0 && count != 0 {
        return builder::fail(op, operands, "there is nothing to choose from", None);
    }
    if options.distinct && (count - p.n).as_i64().is_some_and(|more| more > 0) {
        let m = format!("{count} distinct rows of {} are asked for", p.n);
        return builder::fail(op, operands, m, Some("draw fewer, or leave out `.distinct()`".into()));
    }
    if let Some(w) = options.weights {
        let Some(t) = float(op, w) else { return Sym::POISON };
        if t.shape[..] != [p.n] {
            let m = format!("the weights have shape {}, the rows are {}", t.shape, p.n);
            return builder::fail(op, &[w], m, Some("give a vector with one weight a row".into()));
        }
    }
    let full = key.drawn(&shape);
    if p.n == 0 {
        return p.rows(filled(op, 0, I32, &full));
    }
    let (axis, row): (usize, Shape) = (key.batch.rank(), [p.n].into_iter().collect());
    let index = match (options.weights, options.distinct) {
        (None, false) => randint(key.sym, I32, &shape, 0, p.n),
        (None, true) => reshape(cut(order(&key, p.n), axis, 0, count), full),
        (Some(w), false) => {
            let dtype = w.dtype();
            let sums = w.cumsum(0);
            let u = unit(op, &key, dtype, &shape);
            sums.searchsorted((1.0 - u) * cut(sums, 0, p.n - 1, p.n).reshape(()))
        }
        (Some(w), true) => {
            let scores = extreme(op, &key, w.dtype(), &row) + w.log();
            reshape(scores.top_k(count).1, full)
        }
    };
    p.rows(convert(index, I32))
}
