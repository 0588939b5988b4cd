use evoxc::prelude::*;

#[defn]
const fn f(x: Sym) -> Sym {
    x
}

fn main() {}
