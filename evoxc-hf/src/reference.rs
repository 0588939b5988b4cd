//! The models once more, as plain loops over `f64`: an oracle that shares nothing with the graphs but the parameters.

use crate::config::Model;
use crate::families::{Activation, bert, gpt2, layers, llama};
use crate::{Error, Loaded, Params, Result, fit};
use evoxc::Tensor;
use ndarray::{Array1, Array2, Array3, Axis, concatenate, s};

/// What [`reference_encode`] gives: the encoder's outputs, in f64.
#[derive(Clone, Debug)]
pub struct ReferenceOutput {
    /// `[B, T, width]`
    pub last_hidden_state: Array3<f64>,
    /// `[B, width]`
    pub pooler_output: Array2<f64>,
    /// `[B, width]`
    pub sentence_embedding: Array2<f64>,
}

/// The logits of i32 `[B, T]` ids, computed in f64 without a graph: slow, and for comparison.
///
/// # Errors
/// The model is an encoder; ids that are no `[B, T]` of i32, too long, or outside of the vocabulary.
pub fn reference_logits(loaded: &Loaded, ids: &Tensor) -> Result<Array3<f64>> {
    fits(loaded)?;
    let rows = tokens(loaded, ids)?;
    let mut all = vec![];
    for row in rows {
        all.push(match (&loaded.config.model, &loaded.params) {
            (Model::Gpt2(c), Params::Gpt2(p)) => gpt2_logits(c, p, &row)?,
            (Model::Llama(c), Params::Llama(p)) => llama_logits(c, p, &row)?,
            (Model::Gpt2(_) | Model::Llama(_) | Model::Bert(_), _) => {
                return Err(Error::Request("the model gives no logits".into()));
            }
        });
    }
    stacked(&all)
}

/// What the encoder says of i32 `[B, T]` ids, masks and types, computed in f64 without a graph.
///
/// # Errors
/// The model is a decoder; inputs of other shapes, too long, or outside of the vocabulary.
pub fn reference_encode(loaded: &Loaded, input: &bert::Input<Tensor>) -> Result<ReferenceOutput> {
    let (Model::Bert(c), Params::Bert(p)) = (&loaded.config.model, &loaded.params) else {
        return Err(Error::Request("the model is no encoder".into()));
    };
    fits(loaded)?;
    let rows = tokens(loaded, &input.input_ids)?;
    let (masks, kinds) = (ints(&input.attention_mask)?, ints(&input.token_type_ids)?);
    let (mut hidden, mut pooled, mut sentences) = (vec![], vec![], vec![]);
    for (i, row) in rows.iter().enumerate() {
        let part = |all: &[i32]| all.get(i * row.len()..(i + 1) * row.len()).map(<[i32]>::to_vec);
        let bad = || Error::Request("masks and types have the shape of the ids".into());
        let (mask, kind) = (part(&masks).ok_or_else(bad)?, part(&kinds).ok_or_else(bad)?);
        let x = bert_hidden(c, p, row, &mask, &kind)?;
        let dense = Dense::of(&p.pooler)?;
        pooled.push(dense.apply(&x.slice(s![0..1, ..]).to_owned()).mapv(f64::tanh).row(0).to_owned());
        let mut mean = Array1::<f64>::zeros(c.width);
        for (x, _) in x.rows().into_iter().zip(&mask).filter(|(_, m)| **m != 0) {
            mean += &x;
        }
        mean /= (mask.iter().filter(|m| **m != 0).count() as f64).max(1e-9);
        let length = mean.dot(&mean).sqrt().max(1e-12);
        sentences.push(mean / length);
        hidden.push(x);
    }
    let matrix = |rows: &[Array1<f64>]| -> Result<Array2<f64>> {
        let views: Vec<_> = rows.iter().map(|r| r.view()).collect();
        ndarray::stack(Axis(0), &views).map_err(|e| Error::Request(e.to_string()))
    };
    Ok(ReferenceOutput {
        last_hidden_state: stacked(&hidden)?,
        pooler_output: matrix(&pooled)?,
        sentence_embedding: matrix(&sentences)?,
    })
}

/// Loops over parameters take their sizes from the config.
fn fits(loaded: &Loaded) -> Result<()> {
    fit::config(&loaded.config)?;
    fit::parameters(&loaded.config, &loaded.params, Tensor::spec).map_or(Ok(()), |fault| Err(Error::Request(fault)))
}

fn stacked(all: &[Array2<f64>]) -> Result<Array3<f64>> {
    let views: Vec<_> = all.iter().map(|a| a.view()).collect();
    ndarray::stack(Axis(0), &views).map_err(|_| Error::Request("there are no rows of tokens".into()))
}

fn ints(t: &Tensor) -> Result<Vec<i32>> {
    Ok(t.to_vec::<i32>()?)
}

/// The rows of ids, checked.
fn tokens(loaded: &Loaded, ids: &Tensor) -> Result<Vec<Vec<usize>>> {
    let &[_, length] = ids.shape() else {
        return Err(Error::Request(format!("ids are [B, T], not {}", ids.spec())));
    };
    let (vocab, most) = (loaded.config.vocab_size(), loaded.config.max_positions());
    if length > most || length == 0 {
        return Err(Error::Request(format!("rows of {length} tokens, for a model of {most} positions")));
    }
    let one = |i: i32| usize::try_from(i).ok().filter(|&i| i < vocab);
    let all: Option<Vec<usize>> = ints(ids)?.into_iter().map(one).collect();
    let all = all.ok_or_else(|| Error::Request(format!("a token is outside of the vocabulary of {vocab}")))?;
    Ok(all.chunks(length).map(<[usize]>::to_vec).collect())
}

/// A parameter in f64.
fn vector(t: &Tensor) -> Result<Array1<f64>> {
    let wide = t.cast(evoxc::F64)?;
    Ok(Array1::from_vec(wide.to_vec::<f64>()?))
}

fn matrix(t: &Tensor) -> Result<Array2<f64>> {
    let &[rows, columns] = t.shape() else { return Err(Error::Request(format!("{} is no matrix", t.spec()))) };
    Array2::from_shape_vec((rows, columns), vector(t)?.to_vec()).map_err(|e| Error::Request(e.to_string()))
}

fn rows_of(table: &Array2<f64>, rows: impl Iterator<Item = usize>) -> Array2<f64> {
    table.select(Axis(0), &rows.collect::<Vec<_>>())
}

/// A dense layer, `[in, out]`.
struct Dense {
    weight: Array2<f64>,
    bias: Option<Array1<f64>>,
}

impl Dense {
    fn of(p: &layers::Linear<Tensor>) -> Result<Dense> {
        Ok(Dense { weight: matrix(&p.weight)?.reversed_axes(), bias: p.bias.as_ref().map(vector).transpose()? })
    }
    fn conv1d(p: &gpt2::Conv1d<Tensor>) -> Result<Dense> {
        Ok(Dense { weight: matrix(&p.weight)?, bias: Some(vector(&p.bias)?) })
    }
    fn apply(&self, x: &Array2<f64>) -> Array2<f64> {
        let y = x.dot(&self.weight);
        match &self.bias {
            Some(b) => y + b,
            None => y,
        }
    }
}

fn layer_norm(x: &Array2<f64>, p: &layers::Norm<Tensor>, eps: f64) -> Result<Array2<f64>> {
    let (weight, bias) = (vector(&p.weight)?, vector(&p.bias)?);
    let mut out = x.clone();
    for mut row in out.rows_mut() {
        let mean = row.sum() / row.len() as f64;
        row -= mean;
        let variance = row.dot(&row) / row.len() as f64;
        row /= (variance + eps).sqrt();
        row *= &weight;
        row += &bias;
    }
    Ok(out)
}

fn rms_norm(x: &mut Array2<f64>, weight: &Array1<f64>, eps: f64) {
    for mut row in x.rows_mut() {
        let square = row.dot(&row) / row.len() as f64;
        row /= (square + eps).sqrt();
        row *= weight;
    }
}

/// erf by its series, and by the continued fraction of erfc where that converges faster (Abramowitz and Stegun, 7.1.5 and 7.1.14).
fn erf(x: f64) -> f64 {
    let a = x.abs();
    if a < 2.5 {
        let (mut term, mut sum) = (a, a);
        for n in 1..200 {
            term *= -a * a / n as f64;
            sum += term / (2 * n + 1) as f64;
        }
        return (sum * 2.0 / std::f64::consts::PI.sqrt()).copysign(x);
    }
    let fraction = (1..=120).rev().fold(a, |f, n| a + n as f64 / 2.0 / f);
    (1.0 - (-a * a).exp() / (fraction * std::f64::consts::PI.sqrt())).copysign(x)
}

fn activate(kind: Activation, x: f64) -> f64 {
    match kind {
        Activation::Gelu => 0.5 * x * (1.0 + erf(x / std::f64::consts::SQRT_2)),
        Activation::GeluTanh => {
            0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh())
        }
        Activation::Silu => x / (1.0 + (-x).exp()),
        Activation::Relu => x.max(0.0),
        Activation::Tanh => x.tanh(),
    }
}

/// One head of attention, of the queries of a row over its keys.
fn attend(
    q: &Array2<f64>,
    k: &Array2<f64>,
    v: &Array2<f64>,
    scale: f64,
    sees: impl Fn(usize, usize) -> bool,
) -> Array2<f64> {
    let mut out = Array2::zeros((q.nrows(), v.ncols()));
    for (i, q) in q.rows().into_iter().enumerate() {
        let seen: Vec<usize> = (0..k.nrows()).filter(|&j| sees(i, j)).collect();
        let scores: Vec<f64> = seen.iter().map(|&j| q.dot(&k.row(j)) * scale).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - most).exp()).collect();
        let total: f64 = weights.iter().sum();
        for (&j, w) in seen.iter().zip(&weights) {
            out.row_mut(i).scaled_add(w / total, &v.row(j));
        }
    }
    out
}

fn columns(x: &Array2<f64>, head: usize, features: usize) -> Array2<f64> {
    x.slice(s![.., head * features..(head + 1) * features]).to_owned()
}

fn beside(heads: &[Array2<f64>]) -> Result<Array2<f64>> {
    let views: Vec<_> = heads.iter().map(|h| h.view()).collect();
    concatenate(Axis(1), &views).map_err(|e| Error::Request(e.to_string()))
}

fn gpt2_logits(c: &gpt2::Config, p: &gpt2::Params<Tensor>, ids: &[usize]) -> Result<Array2<f64>> {
    let embedding = matrix(&p.wte)?;
    let mut x = rows_of(&embedding, ids.iter().copied()) + rows_of(&matrix(&p.wpe)?, 0..ids.len());
    let d = c.width / c.heads;
    for (i, l) in p.h.iter().enumerate() {
        let qkv = Dense::conv1d(&l.c_attn)?.apply(&layer_norm(&x, &l.ln_1, c.eps)?);
        let mut scale = if c.scale { 1.0 / (d as f64).sqrt() } else { 1.0 };
        if c.scale_by_layer {
            scale /= (i + 1) as f64;
        }
        let part = |which: usize, head: usize| columns(&qkv, which * c.heads + head, d);
        let heads: Vec<_> =
            (0..c.heads).map(|h| attend(&part(0, h), &part(1, h), &part(2, h), scale, |i, j| j <= i)).collect();
        x = x + Dense::conv1d(&l.attn_proj)?.apply(&beside(&heads)?);
        let inner = Dense::conv1d(&l.c_fc)?.apply(&layer_norm(&x, &l.ln_2, c.eps)?);
        x = x + Dense::conv1d(&l.mlp_proj)?.apply(&inner.mapv(|x| activate(c.activation, x)));
    }
    let x = layer_norm(&x, &p.ln_f, c.eps)?;
    let head = p.lm_head.as_ref().map(matrix).transpose()?.unwrap_or(embedding);
    Ok(x.dot(&head.t()))
}

/// Turns each pair (i, i + d/2) of features by position · frequency.
fn rotate(x: &mut Array2<f64>, frequencies: &[f64]) {
    for (at, mut row) in x.rows_mut().into_iter().enumerate() {
        for (i, f) in frequencies.iter().enumerate() {
            let (sin, cos) = (at as f64 * f).sin_cos();
            let (a, b) = (row[i], row[i + frequencies.len()]);
            row[i] = a * cos - b * sin;
            row[i + frequencies.len()] = b * cos + a * sin;
        }
    }
}

fn llama_logits(c: &llama::Config, p: &llama::Params<Tensor>, ids: &[usize]) -> Result<Array2<f64>> {
    let embedding = matrix(&p.embedding)?;
    let mut x = rows_of(&embedding, ids.iter().copied());
    let normed = |x: &Array2<f64>, w: &Tensor| -> Result<Array2<f64>> {
        let mut out = x.clone();
        rms_norm(&mut out, &vector(w)?, c.eps);
        Ok(out)
    };
    for (l, window) in p.layers.iter().zip(&c.windows) {
        let inner = normed(&x, &l.input_norm)?;
        let (q, k, v) =
            (Dense::of(&l.q)?.apply(&inner), Dense::of(&l.k)?.apply(&inner), Dense::of(&l.v)?.apply(&inner));
        let turned = |all: &Array2<f64>, head: usize, norm: &Option<Tensor>| -> Result<Array2<f64>> {
            let mut one = columns(all, head, c.features);
            if let Some(w) = norm {
                rms_norm(&mut one, &vector(w)?, c.eps);
            }
            rotate(&mut one, &c.frequencies);
            Ok(one)
        };
        let sees = |i: usize, j: usize| j <= i && window.is_none_or(|w| j + w > i);
        let mut heads = vec![];
        for h in 0..c.heads {
            let shared = h / (c.heads / c.kv_heads);
            let (q, k) = (turned(&q, h, &l.q_norm)?, turned(&k, shared, &l.k_norm)?);
            heads.push(attend(&q, &k, &columns(&v, shared, c.features), 1.0 / (c.features as f64).sqrt(), sees));
        }
        x = x + Dense::of(&l.o)?.apply(&beside(&heads)?);
        let inner = normed(&x, &l.post_norm)?;
        let gate = Dense::of(&l.gate)?.apply(&inner).mapv(|x| activate(c.activation, x));
        x = x + Dense::of(&l.down)?.apply(&(gate * Dense::of(&l.up)?.apply(&inner)));
    }
    let x = normed(&x, &p.norm)?;
    let head = p.lm_head.as_ref().map(matrix).transpose()?.unwrap_or(embedding);
    Ok(x.dot(&head.t()))
}

fn bert_hidden(
    c: &bert::Config,
    p: &bert::Params<Tensor>,
    ids: &[usize],
    mask: &[i32],
    kinds: &[i32],
) -> Result<Array2<f64>> {
    let kind = |k: &i32| usize::try_from(*k).ok().filter(|&k| k < c.kinds);
    let kinds: Option<Vec<usize>> = kinds.iter().map(kind).collect();
    let kinds = kinds.ok_or_else(|| Error::Request(format!("a token's type is not below {}", c.kinds)))?;
    let sum = rows_of(&matrix(&p.words)?, ids.iter().copied())
        + rows_of(&matrix(&p.positions)?, 0..ids.len())
        + rows_of(&matrix(&p.kinds)?, kinds.into_iter());
    let mut x = layer_norm(&sum, &p.norm, c.eps)?;
    let d = c.width / c.heads;
    for l in &p.layers {
        let of = |p: &layers::Linear<Tensor>| -> Result<Array2<f64>> { Ok(Dense::of(p)?.apply(&x)) };
        let (q, k, v) = (of(&l.query)?, of(&l.key)?, of(&l.value)?);
        let sees = |_: usize, j: usize| mask.get(j).is_some_and(|m| *m != 0);
        let scale = 1.0 / (d as f64).sqrt();
        let heads: Vec<_> = (0..c.heads)
            .map(|h| attend(&columns(&q, h, d), &columns(&k, h, d), &columns(&v, h, d), scale, sees))
            .collect();
        x = layer_norm(&(&x + Dense::of(&l.output)?.apply(&beside(&heads)?)), &l.output_norm, c.eps)?;
        let inner = Dense::of(&l.intermediate)?.apply(&x).mapv(|x| activate(c.activation, x));
        x = layer_norm(&(&x + Dense::of(&l.down)?.apply(&inner)), &l.down_norm, c.eps)?;
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of Abramowitz and Stegun, table 7.1, and of Python's `math.erf`.
    #[test]
    fn erf_values() {
        for (x, y) in [
            (0.5, 0.5204998778130465),
            (1.0, 0.8427007929497149),
            (2.4, 0.9993114861033549),
            (3.0, 0.9999779095030014),
            (-1.5, -0.9661051464753108),
        ] {
            assert!((erf(x) - y).abs() < 1e-14, "erf({x}) = {}", erf(x));
        }
    }
}
