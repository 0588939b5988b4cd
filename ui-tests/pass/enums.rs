#![deny(warnings)]
use evoxc::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Act {
    Relu,
    Tanh,
    Leaky { slope: f64 },
}

#[defn]
fn activate(x: Sym, act: Act) -> Sym {
    if act == Act::Relu {
        return x.maximum(0);
    }
    match act {
        Act::Leaky { slope } if slope < 1.0 => (x > 0.0).select(x, x * slope),
        Act::Leaky { .. } => x,
        Act::Tanh => x.tanh(),
        Act::Relu => x,
    }
}

#[defn]
fn rank(a: Act, b: Act) -> bool {
    a < b && b >= Act::Tanh
}

fn main() {
    let _ = activate;
    assert!(rank(Act::Relu, Act::Leaky { slope: 0.1 }));
}
