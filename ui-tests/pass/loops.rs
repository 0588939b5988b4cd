#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
fn count(n: usize, words: &[String], mut stack: Vec<usize>) -> usize {
    let mut sum = 0;
    for i in 0..n {
        if i == 1 {
            continue;
        }
        sum += i;
    }
    for (i, word) in words.iter().enumerate().filter(|(i, _)| *i < 3) {
        sum += i + word.len();
    }
    for word in words {
        sum += word.len();
    }
    while let Some(top) = stack.pop()
        && top > 1
    {
        sum += top;
    }
    'outer: loop {
        while sum < 1000 {
            sum += 500;
            if sum > 900 {
                break 'outer sum;
            }
        }
        break sum;
    }
}

#[defn]
fn unroll(x: Sym, weights: Vec<Sym>) -> Sym {
    let mut h = x;
    for w in weights {
        h = h.dot(w).tanh();
    }
    for i in (0..4).rev() {
        h += x.take(i, 0);
    }
    h
}

fn main() {
    let _ = unroll;
    assert_eq!(count(3, &["ab".into()], vec![0, 9]), 2 + 2 + 2 + 9 + 500 + 500);
}
