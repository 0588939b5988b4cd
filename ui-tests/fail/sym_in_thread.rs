use evoxc::prelude::*;

#[defn]
fn f(x: Sym) -> Sym {
    std::thread::spawn(move || {
        let _y = x;
    });
    x
}

fn main() {}
