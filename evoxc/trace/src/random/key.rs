//! Keys: how they are made from seeds, and what a key that is passed to a function says.

use crate::{Sym, builder};
use evoxc_core::{DType, Shape, Tensor, TensorSpec, U32, U64, spec};
use evoxc_ir::{Algorithm, Prim};

/// What a key is made from: an integer. Negative ones are taken modulo 2⁶⁴.
///
/// ```
/// use evoxc::random::Seed;
/// assert_eq!((7u32.seed(), (-1i64).seed()), (7, u64::MAX));
/// ```
pub trait Seed {
    /// The seed as 64 bits.
    fn seed(self) -> u64;
}
macro_rules! seeds {
    ($($t:ty)*) => { $(impl Seed for $t { fn seed(self) -> u64 { self as u64 } })* };
}
seeds!(i32 i64 isize u32 u64 usize);

/// A key of the default algorithm, splitmix64: a `()` u64, the seed itself. Its `U64` bits are the published generator's
/// sequence from that seed (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014; Vigna's
/// `splitmix64.c`).
///
/// All streams are parts of one cycle of 2⁶⁴ numbers: n streams of m numbers each share a number with a probability of
/// about n²m/2⁶⁴. For more than some 2¹⁶ streams of 2²⁰ numbers take [`philox_key`].
///
/// ```
/// use evoxc::prelude::*;
/// let bits = evaluate(|k: Sym| random::bits(k, U64, [2]), random::key(1234567), &Interp)?;
/// assert_eq!(bits.to_vec::<u64>()?, [6457827717110365317, 3203168211198807973]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn key(seed: impl Seed) -> Tensor {
    Tensor::from(seed.seed())
}

/// The spec of a [`key`]: `()` u64.
///
/// ```
/// use evoxc::prelude::*;
/// assert_eq!(random::key_spec(), random::key(1).spec());
/// ```
pub fn key_spec() -> TensorSpec {
    spec(U64, ())
}

/// A key of threefry2x32: a `[2]` u32, the high and the low half of the seed, as `jax.random.PRNGKey(seed)` with 64-bit
/// integers enabled (without, JAX drops the high half, which is 0 of seeds below 2³²). Salmon, Moraes, Dror, Shaw,
/// "Parallel random numbers: as easy as 1, 2, 3", 2011.
///
/// ```
/// use evoxc::prelude::*;
/// assert_eq!(random::threefry_key(42).to_vec::<u32>()?, [0, 42]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn threefry_key(seed: impl Seed) -> Tensor {
    let s = seed.seed();
    Tensor::from([(s >> 32) as u32, s as u32])
}

/// The spec of a [`threefry_key`]: `[2]` u32.
///
/// ```
/// use evoxc::prelude::*;
/// assert_eq!(random::threefry_key_spec(), random::threefry_key(1).spec());
/// ```
pub fn threefry_key_spec() -> TensorSpec {
    spec(U32, [2])
}

/// A key of philox4x32_10: a `[4]` u32. The first two words, the low and the high half of the seed, are Random123's key;
/// the last two, here 0, the high half of its counter, whose low half counts blocks of four words. The top two bits of
/// the last word are 0: with them [`split`](super::split) and [`fold_in`](super::fold_in) stay apart from
/// [`bits`](super::bits).
///
/// ```
/// use evoxc::prelude::*;
/// let first = |k: Sym| random::bits(k, U32, [4]);
/// // Random123's known answer for key 0, counter 0.
/// let block = evaluate(first, random::philox_key(0), &Interp)?;
/// assert_eq!(block.to_vec::<u32>()?, [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn philox_key(seed: impl Seed) -> Tensor {
    let s = seed.seed();
    Tensor::from([s as u32, (s >> 32) as u32, 0, 0])
}

/// The spec of a [`philox_key`]: `[4]` u32.
///
/// ```
/// use evoxc::prelude::*;
/// assert_eq!(random::philox_key_spec(), random::philox_key(1).spec());
/// ```
pub fn philox_key_spec() -> TensorSpec {
    spec(U32, [4])
}

/// A key, or an array of keys, whose algorithm is known.
#[derive(Clone)]
pub(super) struct Key {
    pub sym: Sym,
    pub algorithm: Algorithm,
    /// The axes in front of one key.
    pub batch: Shape,
}

impl Key {
    /// What the operand of `op` is a key of, or a recorded error.
    #[track_caller]
    pub fn of(op: &str, sym: Sym) -> Option<Key> {
        let t = crate::ops::known(op, sym)?;
        let (algorithm, axes) = match (t.dtype, t.shape.last().and_then(|d| d.get())) {
            (DType::U64, _) => (Algorithm::SplitMix64, t.rank()),
            (DType::U32, Some(2)) => (Algorithm::Threefry2x32, t.rank() - 1),
            (DType::U32, Some(4)) => (Algorithm::Philox4x32, t.rank() - 1),
            _ => {
                let m = format!(
                    "needs a key: `()` u64 (splitmix64), `[2]` u32 (threefry2x32) or `[4]` u32 (philox4x32_10), batch \
                     axes in front; got {t}"
                );
                let remedy = "make keys with `random::key(seed)`, whose spec is `random::key_spec()`".to_string();
                builder::fail(op, &[sym], m, Some(remedy));
                return None;
            }
        };
        Some(Key { sym, algorithm, batch: t.shape.iter().take(axes).copied().collect() })
    }
    /// Another key of the same algorithm and batch.
    pub fn with(&self, sym: Sym) -> Key {
        Key { sym, ..self.clone() }
    }
    /// The shape of a draw of `shape`: the key's batch axes are in front.
    pub fn drawn(&self, shape: &Shape) -> Shape {
        self.batch.iter().chain(shape).copied().collect()
    }
    /// Random bits of an unsigned dtype.
    #[track_caller]
    pub fn bits(&self, dtype: DType, shape: &Shape) -> Sym {
        builder::emit(Prim::RandomBits { algorithm: self.algorithm, dtype, shape: shape.clone() }, &[self.sym])
    }
}
