//! The random numbers of polygrad's `rand(seed, shape)`, bit for bit: a contract of its own beside the keys here.

use super::hash::{GOLDEN, threefry2x32};
use crate::operand::{broadcast_to, splat};
use crate::ops::{convert, filled, known, reshape};
use crate::{Operand, Opnd, Sym, builder, iota};
use evoxc_core::{F32, IntoShape, Scalar, Shape, U32, U64};
use std::f64::consts::TAU;

/// polygrad's uniform numbers in [0, 1), f32: element i is ⌊w/2⁸⌋·2⁻²⁴ of the first word w of threefry2x32 on the counter
/// (i, 0) with the key (k, 0), where k = low ^ rot16(high) of the 64-bit seed's halves.
///
/// `seed` is a Rust integer (negative ones modulo 2⁶⁴), so that the numbers are fixed in the graph, or a u64 `Sym`, whose
/// axes then stand in front of `shape`.
///
/// ```
/// use evoxc::prelude::*;
/// let u = evaluate(|| random::polygrad_uniform(1337, [2]), (), &Interp)?;
/// let word = |w: u32| (w >> 8) as f32 / 16777216.0;
/// assert_eq!(u.to_vec::<f32>()?, [word(2732499619), word(3322027265)]);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A seed that is no integer, or a `Sym` of another dtype than u64.
#[track_caller]
pub fn polygrad_uniform(seed: impl Operand, shape: impl IntoShape) -> Sym {
    let _at = builder::pin();
    let op = "polygrad_uniform";
    match seed_of(op, seed) {
        Some(seed) => drawn(seed, &shape.into_shape()),
        None => Sym::POISON,
    }
}

/// polygrad's normal numbers, f32, by Box and Muller: √(-2·ln max(u1, 10⁻⁷))·cos(2π·u2), where u1 are the
/// [`polygrad_uniform`] numbers of `seed` and u2 those of `seed ^ 0x9E3779B97F4A7C15`. Seeds as there.
///
/// ```
/// use evoxc::prelude::*;
/// let x = evaluate(|seed: Sym| random::polygrad_normal(seed, [3]), Tensor::from(1337u64), &Interp)?;
/// assert_eq!(x.shape(), [3]);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// As [`polygrad_uniform`].
#[track_caller]
pub fn polygrad_normal(seed: impl Operand, shape: impl IntoShape) -> Sym {
    let _at = builder::pin();
    let op = "polygrad_normal";
    let Some(seed) = seed_of(op, seed) else { return Sym::POISON };
    let shape = shape.into_shape();
    let (u1, u2) = (drawn(seed, &shape), drawn(seed ^ GOLDEN, &shape));
    (u1.maximum(1e-7).log() * -2).sqrt() * (u2 * TAU).cos()
}

#[track_caller]
fn seed_of(op: &str, seed: impl Operand) -> Option<Sym> {
    let remedy = Some("give a Rust integer, or `.cast(U64)` a `Sym`".to_string());
    let bad = match seed.operand() {
        Opnd::Scalar(Scalar::Int(i)) if (-(1i128 << 63)..1i128 << 64).contains(&i) => {
            return Some(splat(op, Scalar::Int((i as u64).into()), U64, Shape::scalar()));
        }
        Opnd::Scalar(k) => format!("the seed {k} is not an integer of 64 bits"),
        Opnd::Dim(d) => format!("the seed is the extent {d}"),
        Opnd::Sym(s) => {
            let t = known(op, s)?;
            if t.dtype == U64 {
                return Some(s);
            }
            builder::fail(op, &[s], format!("the seed is {}, not u64", t.dtype), remedy);
            return None;
        }
    };
    builder::fail(op, &[], bad, remedy);
    None
}

/// One word a counter, brought to [0, 1).
#[track_caller]
fn drawn(seed: Sym, shape: &Shape) -> Sym {
    let op = "polygrad_uniform";
    let Some(batch) = known(op, seed).map(|t| t.shape) else { return Sym::POISON };
    let full: Shape = batch.iter().chain(shape).copied().collect();
    let (low, high) = (convert(seed, U32), convert(seed >> 32, U32));
    let key = low ^ ((high << 16) | (high >> 16));
    let row: Shape = [shape.size()].into_iter().collect();
    let counter = broadcast_to(op, reshape(iota(U32, &row, 0), shape.clone()), &full);
    let key = builder::emit(
        evoxc_ir::Prim::BroadcastInDim { shape: full.clone(), dims: (0..batch.rank()).collect() },
        &[key],
    );
    let zero = filled(op, 0, U32, &full);
    let [word, _] = threefry2x32([key, zero], [counter, zero], &full);
    convert(word >> 8, F32) * f64::exp2(-24.0)
}
