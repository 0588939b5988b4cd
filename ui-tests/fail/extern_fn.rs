use evoxc::prelude::*;

#[defn]
extern "C" fn f(x: Sym) -> Sym {
    x
}

fn main() {}
