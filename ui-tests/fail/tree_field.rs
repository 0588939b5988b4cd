use evoxc::prelude::*;

#[derive(Tree)]
struct Layer<T> {
    w: T,
    heads: usize,
}

fn main() {}
