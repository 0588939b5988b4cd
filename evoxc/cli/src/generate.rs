//! Inputs that nobody gave: ones, or pseudo-random values that depend on the seed and the input's number alone.

use crate::Failure;
use crate::bindings::{Bindings, extents};
use evoxc_core::{BOOL, Tensor, TensorSpec};
use num_complex::Complex;

/// No generated input is larger, in elements: larger ones are taken for a mistake.
const MOST: usize = 1 << 32;

fn shape(spec: &TensorSpec, bindings: &Bindings, input: &str) -> Result<(Vec<usize>, usize), Failure> {
    let shape = extents(&spec.shape, bindings, input)?;
    match shape.iter().try_fold(1usize, |a, &d| a.checked_mul(d)).filter(|n| *n <= MOST) {
        Some(n) => Ok((shape, n)),
        None => Err(Failure::Error(format!("input {input}: {spec} is too large to be generated"))),
    }
}

/// Ones of a type.
pub fn ones(spec: &TensorSpec, bindings: &Bindings, input: &str) -> Result<Tensor, Failure> {
    let (shape, _) = shape(spec, bindings, input)?;
    Ok(Tensor::try_full(spec.dtype, shape, 1)?)
}

/// Floats and complex parts from -1 to 1, integers from 0 to 9, fair booleans.
pub fn random(
    spec: &TensorSpec,
    bindings: &Bindings,
    seed: u64,
    number: usize,
    input: &str,
) -> Result<Tensor, Failure> {
    let (shape, n) = shape(spec, bindings, input)?;
    let mut state = SplitMix(seed);
    state.0 = state.next() ^ (number as u64);
    let t = if spec.dtype.is_complex() {
        let v: Vec<_> = (0..n).map(|_| Complex::new(state.unit(), state.unit())).collect();
        Tensor::from_vec(v, shape)?
    } else if spec.dtype.is_float() {
        Tensor::from_vec((0..n).map(|_| state.unit()).collect::<Vec<_>>(), shape)?
    } else {
        let below = if spec.dtype == BOOL { 2 } else { 10 };
        Tensor::from_vec((0..n).map(|_| (state.next() >> 32) % below).collect::<Vec<_>>(), shape)?
    };
    Ok(t.cast(spec.dtype)?)
}

/// SplitMix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
struct SplitMix(u64);
impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// From -1 to 1, a multiple of 2^-23, so that every float type but the half ones holds it exactly.
    fn unit(&mut self) -> f64 {
        (self.next() >> 40) as f64 / f64::from(1 << 23) - 1.0
    }
}
