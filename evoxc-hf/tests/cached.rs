//! Decoding behind a cache is the forward pass of the whole text, at every step, for batches and lengths of any size;
//! sliding windows see what they should.

mod common;

use common::{LOGITS, compare, fixtures, single};
use evoxc::prelude::*;
use evoxc::{AnyBackend, build};
use evoxc_hf::{Cache, Config, Loaded, Logits, Model, Params, Place};

fn zeros(config: &Config, batch: usize, capacity: usize) -> evoxc::Result<Cache<Tensor>> {
    let specs = evoxc_hf::cache_specs(config, batch, capacity);
    let make = |all: Vec<TensorSpec>| -> evoxc::Result<Vec<Tensor>> {
        all.into_iter().map(|s| Tensor::try_full(s.dtype, s.shape, 0)).collect()
    };
    Ok(Cache { keys: make(specs.keys)?, values: make(specs.values)? })
}

/// i32 `[rows, to - from]`: these columns of texts.
fn columns(texts: &[Vec<i32>], from: usize, to: usize) -> evoxc::Result<Tensor> {
    let all: Vec<i32> = texts.iter().flat_map(|t| t[from..to].to_vec()).collect();
    Tensor::from_vec(all, [texts.len(), to - from])
}

/// Some of the positions of `[B, T, vocab]`.
fn positions(logits: &Tensor, from: usize, to: usize) -> evoxc::Result<Tensor> {
    let cut = move |x: Sym| x.slice(s![.., from..to, ..]);
    evaluate(cut, logits.clone(), &Interp)
}

/// Fixtures, some with a window that is shorter than the texts.
fn models() -> Vec<(String, Loaded)> {
    let Some(folder) = fixtures() else { return vec![] };
    let mut all = vec![];
    for name in ["gpt2", "llama", "llama3", "mistral", "qwen2", "qwen3"] {
        let loaded = evoxc_hf::load(folder.join(name)).unwrap();
        if name == "mistral" || name == "qwen3" {
            all.push((format!("{name} with a window"), windowed(loaded.clone(), 3)));
        }
        all.push((name.into(), loaded));
    }
    all
}

fn windowed(mut loaded: Loaded, window: usize) -> Loaded {
    let Model::Llama(c) = &mut loaded.config.model else { panic!("a family with windows") };
    c.windows = vec![Some(window); c.layers];
    loaded
}

/// Three texts of 12 tokens: a prompt of 4, two tokens at once, then one at a time. One program takes all of these sizes.
#[test]
fn every_step_is_the_forward_pass() -> evoxc::Result<()> {
    for (name, loaded) in models() {
        let (c, vocab) = (&loaded.config, loaded.config.vocab_size());
        let texts: Vec<Vec<i32>> =
            (0..3).map(|r| (0..12).map(|i| ((i * 37 + r * 11 + 5) % vocab) as i32).collect()).collect();
        for backend in [AnyBackend::new(Interp), AnyBackend::new(Native::default())] {
            let (b, t, capacity) = (dim("B"), dim("T"), dim("C"));
            let whole = build(evoxc_hf::forward(c, t)?, evoxc_hf::specs(c, b, t), &backend)?;
            let f = evoxc_hf::forward_cached(c, Logits::All)?;
            let step = build(f, evoxc_hf::cached_specs(c, b, t, capacity), &backend)?;
            for rows in [2, 3] {
                let texts = &texts[..rows];
                let expected = whole.run((loaded.params.clone(), columns(texts, 0, 12)?))?;
                // More room than the texts need: what is not written yet is not seen.
                let mut cache = zeros(c, rows, 15)?;
                let ends = [4, 6, 7, 8, 9, 10, 11, 12];
                let mut from = 0;
                for to in ends {
                    let place = Place { at: Tensor::from(from as i32), padding: Tensor::zeros(I32, [rows]) };
                    let (got, next) = step.run((loaded.params.clone(), columns(texts, from, to)?, place, cache))?;
                    let what = format!("{name} on {}, {rows} rows, positions {from} to {to}", backend.name());
                    compare(&what, &got, &positions(&expected, from, to)?, LOGITS.0, LOGITS.1);
                    (cache, from) = (next, to);
                }
            }
        }
    }
    Ok(())
}

/// Rows that start with padding are the texts without it, prompt and steps.
#[test]
fn padding_is_not_seen() -> evoxc::Result<()> {
    for (name, loaded) in models() {
        let (c, vocab) = (&loaded.config, loaded.config.vocab_size());
        let native = Native::default();
        let whole = build(evoxc_hf::forward(c, dim("T"))?, evoxc_hf::specs(c, 1, dim("T")), &native)?;
        let f = evoxc_hf::forward_cached(c, Logits::Last)?;
        let step = build(f, evoxc_hf::cached_specs(c, dim("B"), dim("T"), dim("C")), &native)?;
        let padding = [0usize, 3, 5];
        let texts: Vec<Vec<i32>> =
            (0..3).map(|r| (0..9).map(|i| ((i * 53 + r * 17 + 2) % vocab) as i32).collect()).collect();
        let mut cache = zeros(c, 3, 9)?;
        let mut from = 0;
        for to in [6, 7, 8, 9] {
            let pads = Tensor::from_vec(padding.map(|p| p as i32).to_vec(), [3])?;
            let place = Place { at: Tensor::from(from as i32), padding: pads };
            let (got, next) = step.run((loaded.params.clone(), columns(&texts, from, to)?, place, cache))?;
            for (row, text) in texts.iter().enumerate() {
                let alone = columns(std::slice::from_ref(text), padding[row], to)?;
                let all = whole.run((loaded.params.clone(), alone))?;
                let length = to - padding[row];
                let expected = positions(&all, length - 1, length)?.reshape([vocab])?;
                let got = Tensor::from_vec(got.as_slice::<f32>()?[row * vocab..][..vocab].to_vec(), [vocab])?;
                compare(&format!("{name}, row {row} to {to}"), &got, &expected, LOGITS.0, LOGITS.1);
            }
            (cache, from) = (next, to);
        }
    }
    Ok(())
}

/// Windows shorter than the text against the oracle in plain loops; each length of window gives other values.
#[test]
fn windows_against_the_oracle() -> evoxc::Result<()> {
    let Some(folder) = fixtures() else { return Ok(()) };
    for name in ["mistral", "qwen2", "qwen3"] {
        let loaded = evoxc_hf::load(folder.join(name))?;
        let ids = common::golden(&folder.join(name)).tensor("input_ids")?;
        let mut seen: Vec<Vec<f32>> = vec![];
        for window in [1, 2, 5, 11, 12] {
            let loaded = windowed(loaded.clone(), window);
            let expected = single(evoxc_hf::reference_logits(&loaded, &ids)?)?;
            for backend in [AnyBackend::new(Interp), AnyBackend::new(Native::default())] {
                let f = evoxc_hf::forward(&loaded.config, dim("T"))?;
                let exe = build(f, evoxc_hf::specs(&loaded.config, dim("B"), dim("T")), &backend)?;
                let got = exe.run((loaded.params.clone(), ids.clone()))?;
                compare(&format!("{name}, window {window} on {}", backend.name()), &got, &expected, LOGITS.0, LOGITS.1);
            }
            let values = expected.to_vec::<f32>()?;
            let far = |o: &Vec<f32>| o.iter().zip(&values).any(|(a, b)| (a - b).abs() > 1e-2);
            assert!(seen.iter().all(far), "{name}: a window of {window} is seen");
            seen.push(values);
        }
        // A window of the whole text is none.
        let golden = common::golden(&folder.join(name)).tensor("logits")?;
        compare(name, &Tensor::from_vec(seen.pop().unwrap_or_default(), golden.shape())?, &golden, LOGITS.0, LOGITS.1);
    }
    Ok(())
}

/// In a model of one layer, a position behind a window is the last one of a text of that length: rotary scores depend on
/// distances alone.
#[test]
fn a_window_is_a_shorter_text() -> evoxc::Result<()> {
    let json = br#"{"model_type": "mistral", "vocab_size": 32, "max_position_embeddings": 64, "hidden_size": 16,
        "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 24,
        "sliding_window": 4}"#;
    let config = Config::parse("config.json".as_ref(), json)?;
    let mut state = 7u32;
    let mut draw = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let params = Params::try_build(&config, |_, shape| {
        Tensor::from_vec((0..shape.iter().product()).map(|_| draw()).collect::<Vec<f32>>(), shape)
    })?;
    let f = evoxc_hf::forward(&config, dim("T"))?;
    let exe = build(f, evoxc_hf::specs(&config, 1, dim("T")), &Native::default())?;
    let text: Vec<i32> = (0..20).map(|i| (i * 7 + 3) % 32).collect();
    let all = exe.run((params.clone(), columns(std::slice::from_ref(&text), 0, 20)?))?;
    for end in 4..=20 {
        let short = exe.run((params.clone(), columns(std::slice::from_ref(&text), end - 4, end)?))?;
        compare(&format!("position {end}"), &positions(&all, end - 1, end)?, &positions(&short, 3, 4)?, 1e-4, 1e-4);
    }
    let wide = exe.run((params, columns(std::slice::from_ref(&text), 4, 10)?))?;
    let (a, b) = (positions(&wide, 0, 1)?, positions(&all, 4, 5)?);
    let far = a.as_slice::<f32>()?.iter().zip(b.as_slice::<f32>()?).any(|(a, b)| (a - b).abs() > 1e-2);
    assert!(far, "what is before a text but in the window is seen");
    Ok(())
}

/// Which layers slide, as transformers reads the keys.
#[test]
fn windows_of_configs() {
    let windows = |family: &str, more: &str| {
        let json = format!(
            r#"{{"model_type": "{family}", "vocab_size": 32, "max_position_embeddings": 64, "hidden_size": 16,
            "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 24, "sliding_window": 4{more}}}"#
        );
        match Config::parse("config.json".as_ref(), json.as_bytes()).unwrap().model {
            Model::Llama(c) => c.windows,
            other => panic!("{other:?}"),
        }
    };
    let (w, all) = (Some(4), None);
    assert_eq!(windows("mistral", ""), [w, w, w]);
    assert_eq!(windows("llama", ""), [all, all, all]);
    assert_eq!(windows("qwen2", ""), [all, all, all]);
    assert_eq!(windows("qwen2", r#", "use_sliding_window": true, "max_window_layers": 1"#), [all, w, w]);
    assert_eq!(windows("qwen2", r#", "use_sliding_window": true, "max_window_layers": 0"#), [w, w, w]);
    let types =
        r#", "use_sliding_window": true, "layer_types": ["sliding_attention", "full_attention", "full_attention"]"#;
    assert_eq!(windows("qwen3", types), [w, all, all]);
}
