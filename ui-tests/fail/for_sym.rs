use evoxc::prelude::*;

#[defn]
fn f(x: Sym) -> Sym {
    let mut sum = x.zeros_like();
    for row in x {
        sum += row;
    }
    sum
}

fn main() {}
