use evoxc::prelude::*;

#[defn]
fn f(x: Sym) -> Sym {
    x.slice(s![0, 1;2]) + x.slice(s![1.5..])
}

fn main() {}
