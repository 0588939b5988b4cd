use evoxc::prelude::*;

#[defn]
fn f(x: Sym, n: usize) -> Sym {
    match n {
        0 => x,
        _ if x > 0.0 => -x,
        _ => x,
    }
}

fn main() {}
