use evoxc::prelude::*;

#[derive(Tree)]
struct Sizes {
    n: usize,
}

#[derive(Tree)]
struct Marked<T> {
    #[tree(static)]
    n: T,
}

fn main() {}
