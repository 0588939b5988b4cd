//! Every macro of evoxc, in a crate that knows evoxc as `tensors`: that it compiles is the test.

use tensors::prelude::*;

/// A tree.
#[derive(Tree, Clone)]
pub struct Params<T> {
    /// Weight.
    pub w: T,
    /// A static value.
    #[tree(static)]
    pub heads: usize,
}

/// Every rewriting.
#[defn]
pub fn f(p: Params<Sym>, x: Sym, n: usize) -> Sym {
    let mut y = x.dot(p.w).slice(s![0..n, ..]);
    for i in 0..n {
        y = if i < p.heads && n != 3 { y + i } else { (y > 0.0).select(y, i) };
    }
    match n {
        0 => x,
        _ => y,
    }
}
