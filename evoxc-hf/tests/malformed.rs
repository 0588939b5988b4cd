//! Malformed checkpoints: each a typed error that names what is wrong.

mod common;

use common::fixtures;
use evoxc_hf::Error;

#[test]
fn each_names_its_fault() {
    let Some(models) = fixtures() else { return };
    let cases = std::fs::read(models.join("bad/cases.json")).unwrap();
    let cases: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&cases).unwrap();
    assert!(evoxc_hf::load(models.join("bad/ok")).is_ok());
    for (name, case) in cases {
        let e = evoxc_hf::load(models.join("bad").join(&name)).err().unwrap_or_else(|| panic!("{name} loads"));
        assert!(matches!(e, Error::Checkpoint(_)), "{name}: {e:?}");
        let (e, part) = (e.to_string(), case["names"].as_str().unwrap());
        assert!(e.contains(part), "{name}: {e:?} does not say {part}");
    }
}

/// Both spellings of a config give the same model, bit for bit.
#[test]
fn older_spelling() {
    let Some(models) = fixtures() else { return };
    for name in ["llama", "llama3", "mistral", "qwen2", "qwen3"] {
        let read = |file: &str| {
            let path = models.join(name).join(file);
            evoxc_hf::Config::parse(&path, &std::fs::read(&path).unwrap()).unwrap()
        };
        assert_eq!(read("config.json"), read("config.legacy.json"), "{name}");
    }
}

#[test]
fn names_of_the_hub() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    let (a, b) = (evoxc_hf::load(models.join("gpt2-2l"))?, evoxc_hf::load(models.join("gpt2-2l-hubnames"))?);
    assert_eq!(b.unused_tensors, [""; 0]);
    let leaves = |p: evoxc_hf::Params<evoxc::Tensor>| evoxc::Dyn::of(p).leaves().to_vec();
    for (x, y) in leaves(a.params).iter().zip(&leaves(b.params)) {
        assert!(x.bit_eq(y));
    }
    Ok(())
}
