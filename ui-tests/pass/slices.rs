#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
fn f(x: Sym, n: usize) -> Sym {
    let b = dim("B");
    let k = 3;
    x.slice(s![1..n, .., ..;2])
        + x.slice(s![0])
        + x.slice(s![-1, 1..-1, ..;-1])
        + x.slice(s![1..b, ..b - 1, n..b + n, k..])
        + x.slice(s![..=2, 1..k, ..=-1])
}

fn main() {
    let _ = f;
}
