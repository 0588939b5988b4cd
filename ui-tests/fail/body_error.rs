// A type error in the body is the only one: the callers of `f` see its signature.
use evoxc::prelude::*;

#[defn]
fn f(x: Sym, n: usize) -> Sym {
    let y: usize = "three";
    x * (n + y)
}

#[defn]
fn caller(x: Sym) -> Sym {
    let y = f(x, 3) > 0.0;
    y.select(f(x, 1), x)
}

fn main() {
    let _ = caller;
}
