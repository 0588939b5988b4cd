use evoxc::prelude::*;

#[defn]
fn f(x: Sym, ...) -> Sym {
    x
}

fn main() {}
