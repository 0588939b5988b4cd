#![deny(warnings)]
use evoxc::prelude::*;

mod vendored {
    pub use evoxc as tensors;
}

#[derive(Tree)]
#[tree(crate = crate::vendored::tensors)]
pub struct Params<T> {
    pub w: T,
    #[tree(static)]
    pub n: usize,
}

#[defn(crate = crate::vendored::tensors)]
fn f(p: Params<Sym>, n: usize) -> Sym {
    let mut y = p.w;
    for i in 0..n {
        y = if i < p.n { y + i } else { y };
    }
    (y > 0).select(y, 0)
}

fn main() {
    let _ = f;
}
