use evoxc::prelude::*;

fn less(x: Sym, y: Sym) {
    let _ = x < y;
}

fn equal(x: Sym) {
    let _ = x == 0.0;
}

#[defn]
fn in_a_macro(x: Sym) -> Sym {
    println!("{:?}", x > 0.0);
    x
}

fn main() {}
