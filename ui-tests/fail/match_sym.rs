use evoxc::prelude::*;

#[defn]
fn f(x: Sym, a: Sym) -> Sym {
    match x {
        0 => a,
        _ => x,
    }
}

fn main() {}
