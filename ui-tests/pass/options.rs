#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
fn bias(x: Sym, b: Option<Sym>, k: Option<usize>) -> Sym {
    let x = if k == Some(3) { x + 1 } else { x };
    let x = match k {
        Some(0) | None => x,
        Some(k) if k > 2 => x * k,
        Some(_) => x,
    };
    match b {
        Some(b) => x + b,
        None => x,
    }
}

#[defn]
fn first(xs: Vec<usize>) -> Option<usize> {
    if xs.first() == None || xs.first() < Some(&2) { None } else { xs.first().copied() }
}

fn main() {
    let _ = bias;
    assert_eq!(first(vec![3]), Some(3));
    assert_eq!(first(vec![1]), None);
}
