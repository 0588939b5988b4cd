#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
fn f(x: Sym, n: usize) -> Sym {
    fn plain(a: usize, b: usize) -> bool {
        a < b
    }
    const LIMIT: usize = if 3 < 4 { 2 } else { 1 };
    struct Held<const N: usize>([u8; N]);
    let held = Held::<{ if 1 < 2 { 3 } else { 4 } }>([0; (3 < 4) as usize * 3]);
    let positive = |s: Sym| s > 0.0;
    let deeper = |k: usize| {
        let inner = |s: Sym| if k > LIMIT { s } else { (s == x).select(s, 1) };
        inner(x)
    };
    let kept: Vec<Sym> = (0..n).filter(|i| i % 2 == 0).filter(|&i| i < 4).map(|i| x * i).collect();
    let all = kept.iter().map(|s| s > 0.0).fold(positive(x), |a, b| a | b);
    if plain(n, held.0.len()) { deeper(n) } else { all.select(x, 0) }
}

fn main() {
    let _ = f;
}
