// Operators inside a defn, on symbols and on static values, and the methods outside of one.
#![deny(warnings)]
#![allow(unused_variables, unused_mut, unused_assignments)]
use evoxc::prelude::*;

#[defn]
fn arithmetic(x: Sym, y: Sym, n: usize, k: f64) -> Sym {
    let mut a = 2.0 * x;
    a += y;
    a -= 1;
    a *= 0.5;
    a /= y;
    a %= 3;
    let b = (1.0 - x).square() + x * 0 + (2 * x).abs() + (x + k).sum(0) + (x * n).sum(0) - -x;
    let bits = (x.cast(I32) & 0xFF) + (x.cast(U32) & 0xFFFF_FFFFu32).cast(I32) + (x.cast(I32) << 3 >> 1u32);
    a + b + bits.cast(F32)
}

#[defn]
fn comparisons(x: Sym, y: Sym, n: usize, k: f64, name: &str) -> Sym {
    let c = (0.5 < x).select(x, y);
    let c2 = (3 > x).select(0.0, y);
    let c3 = (x == y).select(1, y);
    let c4 = (k < x).select(x, 1.0);
    let d = (x > 0.0) & (y <= 3) | !(x != y) ^ true;
    let e = d.select(x, 0.0);
    let m = n > 3;
    let q: bool = name == "abc";
    let q2 = 1 < 2;
    let q3 = "a".to_string() == "a";
    let q4: bool = n as f64 * 0.5 < 1.0;
    let q5 = [1, 2] == [1, 2];
    let q6 = Some("x") == None;
    let f = if m && (n < 4 || !q) {
        x
    } else if n == 2 {
        y
    } else {
        x + y
    };
    let g = match n {
        0 => x,
        1 | 2 => y,
        3..=5 => x * y,
        _ if n > 7 => f,
        _ => e,
    };
    let equal = x.dim(0) == y.dim(-1);
    let double = x.dim(0) * 2 == 4;
    let shape = x.shape() == [2, 3] || x.shape() == y.shape();
    let v = vec![x > 0.0, y < 1];
    let h = x.eq(y).select(c, e);
    let u = x.lt(0.0);
    (c + c2 + c4 + h + v[0].select(g, 0)) * c3
}

#[defn]
fn rust(x: Sym, y: Sym, n: usize) -> Sym {
    assert!(n > 3);
    assert!(n > 3, "n is {n}");
    let fs: Vec<Sym> =
        (0..n).filter(|i| i % 2 == 0).filter(|&i| i < 4).map(|i| if i > 1 { x * i } else { y }).collect();
    let select = |z: Sym| (z > 1).select(z, n);
    let inner = |h: usize| {
        let w = h > 2;
        if w { x } else { y }
    };
    let any = fs.iter().map(|s| s > 0.0).fold(x > y, |a, b| a | b);
    let sum = fs.iter().fold(x, |a, s| a + s);
    let zeros = [0; 3 * 2];
    let constant: [u8; if 3 < 4 { 2 } else { 1 }] = [0; 2];
    let r = &vec![x, y];
    let rr = r[0] + &r[1] + 2.0 * &r[0];
    while n > 10 && zeros.is_empty() {
        break;
    }
    let by = 2u8 as f64 * 0.5;
    let (p0, p1) = (x.exp(), y.log());
    let (s1, s2) = x.top_k(2);
    if std::env::var("EVOXC_NO_SUCH_VARIABLE").is_ok() {
        return x;
    }
    let total: f64 = [1.0, 2.0].iter().sum::<f64>();
    let o: Option<usize> = None;
    if o.is_none() || o.unwrap_or(0) < 3 {}
    if let Some(v) = o {}
    let y32: f32 = 1.0 - 0.5f32;
    let literal = if y32 < 0.25 { 1 } else { 2 };
    any.select(select(sum) + inner(n) + rr + p0 + p1, by) + literal
}

// Outside a defn.
fn plain(x: Sym, y: Sym) -> Sym {
    x.lt(y).select(x, 1.0 - y).max(keep(1))
}

fn main() -> evoxc::Result<()> {
    let s = || (spec(F32, [2, 2]), spec(F32, [2, 2]));
    trace(|x: Sym, y: Sym| arithmetic(x, y, 3, 0.5), s())?.verify()?;
    trace(|x: Sym, y: Sym| comparisons(x, y, 3, 0.5, "abc"), s())?.verify()?;
    trace(|x: Sym, y: Sym| rust(x, y, 4), s())?.verify()?;
    trace(plain, s())?.verify()
}
