use evoxc::prelude::*;

#[defn]
fn f(x: Sym, rest: ...) -> Sym {
    x
}

fn main() {}
