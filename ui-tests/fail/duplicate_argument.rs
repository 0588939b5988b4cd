use evoxc::prelude::*;

#[defn(crate = evoxc, crate = evoxc)]
fn f(x: Sym) -> Sym {
    x
}

fn main() {}
