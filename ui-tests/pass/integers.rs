#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
fn class(n: u8, k: i32) -> u8 {
    let three = 3;
    let offset = match three {
        3 => 10,
        _ => 20,
    };
    if n as f64 * 0.5 < 1.0 {
        return 0;
    }
    match k {
        -1 => return 7,
        i32::MIN..=-2 => return 8,
        _ => {}
    }
    match n {
        0 => 0,
        1..=9 => 1 + offset,
        b'a' | b'b' => 2,
        x @ 200..=255 => x - 200,
        x if x < 100u8 => 3,
        _ => 4,
    }
}

#[defn]
fn letters(c: char, on: bool, bytes: &[u8]) -> usize {
    let base = match on {
        true => 10,
        false => 0,
    };
    let tail = match bytes {
        b"ab" => 1,
        _ => 2,
    };
    base + tail
        + match c {
            'a'..='z' => 100,
            _ => 200,
        }
}

fn main() {
    assert_eq!(class(5, 0), 11);
    assert_eq!(class(b'b', 0), 2);
    assert_eq!(class(250, 0), 50);
    assert_eq!(class(5, -1), 7);
    assert_eq!(letters('q', true, b"ab"), 111);
}
