use evoxc::prelude::*;

#[defn]
fn f(x: Sym, y: Sym) -> Sym {
    (x + y).sum(..)
}

#[defn]
fn g(x: Sym, y: Sym) -> Sym {
    // Arguments of `call` are one tuple; a transform is no function.
    let a = grad(f).call(x, y);
    let b = grad(f)(x, y);
    a + b
}

fn main() {}
