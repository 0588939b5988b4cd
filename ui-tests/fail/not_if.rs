use evoxc::prelude::*;

#[defn]
fn f(x: Sym) -> Sym {
    if !(x > 0.0) { x } else { -x }
}

fn main() {}
