//! Losses and gradients of the fixtures, optimisers against PyTorch's formulas, and training that learns.

mod common;

use common::{compare, fixtures, golden};
use evoxc::prelude::*;
use evoxc::{AnyBackend, Dyn};
use evoxc_hf::train::{self, Optimizer};
use evoxc_hf::{Params, io};
use std::collections::BTreeMap;

/// The parameters' names, in the order of their tree.
fn names(config: &evoxc_hf::Config) -> Vec<String> {
    let mut out = vec![];
    let gather = |name: &str, _: &[usize]| {
        out.push(name.to_string());
        Ok::<(), ()>(())
    };
    Params::try_build(config, gather).unwrap();
    out
}

/// The expected values are PyTorch's (the fixtures' README).
#[test]
fn losses_and_gradients() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["gpt2", "gpt2-2l", "llama", "llama3", "mistral", "qwen2", "qwen3"] {
        // The golden gradients are f32, of weights that were converted first.
        let options = evoxc_hf::LoadOptions::default().dtype(F32);
        let loaded = evoxc_hf::load_with(models.join(name), options, &mut |_, _| {})?;
        let expected = golden(&models.join(name));
        for backend in [AnyBackend::new(Interp), AnyBackend::new(Native::default())] {
            let f = value_and_grad(train::loss(&loaded.config, dim("T"))?);
            let exe = build(f, evoxc_hf::specs(&loaded.config, dim("B"), dim("T")), &backend)?;
            let (loss, gradients) = exe.run((loaded.params.clone(), expected.tensor("input_ids")?))?;
            let what = |part: &str| format!("{part} of {name} on {}", backend.name());
            compare(&what("loss"), &loss, &expected.tensor("loss")?, 1e-5, 1e-6);
            let all = Dyn::of(gradients);
            let named: BTreeMap<String, &Tensor> = names(&loaded.config).into_iter().zip(all.leaves()).collect();
            let mut compared = 0;
            for key in expected.entries().keys() {
                if let Some(parameter) = key.strip_prefix("grad.") {
                    compare(&what(key), named[parameter], &expected.tensor(key)?, 2e-5, 1e-4);
                    compared += 1;
                }
            }
            assert_eq!(compared, 3, "{name}");
        }
    }
    Ok(())
}

/// Two steps of each rule on one number, by the formulas of PyTorch's documentation.
#[test]
fn rules() -> evoxc::Result<()> {
    let (p0, g): (f64, [f64; 2]) = (1.5, [0.4, -0.2]);
    let adam = |decay: f64| {
        let (mut p, mut m, mut v) = (p0, 0.0, 0.0);
        for (t, g) in [1, 2].into_iter().zip(g) {
            p -= 0.1 * decay * p;
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let (mh, vh) = (m / (1.0 - 0.9f64.powi(t)), v / (1.0 - 0.999f64.powi(t)));
            p -= 0.1 * mh / (vh.sqrt() + 1e-8);
        }
        p
    };
    let momentum = {
        let first = g[0];
        let second = 0.9 * first + g[1];
        p0 - 0.1 * first - 0.1 * second
    };
    let cases = [
        (Optimizer::sgd(0.1), p0 - 0.1 * (g[0] + g[1])),
        (Optimizer::momentum(0.1, 0.9), momentum),
        (Optimizer::adam(0.1), adam(0.0)),
        (Optimizer::adamw(0.1, 0.5), adam(0.5)),
    ];
    for (rule, expected) in cases {
        for dtype in [F32, F64] {
            let mut p = Tensor::from(p0).cast(dtype)?;
            let mut state = rule.init(&p)?;
            let update = {
                let rule = rule.clone();
                move |p: Sym, g: Sym, s: train::State<Sym>| rule.update(p, g, s)
            };
            let exe = build(update, (p.spec(), p.spec(), rule.specs(&p.spec())), &Native::default())?;
            for g in g {
                (p, state) = exe.run((p, Tensor::from(g).cast(dtype)?, state))?;
            }
            let got = p.cast(F64)?.item::<f64>()?;
            // f32 holds seven digits.
            assert!((got - expected).abs() < 1e-6, "{rule:?} in {dtype}: {got}, expected {expected}");
            assert_eq!(state.steps.item::<i32>()?, 2);
        }
    }
    Ok(())
}

/// A sentence is learnt by heart, saved, and read back.
#[test]
fn learns_a_sentence() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["gpt2", "llama"] {
        let mut loaded = evoxc_hf::load(models.join(name))?;
        let sentence: Vec<i32> = vec![3, 14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26];
        let ids = Tensor::from_vec(sentence.clone(), [1, 12])?;
        let adam = Optimizer::adam(3e-3);
        let step = train::step(&loaded.config, 12, adam.clone())?;
        let (params, ids_spec) = evoxc_hf::specs(&loaded.config, 1, 12);
        let state_specs = adam.specs(&params);
        let exe = build(step, (params, state_specs, ids_spec), &Native::default())?;
        let mut state = adam.init(&loaded.params)?;
        let mut losses = vec![];
        for _ in 0..60 {
            let (params, next, loss) = exe.run((loaded.params, state, ids.clone()))?;
            (loaded.params, state) = (params, next);
            losses.push(loss.item::<f32>()?);
        }
        assert!(losses[59] < 0.05 && losses[0] > 1.0, "{name}: {losses:?}");
        let folder = std::env::temp_dir().join(format!("evoxc-hf-learnt-{name}-{}", std::process::id()));
        evoxc_hf::save(&loaded, &folder)?;
        let again = evoxc_hf::load(&folder)?;
        assert_eq!(again.config, loaded.config);
        let options = evoxc_hf::GenerateOptions::default().max_new_tokens(9);
        let tokens: Vec<i32> =
            evoxc_hf::generate(&again, &Native::default(), &sentence[..3], options)?.collect::<Result<_, _>>()?;
        assert_eq!(tokens, sentence[3..], "{name}");
        let header = io::SafeTensors::open(&folder.join("model.safetensors"))?;
        assert_eq!(header.metadata().get("format").map(String::as_str), Some("pt"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
    Ok(())
}

/// What was converted is saved under the dtype that it has, in both spellings of a config.
#[test]
fn saved_configs_say_the_dtype() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for (config, key) in [("config.json", "dtype"), ("config.legacy.json", "torch_dtype")] {
        let folder = std::env::temp_dir().join(format!("evoxc-hf-dtype-{key}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let source = models.join("mistral");
        std::fs::copy(source.join(config), folder.join("config.json")).unwrap();
        std::fs::copy(source.join("model.safetensors"), folder.join("model.safetensors")).unwrap();
        for (dtype, name) in [(F32, "float32"), (BF16, "bfloat16"), (F16, "float16")] {
            let options = evoxc_hf::LoadOptions::default().dtype(dtype);
            let loaded = evoxc_hf::load_with(&folder, options, &mut |_, _| {})?;
            let target = folder.join(name);
            evoxc_hf::save(&loaded, &target)?;
            let text = std::fs::read(target.join("config.json")).unwrap();
            let json: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&text).unwrap();
            let said: Vec<_> =
                json.iter().filter(|(k, _)| k.ends_with("dtype")).map(|(k, v)| (k.as_str(), v)).collect();
            assert_eq!(said, [(key, &serde_json::Value::from(name))]);
            let again = evoxc_hf::load(&target)?;
            assert_eq!(again.config, loaded.config);
            let leaves = |p: Params<Tensor>| Dyn::of(p).leaves().to_vec();
            assert!(leaves(again.params).iter().zip(&leaves(loaded.params)).all(|(a, b)| a.bit_eq(b)), "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
    Ok(())
}
