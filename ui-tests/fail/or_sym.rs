use evoxc::prelude::*;

#[defn]
fn f(x: Sym, y: Sym) -> Sym {
    let c = x > 0.0 || y > 0.0;
    x
}

fn main() {}
