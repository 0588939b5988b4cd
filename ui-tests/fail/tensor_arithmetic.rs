use evoxc::prelude::*;

#[defn]
fn f(x: Sym) -> Sym {
    let t = Tensor::from(1.0);
    x + t
}

fn main() {}
