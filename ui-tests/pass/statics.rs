#![deny(warnings)]
use evoxc::prelude::*;

// Static parameters of every kind: with and without `Debug`, by value and by reference, used or explicitly not.
use std::cell::RefCell;

#[derive(Debug, PartialEq)]
struct Config {
    heads: usize,
}

struct Opaque(usize);

#[defn]
fn f(
    cfg: &Config,
    opaque: &Opaque,
    mut n: usize,
    cell: RefCell<usize>,
    _unused: usize,
    (a, b): (usize, usize),
    names: &[&str],
    g: impl Fn(usize) -> usize,
    once: Box<dyn FnOnce() -> usize>,
) -> usize {
    n += 1;
    let sum = a + b + names.len() + cfg.heads + opaque.0;
    g(sum + n + once()) + *cell.borrow()
}

impl Config {
    #[defn]
    fn by_value(self, x: Sym) -> Sym {
        x * self.heads
    }

    #[defn]
    fn count(&self, k: usize) -> usize {
        if *self == (Config { heads: 3 }) { self.heads * k } else { k }
    }

    #[defn]
    fn set(&mut self, heads: usize) {
        self.heads = heads;
    }
}

trait Model {
    #[defn]
    fn scaled(&self, k: usize) -> usize {
        k + self.size()
    }

    fn size(&self) -> usize;
}

impl Model for Opaque {
    fn size(&self) -> usize {
        self.0
    }
}

fn main() {
    let mut cfg = Config { heads: 3 };
    let _ = Config::by_value;
    assert_eq!(cfg.count(2), 6);
    cfg.set(4);
    let opaque = Opaque(5);
    assert_eq!(opaque.scaled(1), 6);
    let total = f(&cfg, &opaque, 1, RefCell::new(100), 0, (1, 1), &["a"], |n| n * 2, Box::new(|| 3));
    assert_eq!(total, (1 + 1 + 1 + 4 + 5 + 2 + 3) * 2 + 100);
}
