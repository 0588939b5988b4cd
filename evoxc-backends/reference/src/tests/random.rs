//! Random bits: values of jax.random.bits with raw threefry keys (partitionable).

use super::{apply, check};

const KEY: &str = "dense<[0, 42]> : tensor<2xu32>";

#[test]
fn threefry_equals_jax() {
    let op = |d: &str| format!("random_bits {{algorithm = threefry2x32, dtype = {d}, shape = [5]}}");
    check(&op("u8"), &[KEY], "dense<[162, 217, 249, 215, 21]> : tensor<5xu8>");
    check(&op("u16"), &[KEY], "dense<[5026, 12505, 63993, 49623, 29461]> : tensor<5xu16>");
    check(&op("u32"), &[KEY], "dense<[2098992034, 2919706841, 2646866425, 2409546199, 1935504149]> : tensor<5xu32>");
    check(
        &op("u64"),
        &[KEY],
        "dense<[7871734211187709741, 276886910877598708, 10591095138341673235, 13462782411356743825, \
         12687676868490354166]> : tensor<5xu64>",
    );
}

// Each key of a batch draws as it would alone.
#[test]
fn batches_of_keys() {
    check(
        "random_bits {algorithm = threefry2x32, dtype = u8, shape = [5]}",
        &["dense<[[0, 42], [1, 2]]> : tensor<2x2xu32>"],
        "dense<[[162, 217, 249, 215, 21], [215, 28, 177, 95, 90]]> : tensor<2x5xu8>",
    );
}

// A prefix of a longer draw is the shorter draw.
#[test]
fn draws_are_prefixes() {
    for (algorithm, key) in [
        ("philox4x32_10", "dense<[1, 2, 3, 4]> : tensor<4xu32>"),
        ("splitmix64", "dense<7> : tensor<u64>"),
        ("threefry2x32", KEY),
    ] {
        for dtype in ["u8", "u16", "u32", "u64"] {
            let draw = |n: usize| {
                let op = format!("random_bits {{algorithm = {algorithm}, dtype = {dtype}, shape = [{n}]}}");
                apply(&op, &[key], &format!("tensor<{n}x{dtype}>")).buffer().bytes().to_vec()
            };
            let (long, short) = (draw(11), draw(6));
            assert_eq!(long[..short.len()], short);
        }
    }
}
