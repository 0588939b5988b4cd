#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
#[allow(unused_variables)]
fn vals(x: Sym, y: Sym, n: usize, k: f64, name: &str) -> Sym {
    let mut a = 2.0 * x;
    a += y;
    let b = (1.0 - x).square() + x * 0 + (2 * x).abs() + (x + k).sum(0) - -x;
    let c = (0.5 < x).select(x, y);
    let c2 = (3 > x).select(0.0, y);
    let c3 = (x == y).select(1, 0);
    let c4 = (k < x).select(x, 1.0);
    let d = (x > 0.0) & (y <= 3) | !(x != y) ^ true;
    let m = n > 3;
    let q: bool = name == "abc";
    let q2 = 1 < 2;
    let q3 = "a".to_string() == "a";
    let q4 = [1, 2] == [1, 2];
    let q5 = Some("x") == None;
    let f = if m && (n < 4 || !q) { x } else { y };
    let dims = x.dim(0) == y.dim(-1) && x.shape() == y.shape() && x.shape() == [2, 3];
    let boxed: Box<dyn Fn(Sym) -> Sym> = Box::new(|s| (s > 1).select(s, 0));
    let pair = (x, y);
    let (p0, p1) = (x.exp(), pair.1.log());
    let (_, s2) = x.top_k(2);
    let fs: Vec<Sym> = (0..n).map(|i| if i > 1 { x * i } else { y }).collect();
    let any = fs.iter().map(|s| s > 0.0).fold(d, |a, b| a | b);
    let total: f64 = [1.0, 2.0].iter().sum::<f64>();
    let text = name.to_string();
    let first = text.chars().next().unwrap_or('a') < 'b';
    let h = x.eq(y).select(a, b);
    let _ = x.lt(0.0);
    any.select(h + c + p0, boxed(f))
}

fn main() {
    let _ = vals;
}
