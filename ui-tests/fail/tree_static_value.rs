use evoxc::prelude::*;
use std::rc::Rc;

#[derive(Tree)]
struct Layer<T> {
    w: T,
    #[tree(static)]
    name: Rc<str>,
}

fn main() {}
