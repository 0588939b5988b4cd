#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
fn chain(a: Option<usize>, b: Result<usize, String>, on: bool) -> usize {
    if let Some(a) = a
        && on
        && let Ok(b) = b
        && (a < b || a == 7)
    {
        a + b
    } else if let Some(a) = a
        && a != 0
    {
        a
    } else {
        0
    }
}

fn main() {
    assert_eq!(chain(Some(1), Ok(2), true), 3);
    assert_eq!(chain(Some(4), Ok(2), true), 4);
    assert_eq!(chain(None, Err(String::new()), true), 0);
}
