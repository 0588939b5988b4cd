#![deny(warnings)]
use evoxc::prelude::*;

#[derive(Debug, PartialEq)]
struct Bad(usize);

impl From<std::num::ParseIntError> for Bad {
    fn from(_: std::num::ParseIntError) -> Bad {
        Bad(0)
    }
}

#[defn]
fn parse(text: &str, limit: usize) -> Result<usize, Bad> {
    let n = text.parse::<usize>()?;
    let m: usize = "3".parse()?;
    if n > limit {
        return Err(Bad(n));
    }
    let Some(half) = n.checked_div(2) else {
        return Err(Bad(1));
    };
    Ok(half + m)
}

#[defn]
fn optional(x: Sym, b: Option<Sym>) -> Option<Sym> {
    let b = b?;
    Some(x + b)
}

fn main() {
    let _ = optional;
    assert_eq!(parse("8", 10), Ok(7));
    assert_eq!(parse("18", 10), Err(Bad(18)));
    assert_eq!(parse("x", 10), Err(Bad(0)));
}
