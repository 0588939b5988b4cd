//! The oracle in plain loops against the golden values.

mod common;

use common::{LOGITS, compare, fixtures, golden, single};
use evoxc::prelude::*;
use evoxc_hf::bert;

#[test]
fn decoders() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["gpt2", "gpt2-2l", "llama", "llama3", "mistral", "qwen2", "qwen3", "gguf/llama"] {
        let loaded = evoxc_hf::load(models.join(name))?;
        let expected = golden(&models.join(name));
        let got = evoxc_hf::reference_logits(&loaded, &expected.tensor("input_ids")?)?;
        compare(name, &single(got)?, &expected.tensor("logits")?, LOGITS.0, LOGITS.1);
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
        let got = evoxc_hf::reference_encode(&loaded, &input)?;
        compare(name, &single(got.last_hidden_state)?, &expected.tensor("last_hidden_state")?, 2e-5, 1e-5);
        compare(name, &single(got.pooler_output)?, &expected.tensor("pooler_output")?, 2e-5, 1e-5);
        compare(name, &single(got.sentence_embedding)?, &expected.tensor("sentence_embedding")?, 5e-6, 0.0);
    }
    Ok(())
}

#[test]
fn refuses_what_is_no_text() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    let loaded = evoxc_hf::load(models.join("gpt2"))?;
    for ids in [Tensor::from([[0i32, 160]]), Tensor::from([[-1i32]]), Tensor::from([1i32, 2]), Tensor::from([[1f32]])] {
        assert!(evoxc_hf::reference_logits(&loaded, &ids).is_err(), "{ids}");
    }
    Ok(())
}
