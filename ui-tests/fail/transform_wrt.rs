use evoxc::prelude::*;

#[defn]
fn f(x: Sym, y: Sym) -> Sym {
    (x + y).sum(..)
}

fn main() {
    // Arguments are counted from 0.
    let _ = trace(grad(f).wrt::<2>(), (spec(F32, [2]), spec(F32, [2])));
}
