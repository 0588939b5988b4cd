use evoxc::prelude::*;

#[defn]
unsafe fn f(x: Sym) -> Sym {
    x
}

fn main() {}
