//! Attention, and rotary positions.

use super::checks::{float, known, same_dtype};
use super::parts::{convert, count_along, cut, dot_wide, joined, repeated_last, reshape};
use crate::operand::{broadcast_to, lift};
use crate::{Operand, Opnd, Sym, builder};
use evoxc_core::{Dim, F32, Shape, Tensor, TensorSpec, spec};
use evoxc_ir::{Literal, Prim};

/// The options of [`Sym::scaled_dot_product_attention`].
///
/// ```
/// use evoxc::prelude::*;
/// let attend = |q: Sym, k: Sym, v: Sym| q.scaled_dot_product_attention(k, v, Attention::default().causal());
/// let (q, kv) = (spec(F32, (dim("B"), 8, 16, 64)), spec(F32, (dim("B"), 2, 16, 64)));
/// let g = trace(attend, (q.clone(), kv.clone(), kv)).unwrap();
/// assert_eq!(g.output_specs(), [q]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Attention {
    causal: Option<Opnd>,
    mask: Option<Sym>,
    scale: Option<Opnd>,
}

impl Attention {
    /// Query i sees keys 0 … i.
    pub fn causal(self) -> Self {
        self.causal_from(0)
    }
    /// Query i sees keys 0 … offset + i: with a cache, `offset` is the position of the first query (a number, an extent
    /// or an integer scalar).
    pub fn causal_from(mut self, offset: impl Operand) -> Self {
        self.causal = Some(offset.operand());
        self
    }
    /// A bool (true: seen) or a float (added to the scores), broadcast to `[…, heads, queries, keys]`.
    pub fn mask(mut self, mask: Sym) -> Self {
        self.mask = Some(mask);
        self
    }
    /// What the products of queries and keys are multiplied by; 1/√features by default.
    pub fn scale(mut self, scale: impl Operand) -> Self {
        self.scale = Some(scale.operand());
        self
    }
}

/// Are `q`, `k` and `v` of shapes that go together? Gives their types.
#[track_caller]
fn check(op: &str, q: Sym, k: Sym, v: Sym) -> Option<[TensorSpec; 3]> {
    let (tq, tk, tv) = (float(op, q)?, float(op, k)?, float(op, v)?);
    same_dtype(op, q, k)?;
    same_dtype(op, q, v)?;
    let r = tq.rank();
    let message = if r < 3 || tk.rank() != r || tv.rank() != r {
        "queries, keys and values need the axes […, heads, positions, features]".to_string()
    } else if tq.shape[..r - 3] != tk.shape[..r - 3] || tk.shape[..r - 1] != tv.shape[..r - 1] {
        "the leading axes, and the heads and positions of keys and values, must be equal".to_string()
    } else if tq.shape[r - 1] != tk.shape[r - 1] {
        format!("queries have {} features, keys {}", tq.shape[r - 1], tk.shape[r - 1])
    } else {
        return Some([tq, tk, tv]);
    };
    let remedy = "q is […, heads, queries, d], k […, kv_heads, keys, d], v […, kv_heads, keys, dv]".to_string();
    builder::fail(op, &[q, k, v], message, Some(remedy));
    None
}

impl Sym {
    /// softmax(q·kᵀ·scale + mask)·v for queries `self` `[…, heads, queries, d]`, keys `[…, kv_heads, keys, d]` and
    /// values `[…, kv_heads, keys, dv]`: `[…, heads, queries, dv]`. `kv_heads` divides `heads`: neighbouring query heads
    /// share a key head. Real floats of one dtype; f16 and bf16 scores are computed in f32. A query that sees no key
    /// gives the mean of the values, as in JAX.
    ///
    /// # Errors
    /// Shapes or dtypes that do not go together.
    #[track_caller]
    pub fn scaled_dot_product_attention(self, keys: Sym, values: Sym, options: Attention) -> Sym {
        let op = "scaled_dot_product_attention";
        let Some([q, k, v]) = check(op, self, keys, values) else { return Sym::POISON };
        let r = q.rank();
        let (heads, kv_heads) = (q.shape[r - 3], k.shape[r - 3]);
        let group = match (heads.get(), kv_heads.get()) {
            _ if heads == kv_heads => 1,
            (Some(h), Some(g)) if g > 0 && h % g == 0 => h / g,
            _ => {
                let message = format!("{heads} query heads do not share {kv_heads} key heads evenly");
                let remedy = "the number of key heads divides the number of query heads".to_string();
                return builder::fail(op, &[self, keys, values], message, Some(remedy));
            }
        };
        let (queries, size) = (q.shape[r - 2], k.shape[r - 2]);
        let with_last_two = |h: Dim, rows: Dim, columns: Dim| -> Shape {
            q.shape.iter().take(r - 3).copied().chain([h, rows, columns]).collect()
        };
        // The query heads of a group follow each other, so they are further rows for one key head.
        let rows = queries * group;
        let folded = reshape(self, with_last_two(kv_heads, rows, q.shape[r - 1]));
        let scores = dot_wide(folded, keys, r - 2, (r - 1, r - 1), true);
        let scores = reshape(scores, with_last_two(heads, queries, size));
        let Some(t) = known(op, scores) else { return Sym::POISON };
        let scale = match options.scale {
            Some(s) => s,
            None => match q.shape[r - 1].get() {
                Some(d) => Opnd::Scalar((1.0 / (d as f64).sqrt()).into()),
                None => Opnd::Sym(lift(op, q.shape[r - 1], &spec(t.dtype, []), false).rsqrt()),
            },
        };
        let scores = masked(op, scores * scale, &t, options);
        let weights = convert(scores.softmax(-1), q.dtype);
        let weights = reshape(weights, with_last_two(kv_heads, rows, size));
        let out = dot_wide(weights, values, r - 2, (r - 1, r - 2), false);
        reshape(out, with_last_two(heads, queries, v.shape[r - 1]))
    }
}

/// The scores of hidden keys become so low that their weight is 0, yet finite: a row of hidden keys gives no NaN.
#[track_caller]
fn masked(op: &str, scores: Sym, t: &TensorSpec, options: Attention) -> Sym {
    let r = t.rank();
    let lowest = if t.dtype == evoxc_core::F64 { f64::MIN } else { f64::from(f32::MIN) } * 0.7;
    let mut scores = scores;
    if let Some(mask) = options.mask {
        let Some(m) = known(op, mask) else { return Sym::POISON };
        if m.dtype.is_bool() {
            scores = broadcast_to(op, mask, &t.shape).select(scores, lowest);
        } else {
            if float(op, mask).is_none() {
                return Sym::POISON;
            }
            scores += broadcast_to(op, convert(mask, t.dtype), &t.shape);
        }
    }
    let Some(offset) = options.causal else { return scores };
    let plane: Shape = t.shape.iter().skip(r - 2).copied().collect();
    let (row, column) = (count_along(&plane, 0), count_along(&plane, 1));
    let row = match offset {
        Opnd::Scalar(evoxc_core::Scalar::Int(0)) => row,
        Opnd::Sym(s) => row + convert(s, evoxc_core::I32),
        Opnd::Scalar(_) | Opnd::Dim(_) => row + offset,
    };
    broadcast_to(op, column.le(row), &t.shape).select(scores, lowest)
}

/// The options of [`Sym::rope`].
///
/// ```
/// use evoxc::prelude::*;
/// let g = trace(|x: Sym, at: Sym| x.rope(at, &Rope::default()), (spec(F32, [8, 16, 64]), spec(I32, [16]))).unwrap();
/// assert_eq!(g.output_specs(), [spec(F32, [8, 16, 64])]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    base: f64,
    interleaved: bool,
    features: Option<usize>,
    frequencies: Option<Vec<f64>>,
}

impl Default for Rope {
    fn default() -> Self {
        Rope { base: 10000.0, interleaved: false, features: None, frequencies: None }
    }
}

impl Rope {
    /// The base of the frequencies base^(-2i/d); 10000 by default.
    pub fn base(mut self, base: f64) -> Self {
        self.base = base;
        self
    }
    /// Pairs are neighbours (as in GPT-J), not halves apart (as in GPT-NeoX and Llama, the default).
    pub fn interleaved(mut self) -> Self {
        self.interleaved = true;
        self
    }
    /// Only the first `n` features turn; all by default.
    pub fn features(mut self, n: usize) -> Self {
        self.features = Some(n);
        self
    }
    /// The frequency of each pair, instead of those that `base` gives (scaled ones, as for long contexts).
    pub fn frequencies(mut self, frequencies: impl Into<Vec<f64>>) -> Self {
        self.frequencies = Some(frequencies.into());
        self
    }
}

impl Sym {
    /// Rotary position embedding (Su et al., 2021) of `[…, positions, d]`: pair i of features turns by
    /// position·frequencyᵢ. `positions` (any number dtype) broadcasts to the axes before the last. Angles are f32 (f64 for
    /// f64); the result has `self`'s shape and dtype.
    ///
    /// # Errors
    /// The number of features that turn is odd, symbolic or larger than d; as many frequencies as pairs are needed.
    #[track_caller]
    pub fn rope(self, positions: Sym, options: &Rope) -> Sym {
        let op = "rope";
        let _at = builder::pin();
        let Some(t) = float(op, self) else { return Sym::POISON };
        let Some(p) = super::checks::real(op, positions) else { return Sym::POISON };
        let Some((&last, leading)) = t.shape.split_last() else {
            return builder::fail(op, &[self], "needs a last axis of features", None);
        };
        let turning = options.features.or(last.get()).filter(|n| n % 2 == 0 && last.get().is_none_or(|d| *n <= d));
        let Some(n) = turning else {
            let message = format!("{last} features cannot turn in pairs");
            return builder::fail(op, &[self], message, Some("give an even, known number with `.features(n)`".into()));
        };
        let half = n / 2;
        let frequencies: Vec<f64> = match &options.frequencies {
            Some(f) if f.len() == half => f.clone(),
            Some(f) => {
                let message = format!("{} frequencies for {half} pairs", f.len());
                return builder::fail(op, &[self], message, Some("give one frequency a pair".into()));
            }
            None => (0..half).map(|i| options.base.powf(-((2 * i) as f64) / n as f64)).collect(),
        };
        let wide = if t.dtype == evoxc_core::F64 { t.dtype } else { F32 };
        let table = if wide == F32 {
            Tensor::from(frequencies.iter().map(|&f| f as f32).collect::<Vec<f32>>())
        } else {
            Tensor::from(frequencies)
        };
        let table = builder::emit(Prim::Constant { value: Literal::Dense(table) }, &[]);
        let pairs = Dim::constant(i64::try_from(half).unwrap_or(i64::MAX));
        let angles = repeated_last(convert(positions, wide), pairs);
        let angles = angles * table;
        let mut target: Shape = leading.iter().copied().collect();
        target.push(pairs);
        if crate::operand::broadcast_shapes(&p.shape, &leading.iter().copied().collect()).is_err() {
            let message = format!("positions of shape {} do not broadcast to the axes before the last", p.shape);
            return builder::fail(op, &[self, positions], message, None);
        }
        let turn = |x: Sym| broadcast_to(op, convert(x, t.dtype), &target);
        let (cos, sin) = (turn(angles.cos()), turn(angles.sin()));
        let axis = t.rank() - 1;
        let head = cut(self, axis, 0, n);
        let turned = if options.interleaved {
            turned_neighbours(head, leading, pairs, cos, sin)
        } else {
            let (a, b) = (cut(head, axis, 0, half), cut(head, axis, half, n));
            joined(&[a * cos - b * sin, b * cos + a * sin], axis)
        };
        if last == n { turned } else { joined(&[turned, cut(self, axis, n, last)], axis) }
    }
}

/// Pairs of neighbours, turned.
#[track_caller]
fn turned_neighbours(x: Sym, leading: &[Dim], pairs: Dim, cos: Sym, sin: Sym) -> Sym {
    let Some(t) = x.ty() else { return Sym::POISON };
    let axis = leading.len() + 1;
    let two: Shape = leading.iter().copied().chain([pairs, Dim::constant(2)]).collect();
    let one: Shape = leading.iter().copied().chain([pairs, Dim::constant(1)]).collect();
    let x = reshape(x, two);
    let flat: Shape = leading.iter().copied().chain([pairs]).collect();
    let (a, b) = (reshape(cut(x, axis, 0, 1), flat.clone()), reshape(cut(x, axis, 1, 2), flat));
    let (a, b) = (a * cos - b * sin, b * cos + a * sin);
    reshape(joined(&[reshape(a, one.clone()), reshape(b, one)], axis), t.shape)
}
