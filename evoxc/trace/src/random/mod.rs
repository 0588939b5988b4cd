//! Random numbers: pure functions of a key.
//!
//! A key is an ordinary value. The same key gives the same numbers in every process and on every backend, so use each
//! key once: [`split`] it, or [`fold_in`] a number, to get fresh ones. Nothing here holds a state.
//!
//! ```
//! use evoxc::prelude::*;
//!
//! #[defn]
//! fn sample(key: Sym) -> (Sym, Sym) {
//!     let (k1, k2) = random::split(key);
//!     (random::normal(k1, F32, [3, 2]), random::randint(k2, I32, [3], 0, 10))
//! }
//!
//! # fn main() -> evoxc::Result<()> {
//! let exe = build(sample, random::key_spec(), &Interp)?;
//! let (a, b) = exe.run(random::key(42))?; // same key, same bits, any process
//! assert_eq!((a.shape(), b.shape()), (&[3, 2][..], &[3][..]));
//! # Ok(())
//! # }
//! ```
//!
//! | algorithm | key | made by | why |
//! |---|---|---|---|
//! | splitmix64 (the default) | `()` u64 | [`key`] | the fewest instructions a number |
//! | threefry2x32 | `[2]` u32 | [`threefry_key`] | the bits of JAX (`jax_threefry_partitionable=True`) |
//! | philox4x32_10 | `[4]` u32 | [`philox_key`] | the bits of Random123; streams that never meet |
//!
//! The algorithm is told from the key's dtype and shape. A key may have more axes in front: then so has every result,
//! and each row is what its own key alone gives. Of a u64 key all axes are such.
//!
//! Signatures: the key, the dtype where there is a choice, the shape of independent draws, the parameters. Parameters
//! broadcast to that shape by NumPy's rule.
//!
//! [`bits`], [`split`], [`fold_in`], [`uniform`], [`randint`], [`bernoulli`] and [`permutation`] are integer operations,
//! bit casts and single rounded float operations, so they are bit-equal on every backend. What goes through
//! transcendental functions agrees within their tolerance. With threefry keys the algorithms are those of `jax.random`,
//! and so are the numbers, except where a function says otherwise.

mod bits;
mod choice;
mod continuous;
mod discrete;
mod gamma;
mod hash;
mod implicit;
mod key;
mod parameter;
mod poisson;
mod polygrad;
mod randint;
mod split;

pub use bits::{bits, uniform, uniform_range};
pub use choice::{Choice, choice, permutation};
pub use continuous::{exponential, gumbel, laplace, normal, truncated_normal};
pub use discrete::{bernoulli, categorical, multinomial};
pub use gamma::{beta, dirichlet, gamma};
pub use key::{Seed, key, key_spec, philox_key, philox_key_spec, threefry_key, threefry_key_spec};
pub use poisson::poisson;
pub use polygrad::{polygrad_normal, polygrad_uniform};
pub use randint::randint;
pub use split::{fold_in, split, split_n};
