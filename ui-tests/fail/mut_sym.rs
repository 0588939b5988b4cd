use evoxc::prelude::*;

#[defn]
fn step(x: &mut Sym, n: usize) {
    *x += n;
}

fn main() {}
