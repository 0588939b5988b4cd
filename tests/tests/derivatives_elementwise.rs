//! Derivatives of element-wise ops, data movement, dot, and reductions: smooth functions against central differences in
//! f64, kinks and edges against JAX 0.10 (each expectation names the expression).

use evoxc::prelude::*;
use evoxc_trace as tr;

type F1 = fn(Sym) -> Sym;
type F2 = fn(Sym, Sym) -> Sym;

fn run1(f: impl Fn(Sym) -> Sym, x: &[f64]) -> Vec<f64> {
    evaluate(f, Tensor::from(x.to_vec()), &Interp).unwrap().to_vec().unwrap()
}

fn gradient(f: impl Fn(Sym) -> Sym, x: &[f64]) -> Vec<f64> {
    run1(|x: Sym| grad(&f).call(x), x)
}

fn near(what: &str, got: &[f64], want: &[f64], tol: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let same = g == w || (g.is_nan() && w.is_nan()) || (g - w).abs() <= tol * (1.0 + w.abs());
        assert!(same, "{what}: element {i} is {g}, not {w}: {got:?} and {want:?}");
    }
}

/// The gradient of Σ weights · f(x), forward and reverse, against central differences; and its own derivative likewise.
fn smooth(name: &str, f: impl Fn(Sym) -> Sym + Copy, x: &[f64], tol: f64) {
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

fn differences(name: &str, f: impl Fn(Sym) -> Sym + Copy, g: impl Fn(Sym) -> Sym + Copy, x: &[f64], tol: f64) {
    let got = run1(g, x);
    let n = x.len();
    let h = 1e-5;
    let probe = |i: usize, by: f64| {
        let mut at = x.to_vec();
        at[i] += by;
        at
    };
    let exe = build(f, spec(F64, [n]), &Interp).unwrap();
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
            let pair = evaluate(jvp(f), (Tensor::from(x.to_vec()), Tensor::from(t)), &Interp).unwrap();
            pair.1.item::<f64>().unwrap()
        })
        .collect();
    near(&format!("{name}: forward and reverse"), &forward, &got, 1e-9);
}

#[test]
fn unary_ops_match_central_differences() {
    let table: &[(&str, F1, &[f64])] = &[
        ("exp", |x| x.exp(), &[-1.2, 0.3]),
        ("exp2", |x| x.exp2(), &[-1.2, 0.3]),
        ("expm1", |x| x.expm1(), &[-1.2, 0.01]),
        ("log", |x| x.log(), &[0.4, 3.0]),
        ("log2", |x| x.log2(), &[0.4, 3.0]),
        ("log1p", |x| x.log1p(), &[-0.4, 3.0]),
        ("sqrt", |x| x.sqrt(), &[0.4, 3.0]),
        ("rsqrt", |x| x.rsqrt(), &[0.4, 3.0]),
        ("cbrt", |x| x.cbrt(), &[-0.4, 3.0]),
        ("sin", |x| x.sin(), &[-0.4, 3.0]),
        ("cos", |x| x.cos(), &[-0.4, 3.0]),
        ("tan", |x| x.tan(), &[-0.4, 3.0]),
        ("asin", |x| x.asin(), &[-0.4, 0.7]),
        ("acos", |x| x.acos(), &[-0.4, 0.7]),
        ("atan", |x| x.atan(), &[-0.4, 3.0]),
        ("sinh", |x| x.sinh(), &[-0.4, 1.5]),
        ("cosh", |x| x.cosh(), &[-0.4, 1.5]),
        ("tanh", |x| x.tanh(), &[-0.4, 1.5]),
        ("asinh", |x| x.asinh(), &[-0.4, 1.5]),
        ("acosh", |x| x.acosh(), &[1.4, 2.5]),
        ("atanh", |x| x.atanh(), &[-0.4, 0.5]),
        ("logistic", |x| x.logistic(), &[-0.4, 1.5]),
        ("erf", |x| x.erf(), &[-0.4, 1.5]),
        ("erfc", |x| x.erfc(), &[-0.4, 1.5]),
        ("erf_inv", |x| x.erf_inv(), &[-0.4, 0.6]),
        ("lgamma", |x| x.lgamma(), &[0.4, 2.5, -1.3]),
        ("digamma", |x| x.digamma(), &[0.4, 2.5, -1.3, 12.0]),
        ("neg", |x| -x, &[-0.4, 2.5]),
        ("abs", |x| x.abs(), &[-0.4, 2.5]),
        ("sign", |x| x.sign() * x, &[-0.4, 2.5]),
        ("floor", |x| x.floor() * x, &[-0.4, 2.5]),
        ("ceil", |x| x.ceil() * x, &[-0.4, 2.5]),
        ("round_even", |x| x.round_even() * x, &[-0.4, 2.6]),
        ("round_away", |x| x.round_away() * x, &[-0.4, 2.6]),
        ("trunc", |x| x.trunc() * x, &[-0.4, 2.5]),
        ("real", |x| x.real() * x, &[-0.4, 2.5]),
        ("imag", |x| x.imag() + x, &[-0.4, 2.5]),
        ("conj", |x| x.conj() * x, &[-0.4, 2.5]),
        ("reduce_precision", |x| x.reduce_precision(11, 52) * x, &[-0.4, 2.5]),
        ("stop_gradient", |x| x - x.stop_gradient() + x, &[-0.4, 2.5]),
    ];
    for (name, f, x) in table {
        // stop_gradient has no central difference.
        if *name != "stop_gradient" {
            smooth(name, f, x, 2e-7);
        }
    }
}

#[test]
fn binary_ops_match_central_differences() {
    let table: &[(&str, F2, &[f64])] = &[
        ("add", |x, y| (x + y).sin(), &[-1.2, 0.3]),
        ("sub", |x, y| (x - y).sin(), &[-1.2, 0.3]),
        ("mul", |x, y| x * y, &[-1.2, 0.3]),
        ("div", |x, y| x / y, &[-1.2, 0.3]),
        ("rem", |x, y| (x % y).sin(), &[5.6, 2.3]),
        ("rem", |x, y| (x % y).sin(), &[-5.6, 2.3]),
        ("pow", |x, y| x.pow(y), &[1.2, -0.7]),
        ("max", |x, y| x.maximum(y).sin() * x, &[1.2, -0.7]),
        ("min", |x, y| x.minimum(y).sin() * x, &[1.2, -0.7]),
        ("atan2", |x, y| x.atan2(y), &[1.2, -0.7]),
        ("complex", |x, y| x.complex(y).exp().abs() + x.complex(y).sin().imag(), &[1.2, -0.7]),
        ("select", |x, y| x.gt(y).select(x * x, y).sin(), &[1.2, -0.7]),
        ("clamp", |x, y| x.clip(y, 2.0).sin() + (x * 2.0).clip(y, 2.0) + y.clip(x, x * 2.0), &[1.2, -0.7]),
        ("nested", |x, y| (x * y).tanh() / (y * y + x.exp()), &[1.2, -0.7]),
    ];
    for (name, f, x) in table {
        let both = |v: Sym| f(v.slice(s![0]), v.slice(s![1]));
        smooth(&format!("{name} of both"), both, x, 2e-7);
        let (a, b) = (x[0], x[1]);
        smooth(&format!("{name} of the first"), |v: Sym| f(v, v.full_like(b)), &[a], 2e-7);
        smooth(&format!("{name} of the second"), |v: Sym| f(v.full_like(a), v), &[b], 2e-7);
    }
}

/// d/dx and d/dy of f at (x, y).
fn partials(f: F2, x: f64, y: f64) -> [f64; 2] {
    let g = evaluate(grad(f).wrt2::<0, 1>(), (Tensor::from(x), Tensor::from(y)), &Interp).unwrap();
    [g.0.item::<f64>().unwrap(), g.1.item::<f64>().unwrap()]
}

#[test]
fn kinks_are_those_of_jax() {
    let nan = f64::NAN;
    // jax.grad(f, (0, 1))(x, y) with x64; NaN of JAX at (0, 0) of pow in x is 0 here, see below.
    let table: &[(&str, F2, f64, f64, [f64; 2])] = &[
        ("lax.max", |x, y| x.maximum(y), 1.0, 1.0, [0.5, 0.5]),
        ("lax.max", |x, y| x.maximum(y), -0.0, 0.0, [0.5, 0.5]),
        ("lax.max", |x, y| x.maximum(y), nan, 1.0, [0.0, 0.0]),
        ("lax.max", |x, y| x.maximum(y), 1.0, nan, [0.0, 0.0]),
        ("lax.min", |x, y| x.minimum(y), 1.0, 1.0, [0.5, 0.5]),
        ("lax.min", |x, y| x.minimum(y), 1.0, 2.0, [1.0, 0.0]),
        ("lax.pow", |x, y| x.pow(y), 0.0, 1.0, [1.0, 0.0]),
        ("lax.pow", |x, y| x.pow(y), 0.0, 2.0, [0.0, 0.0]),
        ("lax.pow", |x, y| x.pow(y), 0.0, 0.5, [f64::INFINITY, 0.0]),
        ("lax.pow", |x, y| x.pow(y), 2.0, 0.0, [0.0, 2f64.ln()]),
        ("lax.pow", |x, y| x.pow(y), -2.0, 3.0, [12.0, nan]),
        ("lax.pow", |x, y| x.pow(y), -2.0, 0.5, [nan, nan]),
        ("lax.pow", |x, y| x.pow(y), 0.0, -1.0, [f64::NEG_INFINITY, nan]),
        ("lax.pow", |x, y| x.pow(y), 1.0, f64::INFINITY, [f64::INFINITY, 0.0]),
        ("lax.rem", |x, y| x % y, 5.5, 2.0, [1.0, -2.0]),
        ("lax.rem", |x, y| x % y, -5.5, 2.0, [1.0, 2.0]),
        ("lax.atan2", |x, y| x.atan2(y), 0.0, 0.0, [nan, nan]),
        ("lax.atan2", |x, y| x.atan2(y), 1.0, 2.0, [0.4, -0.2]),
        // jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1)), y): no NaN from the branch not taken.
        ("where", |x, y| x.gt(0).select(x.gt(0).select(x, 1).sqrt(), y), -1.0, 1.0, [0.0, 1.0]),
    ];
    for (name, f, x, y, want) in table {
        near(&format!("{name} at ({x}, {y})"), &partials(*f, *x, *y), want, 1e-14);
    }
    // Where JAX's lax.pow has 0·∞ in x, the limit.
    near("pow at (0, 0)", &partials(|x, y| x.pow(y), 0.0, 0.0), &[0.0, 0.0], 0.0);
    // jax.grad of x**2, x**1, x**0 (integer_pow) at 0, up to the third derivative.
    let cube = |x: Sym| x.pow(3.0);
    assert_eq!(run1(|x| grad(grad(grad(|x: Sym| x.pow(3.0).sum(..)))).call(x.squeeze(0)), &[0.0]), [6.0]);
    assert_eq!(run1(|x| grad(move |x: Sym| cube(x).sum(..)).call(x), &[0.0, 2.0]), [0.0, 12.0]);
    assert_eq!(gradient(|x: Sym| x.pow(0.0).sum(..), &[0.0, 2.0]), [0.0, 0.0]);
    // abs'(0) = 0 and relu'(0) = 0 by decision; cbrt, sqrt, rsqrt, log at 0 as jax.grad.
    let unary: &[(&str, F1, f64, f64)] = &[
        ("abs", |x| x.abs(), 0.0, 0.0),
        ("relu", |x| x.relu(), 0.0, 0.0),
        ("sqrt", |x| x.sqrt(), 0.0, f64::INFINITY),
        ("cbrt", |x| x.cbrt(), 0.0, f64::INFINITY),
        ("rsqrt", |x| x.rsqrt(), 0.0, f64::NEG_INFINITY),
        ("log", |x| x.log(), 0.0, f64::INFINITY),
        ("asin", |x| x.asin(), 1.0, f64::INFINITY),
        ("acosh", |x| x.acosh(), 1.0, f64::INFINITY),
        ("atanh", |x| x.atanh(), 1.0, f64::INFINITY),
        ("lgamma", |x| x.lgamma(), -1.0, nan),
        ("digamma", |x| x.digamma(), -1.0, f64::INFINITY),
        ("digamma", |x| x.digamma(), 0.0, f64::INFINITY),
        ("tanh", |x| x.tanh(), 30.0, 0.0),
        ("logistic", |x| x.logistic(), -800.0, 0.0),
    ];
    for (name, f, x, want) in unary {
        near(&format!("{name} at {x}"), &gradient(|x: Sym| f(x).sum(..), &[*x]), &[*want], 0.0);
    }
}

#[test]
fn trigamma_is_as_accurate_as_its_dtype() -> evoxc::Result<()> {
    // scipy.special.polygamma(1, x); for negative x with the reflection formula.
    let table = [
        (0.5, 4.934802200544679),
        (1.0, 1.6449340668482264),
        (1e-3, 1000001.642533195),
        (3.25, 0.3597982903095799),
        (10.0, 0.10516633568168574),
        (1e6, 1.0000005000001667e-6),
        (-0.5, 8.934802200544679),
        (-1.5, 9.379246644989124),
        (-20.75, 19.6921586563725),
    ];
    let x: Vec<f64> = table.iter().map(|r| r.0).collect();
    let got = gradient(|x: Sym| x.digamma().sum(..), &x);
    for ((x, want), got) in table.into_iter().zip(got) {
        assert!((got - want).abs() <= 4e-15 * want, "{x}: {got} {want}");
    }
    let narrow = Tensor::from(x.iter().map(|&x| x as f32).collect::<Vec<_>>());
    let got = evaluate(grad(|x: Sym| x.digamma().sum(..)), narrow, &Interp)?.to_vec::<f32>()?;
    for ((x, want), got) in table.into_iter().zip(got) {
        assert!((f64::from(got) - want).abs() <= 4e-7 * want, "{x}: {got} {want}");
    }
    Ok(())
}

// jax.grad(lambda lo, x, hi: lax.clamp(lo, x, hi), (0, 1, 2))
#[test]
fn clamp_passes_strictly_inside_of_its_bounds() -> evoxc::Result<()> {
    let table = [
        ([0.0, 0.5, 1.0], [0.0, 1.0, 0.0]),
        ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0]),
        ([0.0, 1.0, 1.0], [0.0, 0.0, 0.0]),
        ([0.0, -1.0, 1.0], [1.0, 0.0, 0.0]),
        ([0.0, 2.0, 1.0], [0.0, 0.0, 1.0]),
        ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0]),
        ([1.0, 0.5, 0.0], [0.0, 0.0, 1.0]),
        ([1.0, 2.0, 0.0], [0.0, 0.0, 1.0]),
        ([0.0, f64::NAN, 1.0], [0.0, 0.0, 0.0]),
        ([1.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ];
    for (at, want) in table {
        // Bounds of x's shape, and scalar bounds of several elements.
        let clamp = |v: Sym| v.slice(s![1]).clip(v.slice(s![0]), v.slice(s![2]));
        assert_eq!(gradient(clamp, &at), want, "{at:?}");
        let f = |v: Sym| v.slice(s![1..2]).broadcast_to([3]).clip(v.slice(s![0]), v.slice(s![2])).sum(..);
        assert_eq!(gradient(f, &at), want.map(|w| 3.0 * w), "{at:?}");
    }
    Ok(())
}

#[test]
fn complex_functions_are_holomorphic_or_follow_jax() {
    // Real functions of (re, im) through complex ops: central differences.
    let table: &[(&str, F1)] = &[
        ("exp", |z| z.exp()),
        ("expm1", |z| z.expm1()),
        ("log", |z| z.log()),
        ("log1p", |z| z.log1p()),
        ("sqrt", |z| z.sqrt()),
        ("rsqrt", |z| z.rsqrt()),
        ("sin", |z| z.sin()),
        ("cos", |z| z.cos()),
        ("tan", |z| z.tan()),
        ("asin", |z| z.asin()),
        ("acos", |z| z.acos()),
        ("atan", |z| z.atan()),
        ("sinh", |z| z.sinh()),
        ("cosh", |z| z.cosh()),
        ("tanh", |z| z.tanh()),
        ("asinh", |z| z.asinh()),
        ("acosh", |z| z.acosh()),
        ("atanh", |z| z.atanh()),
        ("logistic", |z| z.logistic()),
        ("conj", |z| z.conj() * z.exp()),
        ("sign", |z| z.sign()),
        ("neg", |z| -z),
        ("square", |z| z * z),
        ("div", |z| z.sin() / z),
        ("pow", |z| z.pow(z * 0.5)),
        ("narrow", |z| z.cast(C64).cast(C128) * 0.0 + z),
        ("abs", |z| z.abs().complex(z.real())),
        ("to complex", |z| z.imag().cast(C128) * z),
        ("to real", |z| z.cast(F64).cast(C128) * z),
    ];
    for (name, f) in table {
        for at in [[0.3, 0.4], [-1.2, 0.7], [-0.8, -1.1]] {
            let parts = |v: Sym| {
                let z = f(v.slice(s![0]).complex(v.slice(s![1])));
                tr::stack([z.real(), z.imag()], 0)
            };
            smooth(&format!("{name} of {at:?}"), parts, &at, 1e-6);
        }
    }
    // jax.grad(jnp.abs)(0j) and of sign: 0.
    assert_eq!(gradient(|v: Sym| v.slice(s![0]).complex(v.slice(s![1])).abs(), &[0.0, 0.0]), [0.0, 0.0]);
    assert_eq!(gradient(|v: Sym| v.slice(s![0]).complex(v.slice(s![1])).sign().real(), &[0.0, 0.0]), [0.0, 0.0]);
}

#[test]
fn movement_is_transposed() {
    let table: &[(&str, F1)] = &[
        ("broadcast", |x| x.reshape([1, 2, 3]).broadcast_to([4, 2, 3]) * x.reshape([2, 3]).sin()),
        ("broadcast of one", |x| x.reshape([6, 1]).broadcast_to([6, 2])),
        ("reshape, transpose", |x| x.reshape([2, 3]).t().reshape([6]) * x),
        ("transpose of three", |x| x.reshape([1, 2, 3]).transpose([2, 0, 1]).sin()),
        ("slice", |x| x.slice(s![1..4])),
        ("strided slice", |x| x.slice(s![1..6;2])),
        ("reversed slice", |x| x.slice(s![..;-2])),
        ("pad", |x| x.pad(&[(1, 2)], 0.5)),
        ("cutting pad", |x| x.pad(&[(-1, -2)], 0.5)),
        ("mixed pad", |x| x.pad(&[(3, -4)], 0.5)),
        ("concatenate", |x| concat([x, x.sin(), x.slice(s![1..2])], 0)),
        ("concatenate with a constant", |x| concat([x.zeros_like(), x.sin()], 0)),
        ("reverse", |x| x.flip(0) * x),
        ("barrier", |x| {
            let (a, b) = tr::optimization_barrier((x.sin(), x * 2.0));
            a * b
        }),
        ("convert", |x| x.cast(F64).cast(C128).real() + x.cast(I32).cast(F64)),
    ];
    for (name, f) in table {
        smooth(name, |x: Sym| f(x).sin(), &[0.1, -1.2, 2.3, 0.7, -0.4, 1.6], 1e-6);
    }
}

#[test]
fn dots_are_transposed_in_every_layout() {
    // x holds both operands.
    let x: Vec<f64> = (0..48).map(|i| (f64::from(i) * 0.7).sin()).collect();
    smooth("matrices", |x| x.slice(s![..6]).reshape([2, 3]).dot(x.slice(s![6..12]).reshape([3, 2])), &x[..12], 1e-7);
    smooth("vectors", |x| x.slice(s![..3]).dot(x.slice(s![3..])), &x[..6], 1e-7);
    let specs = [
        "bij,bjk->bik",
        "bji,bjk->bik",
        "bij,bkj->bik",
        "ijb,jkb->bik",
        "bij,jkb->kib",
        "abc,dcb->ad",
        "abc,bca->ab",
        "abc,cab->",
        "ab,cd->abcd",
    ];
    for spec in specs {
        let sizes = |c: char| match c {
            'b' => 2usize,
            'i' | 'a' => 3,
            _ => 2,
        };
        let (ins, _) = spec.split_once("->").unwrap();
        let (l, r) = ins.split_once(',').unwrap();
        let dims = |s: &str| s.chars().map(sizes).collect::<Vec<_>>();
        let (ls, rs) = (dims(l), dims(r));
        let (nl, nr) = (ls.iter().product::<usize>(), rs.iter().product::<usize>());
        let f = |x: Sym| {
            let (a, b) = (x.slice(s![..nl]).reshape(&ls), x.slice(s![nl..]).reshape(&rs));
            einsum(spec, [a, b])
        };
        smooth(spec, f, &x[..nl + nr], 1e-7);
    }
}

#[test]
fn convolutions_are_transposed_with_every_attribute() {
    use evoxc::ir::{ConvLayout, Flag, Padding, Prim, Window};
    struct Case {
        name: &'static str,
        lhs: Vec<usize>,
        rhs: Vec<usize>,
        stride: Vec<i64>,
        padding: Vec<(i64, i64)>,
        base: Vec<i64>,
        dilation: Vec<i64>,
        reversal: Vec<bool>,
        groups: (usize, usize),
        last: bool,
    }
    let plain = || Case {
        name: "plain",
        lhs: vec![2, 2, 5],
        rhs: vec![3, 2, 2],
        stride: vec![1],
        padding: vec![(0, 0)],
        base: vec![1],
        dilation: vec![1],
        reversal: vec![false],
        groups: (1, 1),
        last: false,
    };
    let cases = [
        plain(),
        Case { name: "stride", stride: vec![2], ..plain() },
        Case { name: "stride 3", stride: vec![3], padding: vec![(1, 1)], ..plain() },
        Case { name: "padding", padding: vec![(2, 1)], ..plain() },
        Case { name: "wide padding", padding: vec![(4, 3)], ..plain() },
        Case { name: "negative padding", padding: vec![(-1, -1)], ..plain() },
        Case { name: "mixed padding", padding: vec![(-2, 3)], ..plain() },
        Case { name: "base dilation", base: vec![3], ..plain() },
        Case { name: "window dilation", dilation: vec![3], ..plain() },
        Case { name: "reversal", reversal: vec![true], ..plain() },
        Case { name: "feature groups", lhs: vec![2, 4, 5], rhs: vec![6, 2, 2], groups: (2, 1), ..plain() },
        Case { name: "depthwise", lhs: vec![1, 3, 5], rhs: vec![3, 1, 2], groups: (3, 1), ..plain() },
        Case { name: "batch groups", lhs: vec![4, 2, 5], rhs: vec![6, 2, 2], groups: (1, 2), ..plain() },
        Case { name: "channels last", lhs: vec![2, 5, 2], rhs: vec![2, 2, 3], last: true, ..plain() },
        Case {
            name: "all of it",
            lhs: vec![2, 4, 4],
            rhs: vec![4, 2, 2],
            stride: vec![2],
            padding: vec![(-1, 3)],
            base: vec![2],
            dilation: vec![3],
            reversal: vec![true],
            groups: (2, 1),
            last: false,
        },
        Case {
            name: "all of it, batch groups, channels last",
            lhs: vec![4, 4, 2],
            rhs: vec![2, 2, 4],
            stride: vec![3],
            padding: vec![(3, -1)],
            base: vec![3],
            dilation: vec![2],
            reversal: vec![true],
            groups: (1, 2),
            last: true,
        },
        Case {
            name: "two axes",
            lhs: vec![1, 2, 3, 4],
            rhs: vec![2, 2, 2, 3],
            stride: vec![1, 2],
            padding: vec![(1, 0), (-1, 2)],
            base: vec![2, 1],
            dilation: vec![1, 2],
            reversal: vec![false, true],
            groups: (1, 1),
            last: false,
        },
        Case { name: "no places", lhs: vec![1, 1, 1], rhs: vec![1, 1, 3], ..plain() },
        Case { name: "an empty axis", lhs: vec![1, 1, 0], rhs: vec![1, 1, 3], padding: vec![(2, 2)], ..plain() },
        Case { name: "an empty batch", lhs: vec![0, 2, 5], ..plain() },
    ];
    let x: Vec<f64> = (0..96).map(|i| (f64::from(i) * 0.7).sin()).collect();
    for c in cases {
        let n = c.stride.len();
        let spatial: Vec<usize> = if c.last { (1..=n).collect() } else { (2..n + 2).collect() };
        let feature = if c.last { n + 1 } else { 1 };
        let kernel: Vec<usize> = if c.last { (0..n).collect() } else { (2..n + 2).collect() };
        let kernel_features = if c.last { vec![n + 1, n] } else { vec![0, 1] };
        let prim = Prim::Convolution {
            window: Window {
                size: kernel.iter().map(|&a| Dim::constant(c.rhs[a] as i64)).collect(),
                stride: c.stride,
                padding: c
                    .padding
                    .iter()
                    .map(|&(l, h)| Padding { low: Dim::constant(l), high: Dim::constant(h) })
                    .collect(),
                base_dilation: c.base,
                window_dilation: c.dilation,
                reversal: c.reversal.into_iter().map(Flag).collect(),
            },
            layout: ConvLayout {
                lhs: vec![0, feature],
                lhs_spatial: spatial.clone(),
                rhs: kernel_features,
                rhs_spatial: kernel,
                out: vec![0, feature],
                out_spatial: spatial,
            },
            feature_groups: c.groups.0,
            batch_groups: c.groups.1,
            accumulate: None,
        };
        let split: usize = c.lhs.iter().product();
        let all = split + c.rhs.iter().product::<usize>();
        let f = |v: Sym| {
            let (l, r) = (v.slice(s![..split]).reshape(&c.lhs), v.slice(s![split..]).reshape(&c.rhs));
            tr::emitter::emit(prim.clone(), &[l, r])
        };
        smooth(c.name, f, &x[..all], 1e-7);
    }
}

#[test]
fn convolutions_of_symbolic_extents_are_transposed() {
    let conv = |x: Sym| {
        let w = (tr::iota(F64, [2, 1, 3], 2) + 1.0).sin() + (x.sum(..) * 0.1);
        let y = x.reshape((1, 1, x.dim(0)));
        y.conv(w, Conv::default().strides([2]).padding([(2, 1)])).tanh().sum(..)
            + y.conv(w, Conv::default().dilation([2]).padding([(2, 3)])).tanh().sum(..)
    };
    let g = |x: Sym| grad(conv).call(x);
    let exe = build(g, spec(F64, [dim("B")]), &Interp).unwrap();
    let x = [0.4, -0.3, 1.2, 0.9, 0.1];
    for n in [5, 4, 3, 2, 1] {
        let got = exe.run(Tensor::from(x[..n].to_vec())).unwrap().to_vec::<f64>().unwrap();
        near(&format!("length {n}"), &got, &run1(g, &x[..n]), 1e-14);
    }
}

#[test]
fn reductions_match_central_differences() {
    let x = [0.1, -1.2, 2.3, 0.7, -0.4, 1.6];
    let table: &[(&str, F1)] = &[
        ("sum", |x| x.reshape([2, 3]).sum(0).sin()),
        ("sum of none", |x| x.reshape([2, 3]).sum(evoxc::keep([0, 1])) * x),
        ("max", |x| x.reshape([2, 3]).max(1).sin()),
        ("min", |x| x.reshape([2, 3]).min(..).sin()),
        ("prod", |x| x.reshape([2, 3]).prod(1)),
        ("prod of all", |x| x.reshape([2, 3]).prod(..)),
        ("prod of two of three", |x| x.reshape([2, 3, 1]).broadcast_to([2, 3, 2]).prod([0, 2])),
        ("mean", |x| x.reshape([2, 3]).mean(1).sin()),
        ("logsumexp", |x| x.reshape([2, 3]).logsumexp(1)),
        ("cumsum", |x| x.cumsum(0).sin()),
        ("cumprod", |x| x.cumprod(0)),
        ("cumprod of columns", |x| x.reshape([3, 2]).cumprod(0)),
        ("cummax", |x| x.cummax(0).sin()),
        ("cummin", |x| x.cummin(0).sin()),
        ("cumlogsumexp", |x| x.cumlogsumexp(0)),
        ("reversed cumprod", |x| running(x, evoxc::ir::CumOp::Prod)),
        ("reversed cummax", |x| running(x, evoxc::ir::CumOp::Max)),
        ("reversed cumlogsumexp", |x| running(x, evoxc::ir::CumOp::Logsumexp)),
        ("reversed cumsum", |x| running(x, evoxc::ir::CumOp::Sum)),
    ];
    for (name, f) in table {
        smooth(name, |x: Sym| f(x), &x, 2e-6);
    }
}

fn running(x: Sym, op: evoxc::ir::CumOp) -> Sym {
    tr::emitter::emit(evoxc::ir::Prim::Cumulative { op, axis: 0, reverse: true }, &[x])
}

#[test]
fn ties_and_zeros_of_reductions_are_those_of_jax() {
    let nan = f64::NAN;
    // jax.grad(lambda x: lax.reduce_max(x, (0,)))
    assert_eq!(gradient(|x: Sym| x.max(..), &[1.0, 1.0, 0.0]), [0.5, 0.5, 0.0]);
    near("max of NaN", &gradient(|x: Sym| x.max(..), &[1.0, nan, 0.0]), &[nan, nan, nan], 0.0);
    // jax.grad(jnp.prod)
    assert_eq!(gradient(|x: Sym| x.prod(..), &[0.0, 2.0, 3.0]), [6.0, 0.0, 0.0]);
    assert_eq!(gradient(|x: Sym| x.prod(..), &[0.0, 0.0, 3.0]), [0.0, 0.0, 0.0]);
    assert_eq!(gradient(|x: Sym| x.cumprod(0).sum(..), &[0.0, 2.0, 3.0]), [9.0, 0.0, 0.0]);
    // Nothing at all.
    assert_eq!(gradient(|x: Sym| x.prod(..) + x.cumprod(0).sum(..) + x.cummax(0).sum(..), &[]), [0f64; 0]);
    // jax.jacobian(lax.cummax)(jnp.ones(4)), and reverse=True of ones(5)
    let rows = |f: F1, x: &[f64]| -> Vec<f64> {
        let n = x.len();
        (0..n).flat_map(|i| gradient(|x: Sym| f(x).slice(s![i]), x)).collect()
    };
    let want = [[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.5, 0.0], [0.25; 4]];
    assert_eq!(rows(|x| x.cummax(0), &[1.0; 4]), want.concat());
    assert_eq!(rows(|x| x.cummin(0), &[1.0; 4]), want.concat());
    let want = [
        [0.5, 0.125, 0.125, 0.125, 0.125],
        [0.0, 0.25, 0.25, 0.25, 0.25],
        [0.0, 0.0, 0.5, 0.25, 0.25],
        [0.0, 0.0, 0.0, 0.5, 0.5],
        [0.0, 0.0, 0.0, 0.0, 1.0],
    ];
    assert_eq!(rows(|x| running(x, evoxc::ir::CumOp::Max), &[1.0; 5]), want.concat());
    // Where everything so far is -inf there is no direction: 0, not NaN.
    let inf = f64::NEG_INFINITY;
    near("cumlogsumexp", &gradient(|x: Sym| x.cumlogsumexp(0).slice(s![2]), &[inf, inf, 1.0]), &[0.0, 0.0, 1.0], 0.0);
}

#[test]
fn symbolic_extents_stay_symbolic() {
    let b = dim("B");
    let table: &[(&str, F1)] = &[
        ("slice", |x| x.slice(s![..;2])),
        ("pad", |x| x.pad(&[(1, 2)], 0.0)),
        ("reverse slice", |x| x.slice(s![..;-2])),
        ("concatenate", |x| concat([x, x * x], 0)),
        ("broadcast", |x| x.expand_dims(0).broadcast_to((3, x.dim(0)))),
        ("prod", |x| x.prod(..)),
        ("max", |x| x.max(..)),
        ("roll", |x| x.roll(1, 0) * x),
        ("outer", |x| x.expand_dims(1).dot(x.expand_dims(0))),
        ("reshape", |x| (x.expand_dims(1) * full(F64, [4], 1.5)).ravel()),
        ("interior", |x| {
            let (n, zero) = (x.dim(0), tr::zeros(F64, []));
            let prim = evoxc::ir::Prim::Pad { low: vec![n * 0 + 1], high: vec![n * 0 - 1], interior: vec![2] };
            tr::emitter::emit(prim, &[x, zero])
        }),
    ];
    let x = [0.4, -0.3, 1.2, 0.9];
    for (name, f) in table {
        let g = |x: Sym| grad(|x: Sym| f(x).sin().sum(..)).call(x);
        let exe = build(g, spec(F64, [b]), &Interp).unwrap();
        for n in [4, 1, 0] {
            if n == 0 && *name == "max" {
                continue;
            }
            let got = exe.run(Tensor::from(x[..n].to_vec())).unwrap().to_vec::<f64>().unwrap();
            near(name, &got, &run1(g, &x[..n]), 1e-14);
        }
    }
}

#[test]
fn an_accumulator_wider_than_the_operands_is_converted_back() -> evoxc::Result<()> {
    use evoxc::ir::{AxisPair, Prim};
    let wide = |x: Sym, y: Sym| {
        let contract = AxisPair { lhs: vec![1], rhs: vec![0] };
        tr::emitter::emit(Prim::Dot { batch: AxisPair::default(), contract, accumulate: Some(F32) }, &[x, y])
    };
    let g =
        trace(grad(move |x: Sym, y: Sym| wide(x, y).sum(..)).wrt2::<0, 1>(), (spec(BF16, [2, 3]), spec(BF16, [3, 4])))?;
    assert_eq!(g.output_specs(), [spec(BF16, [2, 3]), spec(BF16, [3, 4])]);
    Ok(())
}
