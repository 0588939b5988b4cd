// Every error of an item is reported, and its callers see none.
use evoxc::prelude::*;

#[defn(krate = evoxc)]
const unsafe fn f(x: &Sym) -> Sym {
    f(x)
}

fn main() {
    let x: fn(&'static Sym) -> Sym = |x| unsafe { f(x) };
    let _ = x;
}
