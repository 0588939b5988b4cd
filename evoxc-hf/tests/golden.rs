//! Every fixture against the values that transformers computed (the folder's README says how, and what may differ).

mod common;

use common::{LOGITS, compare, fixtures, golden};
use evoxc::AnyBackend;
use evoxc::prelude::*;
use evoxc_hf::{GenerateOptions, bert};

/// The decoders.
const DECODERS: [&str; 7] = ["gpt2", "gpt2-2l", "llama", "llama3", "mistral", "qwen2", "qwen3"];

fn backends() -> [AnyBackend; 2] {
    [AnyBackend::new(Interp), AnyBackend::new(Native::default())]
}

#[test]
fn logits() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in DECODERS {
        let loaded = evoxc_hf::load(models.join(name))?;
        assert_eq!(loaded.config.unknown_keys, [""; 0], "{name}");
        assert_eq!(loaded.unused_tensors, [""; 0], "{name}");
        let expected = golden(&models.join(name));
        let ids = expected.tensor("input_ids")?;
        for backend in backends() {
            for symbolic in [false, true] {
                let specs = match symbolic {
                    true => evoxc_hf::specs(&loaded.config, dim("B"), dim("T")),
                    false => evoxc_hf::specs(&loaded.config, 2, 12),
                };
                let exe = match symbolic {
                    true => build(evoxc_hf::forward(&loaded.config, dim("T"))?, specs, &backend)?,
                    false => build(evoxc_hf::forward(&loaded.config, 12)?, specs, &backend)?,
                };
                let got = exe.run((loaded.params.clone(), ids.clone()))?;
                let what = format!("{name} on {}, symbolic {symbolic}", backend.name());
                compare(&what, &got, &expected.tensor("logits")?, LOGITS.0, LOGITS.1);
            }
        }
    }
    Ok(())
}

#[test]
fn encoders() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["bert", "bert-eps"] {
        let loaded = evoxc_hf::load(models.join(name))?;
        let expected = golden(&models.join(name));
        let input = bert::Input {
            input_ids: expected.tensor("input_ids")?,
            attention_mask: expected.tensor("attention_mask")?,
            token_type_ids: expected.tensor("token_type_ids")?,
        };
        for backend in backends() {
            let (b, t) = (dim("B"), dim("T"));
            let exe =
                build(evoxc_hf::encode(&loaded.config, t)?, evoxc_hf::encode_specs(&loaded.config, b, t), &backend)?;
            let got = exe.run((loaded.params.clone(), input.clone()))?;
            let what = |part: &str| format!("{part} of {name} on {}", backend.name());
            for (part, t) in [("last_hidden_state", &got.last_hidden_state), ("pooler_output", &got.pooler_output)] {
                compare(&what(part), t, &expected.tensor(part)?, 2e-5, 1e-5);
            }
            let part = "sentence_embedding";
            compare(&what(part), &got.sentence_embedding, &expected.tensor(part)?, 5e-6, 0.0);
        }
    }
    Ok(())
}

/// Greedy decoding gives the golden tokens, from the golden logits of each step.
#[test]
fn greedy_tokens() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in DECODERS {
        let loaded = evoxc_hf::load(models.join(name))?;
        let expected = golden(&models.join(name));
        let prompt = expected.tensor("prompt_ids")?.to_vec::<i32>()?;
        let logits = expected.tensor("step_logits")?;
        let vocab = loaded.config.vocab_size();
        for backend in backends() {
            let options = GenerateOptions::default().max_new_tokens(16);
            let mut tokens = evoxc_hf::generate(&loaded, &backend, &prompt, options)?;
            let mut all = vec![];
            while let Some(token) = tokens.next() {
                let row = logits.as_slice::<f32>()?[all.len() * vocab..][..vocab].to_vec();
                let what = format!("step {} of {name} on {}", all.len(), backend.name());
                let got = tokens.logits().expect("a step has run");
                compare(&what, got, &Tensor::from_vec(row, [1, vocab])?, LOGITS.0, LOGITS.1);
                all.push(token?);
            }
            assert_eq!(all, expected.tensor("generated_ids")?.to_vec::<i32>()?, "{name} on {}", backend.name());
        }
    }
    Ok(())
}
