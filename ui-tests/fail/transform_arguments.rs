use evoxc::prelude::*;

#[defn]
fn f(x: Sym, y: Sym) -> Sym {
    (x + y).sum(..)
}

fn main() {
    // Too few arguments, under one transform and under two.
    let _ = trace(grad(f), spec(F32, [2]));
    let _ = trace(grad(vmap(f)), spec(F32, [2]));
    // Primals without tangents.
    let _ = trace(jvp(f), (spec(F32, [2]), spec(F32, [2])));
}
