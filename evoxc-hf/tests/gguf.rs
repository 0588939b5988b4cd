//! GGUF files: every block type bit by bit, a whole model, and malformed files.

mod common;

use common::{LOGITS, compare, fixtures, golden};
use evoxc::prelude::*;
use evoxc_hf::io::SafeTensors;
use evoxc_hf::io::gguf::Gguf;

/// The expected values are those of the gguf Python package (the folder's README).
#[test]
fn blocks() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q8_0", "q4_k", "q6_k"] {
        let file = Gguf::open(&models.join(format!("gguf/{name}.gguf")))?;
        let expected = SafeTensors::open(&models.join(format!("gguf/{name}.safetensors")))?;
        assert!(file.tensors().keys().eq(expected.entries().keys()), "{name}");
        for tensor in expected.entries().keys() {
            let (got, expected) = (file.tensor(tensor)?, expected.tensor(tensor)?);
            assert_eq!(got.shape(), expected.shape(), "{tensor} of {name}");
            for (i, (g, e)) in got.as_slice::<f32>()?.iter().zip(expected.as_slice::<f32>()?).enumerate() {
                assert_eq!(g.to_bits(), e.to_bits(), "{tensor}[{i}] of {name}: {g}, expected {e}");
            }
        }
    }
    Ok(())
}

#[test]
fn model() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    let folder = models.join("gguf/llama");
    let loaded = evoxc_hf::load(&folder)?;
    let expected = golden(&folder);
    let exe =
        build(evoxc_hf::forward(&loaded.config, 12)?, evoxc_hf::specs(&loaded.config, 2, 12), &Native::default())?;
    let got = exe.run((loaded.params.clone(), expected.tensor("input_ids")?))?;
    compare("logits", &got, &expected.tensor("logits")?, LOGITS.0, LOGITS.1);
    Ok(())
}

#[test]
fn malformed() {
    let Some(models) = fixtures() else { return };
    let cases = std::fs::read(models.join("gguf/bad/cases.json")).unwrap();
    let cases: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&cases).unwrap();
    assert!(Gguf::open(&models.join("gguf/bad/ok.gguf")).is_ok());
    for (name, case) in cases {
        let e = Gguf::open(&models.join(format!("gguf/bad/{name}.gguf"))).unwrap_err().to_string();
        let part = case["names"].as_str().unwrap();
        assert!(e.contains(part), "{name}: {e:?} does not say {part}");
    }
}

/// Lists take more memory than in the file: no file has more entries than any tokenizer.
#[test]
fn long_lists() {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3u32.to_le_bytes());
    bytes.extend(0u64.to_le_bytes());
    bytes.extend(1u64.to_le_bytes());
    bytes.extend(1u64.to_le_bytes());
    bytes.push(b'k');
    // A list of u8.
    bytes.extend([9u32, 0].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend(5_000_000u64.to_le_bytes());
    bytes.resize(bytes.len() + 5_000_000, 7);
    let path = std::env::temp_dir().join(format!("evoxc-hf-lists-{}.gguf", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let read = Gguf::open(&path);
    std::fs::remove_file(&path).unwrap();
    let e = read.expect_err("too long").to_string();
    assert!(e.contains("more than 4194304 entries"), "{e}");
}
