//! Embeds sentences, and shows how alike each two are:
//! `cargo run --release -p evoxc-hf --example embed -- CKPT "a sentence" "another one"`.

use evoxc::prelude::*;
use evoxc_hf::{Encoder, Text};

fn main() -> evoxc::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((checkpoint, sentences)) = arguments.split_first().filter(|(_, s)| !s.is_empty()) else {
        eprintln!("usage: embed CKPT SENTENCE...");
        std::process::exit(2);
    };
    let text = Text::open(checkpoint)?;
    let rows = sentences.iter().map(|s| text.encode(s)).collect::<Result<Vec<_>, _>>()?;

    // Compiled once, for any number of sentences of any length.
    let encoder = Encoder::new(&evoxc_hf::load(checkpoint)?, &Native::default())?;
    let vectors = encoder.embed(&rows)?;

    // Vectors of length 1: their product is the cosine of the angle between them.
    let cosines = vectors.dot(&vectors.t());
    for (i, sentence) in sentences.iter().enumerate() {
        let mut others: Vec<usize> = (0..sentences.len()).filter(|&j| j != i).collect();
        others.sort_by(|&a, &b| cosines[[i, b]].total_cmp(&cosines[[i, a]]));
        println!("{sentence}");
        for j in others {
            println!("  {:7.4}  {}", cosines[[i, j]], sentences[j]);
        }
    }
    Ok(())
}
