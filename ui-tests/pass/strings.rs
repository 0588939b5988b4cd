#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
fn pick(name: &str, other: String) -> usize {
    if name == other || other != "b" {
        return 0;
    }
    match name {
        "one" => 1,
        "two" | "deux" => 2,
        n if n.len() > 8 => 3,
        _ => 4,
    }
}

fn main() {
    assert_eq!(pick("a", "a".into()), 0);
    assert_eq!(pick("deux", "b".into()), 2);
    assert_eq!(pick("four", "b".into()), 4);
}
