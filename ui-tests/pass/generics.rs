#![deny(warnings)]
use evoxc::prelude::*;

use std::fmt::Debug;

#[defn]
fn largest<T: PartialOrd + Copy, const N: usize>(values: [T; N], limit: Option<T>) -> T {
    let mut best = values[0];
    for v in values {
        if v > best && limit.is_none_or(|l| v < l) {
            best = v;
        }
    }
    best
}

#[defn]
fn tag<'a, T>(value: &'a T, twice: bool) -> (&'a T, String)
where
    T: Debug + PartialEq + ?Sized,
{
    let text = if twice { format!("{value:?}{value:?}") } else { format!("{value:?}") };
    (value, text)
}

#[defn]
fn each<P: Tree<Sym> + Clone, F: Fn(P) -> Sym>(p: P, f: F, times: usize) -> Vec<Sym> {
    (0..times).map(|_| f(p.clone())).collect()
}

#[defn]
fn compose<F, G>(x: Sym, f: F, g: G) -> Sym
where
    F: Fn(Sym) -> Sym,
    G: FnOnce(Sym, usize) -> Sym,
{
    g(f(x), 3)
}

#[defn]
fn adder(n: usize) -> impl Fn(Sym) -> Sym + Clone {
    move |x| if n > 1 { x + n } else { x }
}

#[defn]
fn by_ref<H: Fn(&[Sym]) -> Sym>(x: Sym, f: &dyn Fn(Sym) -> Sym, g: fn(Sym) -> Sym, h: &H) -> Sym {
    h(&[f(x), g(x)])
}

fn main() {
    let _ = each::<(Sym, Sym), fn((Sym, Sym)) -> Sym>;
    let _ = compose::<fn(Sym) -> Sym, fn(Sym, usize) -> Sym>;
    let _ = by_ref::<fn(&[Sym]) -> Sym>;
    let _ = adder(3);
    assert_eq!(largest([1, 5, 9], Some(6)), 5);
    assert_eq!(tag("a", true).1, "\"a\"\"a\"");
}
