//! Element-wise ops: smooth ones against central differences, kinks and edges against JAX 0.10 (each expectation names
//! the expression).

use crate::check::*;
use evoxc::prelude::*;
use evoxc_tests::engines::Engines;
use evoxc_trace as tr;

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
    let got = evaluate(grad(|x: Sym| x.digamma().sum(..)), narrow, &Engines)?.to_vec::<f32>()?;
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

// jax.vjp(f, 0.3+0.4j)[1](ct): no conjugation.
#[test]
fn complex_cotangents_follow_the_convention_of_jax() -> evoxc::Result<()> {
    use num_complex::Complex64 as C;
    let z = Tensor::from(C::new(0.3, 0.4));
    let (two, c) = (Tensor::from(2f64), Tensor::from(C::new(2.0, -1.0)));
    let table: &[(&str, F1, &Tensor, C)] = &[
        ("real", |z| z.real(), &two, C::new(2.0, 0.0)),
        ("imag", |z| z.imag(), &two, C::new(0.0, -2.0)),
        ("conj", |z| z.conj(), &c, C::new(2.0, 1.0)),
        ("abs", |z| z.abs(), &two, C::new(1.2, -1.6)),
        ("exp", |z| z.exp(), &c, C::new(3.012264369335984, -0.1919827366755451)),
        ("convert to a real", |z| z.cast(F64), &two, C::new(2.0, 0.0)),
    ];
    for (name, f, ct, want) in table {
        let got = evaluate(vjp(f), (z.clone(), (*ct).clone()), &Engines)?.item::<C>()?;
        assert!((got - want).norm() < 1e-15, "{name}: {got}");
    }
    let got = evaluate(vjp(|x: Sym| x.cast(C128)), (Tensor::from(0.3f64), c.clone()), &Engines)?.item::<f64>()?;
    assert_eq!(got, 2.0);
    let parts = (Tensor::from(0.3f64), Tensor::from(0.4f64));
    let (re, im) = evaluate(vjp(|x: Sym, y: Sym| x.complex(y)), (parts, c), &Engines)?;
    assert_eq!((re.item::<f64>()?, im.item::<f64>()?), (2.0, 1.0));
    Ok(())
}

// d³/dx³: of exp2 ln³2·2ˣ, of tanh' (1 - y²)(6y² - 2), of x³·⁵ 13.125·x⁰·⁵, of x⁻¹ -6x⁻⁴, of log 2x⁻³.
#[test]
fn third_derivatives_are_those_of_formulas() {
    let third = |f: F1, x: f64| {
        let g = |x: Sym| grad(grad(grad(move |x: Sym| f(x)))).call(x);
        evaluate(g, Tensor::from(x), &Engines).unwrap().item::<f64>().unwrap()
    };
    let y = 0.7f64.tanh();
    let table: [(&str, F1, f64); 5] = [
        ("exp2", |x| x.exp2(), 2f64.ln().powi(3) * 0.7f64.exp2()),
        ("tanh", |x| x.tanh(), (1.0 - y * y) * (6.0 * y * y - 2.0)),
        ("pow", |x| x.pow(3.5), 13.125 * 0.7f64.sqrt()),
        ("reciprocal", |x| x.reciprocal(), -6.0 * 0.7f64.powi(-4)),
        ("log", |x| x.log(), 2.0 * 0.7f64.powi(-3)),
    ];
    for (name, f, want) in table {
        near(name, &[third(f, 0.7)], &[want], 1e-13);
    }
}

#[test]
fn narrow_floats_keep_their_dtype() -> evoxc::Result<()> {
    for dtype in [F16, BF16, F32] {
        let f = |x: Sym| (x.tanh() + x.digamma() * x.erf_inv() + x.pow(1.5) + x.exp2() + x.clip(0, 1)).sum(..);
        let exact = gradient(f, &[0.25, 0.5]);
        let x = Tensor::from([0.25f64, 0.5]).cast(dtype)?;
        let got = evaluate(grad(f), x, &Engines)?;
        assert_eq!(got.dtype(), dtype);
        let tol = if dtype == F32 { 1e-5 } else { 0.05 };
        near("narrow", &got.cast(F64)?.to_vec::<f64>()?, &exact, tol);
    }
    Ok(())
}
