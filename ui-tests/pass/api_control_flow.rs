// Control flow of the graph: trees as state, captured symbols, branches from arrays, vectors and iterators.
#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
fn sqrt_newton(x: Sym) -> Sym {
    let (y, _) = while_loop((x, x * 0.0), |(y, prev)| (y - prev).abs() > 1e-6, |(y, _)| (0.5 * (y + x / y), y));
    y
}

#[defn]
fn branches(p: Sym, a: Sym, b: Sym, i: Sym, n: usize) -> Sym {
    let c = cond(p, || a, || b);
    let (c1, c2) = cond(a.sum(..) > 0.0, || (a, b), || (b, a));
    let o = cond(p, || vec![a], || vec![b]);
    let st = cond(
        a.sum(..) > 1.0,
        || {
            let t = a * 2.0;
            if n > 2 { t } else { t + 1 }
        },
        || b,
    );
    let s = switch(i, [branch(|| a.sin()), branch(|| b), branch(|| a * b)]);
    let s2 = switch(i, [Box::new(|| a) as Box<dyn FnOnce() -> Sym>, Box::new(|| b)]);
    let s3 = switch(i, (0..n).map(|k| branch(move || a * k)).collect::<Vec<_>>());
    let (s4, _) = switch(i, (0..n).map(|k| branch(move || (a * k, b))));
    c + c1 + c2 + o[0] + st + s + s2 + s3 + s4 + p.select(a, b)
}

#[defn]
fn loops(a: Sym, b: Sym, xs: Sym, n: usize) -> (Sym, (Sym, Sym)) {
    let f = fori_loop(10, (a, b), |i, (x, y)| (x + i.cast(F32), y * x));
    let f2 = fori_loop(n, a, |_, x| x * 2.0);
    let ((h, k), over) = scan((a, b), xs, |(h, k), x| {
        let h = (h + x).tanh();
        ((h, k), h > 0.5)
    });
    let (c, (_, ys)) = scan(zeros(F32, []), (xs, xs), |c, (x, y)| (c + (x * y).sum(..), (c, x)));
    let (d, ()) = scan(a, xs, |c, x| (c + x, ()));
    (f.0 + f.1 + f2 + h + k + c + d, (over.select(ys, 0), d))
}

fn main() -> evoxc::Result<()> {
    let y = evaluate(sqrt_newton, Tensor::from(2f32), &Interp)?.item::<f32>()?;
    assert!((y - 2f32.sqrt()).abs() < 1e-6);
    let v = || spec(F32, [3]);
    trace(|p: Sym, a: Sym, b: Sym, i: Sym| branches(p, a, b, i, 3), (spec(BOOL, []), v(), v(), spec(I32, [])))?
        .verify()?;
    trace(|a: Sym, b: Sym, xs: Sym| loops(a, b, xs, 4), (v(), v(), spec(F32, [5, 3])))?.verify()
}
