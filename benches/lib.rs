//! What the benches measure: programs, written once.
//!
//! `cargo bench -p evoxc-benches` runs all of them; `-- NAME` one.

pub mod population;

use evoxc::prelude::*;

/// A chain of `n` element-wise ops.
pub fn chain(x: Sym, n: usize) -> Sym {
    (0..n).fold(x, |y, i| match i % 4 {
        0 => y + x,
        1 => y * x,
        2 => y.tanh(),
        _ => -y,
    })
}

/// The chain's graph on `len` floats.
pub fn chain_graph(n: usize, len: usize) -> Graph<Sym, Sym> {
    match trace(|x: Sym| chain(x, n), spec(F32, [len])) {
        Ok(g) => g,
        Err(e) => panic!("{e}"),
    }
}

/// A function of `n` inputs that touches each once.
pub fn leaves_graph(n: usize) -> Graph<Vec<Sym>, Sym> {
    match trace(|xs: Vec<Sym>| xs.into_iter().fold(zeros(F32, []), |a, x| a + x), vec![spec(F32, []); n]) {
        Ok(g) => g,
        Err(e) => panic!("{e}"),
    }
}
