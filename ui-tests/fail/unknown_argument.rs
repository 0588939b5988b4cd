use evoxc::prelude::*;

#[defn(krate = evoxc)]
fn close(x: Sym) -> Sym {
    x
}

#[defn(name = "g", crate = evoxc)]
fn far(x: Sym) -> Sym {
    x
}

#[defn(crate)]
fn no_value(x: Sym) -> Sym {
    x
}

fn main() {}
