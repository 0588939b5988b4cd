//! How a derivative is checked: against central differences of the function, forward against reverse, and twice.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;
use evoxc_trace as tr;

pub type F1 = fn(Sym) -> Sym;
pub type F2 = fn(Sym, Sym) -> Sym;

pub fn run1(f: impl Fn(Sym) -> Sym, x: &[f64]) -> Vec<f64> {
    evaluate(f, Tensor::from(x.to_vec()), &Engines).unwrap().to_vec().unwrap()
}

pub fn gradient(f: impl Fn(Sym) -> Sym, x: &[f64]) -> Vec<f64> {
    run1(|x: Sym| grad(&f).call(x), x)
}

pub fn near(what: &str, got: &[f64], want: &[f64], tol: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let same = g == w || (g.is_nan() && w.is_nan()) || (g - w).abs() <= tol * (1.0 + w.abs());
        assert!(same, "{what}: element {i} is {g}, not {w}: {got:?} and {want:?}");
    }
}

/// The gradient of Σ weights · f(x), forward and reverse, against central differences; and its own derivative likewise.
pub fn smooth(name: &str, f: impl Fn(Sym) -> Sym + Copy, x: &[f64], tol: f64) {
    let weighted = move |x: Sym| {
        let y = f(x).ravel();
        (y * (tr::iota(F64, [y.dim(0)], 0) * 0.3 + 0.7).sin()).sum(..)
    };
    let first = move |x: Sym| grad(weighted).call(x);
    let twice = move |x: Sym| {
        let g = grad(weighted).call(x);
        (g * (tr::iota(F64, [g.dim(0)], 0) * 0.7 + 0.2).cos()).sum(..)
    };
    differences(name, weighted, first, x, tol);
    differences(&format!("{name} twice"), twice, move |x: Sym| grad(twice).call(x), x, 10.0 * tol);
}

pub fn differences(name: &str, f: impl Fn(Sym) -> Sym + Copy, g: impl Fn(Sym) -> Sym + Copy, x: &[f64], tol: f64) {
    let got = run1(g, x);
    let n = x.len();
    let h = 1e-5;
    let probe = |i: usize, by: f64| {
        let mut at = x.to_vec();
        at[i] += by;
        at
    };
    let exe = build(f, spec(F64, [n]), &Engines).unwrap();
    let value = |at: Vec<f64>| exe.run(Tensor::from(at)).unwrap().item::<f64>().unwrap();
    let want: Vec<f64> = (0..n)
        .map(|i| {
            let near = (value(probe(i, h)) - value(probe(i, -h))) / (2.0 * h);
            let far = (value(probe(i, 2.0 * h)) - value(probe(i, -2.0 * h))) / (4.0 * h);
            (4.0 * near - far) / 3.0
        })
        .collect();
    near(&format!("{name}: reverse"), &got, &want, tol);
    let forward: Vec<f64> = (0..n)
        .map(|i| {
            let mut t = vec![0.0; n];
            t[i] = 1.0;
            let pair = evaluate(jvp(f), (Tensor::from(x.to_vec()), Tensor::from(t)), &Engines).unwrap();
            pair.1.item::<f64>().unwrap()
        })
        .collect();
    near(&format!("{name}: forward and reverse"), &forward, &got, 1e-9);
}

/// d/dx and d/dy of f at (x, y).
pub fn partials(f: F2, x: f64, y: f64) -> [f64; 2] {
    let g = evaluate(grad(f).wrt2::<0, 1>(), (Tensor::from(x), Tensor::from(y)), &Engines).unwrap();
    [g.0.item::<f64>().unwrap(), g.1.item::<f64>().unwrap()]
}
