use evoxc::prelude::*;

#[derive(Tree)]
struct Inline<T: Clone> {
    w: T,
}

#[derive(Tree)]
struct Where<T>
where
    T: Clone,
{
    w: T,
}

fn main() {}
