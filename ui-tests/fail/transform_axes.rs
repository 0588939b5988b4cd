use evoxc::prelude::*;

fn main() {
    // Each axis is an `Option`.
    let _ = vmap(|x: Sym, y: Sym| x + y).in_axes([0, 1]);
}
