use evoxc::prelude::*;

#[defn]
fn scaled(x: Sym, n: usize) -> Sym {
    (x * n).sum(..)
}

fn main() {
    // A static argument goes in by a closure.
    let _ = trace(grad(scaled), (spec(F32, [2]), 3usize));
    // What is given back is a tree of `Sym`.
    let _ = trace(grad(|x: Sym| x.rank() as f32), spec(F32, [2]));
}
