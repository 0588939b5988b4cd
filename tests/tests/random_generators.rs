//! The three generators against independent ones written here, which are checked against published answers: Random123's
//! known-answer vectors, Vigna's sequence, the words that polygrad's contract lists.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;

/// Threefry-2x32-20, Salmon et al. 2011.
fn threefry(key: [u32; 2], [mut a, mut b]: [u32; 2]) -> [u32; 2] {
    let rotations = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let ks = [key[0], key[1], 0x1BD1_1BDA ^ key[0] ^ key[1]];
    (a, b) = (a.wrapping_add(ks[0]), b.wrapping_add(ks[1]));
    for r in 0..20 {
        a = a.wrapping_add(b);
        b = b.rotate_left(rotations[r / 4 % 2][r % 4]) ^ a;
        if r % 4 == 3 {
            let s = r / 4 + 1;
            a = a.wrapping_add(ks[s % 3]);
            b = b.wrapping_add(ks[(s + 1) % 3]).wrapping_add(s as u32);
        }
    }
    [a, b]
}

/// Philox-4x32-10, the same paper.
fn philox([mut k0, mut k1]: [u32; 2], mut c: [u32; 4]) -> [u32; 4] {
    for _ in 0..10 {
        let (p, q) = (u64::from(c[0]) * 0xD251_1F53, u64::from(c[2]) * 0xCD9E_8D57);
        c = [(q >> 32) as u32 ^ c[1] ^ k0, q as u32, (p >> 32) as u32 ^ c[3] ^ k1, p as u32];
        (k0, k1) = (k0.wrapping_add(0x9E37_79B9), k1.wrapping_add(0xBB67_AE85));
    }
    c
}

/// splitmix64 as published: a state that moves, and a finaliser.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// MurmurHash3's fmix64.
fn murmur(mut z: u64) -> u64 {
    z = (z ^ (z >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    z = (z ^ (z >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    z ^ (z >> 33)
}

// Random123's kat_vectors: zeros, ones, and digits of pi.
#[test]
fn the_references_give_the_published_answers() {
    let pi = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344];
    assert_eq!(threefry([0; 2], [0; 2]), [0x6b200159, 0x99ba4efe]);
    assert_eq!(threefry([!0; 2], [!0; 2]), [0x1cb996fc, 0xbb002be7]);
    assert_eq!(threefry([pi[2], pi[3]], [pi[0], pi[1]]), [0xc4923a9c, 0x483df7a0]);
    assert_eq!(philox([0; 2], [0; 4]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    assert_eq!(philox([!0; 2], [!0; 4]), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
    assert_eq!(philox([0xa4093822, 0x299f31d0], pi), [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]);
    let mut s = 1234567;
    let first = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431];
    assert_eq!([(); 4].map(|()| splitmix(&mut s)), first);
    assert_eq!((murmur(1), murmur(2)), (0xb456bcfc34c2cb2c, 0x3abf2a20650683e7));
}

fn run(f: impl Fn(Sym) -> Sym, key: &Tensor) -> Tensor {
    evaluate(f, key.clone(), &Engines).unwrap()
}

fn key32(words: &[u32]) -> Tensor {
    Tensor::from(words.to_vec())
}

#[test]
fn splitmix64() -> evoxc::Result<()> {
    for seed in [0u64, 1, 0x9E37_79B9_7F4A_7C15, u64::MAX, 0xDEAD_BEEF_0123_4567] {
        let key = random::key(seed);
        let mut state = seed;
        let numbers = [(); 9].map(|()| splitmix(&mut state));
        let bits = |d| run(|k| random::bits(k, d, [9]), &key);
        assert_eq!(bits(U64).to_vec::<u64>()?, numbers);
        assert_eq!(bits(U32).to_vec::<u32>()?, numbers.map(|n| (n >> 32) as u32));
        assert_eq!(bits(U16).to_vec::<u16>()?, numbers.map(|n| (n >> 48) as u16));
        assert_eq!(bits(U8).to_vec::<u8>()?, numbers.map(|n| (n >> 56) as u8));
        let at = |base: u64, i: u64| murmur(base.wrapping_add((i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let children = run(|k| random::split_n(k, 5), &key).to_vec::<u64>()?;
        assert_eq!(children, [0, 1, 2, 3, 4].map(|i| at(seed, i)));
        let folded = run(|k| random::fold_in(k, -1), &key).item::<u64>()?;
        assert_eq!(folded, at(murmur(seed ^ 0xD1B5_4A32_D192_ED03), 0xFFFF_FFFF));
    }
    Ok(())
}

#[test]
fn threefry2x32() -> evoxc::Result<()> {
    for k in [[0, 0], [0, 42], [0x1319_8A2E, 0x0370_7344], [!0, !0]] {
        let blocks = [0, 1, 2, 3, 4].map(|i| threefry(k, [0, i]));
        let wide = blocks.map(|[a, b]| (u64::from(a) << 32) | u64::from(b));
        let key = key32(&k);
        assert_eq!(run(|k| random::bits(k, U64, [5]), &key).to_vec::<u64>()?, wide);
        assert_eq!(run(|k| random::bits(k, U32, [5]), &key).to_vec::<u32>()?, blocks.map(|[a, b]| a ^ b));
        assert_eq!(run(|k| random::split_n(k, 5), &key).to_vec::<u32>()?, blocks.concat());
        assert_eq!(run(|k| random::fold_in(k, 9), &key).to_vec::<u32>()?, threefry(k, [0, 9]));
    }
    Ok(())
}

#[test]
fn philox4x32() -> evoxc::Result<()> {
    const CLEAR: u32 = 0x3FFF_FFFF;
    for k in [[0, 0, 0, 0], [42, 0, 0, 0], [0xa4093822, 0x299f31d0, 0x13198a2e, 0x03707344]] {
        let block = |i: u32, bit: u32| philox([k[0], k[1]], [i, 0, k[2], k[3] | bit]);
        let words = [0, 1, 2].map(|i| block(i, 0)).concat();
        let key = key32(&k);
        assert_eq!(run(|k| random::bits(k, U32, [11]), &key).to_vec::<u32>()?, words[..11]);
        let pairs: Vec<u64> = words.chunks(2).map(|w| u64::from(w[0]) | (u64::from(w[1]) << 32)).collect();
        assert_eq!(run(|k| random::bits(k, U64, [5]), &key).to_vec::<u64>()?, pairs[..5]);
        let child = |mut w: [u32; 4]| {
            w[3] &= CLEAR;
            w
        };
        let children = [0, 1, 2].map(|i| child(block(i, 1 << 31))).concat();
        assert_eq!(run(|k| random::split_n(k, 3), &key).to_vec::<u32>()?, children);
        let base = block(0, 1 << 30);
        let folded = child(philox([base[0], base[1]], [0, 0, base[2] ^ 77, base[3]]));
        assert_eq!(run(|k| random::fold_in(k, 77), &key).to_vec::<u32>()?, folded);
    }
    Ok(())
}

// The words of the contract of polygrad: key 1337, counters 0 and on.
#[test]
fn polygrad() -> evoxc::Result<()> {
    let words: [u32; 8] =
        [2732499619, 3322027265, 2482432314, 3871860445, 3571867126, 3019569655, 2459680734, 2731866067];
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|i| threefry([1337, 0], [i, 0])[0]), words);
    let value = |w: u32| (w >> 8) as f32 / 16777216.0;
    let u = evaluate(|| random::polygrad_uniform(1337, [2, 4]), (), &Engines)?;
    assert_eq!((u.shape(), u.to_vec::<f32>()?), (&[2, 4][..], words.map(value).to_vec()));
    // A seed with a high half, fixed and given at run time, alone and in a batch.
    let seed = 0x1234_5678_9ABC_DEF0u64;
    let folded = |seed: u64| seed as u32 ^ ((seed >> 32) as u32).rotate_left(16);
    let numbers = |seed: u64| [0, 1, 2].map(|i| value(threefry([folded(seed), 0], [i, 0])[0]));
    let fixed = evaluate(|| random::polygrad_uniform(seed, [3]), (), &Engines)?;
    assert_eq!(fixed.to_vec::<f32>()?, numbers(seed));
    let given = run(|s| random::polygrad_uniform(s, [3]), &Tensor::from([1337u64, seed]));
    assert_eq!(given.to_vec::<f32>()?, [numbers(1337), numbers(seed)].concat());
    // Box and Muller in f64, of the numbers in f32.
    let x = run(|s| random::polygrad_normal(s, [3]), &Tensor::from(seed)).to_vec::<f32>()?;
    let (u1, u2) = (numbers(seed), numbers(seed ^ 0x9E37_79B9_7F4A_7C15));
    for i in 0..3 {
        let (u1, u2) = (f64::from(u1[i]).max(1e-7), f64::from(u2[i]));
        let want = (-2.0 * u1.ln()).sqrt() * (std::f64::consts::TAU * u2).cos();
        assert!((f64::from(x[i]) - want).abs() < 1e-5, "{} {want}", x[i]);
    }
    Ok(())
}

/// Keys of the three algorithms from a seed.
fn kinds(seed: u64) -> [Tensor; 3] {
    [random::key(seed), random::threefry_key(seed), random::philox_key(seed)]
}

// No 64 bits of the streams of a key, its children, grandchildren and folded keys come up twice: of 30,000 random ones
// the chance is 2⁻³⁵.
#[test]
fn streams_of_related_keys_do_not_meet() -> evoxc::Result<()> {
    for (name, seeds) in ["splitmix64", "threefry2x32", "philox4x32"].iter().zip(transposed(kinds)) {
        let mut all = vec![];
        for key in seeds {
            let family = |k: Sym| {
                let children = random::split_n(k, 4);
                let keys = [children, random::split_n(random::fold_in(k, 5), 4)];
                // Of threefry, folding in small numbers is splitting, as in JAX.
                let folded = random::fold_in(k, iota(I32, [4], 0) + 4);
                let grand = random::split_n(children, 3);
                let draw = |k: Sym| random::bits(k, U64, [300]).ravel();
                let keys: Vec<Sym> = keys.into_iter().chain([folded, grand]).map(draw).collect();
                concat(keys.into_iter().chain([random::bits(k, U64, [300])]), 0)
            };
            all.extend(run(family, &key).to_vec::<u64>()?);
        }
        let n = all.len();
        all.sort_unstable();
        all.dedup();
        // fold_in(k, 5) is one of the folded keys, but its children are drawn from, not itself.
        assert_eq!(all.len(), n, "{name}");
    }
    Ok(())
}

fn transposed(f: fn(u64) -> [Tensor; 3]) -> [Vec<Tensor>; 3] {
    [0, 1, 2].map(|i| [0, 1, 2, 1 << 40].iter().map(|&s| f(s)[i].clone()).collect())
}

// The correlation of two independent uniform streams of n numbers has the standard error 1/√n; 5 of them.
#[test]
fn split_streams_are_uncorrelated() -> evoxc::Result<()> {
    let n = 50_000;
    for key in kinds(7) {
        let f = |k: Sym| {
            let (a, b) = random::split(k);
            let pairs = [(a, b), (k, a), (k, b), (a, random::split(a).0), (a, random::fold_in(k, 77))];
            let centred = |k| random::uniform(k, F64, [n]) - 0.5;
            stack(pairs.map(|(x, y)| (centred(x) * centred(y)).mean(..) * 12.0), 0)
        };
        for r in run(f, &key).to_vec::<f64>()? {
            assert!(r.abs() < 5.0 / (n as f64).sqrt(), "{r}");
        }
    }
    Ok(())
}
