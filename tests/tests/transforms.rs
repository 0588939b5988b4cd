//! Transforms as users write them: each value from a formula.

use evoxc::prelude::*;

#[test]
fn derivatives_nest() -> evoxc::Result<()> {
    let x = || Tensor::from(0.5f64);
    let d1 = evaluate(grad(|x: Sym| x.sin()), x(), &Interp)?.item::<f64>()?;
    let d2 = evaluate(grad(grad(|x: Sym| x.sin())), x(), &Interp)?.item::<f64>()?;
    let d3 = evaluate(grad(grad(grad(|x: Sym| x.sin()))), x(), &Interp)?.item::<f64>()?;
    let expected = [0.5f64.cos(), -0.5f64.sin(), -0.5f64.cos()];
    for (d, e) in [d1, d2, d3].into_iter().zip(expected) {
        assert!((d - e).abs() < 1e-15, "{d} {e}");
    }
    let f = |x: Sym| (x * x * x).sum(..);
    let twice = evaluate(jvp(grad(f)), (Tensor::from([2f64]), Tensor::from([1f64])), &Interp)?.1;
    assert_eq!(twice.to_vec::<f64>()?, [12.0]);
    let rows = evaluate(vmap(grad(|x: Sym| x * x)), Tensor::from([1f32, 2.0]), &Interp)?;
    assert_eq!(rows.to_vec::<f32>()?, [2.0, 4.0]);
    let inner = evaluate(grad(|w: Sym| grad(|v: Sym| v * v * w).call(w) * w), Tensor::from(3f32), &Interp)?;
    assert_eq!(inner.item::<f32>()?, 54.0); // d/dw 2w³ = 6w²
    let g = trace(grad(|x: Sym| x.tanh()), spec(F32, []))?;
    assert_eq!(g.ops().len(), 6, "{g}"); // y, 1 - y² of three ops, the seed, the product
    Ok(())
}

#[test]
fn what_is_refused_is_a_transform_error() {
    let e = trace(grad(|x: Sym| x * 2.0), spec(F32, [3])).unwrap_err();
    assert!(matches!(e, evoxc::Error::Transform(_)), "{e}");
    assert!(e.to_string().contains("one real scalar"), "{e}");
    let e = trace(grad(|x: Sym| x * 2), spec(I32, [])).unwrap_err();
    assert!(e.to_string().contains("scalar") || e.to_string().contains("no gradient"), "{e}");
}

#[test]
fn errors_stand_where_the_transform_was_called() {
    let line = line!() + 1;
    let f = |x: Sym| grad(vmap(|y: Sym| y * 2.0)).call(x);
    let e = trace(f, spec(F32, [3])).unwrap_err().to_string();
    assert!(e.contains(&format!("transforms.rs:{line}:")), "{e}");
    let line = line!() + 1;
    let f = |x: Sym| vmap(grad(|y: Sym| y * x)).call(x);
    let e = trace(f, spec(F32, [3])).unwrap_err().to_string();
    assert!(e.contains(&format!("transforms.rs:{line}:")), "{e}");
}
