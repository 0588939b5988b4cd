use evoxc::prelude::*;

#[defn]
fn power(x: Sym, n: usize) -> Sym {
    if n == 0 { x.ones_like() } else { x * power(x, n - 1) }
}

struct Model;

impl Model {
    #[defn]
    fn forward(&self, x: Sym) -> Sym {
        self.forward(x) + Self::forward(self, x)
    }
}

fn main() {}
