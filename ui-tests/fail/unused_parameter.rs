// As without `#[defn]`, although static parameters are recorded.
#![deny(unused_variables, unused_mut)]
use evoxc::prelude::*;

#[defn]
fn f(x: Sym, heads: usize, mut rate: f64) -> Sym {
    x * 2
}

fn main() {
    let _ = f;
}
