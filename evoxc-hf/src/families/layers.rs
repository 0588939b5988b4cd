//! What the families share: dense layers, heads, masks, the cache of keys and values.

use evoxc::prelude::*;

/// Gives a parameter its value from its name and shape.
pub(crate) type LeafOf<'a, T, E> = &'a mut dyn FnMut(&str, &[usize]) -> Result<T, E>;

/// A dense layer stored as `[out, in]`.
#[derive(Tree, Clone, Debug)]
pub struct Linear<T> {
    /// `[out, in]`
    pub weight: T,
    /// `[out]`
    pub bias: Option<T>,
}

impl<T> Linear<T> {
    pub(crate) fn build<E>(
        name: &str,
        output: usize,
        input: usize,
        bias: bool,
        leaf: LeafOf<'_, T, E>,
    ) -> Result<Linear<T>, E> {
        let weight = leaf(&format!("{name}.weight"), &[output, input])?;
        let bias = bias.then(|| leaf(&format!("{name}.bias"), &[output])).transpose()?;
        Ok(Linear { weight, bias })
    }
}

/// The scale and shift of a layer norm.
#[derive(Tree, Clone, Debug)]
pub struct Norm<T> {
    /// `[width]`
    pub weight: T,
    /// `[width]`
    pub bias: T,
}

impl<T> Norm<T> {
    pub(crate) fn build<E>(name: &str, width: usize, leaf: LeafOf<'_, T, E>) -> Result<Norm<T>, E> {
        let weight = leaf(&format!("{name}.weight"), &[width])?;
        Ok(Norm { weight, bias: leaf(&format!("{name}.bias"), &[width])? })
    }
}

/// A parameter as the arithmetic has it: halves become f32 where they are used, and stay halves in memory.
#[defn]
pub fn wide(w: Sym) -> Sym {
    if w.dtype() == F64 { w } else { w.cast(F32) }
}

/// x·wᵀ + b.
#[defn]
pub fn linear(x: Sym, p: Linear<Sym>) -> Sym {
    let y = x.matmul(wide(p.weight).t());
    match p.bias {
        Some(b) => y + wide(b),
        None => y,
    }
}

/// Layer normalisation (Ba et al., 2016) over the last axis.
#[defn]
pub fn layer_norm(x: Sym, p: Norm<Sym>, eps: f64) -> Sym {
    x.layer_norm(-1, eps) * wide(p.weight) + wide(p.bias)
}

/// `[B, T, heads·d]` as `[B, heads, T, d]`.
#[defn]
pub fn split_heads(x: Sym, heads: usize, features: usize) -> Sym {
    x.reshape((x.dim(0), x.dim(1), heads, features)).transpose([0, 2, 1, 3])
}

/// `[B, heads, T, d]` as `[B, T, heads·d]`.
#[defn]
pub fn merge_heads(x: Sym) -> Sym {
    let x = x.transpose([0, 2, 1, 3]);
    x.reshape((x.dim(0), x.dim(1), x.dim(2) * x.dim(3)))
}

/// The keys and values of the positions so far: for each layer `[B, key heads, capacity, d]`.
#[derive(Tree, Clone, Debug)]
pub struct Cache<T> {
    /// A tensor a layer.
    pub keys: Vec<T>,
    /// A tensor a layer.
    pub values: Vec<T>,
}

/// Where new positions stand among all.
#[derive(Tree, Clone, Debug)]
pub struct Place<T> {
    /// i32 `[]`: how many positions the cache holds already; the new ones follow.
    pub at: T,
    /// i32 `[B]`: how many positions at the start of each row are padding, which no position sees.
    pub padding: T,
}

/// What new positions see: themselves and those before them, in a cache if there is one.
#[derive(Clone)]
pub(crate) struct Sight {
    place: Option<Place<Sym>>,
    cache: Option<Cache<Sym>>,
}

impl Sight {
    /// A whole sequence by itself.
    pub fn alone() -> Sight {
        Sight { place: None, cache: None }
    }
    /// New positions behind those of a cache.
    pub fn cached(cache: Cache<Sym>, place: Place<Sym>) -> Sight {
        Sight { place: Some(place), cache: Some(cache) }
    }
    /// The cache, with what was added to it.
    pub fn into_cache(self) -> Option<Cache<Sym>> {
        self.cache
    }
    /// The position of every new token in its text, `[T]` or `[B, T]`, counted from the end of the padding.
    pub fn positions(&self, ids: Sym) -> Sym {
        let count = iota(I32, [ids.dim(1)], 0);
        match &self.place {
            None => count,
            Some(p) => (count + p.at - p.padding.expand_dims(1)).maximum(0),
        }
    }
    /// softmax(q·kᵀ/√d)·v over what each query sees: keys not after it, at most `window` of them, none of the padding.
    #[track_caller]
    pub fn attend(&mut self, layer: usize, q: Sym, k: Sym, v: Sym, window: Option<usize>, scale: Option<f64>) -> Sym {
        let (keys, values) = match (&mut self.cache, &self.place) {
            (Some(c), Some(p)) => {
                let zero = p.at.zeros_like();
                let start = [zero, zero, p.at, zero];
                let held = (c.keys.len(), c.values.len());
                let (Some(keys), Some(values)) = (c.keys.get_mut(layer), c.values.get_mut(layer)) else {
                    let message =
                        format!("layer {layer} has no place in a cache of {} keys and {} values", held.0, held.1);
                    return evoxc::fail("attend", &[q, k, v], message, Some("make it with `cache_specs`".into()));
                };
                *keys = keys.dynamic_update_slice(k.cast(keys.dtype()), start);
                *values = values.dynamic_update_slice(v.cast(values.dtype()), start);
                (keys.cast(k.dtype()), values.cast(v.dtype()))
            }
            _ => (k, v),
        };
        let query = iota(I32, [q.dim(2)], 0).expand_dims(1);
        let query = self.place.as_ref().map_or(query, |p| query + p.at);
        let key = iota(I32, [keys.dim(2)], 0).expand_dims(0);
        let mut seen = key.le(query);
        if let Some(w) = window {
            // A window longer than any text sees all of it.
            seen &= key.gt(query - i32::try_from(w).unwrap_or(i32::MAX));
        }
        if let Some(p) = &self.place {
            // [B, heads, T, keys]
            seen &= key.ge(p.padding.reshape((p.padding.dim(0), 1, 1, 1)));
        }
        let mut options = Attention::default().mask(seen);
        if let Some(s) = scale {
            options = options.scale(s);
        }
        q.scaled_dot_product_attention(keys, values, options)
    }
}
