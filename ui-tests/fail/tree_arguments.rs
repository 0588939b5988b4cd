use evoxc::prelude::*;

#[derive(Tree)]
#[tree(krate = evoxc)]
struct A<T> {
    w: T,
    #[tree(statik)]
    n: usize,
    #[tree(static, static)]
    m: usize,
    #[tree(skip)]
    k: usize,
    #[tree]
    l: usize,
}

#[derive(Tree)]
enum E<T> {
    #[tree(static)]
    A(T),
}

fn main() {}
