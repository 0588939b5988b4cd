//! Generators of random bits. Each element depends on the key and its own row-major index alone.

use super::{Outcome, no_kernel, slice, tensor};
use evoxc_core::{DType, OpError, Tensor};
use evoxc_ir::Algorithm;

/// Bits of `dtype` under `shape`, which is the key's batch axes and then the drawn shape.
pub(crate) fn random_bits(key: &Tensor, algorithm: Algorithm, dtype: DType, shape: &[usize]) -> Outcome {
    let total: usize = shape.iter().product();
    let words = match algorithm {
        Algorithm::SplitMix64 => 1,
        Algorithm::Threefry2x32 => 2,
        Algorithm::Philox4x32 => 4,
    };
    let keys = key.len() / words;
    let n = total.checked_div(keys).unwrap_or(0);
    let mut out = Bits::new(dtype, total)?;
    match algorithm {
        Algorithm::SplitMix64 => {
            for &k in slice::<u64>(key)? {
                (0..n as u64).for_each(|i| out.push_high(splitmix64(k, i)));
            }
        }
        Algorithm::Threefry2x32 => {
            for k in slice::<u32>(key)?.chunks_exact(2) {
                for i in 0..n as u64 {
                    let [a, b] = threefry2x32([k[0], k[1]], [(i >> 32) as u32, i as u32]);
                    out.push_threefry(a, b);
                }
            }
        }
        Algorithm::Philox4x32 => {
            for k in slice::<u32>(key)?.chunks_exact(4) {
                let per_block = if dtype == DType::U64 { 2 } else { 4 };
                let mut left = n;
                for j in 0..n.div_ceil(per_block) as u64 {
                    let w = philox4x32([j as u32, (j >> 32) as u32, k[2], k[3]], [k[0], k[1]]);
                    out.push_words(w, left.min(per_block));
                    left = left.saturating_sub(per_block);
                }
            }
        }
    }
    out.finish(shape)
}

/// Element i of the splitmix64 stream (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014; the
/// mixing constants are Vigna's public-domain implementation's).
fn splitmix64(key: u64, i: u64) -> u64 {
    let mut z = key.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Threefry-2x32 of 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
fn threefry2x32(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let ks = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD1_1BDA];
    let (mut a, mut b) = (counter[0].wrapping_add(ks[0]), counter[1].wrapping_add(ks[1]));
    for round in 0..5usize {
        for r in ROTATIONS[round % 2] {
            a = a.wrapping_add(b);
            b = b.rotate_left(r) ^ a;
        }
        a = a.wrapping_add(ks[(round + 1) % 3]);
        b = b.wrapping_add(ks[(round + 2) % 3]).wrapping_add(round as u32 + 1);
    }
    [a, b]
}

/// Philox-4x32 of 10 rounds (the same paper). The first two words of our key are its key, the last two the high half of
/// its counter; the low half counts blocks.
fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], [mut k0, mut k1]) = (counter, key);
    let product = |m: u32, x: u32| {
        let p = u64::from(m) * u64::from(x);
        ((p >> 32) as u32, p as u32)
    };
    for _ in 0..10 {
        let ((h0, l0), (h1, l1)) = (product(0xD251_1F53, a), product(0xCD9E_8D57, c));
        (a, b, c, d) = (h1 ^ b ^ k0, l1, h0 ^ d ^ k1, l0);
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    [a, b, c, d]
}

/// The result as it fills.
enum Bits {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}
impl Bits {
    fn new(dtype: DType, n: usize) -> Result<Bits, OpError> {
        match dtype {
            DType::U8 => Ok(Bits::U8(Vec::with_capacity(n))),
            DType::U16 => Ok(Bits::U16(Vec::with_capacity(n))),
            DType::U32 => Ok(Bits::U32(Vec::with_capacity(n))),
            DType::U64 => Ok(Bits::U64(Vec::with_capacity(n))),
            d => Err(no_kernel("random_bits", d)),
        }
    }
    /// The high bits of 64.
    fn push_high(&mut self, z: u64) {
        match self {
            Bits::U8(v) => v.push((z >> 56) as u8),
            Bits::U16(v) => v.push((z >> 48) as u16),
            Bits::U32(v) => v.push((z >> 32) as u32),
            Bits::U64(v) => v.push(z),
        }
    }
    /// As `jax.random.bits` with partitionable threefry: both words for 64 bits, else the low bits of their difference.
    fn push_threefry(&mut self, a: u32, b: u32) {
        match self {
            Bits::U8(v) => v.push((a ^ b) as u8),
            Bits::U16(v) => v.push((a ^ b) as u16),
            Bits::U32(v) => v.push(a ^ b),
            Bits::U64(v) => v.push((u64::from(a) << 32) | u64::from(b)),
        }
    }
    /// The first `n` elements of a block: two words each, the low one first, for 64 bits, else the low bits of one word.
    fn push_words(&mut self, w: [u32; 4], n: usize) {
        match self {
            Bits::U8(v) => v.extend(w.iter().take(n).map(|&x| x as u8)),
            Bits::U16(v) => v.extend(w.iter().take(n).map(|&x| x as u16)),
            Bits::U32(v) => v.extend(w.iter().take(n)),
            Bits::U64(v) => {
                let pairs = [[w[0], w[1]], [w[2], w[3]]];
                v.extend(pairs.iter().take(n).map(|&[lo, hi]| (u64::from(hi) << 32) | u64::from(lo)));
            }
        }
    }
    fn finish(self, shape: &[usize]) -> Outcome {
        match self {
            Bits::U8(v) => tensor(v, shape),
            Bits::U16(v) => tensor(v, shape),
            Bits::U32(v) => tensor(v, shape),
            Bits::U64(v) => tensor(v, shape),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Random123's known-answer vectors (kat_vectors), all zeros and all ones.
    #[test]
    fn known_answers() {
        assert_eq!(threefry2x32([0; 2], [0; 2]), [0x6b200159, 0x99ba4efe]);
        assert_eq!(threefry2x32([!0; 2], [!0; 2]), [0x1cb996fc, 0xbb002be7]);
        assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
        assert_eq!(philox4x32([!0; 4], [!0; 2]), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
    }

    // The sequence that starts at seed 1234567, as published with the generator.
    #[test]
    fn splitmix() {
        assert_eq!(splitmix64(1234567, 0), 6457827717110365317);
        assert_eq!(splitmix64(1234567, 1), 3203168211198807973);
    }
}
