use evoxc::prelude::*;

#[defn]
async fn f(x: Sym) -> Sym {
    x
}

fn main() {}
