use evoxc::prelude::*;

#[derive(Tree)]
union U<T: Copy> {
    a: T,
}

fn main() {}
