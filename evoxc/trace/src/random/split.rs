//! Keys from keys.

use super::hash::{GOLDEN, murmur64, threefry2x32};
use super::key::Key;
use crate::operand::{broadcast_shapes, broadcast_to, lift, splat};
use crate::ops::{convert, cut, filled, known, reshape};
use crate::{Operand, Opnd, Sym, builder, constant, iota, stack};
use evoxc_core::{Dim, DimLike, I8, I16, I32, Scalar, Shape, Tensor, U8, U16, U32, U64, spec};
use evoxc_ir::{Algorithm, Prim};

/// Philox keys have two bits of their counter to spare: this one is set where keys are split, the next where a number is
/// folded in.
const SPLIT: u32 = 1 << 31;
const FOLD: u32 = 1 << 30;
/// A number without a pattern, so that folding starts far from where splitting does.
const ELSEWHERE: u64 = 0xD1B5_4A32_D192_ED03;

/// Two fresh keys of the same algorithm; `key` itself should not be used again. Batch axes stay.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(random::split, random::key_spec())?;
/// assert_eq!(graph.output_specs(), [random::key_spec(), random::key_spec()]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn split(key: Sym) -> (Sym, Sym) {
    let _at = builder::pin();
    match Key::of("split", key) {
        Some(key) => {
            let [a, b] = key.split();
            (a.sym, b.sym)
        }
        None => (Sym::POISON, Sym::POISON),
    }
}

/// `n` fresh keys as one value, stacked behind the key's batch axes: `[n]` u64 of splitmix64, `[n, 2]` u32 of threefry,
/// `[n, 4]` u32 of philox. Key i does not depend on `n`.
///
/// - threefry: `jax.random.split`, block i of the key.
/// - splitmix64: the key moved i + 1 steps, through MurmurHash3's finaliser (which the generator's paper uses where it
///   splits), not through the one that gives numbers.
/// - philox: block i of the key in a part of its counter that [`bits`](super::bits) never reaches, as in Claessen, Pałka,
///   "Splittable pseudorandom number generators using cryptographic hashing", 2013. Keys of one key differ.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(|k: Sym| random::split_n(k, 3), random::threefry_key_spec())?;
/// assert_eq!(graph.output_specs(), [spec(U32, [3, 2])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn split_n(key: Sym, n: impl DimLike) -> Sym {
    let _at = builder::pin();
    match Key::of("split_n", key) {
        Some(key) => key.children(n.to_dim()),
        None => Sym::POISON,
    }
}

/// A fresh key from a key and a number of up to 32 bits (taken modulo 2³²): the key of a step, a layer, a row. `data` is a
/// Rust integer, an extent, or an integer `Sym`, whose axes broadcast with the key's batch axes.
///
/// - threefry: `jax.random.fold_in`, which also is key `data` of [`split_n`]: do not use both on one key.
/// - splitmix64, philox: as [`split_n`], from another place, so that no key of [`split_n`] comes back.
///
/// ```
/// use evoxc::prelude::*;
/// let steps = |k: Sym| (random::fold_in(k, 7), random::fold_in(k, iota(I32, [8], 0)));
/// let (one, all) = evaluate(steps, random::key(1), &Interp)?;
/// assert_eq!(one.item::<u64>()?, all.to_vec::<u64>()?[7]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn fold_in(key: Sym, data: impl Operand) -> Sym {
    let _at = builder::pin();
    let op = "fold_in";
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    let Some(data) = folded(op, data) else { return Sym::POISON };
    let Some(t) = known(op, data) else { return Sym::POISON };
    let batch = match broadcast_shapes(&key.batch, &t.shape) {
        Ok(shape) => shape,
        Err(m) => {
            let m = format!("the key's batch axes and the data: {m}");
            return builder::fail(op, &[key.sym, data], m, Some("reshape the data".into()));
        }
    };
    let data = broadcast_to(op, data, &batch);
    match key.algorithm {
        Algorithm::SplitMix64 => {
            let base = broadcast_to(op, murmur64(key.sym ^ ELSEWHERE), &batch);
            murmur64(base + (convert(data, U64) + 1) * GOLDEN)
        }
        Algorithm::Threefry2x32 => {
            let [a, b] = [key.word(0), key.word(1)].map(|w| broadcast_to(op, w, &batch));
            let [a, b] = threefry2x32([a, b], [filled(op, 0, U32, &batch), data], &batch);
            stack([a, b], -1)
        }
        Algorithm::Philox4x32 => {
            // The data changes the counter under a key that is met nowhere else, so different data give different keys.
            let base = key.marked(FOLD).bits(U32, &words(4));
            let shape: Shape = batch.iter().copied().chain([Dim::constant(4)]).collect();
            let third = constant(&Tensor::from([0u32, 0, u32::MAX, 0]));
            let base = broadcast_to(op, base, &shape) ^ (broadcast_to(op, data.expand_dims(-1), &shape) & third);
            let child = Key { sym: base, algorithm: key.algorithm, batch };
            unmarked(child.bits(U32, &words(4)))
        }
    }
}

/// The data of [`fold_in`] as u32.
#[track_caller]
fn folded(op: &str, data: impl Operand) -> Option<Sym> {
    let remedy = || Some("fold the halves one after the other, or `.cast(U32)` it".to_string());
    match data.operand() {
        Opnd::Scalar(Scalar::Int(i)) if (-(1i128 << 31)..1i128 << 32).contains(&i) => {
            Some(splat(op, Scalar::Int((i as u32).into()), U32, Shape::scalar()))
        }
        Opnd::Scalar(k) => {
            builder::fail(op, &[], format!("the data {k} is not an integer of 32 bits"), remedy());
            None
        }
        Opnd::Dim(d) => Some(lift(op, d, &spec(U32, ()), false)),
        Opnd::Sym(s) => {
            let t = known(op, s)?;
            if [I8, I16, I32, U8, U16, U32].contains(&t.dtype) {
                return Some(convert(s, U32));
            }
            builder::fail(op, &[s], format!("the data is {}, not an integer of up to 32 bits", t.dtype), remedy());
            None
        }
    }
}

fn words(n: i64) -> Shape {
    [Dim::constant(n)].into_iter().collect()
}

/// Philox words as a key: without the two bits that stand for splitting and folding.
#[track_caller]
fn unmarked(words: Sym) -> Sym {
    words & constant(&Tensor::from([u32::MAX, u32::MAX, u32::MAX, !(SPLIT | FOLD)]))
}

impl Key {
    /// The number of words of one key; none for a key that is a scalar.
    fn width(&self) -> Option<i64> {
        match self.algorithm {
            Algorithm::SplitMix64 => None,
            Algorithm::Threefry2x32 => Some(2),
            Algorithm::Philox4x32 => Some(4),
        }
    }
    /// Word `i` of a key of u32 words, in the batch's shape.
    #[track_caller]
    fn word(&self, i: i64) -> Sym {
        reshape(cut(self.sym, self.batch.rank(), i, i + 1), self.batch.clone())
    }
    /// A philox key with a bit set in its last word.
    #[track_caller]
    fn marked(&self, bit: u32) -> Key {
        self.with(self.sym | constant(&Tensor::from([0, 0, 0, bit])))
    }
    /// `n` keys along an axis behind the batch axes.
    #[track_caller]
    pub fn children(&self, n: Dim) -> Sym {
        let row: Shape = [n].into_iter().collect();
        match self.algorithm {
            Algorithm::SplitMix64 => {
                let steps = (iota(U64, &row, 0) + 1) * GOLDEN;
                murmur64(self.sym.expand_dims(-1) + steps)
            }
            // A block's first word is the high half of 64 bits.
            Algorithm::Threefry2x32 => {
                let halves = self.bits(U64, &row).bitcast(U32);
                builder::emit(Prim::Reverse { axes: vec![self.batch.rank() + 1] }, &[halves])
            }
            Algorithm::Philox4x32 => {
                unmarked(self.marked(SPLIT).bits(U32, &[n, Dim::constant(4)].into_iter().collect()))
            }
        }
    }
    /// `N` keys.
    #[track_caller]
    pub fn split<const N: usize>(&self) -> [Key; N] {
        let all = self.children(Dim::constant(N as i64));
        let axis = self.batch.rank();
        let one: Shape = self.batch.iter().copied().chain(self.width().map(Dim::constant)).collect();
        std::array::from_fn(|i| self.with(reshape(cut(all, axis, i, i + 1), one.clone())))
    }
}
