//! Trees and configs that do not fit a model: each an error that says what was given and what is needed.

use evoxc::prelude::*;
use evoxc_hf::{Cache, Config, Logits, Model, Params, bert, cached_specs, encode_specs, param_specs, specs};

const GPT2: &str =
    r#"{"model_type": "gpt2", "vocab_size": 16, "n_positions": 8, "n_embd": 4, "n_layer": 2, "n_head": 2}"#;
const LLAMA: &str = r#"{"model_type": "llama", "vocab_size": 16, "max_position_embeddings": 8, "hidden_size": 8,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 12}"#;
const BERT: &str = r#"{"model_type": "bert", "vocab_size": 16, "max_position_embeddings": 8, "type_vocab_size": 2,
    "hidden_size": 4, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}"#;

fn config(text: &str) -> Config {
    Config::parse("config.json".as_ref(), text.as_bytes()).unwrap()
}

/// The error says each part.
fn says<T>(result: evoxc::Result<T>, parts: &[&str]) {
    let e = result.err().expect("a misfit is an error").to_string();
    parts.iter().for_each(|p| assert!(e.contains(p), "{e:?} does not say {p:?}"));
}

#[test]
fn caches() -> evoxc::Result<()> {
    for text in [GPT2, LLAMA] {
        let c = config(text);
        let f = || evoxc_hf::forward_cached(&c, Logits::All);
        let (params, ids, place, cache) = cached_specs(&c, 1, 3, 8);
        trace(f()?, (params.clone(), ids.clone(), place.clone(), cache.clone()))?;
        let short = Cache { keys: cache.keys[..1].to_vec(), values: cache.values.clone() };
        let run = |ids: TensorSpec, cache| trace(f()?, (params.clone(), ids, place.clone(), cache));
        says(run(ids.clone(), short), &["the cache has 1 keys and 2 values, and the model 2 layers", "cached_specs"]);
        says(run(ids.clone(), Cache { keys: vec![], values: vec![] }), &["0 keys and 0 values"]);
        let mut heads = cache.clone();
        heads.values[1] = spec(F32, [1, 3, 8, 2]);
        says(run(ids.clone(), heads), &["cache.values[1] is tensor<1x3x8x2xf32>, and tensor<1x2x8x2xf32> is needed"]);
        let mut flat = cache.clone();
        flat.keys[0] = spec(F32, [8]);
        says(run(ids.clone(), flat), &["cache.keys[0] is tensor<8xf32>"]);
        let mut whole = cache.clone();
        whole.keys[1] = spec(I32, [1, 2, 8, 2]);
        says(run(ids.clone(), whole), &["cache.keys[1] is tensor<1x2x8x2xi32>"]);
        says(run(spec(I32, [3]), cache.clone()), &["input_ids is tensor<3xi32>"]);
        says(run(spec(F32, [1, 3]), cache.clone()), &["input_ids is tensor<1x3xf32>"]);
        let place = evoxc_hf::Place { at: spec(I32, [1]), padding: spec(I32, [1]) };
        says(trace(f()?, (params.clone(), ids.clone(), place, cache.clone())), &["place.at is tensor<1xi32>"]);
        let place = evoxc_hf::Place { at: spec(I32, []), padding: spec(I32, [2]) };
        says(trace(f()?, (params.clone(), ids, place, cache)), &["place.padding is tensor<2xi32>"]);
    }
    Ok(())
}

#[test]
fn parameters() -> evoxc::Result<()> {
    let (gpt2, llama, bert) = (config(GPT2), config(LLAMA), config(BERT));
    let (p, ids) = specs(&llama, 1, 3);
    let f = || evoxc_hf::forward(&llama, 3);
    trace(f()?, (p.clone(), ids.clone()))?;
    says(
        trace(f()?, (param_specs(&gpt2), ids.clone())),
        &["the parameters are no llama of 2 layers", "evoxc_hf::specs"],
    );
    let change = |how: &dyn Fn(&mut evoxc_hf::llama::Params<TensorSpec>)| {
        let Params::Llama(mut inner) = p.clone() else { panic!("they are Llama's") };
        how(&mut inner);
        trace(f()?, (Params::Llama(inner), ids.clone()))
    };
    says(change(&|p| p.layers.truncate(1)), &["the parameters are no llama of 2 layers"]);
    says(change(&|p| p.lm_head = None), &["lm_head"]);
    let wrong = ["model.layers.1.self_attn.k_proj.weight is tensor<5x8xf32>", "needs tensor<4x8xf32>"];
    says(change(&|p| p.layers[1].k.weight = spec(F32, [5, 8])), &wrong);
    says(change(&|p| p.norm = spec(F32, [])), &["model.norm.weight is tensor<f32>"]);
    says(change(&|p| p.embedding = spec(I32, [16, 8])), &["model.embed_tokens.weight is tensor<16x8xi32>"]);
    // Halves are parameters too, whatever the config says.
    change(&|p| p.layers[0].gate.weight = spec(BF16, [12, 8]))?;

    let f = || evoxc_hf::encode(&bert, 3);
    let (p, input) = encode_specs(&bert, 1, 3);
    trace(f()?, (p.clone(), input.clone()))?;
    says(trace(f()?, (param_specs(&gpt2), input.clone())), &["the parameters are no bert of 2 layers"]);
    let mask = bert::Input { attention_mask: spec(I32, [1, 4]), ..input.clone() };
    says(trace(f()?, (p.clone(), mask)), &["attention_mask is tensor<1x4xi32>, and tensor<1x3xi32> is needed"]);
    says(trace(f()?, (p, bert::Input { input_ids: spec(I32, [3]), ..input })), &["input_ids is tensor<3xi32>"]);
    Ok(())
}

/// No number of layers or features in a config.json decides how much is allocated, in any family.
#[test]
fn sizes_of_configs() {
    let parse = |text: &str| Config::parse("config.json".as_ref(), text.as_bytes()).map_err(evoxc::Error::from);
    says(parse(&GPT2.replace("\"n_layer\": 2", "\"n_layer\": 2000000000")), &["n_layer", "100000"]);
    for text in [LLAMA, BERT] {
        let more = text.replace("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 2000000000");
        says(parse(&more), &["num_hidden_layers", "100000"]);
    }
    says(parse(&LLAMA.replace('{', r#"{"head_dim": 2147483648, "#)), &["head_dim", "65536"]);
    // The fields are anyone's to change.
    for text in [GPT2, LLAMA, BERT] {
        let mut c = config(text);
        match &mut c.model {
            Model::Gpt2(c) => c.layers = usize::MAX,
            Model::Llama(c) => c.layers = usize::MAX,
            Model::Bert(c) => c.layers = usize::MAX,
            _ => {}
        }
        assert_eq!(evoxc_hf::cache_specs(&c, 1, 1).keys.len(), 100_000);
        let refused = evoxc_hf::forward(&c, 3).map(|_| ()).or(evoxc_hf::encode(&c, 3).map(|_| ()));
        says(refused.map_err(evoxc::Error::from), &[if text == BERT { "layers" } else { "is a decoder" }]);
        if text != BERT {
            says(evoxc_hf::forward(&c, 3).map_err(evoxc::Error::from), &["at most 100000 are taken for a model"]);
            says(evoxc_hf::forward_cached(&c, Logits::Last).map_err(evoxc::Error::from), &["at most 100000"]);
        }
        let mut c = config(text);
        match &mut c.model {
            Model::Gpt2(c) => c.heads = 0,
            Model::Llama(c) => c.kv_heads = 0,
            Model::Bert(c) => c.heads = 3,
            _ => {}
        }
        let refused = evoxc_hf::forward(&c, 3).map(|_| ()).map_err(evoxc::Error::from);
        says(refused, &[if text == BERT { "encoder" } else { "heads" }]);
        evoxc_hf::cache_specs(&c, 1, 1);
        evoxc_hf::packed_specs(&c);
    }
}

/// Rotary positions that are not there are refused under each spelling.
#[test]
fn rotary_positions() {
    let parse = |more: &str| {
        let text = LLAMA.replace('{', &format!("{{{more}, "));
        Config::parse("config.json".as_ref(), text.as_bytes()).map_err(evoxc::Error::from)
    };
    says(parse(r#""partial_rotary_factor": 0.5"#), &["partial_rotary_factor", "is not 1"]);
    says(parse(r#""rope_parameters": {"partial_rotary_factor": 0.5}"#), &["partial_rotary_factor", "is not 1"]);
    says(parse(r#""rope_scaling": {"factor": 4}"#), &["factor", "without `rope_type`"]);
    for fine in [r#""partial_rotary_factor": 1.0"#, r#""rope_scaling": {"type": "linear", "factor": 4}"#] {
        assert!(parse(fine).is_ok(), "{fine}");
    }
}

/// Elements of packed parameters are counted without overflow.
#[test]
fn large_configs_pack() {
    let mut c = config(GPT2);
    if let Model::Gpt2(c) = &mut c.model {
        (c.vocab, c.width, c.inner) = (1 << 31, 1 << 31, 1 << 31);
    }
    assert_eq!(evoxc_hf::packed_specs(&c).data.shape.rank(), 1);
}
