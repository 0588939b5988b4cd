use evoxc::prelude::*;

#[derive(Tree)]
struct Params<T> {
    w: T,
}

#[defn]
fn whole(p: &Params<Sym>) -> Sym {
    p.w
}

#[defn]
fn slice(xs: &[Sym]) -> Sym {
    xs[0]
}

#[defn]
fn inside(pair: (usize, &Sym)) -> Sym {
    *pair.1
}

fn main() {}
