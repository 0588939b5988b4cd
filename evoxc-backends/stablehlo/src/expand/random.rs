//! Random bits in integer arithmetic, bit for bit those of the primitive: every element from the key and its own
//! row-major index alone.

use super::parts::{cut, emit, iota, joined, spread};
use evoxc_core::{DType, Dim, Shape, U32, U64};
use evoxc_ir::{Algorithm, Prim};
use evoxc_trace::Sym;

/// A key's words, each of its batch axes and a last one of size 1; and the generator's counters, of as many axes.
struct Draw {
    batch: Shape,
    /// The number of elements, or of blocks of them, for one key.
    count: Dim,
}

impl Draw {
    /// Both `[batch.., count]`.
    fn spread(&self, word: Sym) -> Sym {
        let rank = self.batch.rank();
        spread(word, self.shape(), (0..=rank).collect())
    }
    fn shape(&self) -> Shape {
        self.batch.iter().copied().chain([self.count]).collect()
    }
    /// Word i of the key's last axis.
    fn word(&self, key: Sym, i: i64) -> Sym {
        self.spread(cut(key, self.batch.rank(), i, i + 1))
    }
    /// 0, 1, 2 … for every key.
    fn counters(&self) -> Sym {
        iota(U64, self.shape(), self.batch.rank())
    }
}

/// Uniform bits of `dtype`: the key's batch axes, then `shape`.
pub(super) fn bits(key: Sym, algorithm: Algorithm, dtype: DType, shape: &Shape) -> Sym {
    let n = shape.size();
    let whole = key.shape();
    let batch: Shape = match algorithm {
        Algorithm::SplitMix64 => whole,
        Algorithm::Threefry2x32 | Algorithm::Philox4x32 => {
            whole.iter().take(whole.rank().saturating_sub(1)).copied().collect()
        }
    };
    let elements = Draw { batch: batch.clone(), count: n };
    let flat = match algorithm {
        Algorithm::SplitMix64 => high_bits(splitmix64(key, &elements), dtype),
        Algorithm::Threefry2x32 => {
            let (a, b) = threefry2x32(key, &elements);
            if dtype == U64 { pair(a, b) } else { (a ^ b).cast(dtype) }
        }
        Algorithm::Philox4x32 => philox4x32(key, &elements, dtype),
    };
    let shape: Shape = batch.iter().chain(shape.iter()).copied().collect();
    emit(Prim::Reshape { shape }, &[flat])
}

/// Two words as one of 64 bits.
fn pair(high: Sym, low: Sym) -> Sym {
    (high.cast(U64) << 32u64) | low.cast(U64)
}

fn low_word(x: Sym) -> Sym {
    x.cast(U32)
}

fn high_word(x: Sym) -> Sym {
    (x >> 32u64).cast(U32)
}

fn high_bits(z: Sym, dtype: DType) -> Sym {
    if dtype == U64 { z } else { (z >> (64 - dtype.size() as u64 * 8)).cast(dtype) }
}

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
fn splitmix64(key: Sym, draw: &Draw) -> Sym {
    let rank = draw.batch.rank();
    let key = spread(key, draw.shape(), (0..rank).collect());
    let mut z = key + (draw.counters() + 1u64) * 0x9E37_79B9_7F4A_7C15u64;
    z = (z ^ (z >> 30u64)) * 0xBF58_476D_1CE4_E5B9u64;
    z = (z ^ (z >> 27u64)) * 0x94D0_49BB_1331_11EBu64;
    z ^ (z >> 31u64)
}

/// 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
fn threefry2x32(key: Sym, draw: &Draw) -> (Sym, Sym) {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let (k0, k1) = (draw.word(key, 0), draw.word(key, 1));
    let ks = [k0, k1, k0 ^ k1 ^ 0x1BD1_1BDAu32];
    let counters = draw.counters();
    let (mut a, mut b) = (high_word(counters) + ks[0], low_word(counters) + ks[1]);
    for round in 0..5usize {
        for r in ROTATIONS[round % 2] {
            a += b;
            b = ((b << r) | (b >> (32 - r))) ^ a;
        }
        a += ks[(round + 1) % 3];
        b = b + ks[(round + 2) % 3] + (round as u32 + 1);
    }
    (a, b)
}

/// 10 rounds (the same paper). The first two words of a key are its key, the last two the high half of its counter; the
/// low half counts blocks of four words.
fn philox4x32(key: Sym, elements: &Draw, dtype: DType) -> Sym {
    let each = if dtype == U64 { 2 } else { 4 };
    let draw = Draw { batch: elements.batch.clone(), count: (elements.count + (each - 1)) / each };
    let word = |i: i64| draw.word(key, i);
    let counters = draw.counters();
    let (mut a, mut b, mut c, mut d) = (low_word(counters), high_word(counters), word(2), word(3));
    let (mut k0, mut k1) = (word(0), word(1));
    for _ in 0..10 {
        let (p, q) = (a.cast(U64) * 0xD251_1F53u64, c.cast(U64) * 0xCD9E_8D57u64);
        (a, b, c, d) = (high_word(q) ^ b ^ k0, low_word(q), high_word(p) ^ d ^ k1, low_word(p));
        k0 += 0x9E37_79B9u32;
        k1 += 0xBB67_AE85u32;
    }
    let words = if dtype == U64 { vec![pair(b, a), pair(d, c)] } else { [a, b, c, d].map(|w| w.cast(dtype)).to_vec() };
    // Blocks one after the other, the words of each in order.
    let rank = draw.batch.rank();
    let column: Shape = draw.shape().iter().copied().chain([Dim::constant(1)]).collect();
    let columns: Vec<Sym> = words.iter().map(|&w| emit(Prim::Reshape { shape: column.clone() }, &[w])).collect();
    let blocks = joined(&columns, rank + 1);
    let flat: Shape = draw.batch.iter().copied().chain([draw.count * each]).collect();
    cut(emit(Prim::Reshape { shape: flat }, &[blocks]), rank, 0, elements.count)
}
