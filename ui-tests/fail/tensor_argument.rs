use evoxc::prelude::*;

#[defn]
fn f(x: Sym) -> Sym {
    x.tanh()
}

fn main() {
    f(Tensor::from(1.0));
}
