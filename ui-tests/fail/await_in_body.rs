// The error in the body is the only one: the callers of `f` see its signature.
use evoxc::prelude::*;

/// Doubles.
#[defn]
fn f(x: Sym) -> Sym {
    let y = ready(x).await;
    y * 2
}

async fn ready(x: Sym) -> Sym {
    x
}

#[defn]
fn caller(x: Sym) -> Sym {
    f(f(x)) + 1
}

fn main() {
    let _ = caller;
}
