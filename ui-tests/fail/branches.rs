use evoxc::prelude::*;

#[defn]
fn f(p: Sym, x: Sym) -> Sym {
    let y = cond(p, || x, || (x, x));
    y
}

fn main() {}
