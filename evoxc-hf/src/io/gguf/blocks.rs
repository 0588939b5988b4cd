//! The ways in which a GGUF file stores numbers, and their values in f32, by the format's reference in ggml.

use half::{bf16, f16};

/// How the elements of a tensor are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum Stored {
    /// As they are.
    F32,
    /// As they are.
    F16,
    /// As they are.
    BF16,
    /// 32 of 4 bits, and a scale.
    Q4_0,
    /// 32 of 4 bits, a scale and a minimum.
    Q4_1,
    /// 32 of 5 bits, and a scale.
    Q5_0,
    /// 32 of 8 bits, and a scale.
    Q8_0,
    /// 256 of 4 bits; 8 scales and minima of 6 bits, and a scale of each kind.
    Q4_K,
    /// 256 of 6 bits; 16 scales of 8 bits, and a scale of them.
    Q6_K,
}

impl Stored {
    /// The way of a number in the file.
    pub(super) fn of(number: u32) -> Option<Stored> {
        Some(match number {
            0 => Stored::F32,
            1 => Stored::F16,
            2 => Stored::Q4_0,
            3 => Stored::Q4_1,
            6 => Stored::Q5_0,
            8 => Stored::Q8_0,
            12 => Stored::Q4_K,
            14 => Stored::Q6_K,
            30 => Stored::BF16,
            _ => return None,
        })
    }
    /// How many elements a block has, and how many bytes.
    pub fn block(self) -> (usize, usize) {
        match self {
            Stored::F32 => (1, 4),
            Stored::F16 | Stored::BF16 => (1, 2),
            Stored::Q4_0 => (32, 18),
            Stored::Q4_1 => (32, 20),
            Stored::Q5_0 => (32, 22),
            Stored::Q8_0 => (32, 34),
            Stored::Q4_K => (256, 144),
            Stored::Q6_K => (256, 210),
        }
    }
    /// The values of whole blocks.
    pub(super) fn values(self, bytes: &[u8]) -> Vec<f32> {
        let (elements, size) = self.block();
        let mut out = Vec::with_capacity(bytes.len() / size * elements);
        for b in bytes.chunks_exact(size) {
            match self {
                Stored::F32 => out.extend(b.first_chunk().map(|b| f32::from_le_bytes(*b))),
                Stored::F16 => out.push(half_at(b, 0)),
                Stored::BF16 => out.extend(b.first_chunk().map(|b| bf16::from_le_bytes(*b).to_f32())),
                Stored::Q4_0 => {
                    let (d, q) = (half_at(b, 0), &b[2..]);
                    nibbles(q, &mut out, |_, n| (i32::from(n) - 8) as f32 * d);
                }
                Stored::Q4_1 => {
                    let (d, m, q) = (half_at(b, 0), half_at(b, 2), &b[4..]);
                    nibbles(q, &mut out, |_, n| f32::from(n) * d + m);
                }
                Stored::Q5_0 => {
                    let (d, q) = (half_at(b, 0), &b[6..]);
                    let high = u32::from_le_bytes([b[2], b[3], b[4], b[5]]);
                    nibbles(q, &mut out, |i, n| (i32::from(n) + ((high >> i & 1) << 4) as i32 - 16) as f32 * d);
                }
                Stored::Q8_0 => {
                    let d = half_at(b, 0);
                    out.extend(b[2..].iter().map(|&q| f32::from(q as i8) * d));
                }
                Stored::Q4_K => q4_k(b, &mut out),
                Stored::Q6_K => q6_k(b, &mut out),
            }
        }
        out
    }
}

/// The f16 at a byte.
fn half_at(b: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([b[at], b[at + 1]]).to_f32()
}

/// First the low halves of the bytes, then the high ones, with their places.
fn nibbles(q: &[u8], out: &mut Vec<f32>, value: impl Fn(usize, u8) -> f32) {
    out.extend(q.iter().enumerate().map(|(i, &b)| value(i, b & 15)));
    out.extend(q.iter().enumerate().map(|(i, &b)| value(q.len() + i, b >> 4)));
}

fn q4_k(b: &[u8], out: &mut Vec<f32>) {
    let (d, m, s, q) = (half_at(b, 0), half_at(b, 2), &b[4..16], &b[16..]);
    // Six bits each: the first four in one byte, the last four put together from two.
    let pair = |j: usize| match j {
        0..4 => (s[j] & 63, s[j + 4] & 63),
        _ => (s[j + 4] & 15 | (s[j - 4] >> 6) << 4, s[j + 4] >> 4 | (s[j] >> 6) << 4),
    };
    for (j, q) in q.chunks_exact(32).enumerate() {
        for (half, shift) in [(0, 0), (1, 4)] {
            let (scale, least) = pair(2 * j + half);
            let (scale, least) = (d * f32::from(scale), m * f32::from(least));
            out.extend(q.iter().map(|&b| scale * f32::from(b >> shift & 15) - least));
        }
    }
}

fn q6_k(b: &[u8], out: &mut Vec<f32>) {
    let (low, high, s, d) = (&b[..128], &b[128..192], &b[192..208], half_at(b, 208));
    for part in 0..2 {
        let (low, high, s) = (&low[64 * part..], &high[32 * part..], &s[8 * part..]);
        for quarter in 0..4 {
            out.extend((0..32).map(|i| {
                let four = low[i + 32 * (quarter & 1)] >> (quarter / 2 * 4) & 15;
                let q = i32::from(four | (high[i] >> (2 * quarter) & 3) << 4) - 32;
                d * f32::from(s[i / 16 + 2 * quarter] as i8) * q as f32
            }));
        }
    }
}
