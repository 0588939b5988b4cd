#![deny(warnings)]
use evoxc::prelude::*;

// Names that the generated code uses, or that look like the function's own.
#[defn]
fn shadow(n: usize, record: usize, lt: usize) -> usize {
    let eq = |a: usize, b: usize| a * b;
    let named = 3;
    let n = n + 1;
    let n = if n > 2 { n * 2 } else { n };
    let static_bool = n == 4;
    if static_bool && lt < record { eq(n, named) } else { n }
}

#[defn]
fn inner(n: usize) -> usize {
    fn inner(n: usize) -> usize {
        n + 1
    }
    inner(n)
}

#[defn]
fn closure(n: usize) -> usize {
    let closure = |n: usize| n + 2;
    closure(n)
}

struct Model;

fn forward(n: usize) -> usize {
    n + 3
}

impl Model {
    #[defn]
    fn forward(&self, n: usize) -> usize {
        forward(n)
    }
}

#[defn]
fn r#type(r#in: usize) -> usize {
    let r#fn = r#in + 1;
    r#fn
}

#[allow(dead_code)]
enum Option {
    None,
    Some,
}

#[allow(dead_code)]
struct String;

#[derive(Tree)]
#[allow(dead_code)]
struct Out<T> {
    out: T,
    src: T,
    #[tree(static)]
    variant: usize,
    value: T,
}

fn main() {
    assert_eq!(shadow(3, 2, 1), 8);
    assert_eq!(inner(1) + closure(1), 5);
    assert_eq!(Model.forward(1), 4);
    assert_eq!(r#type(1), 2);
}
