use evoxc::prelude::*;

#[defn]
fn f(x: Sym, flag: bool) -> bool {
    flag && x > 0.0
}

fn main() {}
