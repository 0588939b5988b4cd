use evoxc::prelude::*;

#[defn]
fn f(x: Sym) -> usize {
    x.rank()
}

fn main() {
    let _ = trace(f, spec(F32, [2]));
}
