//! Generators as ordinary integer ops, for counters that `random_bits` does not count to.

use crate::ops::filled;
use crate::{Sym, builder};
use evoxc_core::{Shape, U32};

/// Threefry-2x32 of 20 rounds (Salmon et al., 2011) of u32 values of one shape: the two output words.
#[track_caller]
pub(super) fn threefry2x32(key: [Sym; 2], counter: [Sym; 2], shape: &Shape) -> [Sym; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let _at = builder::pin();
    let word = |k: u32| filled("threefry2x32", k, U32, shape);
    let rotations = ROTATIONS.map(|four| four.map(|r| (word(r), word(32 - r))));
    let schedule = [key[0], key[1], key[0] ^ key[1] ^ word(0x1BD1_1BDA)];
    let (mut a, mut b) = (counter[0] + schedule[0], counter[1] + schedule[1]);
    for round in 0..5usize {
        for (left, right) in rotations[round % 2] {
            a += b;
            b = ((b << left) | (b >> right)) ^ a;
        }
        a += schedule[(round + 1) % 3];
        b += schedule[(round + 2) % 3] + word(round as u32 + 1);
    }
    [a, b]
}

/// splitmix64's step.
pub(super) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of MurmurHash3, a bijection of u64 (Appleby, public domain).
#[track_caller]
pub(super) fn murmur64(z: Sym) -> Sym {
    let z = (z ^ (z >> 33)) * 0xFF51_AFD7_ED55_8CCDu64;
    let z = (z ^ (z >> 33)) * 0xC4CE_B9FE_1A85_EC53u64;
    z ^ (z >> 33)
}
