use evoxc::prelude::*;

#[defn]
fn scale(x: Sym, n: usize) -> Sym {
    x * n
}

fn main() {
    let _ = trace(scale, (spec(F32, [2]), 3usize));
}
