use evoxc::prelude::*;

#[defn]
struct Params {
    w: Sym,
}

#[defn]
impl Params {}

#[defn]
const N: usize = 3;

trait Model {
    #[defn]
    fn forward(&self, x: Sym) -> Sym;
}

fn main() {
    let _ = N;
}
