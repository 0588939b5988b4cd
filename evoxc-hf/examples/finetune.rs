//! Learns a sentence by heart, and saves the model for transformers:
//! `cargo run --release -p evoxc-hf --example finetune -- CKPT "a sentence" TARGET`.

use evoxc::prelude::*;
use evoxc_hf::train::{self, Optimizer};
use evoxc_hf::{GenerateOptions, LoadOptions, Text};

fn main() -> evoxc::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [checkpoint, sentence, target] = &arguments[..] else {
        eprintln!("usage: finetune CKPT SENTENCE TARGET");
        std::process::exit(2);
    };
    let text = Text::open(checkpoint)?;
    let mut tokens = text.encode(sentence)?;
    // Small changes are lost in halves.
    let mut loaded = evoxc_hf::load_with(checkpoint, LoadOptions::default().dtype(F32), &mut |_, _| {})?;
    tokens.extend(loaded.config.eos.first());
    let n = tokens.len();

    let adam = Optimizer::adam(1e-4);
    let (params, ids) = evoxc_hf::specs(&loaded.config, 1, n);
    let state_specs = adam.specs(&params);
    let exe = build(train::step(&loaded.config, n, adam.clone())?, (params, state_specs, ids), &Native::default())?;
    let mut state = adam.init(&loaded.params)?;
    let ids = Tensor::from_vec(tokens.clone(), [1, n])?;
    for step in 1..=50 {
        // Moved in, the parameters and the moments are updated in place.
        let (params, next, loss) = exe.run((loaded.params, state, ids.clone()))?;
        (loaded.params, state) = (params, next);
        let loss = loss.item::<f32>()?;
        println!("step {step}: loss {loss:.4}");
        if loss < 0.02 {
            break;
        }
    }

    evoxc_hf::save(&loaded, target)?;
    std::fs::copy(
        std::path::Path::new(checkpoint).join("tokenizer.json"),
        std::path::Path::new(target).join("tokenizer.json"),
    )
    .ok();
    let start = &tokens[..n.div_ceil(3)];
    let options = GenerateOptions::default().max_new_tokens(n);
    let rest: Vec<i32> = evoxc_hf::generate(&loaded, &Native::default(), start, options)?.collect::<Result<_, _>>()?;
    println!("{}|{}", text.decode(start)?, text.decode(&rest)?);
    Ok(())
}
