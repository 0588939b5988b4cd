//! Parameters of other dtypes than f32: those that stay halves in memory, where the arithmetic is that of f32 on their values,
//! and f64.

mod common;

use common::{LOGITS, compare, fixtures, golden, single};
use evoxc::prelude::*;
use evoxc::{AnyBackend, Dyn};
use evoxc_hf::{GenerateOptions, LoadOptions, Loaded, Predictor};

/// Within the tolerance of f32 of the oracle on the rounded weights; near the golden values, which are of the exact ones:
/// a weight of f16 has an error of 2^-11, one of bf16 of 2^-8, and logits reach 18.
#[test]
fn logits_of_rounded_weights() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["gpt2", "llama", "llama3", "qwen2"] {
        let expected = golden(&models.join(name));
        let (ids, exact) = (expected.tensor("input_ids")?, expected.tensor("logits")?);
        for (dtype, allowed) in [(F16, 0.05), (BF16, 0.4)] {
            let loaded = evoxc_hf::load_with(models.join(name), LoadOptions::default().dtype(dtype), &mut |_, _| {})?;
            assert!(Dyn::of(loaded.params.clone()).leaves().iter().all(|t| t.dtype() == dtype), "{name}");
            let oracle = single(evoxc_hf::reference_logits(&loaded, &ids)?)?;
            for backend in [AnyBackend::new(Interp), AnyBackend::new(Native::default())] {
                let (b, t) = (dim("B"), dim("T"));
                let specs = evoxc_hf::specs(&loaded.config, b, t);
                assert!(Dyn::of(specs.0.clone()).leaves().iter().all(|s| s.dtype == dtype), "{name}");
                let exe = build(evoxc_hf::forward(&loaded.config, t)?, specs, &backend)?;
                let got = exe.run((loaded.params.clone(), ids.clone()))?;
                let what = format!("{name} in {dtype} on {}", backend.name());
                compare(&what, &got, &oracle, LOGITS.0, LOGITS.1);
                compare(&format!("{what}, from the golden values"), &got, &exact, allowed, allowed / 10.0);
            }
        }
    }
    Ok(())
}

/// Generation from halves takes the likeliest token of the oracle on the same weights, at each step.
#[test]
fn tokens_of_rounded_weights() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for (name, dtype) in [("gpt2", BF16), ("llama3", F16), ("qwen3", BF16)] {
        let loaded = evoxc_hf::load_with(models.join(name), LoadOptions::default().dtype(dtype), &mut |_, _| {})?;
        let mut text = vec![1, 2, 3];
        let options = GenerateOptions::default().max_new_tokens(6).stop([]);
        let mut tokens = evoxc_hf::generate(&loaded, &Native::default(), &text, options)?;
        while let Some(token) = tokens.next() {
            let ids = Tensor::from_vec(text.clone(), [1, text.len()])?;
            let all = evoxc_hf::reference_logits(&loaded, &ids)?;
            let last = all.slice(ndarray::s![.., -1, ..]).to_owned();
            let what = format!("{name} in {dtype} after {} tokens", text.len());
            compare(&what, tokens.logits().expect("a step has run"), &single(last)?, LOGITS.0, LOGITS.1);
            text.push(token?);
        }
        assert_eq!(text.len(), 9);
    }
    Ok(())
}

/// In f64, the oracle's arithmetic is ours: what takes and gives arrays gives f32, and a text is that of f32.
#[test]
fn doubles() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["gpt2", "qwen3"] {
        let mut seen = vec![];
        let options = LoadOptions::default().dtype(F64);
        let loaded = evoxc_hf::load_with(models.join(name), options, &mut |done, all| seen.push((done, all)))?;
        // Told of every tensor that is converted.
        let all = evoxc_hf::param_names(&loaded.config).len();
        assert!((0..=all).all(|n| seen.contains(&(n, all))), "{name}: {seen:?}");
        let ids = golden(&models.join(name)).tensor("input_ids")?;
        let rows = ids.clone().into_ndarray::<i32>()?.into_dimensionality::<ndarray::Ix2>().expect("rows of ids");
        let oracle = evoxc_hf::reference_logits(&loaded, &ids)?;
        let got = Predictor::new(&loaded, &Native::default())?.predict(rows.view())?;
        compare(name, &Tensor::from(got.into_dyn()), &single(oracle)?, 1e-6, 1e-6);
        let text = |l: &Loaded| -> evoxc::Result<Vec<i32>> {
            let options = GenerateOptions::default().max_new_tokens(6).stop([]);
            evoxc_hf::generate(l, &Native::default(), [1, 2, 3], options)?.map(|t| Ok(t?)).collect()
        };
        let single = evoxc_hf::load_with(models.join(name), LoadOptions::default().dtype(F32), &mut |_, _| {})?;
        assert_eq!(text(&loaded)?, text(&single)?, "{name}");
    }
    Ok(())
}
