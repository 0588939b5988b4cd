//! A step of decoding writes its own positions of the cache, and copies none of the rest.

use evoxc::prelude::*;
use evoxc_hf::{Cache, Config, Logits, Params, Place};

const MODELS: [&str; 2] = [
    r#"{"model_type": "gpt2", "vocab_size": 16, "n_positions": 4096, "n_embd": 16, "n_layer": 3, "n_head": 2}"#,
    r#"{"model_type": "llama", "vocab_size": 16, "max_position_embeddings": 4096, "hidden_size": 16,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 24}"#,
];

#[test]
fn steps_write_their_own_positions() -> evoxc::Result<()> {
    for json in MODELS {
        let config = Config::parse("config.json".as_ref(), json.as_bytes())?;
        let params = Params::try_build(&config, |_, shape| {
            Tensor::from_vec(
                (0..shape.iter().product()).map(|i: usize| (i % 7) as f32 - 3.0).collect::<Vec<_>>(),
                shape,
            )
        })?;
        let f = evoxc_hf::forward_cached(&config, Logits::Last)?;
        let exe = build(f, evoxc_hf::cached_specs(&config, 2, 1, dim("C")), &Native::default())?;
        // Bytes that the last step read and wrote, and bytes of the cache, for each capacity.
        let mut bytes = vec![];
        for capacity in [64, 4096] {
            let specs = evoxc_hf::cache_specs(&config, 2, capacity);
            let zeros = |all: Vec<TensorSpec>| -> evoxc::Result<Vec<Tensor>> {
                all.into_iter().map(|s| Tensor::try_full(s.dtype, s.shape, 0)).collect()
            };
            let mut cache = Cache { keys: zeros(specs.keys)?, values: zeros(specs.values)? };
            let size: usize = leaves(&cache).iter().map(|t| t.len() * 4).sum();
            let mut moved = 0;
            for at in 0..3 {
                let place = Place { at: Tensor::from(at), padding: Tensor::zeros(I32, [2]) };
                let ids = Tensor::from([[at], [at + 1]]);
                let before = addresses(&cache)?;
                let (out, profile) = exe.profile((params.clone(), ids, place, cache))?;
                cache = out.1;
                assert_eq!(addresses(&cache)?, before, "the storage of the cache is that of the step before");
                moved = profile.steps.iter().map(|s| s.bytes).sum::<u64>();
                // What is written are rows 0 to `at`, and nothing else.
                for t in leaves(&cache) {
                    let used = |row: &[f32]| row.iter().any(|x| *x != 0.0);
                    for head in t.as_slice::<f32>()?.chunks(capacity * t.shape()[3]) {
                        let rows: Vec<bool> = head.chunks(t.shape()[3]).map(used).collect();
                        assert!(rows.iter().enumerate().all(|(i, used)| *used == (i <= at as usize)), "{rows:?}");
                    }
                }
            }
            bytes.push((moved as f64, size as f64));
        }
        // Attention reads keys and values once, and writes and reads a score of each position for each head, here half as much
        // at most, and a mask. A copy would read and write all again.
        let [(short, few), (long, many)] = bytes[..] else { panic!("two capacities") };
        let growth = (long - short) / (many - few);
        assert!((1.0..1.6).contains(&growth), "a step moves {growth} bytes more for each byte more of the cache");
    }
    Ok(())
}

fn leaves(cache: &Cache<Tensor>) -> Vec<&Tensor> {
    cache.keys.iter().chain(&cache.values).collect()
}

fn addresses(cache: &Cache<Tensor>) -> evoxc::Result<Vec<*const f32>> {
    leaves(cache).into_iter().map(|t| Ok(t.as_slice::<f32>()?.as_ptr())).collect()
}
