//! The tokenizer against the ids that the Python package gives.

mod common;

use common::fixtures;
use evoxc_hf::Text;
use serde_json::Value;

#[test]
fn cases() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    let text = Text::open(models.join("tokenizer"))?;
    let cases: Value = serde_json::from_slice(&std::fs::read(models.join("tokenizer/cases.json")).unwrap()).unwrap();
    let cases = cases.as_array().or_else(|| cases["cases"].as_array()).unwrap();
    assert_eq!(cases.len(), 20);
    for case in cases {
        let ids: Vec<i32> = serde_json::from_value(case["ids"].clone()).unwrap();
        assert_eq!(text.encode(case["text"].as_str().unwrap())?, ids, "{case}");
        assert_eq!(text.decode(&ids)?, case["decoded_without_special"].as_str().unwrap(), "{case}");
        assert_eq!(text.decode_with(&ids, false)?, case["decoded"].as_str().unwrap(), "{case}");
        // What comes token by token is the same text.
        let mut stream = text.stream();
        let streamed: String = ids.iter().map(|&t| stream.push(t)).collect::<Result<_, _>>()?;
        assert!(text.decode(&ids)?.starts_with(&streamed), "{case}: {streamed:?}");
    }
    Ok(())
}
