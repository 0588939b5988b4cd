//! The real checkpoint, where it has been fetched: set `EVOXC_SMOLLM2` to its folder (`smollm2.py` beside the fixtures makes it).
//! The expected tokens and logits are those of transformers, in `smollm2-golden.json` beside the fixtures.

mod common;

use common::fixtures;
use evoxc::prelude::*;
use evoxc_hf::{GenerateOptions, Text};

#[test]
fn golden_tokens_and_logits() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    let Some(folder) = std::env::var_os("EVOXC_SMOLLM2") else {
        eprintln!("skipped: no checkpoint; set EVOXC_SMOLLM2 to the folder that smollm2.py has made");
        return Ok(());
    };
    let json = std::fs::read(models.join("smollm2-golden.json")).expect("the expected values");
    let golden: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let ints = |key: &str| -> Vec<i32> {
        golden[key].as_array().expect(key).iter().map(|v| v.as_i64().expect(key) as i32).collect()
    };
    let (prompt, expected) = (ints("prompt_ids"), ints("generated_ids"));
    let text = Text::open(&folder)?;
    assert_eq!(text.encode(golden["prompt"].as_str().expect("a prompt"))?, prompt);
    let loaded = evoxc_hf::load(&folder)?;
    let options = GenerateOptions::default().max_new_tokens(expected.len()).stop([]);
    let mut tokens = evoxc_hf::generate(&loaded, &Native::default(), &prompt, options)?;
    let mut got = vec![tokens.next().expect("a token")?];
    let logits = tokens.logits().expect("a step has run").to_vec::<f32>()?;
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
    let top = golden["first_step_top5"].as_array().expect("logits");
    for (entry, &id) in top.iter().zip(&order) {
        let want = entry["logit"].as_f64().expect("a logit");
        assert_eq!(Some(id as u64), entry["id"].as_u64());
        // Thirty layers: ten times what the fixtures of two have.
        assert!(
            (f64::from(logits[id]) - want).abs() <= 1e-3 + 1e-4 * want.abs(),
            "{id}: {}, expected {want}",
            logits[id]
        );
    }
    for token in tokens {
        got.push(token?);
    }
    assert_eq!(got, expected);
    Ok(())
}
