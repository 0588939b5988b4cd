use evoxc::prelude::*;
use evoxc_hf::{GenerateOptions, Generator};
use std::time::Instant;
fn main() -> evoxc::Result<()> {
    let folder = std::env::args().nth(1).unwrap();
    let t = Instant::now();
    let loaded = evoxc_hf::load(&folder)?;
    println!("load {:?}", t.elapsed());
    let t = Instant::now();
    let native = Native::default();
    let options = GenerateOptions::default().max_new_tokens(24).stop([]);
    let g = Generator::new(&loaded, &native, 1, options)?;
    println!("compile {:?}", t.elapsed());
    for prompt in [vec![504, 3575, 282, 4649, 314], (0..32).collect(), (0..128).collect()] {
        let t = Instant::now();
        let mut tokens = g.start(&[prompt.clone()])?;
        let mut all = vec![];
        all.push(tokens.next().unwrap()?[0].unwrap());
        println!("prefill {}: {:?}", prompt.len(), t.elapsed());
        let t = Instant::now();
        for token in tokens {
            all.push(token?[0].unwrap());
        }
        println!("{} tokens: {:?} a token; {all:?}", all.len() - 1, t.elapsed() / (all.len() as u32 - 1));
    }
    Ok(())
}
