use evoxc::prelude::*;

#[defn]
fn f(x: Sym) -> Sym {
    let mut y = x;
    while y.sum(..) < 10.0 {
        y += 1;
    }
    y
}

fn main() {}
