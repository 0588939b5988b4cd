//! Transforms as users write them: each value from a formula.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;

#[test]
fn derivatives_nest() -> evoxc::Result<()> {
    let x = || Tensor::from(0.5f64);
    let d1 = evaluate(grad(|x: Sym| x.sin()), x(), &Engines)?.item::<f64>()?;
    let d2 = evaluate(grad(grad(|x: Sym| x.sin())), x(), &Engines)?.item::<f64>()?;
    let d3 = evaluate(grad(grad(grad(|x: Sym| x.sin()))), x(), &Engines)?.item::<f64>()?;
    let expected = [0.5f64.cos(), -0.5f64.sin(), -0.5f64.cos()];
    for (d, e) in [d1, d2, d3].into_iter().zip(expected) {
        assert!((d - e).abs() < 1e-15, "{d} {e}");
    }
    let f = |x: Sym| (x * x * x).sum(..);
    let twice = evaluate(jvp(grad(f)), (Tensor::from([2f64]), Tensor::from([1f64])), &Engines)?.1;
    assert_eq!(twice.to_vec::<f64>()?, [12.0]);
    let rows = evaluate(vmap(grad(|x: Sym| x * x)), Tensor::from([1f32, 2.0]), &Engines)?;
    assert_eq!(rows.to_vec::<f32>()?, [2.0, 4.0]);
    let inner = evaluate(grad(|w: Sym| grad(|v: Sym| v * v * w).call(w) * w), Tensor::from(3f32), &Engines)?;
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

// The arguments of a graph whose types are erased are counted when it is traced.
#[test]
fn an_argument_that_is_not_there_is_named() {
    use evoxc::{hessian, hvp, jacfwd, jacrev};
    fn refused<F: GraphFn<evoxc::Dyn<Sym>, M>, M>(f: F, specs: evoxc::Dyn<TensorSpec>) {
        match trace(f, specs) {
            Err(evoxc::Error::Transform(e)) => assert!(e.to_string().contains("there is no argument 5"), "{e}"),
            other => panic!("{:?}", other.err()),
        }
    }
    let g = trace(|x: Sym, y: Sym| (x * y).sum(..), (spec(F32, [3]), spec(F32, [3]))).unwrap().erase();
    refused(grad(&g).wrt::<5>(), g.specs());
    refused(value_and_grad(&g).wrt2::<0, 5>(), g.specs());
    refused(jacfwd(&g).wrt::<5>(), g.specs());
    refused(jacrev(&g).wrt::<5>(), g.specs());
    refused(hessian(&g).wrt::<5>(), g.specs());
    let e = trace(hvp(&g).wrt::<5>(), (g.specs(), g.specs())).unwrap_err();
    assert!(e.to_string().contains("there is no argument 5"), "{e}");
}

// `trace` returns all errors: here, of each of two transforms.
#[test]
fn all_that_is_refused_is_reported() {
    let f = |x: Sym| grad(|x: Sym| x * 2.0).call(x) + vmap(|x: Sym| x).in_axes([Some(7)]).call(x);
    match trace(f, spec(F32, [3])) {
        Err(evoxc::Error::Trace(e)) => {
            let ops: Vec<&str> = e.errors.iter().map(|e| e.op.as_str()).collect();
            assert_eq!(ops, ["grad: result", "vmap: in_axes"]);
        }
        other => panic!("{:?}", other.err()),
    }
}

// A gradient without the value does not compute what only the value needs; each result of `jacrev` comes from one
// forward pass, which prints once.
#[test]
fn what_is_not_asked_for_is_not_computed() -> evoxc::Result<()> {
    let ops = |g: &Graph| g.ops().iter().map(|op| op.prim.name()).collect::<Vec<_>>();
    let g = trace(grad(|x: Sym| (x * 3.0).sum(..)), spec(F32, [2]))?.erase();
    assert_eq!(ops(&g), ["constant", "constant", "broadcast_in_dim", "mul"]);
    let f = |x: Sym| {
        let y = x.sin();
        y.print("y");
        (y.sum(..), y * y)
    };
    let g = trace(evoxc::jacrev(f), spec(F32, [2]))?.erase();
    let count = |name: &str| ops(&g).iter().filter(|o| *o == name).count();
    assert_eq!((count("print"), count("sin"), count("cos")), (1, 1, 1));
    Ok(())
}

#[test]
fn errors_of_transforms_show_the_source() {
    let f = |x: Sym| while_loop(x, |x| x.lt(100.0), |x| x * 2.0);
    let e = trace(grad(f), spec(F32, [])).unwrap_err().render();
    assert!(e.contains("grad: while_loop") && e.contains("let f = |x: Sym| while_loop") && e.contains("help: "), "{e}");
}

// The remedy fits the result: a vector is reduced, a complex or an integer number is not.
#[test]
fn what_gives_no_real_scalar_is_told_what_to_do() {
    let says = |r: evoxc::Result<Graph<Sym, Sym>>, want: &str| {
        let e = r.unwrap_err().to_string();
        assert!(e.contains(want), "{e}");
    };
    says(trace(grad(|x: Sym| x * 2.0), spec(F32, [2])), "`.sum(..)`");
    says(trace(grad(|x: Sym| x * x), spec(C64, [])), "`.abs()`");
    says(trace(grad(|x: Sym| x.sum(..).cast(I32)), spec(F32, [2])), "in floating point");
}

// Each result of a Jacobian in reverse mode walks the same linear program back: forward mode gives the same numbers.
#[test]
fn jacobians_of_several_results_agree_in_both_modes() -> evoxc::Result<()> {
    let f = |x: Sym| {
        let (c, ys) = scan(x, x.sin(), |c: Sym, t: Sym| (c.sin() * t + c, (c * c).sum(..)));
        let d = cond(x.sum(..).gt(0.0), || c.sin() * x, || x);
        let e = checkpoint(|z: Sym| (z * x).tanh()).call(d);
        let p = fori_loop(3, e, |_, c: Sym| c.sin() * x);
        vec![c, ys, d, e.sum(..), p.sort(0), x.cumprod(0), full(F64, [2], 3.0)]
    };
    let x = || Tensor::from([0.3f64, -0.2, 0.7]);
    let near = |a: Vec<Tensor>, b: Vec<Tensor>| -> evoxc::Result<()> {
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(a.shape(), b.shape());
            let (a, b) = (a.to_vec::<f64>()?, b.to_vec::<f64>()?);
            assert!(a.iter().zip(&b).all(|(p, q)| (p - q).abs() < 1e-12), "{a:?} {b:?}");
        }
        Ok(())
    };
    use evoxc::{jacfwd, jacrev};
    near(evaluate(jacfwd(f), x(), &Engines)?, evaluate(jacrev(f), x(), &Engines)?)?;
    near(evaluate(jacfwd(jacrev(f)), x(), &Engines)?, evaluate(jacrev(jacrev(f)), x(), &Engines)?)
}

// What a transformed function makes lives in it alone.
#[test]
fn a_value_that_leaves_its_transform_by_the_side_is_refused() {
    let f = |x: Sym| {
        let kept = std::cell::Cell::new(x);
        let slope = grad(|y: Sym| {
            kept.set(y * 2.0);
            y * y
        });
        slope.call(x) + kept.get()
    };
    let e = trace(f, spec(F32, [])).unwrap_err().to_string();
    assert!(e.contains("a transformed function, which has ended"), "{e}");
}

// A comparator decides the order alone: what it captures has the derivative 0, what is sorted that of its permutation.
#[test]
fn what_a_comparator_captures_has_no_derivative() -> evoxc::Result<()> {
    let text = "func @main(%x: tensor<4xf64>, %s: tensor<f64>) -> tensor<4xf64> {
      %0 = evoxc.sort_by(%x) {axis = 0, stable = true} : tensor<4xf64> {
        body(%a: tensor<f64>, %b: tensor<f64>) {
          %c = evoxc.mul(%a, %s) : tensor<f64>
          %d = evoxc.mul(%b, %s) : tensor<f64>
          %e = evoxc.compare(%c, %d) {direction = lt, order = ieee} : tensor<bool>
          yield %e
        }
      }
      return %0
    }";
    let g = Graph::parse(text)?.typed::<(Sym, Sym), Sym>()?;
    let f = |x: Sym, s: Sym| (g.apply((x, s)) * arange(F64, 1, 5, 1)).sum(..);
    let x = || Tensor::from([3.0f64, 1.0, 2.0, 0.5]);
    let (dx, ds) = evaluate(grad(f).wrt_all(), (x(), Tensor::from(-1f64)), &Engines)?;
    assert_eq!((dx.to_vec::<f64>()?, ds.item::<f64>()?), (vec![1.0, 3.0, 2.0, 4.0], 0.0));
    assert_eq!(evaluate(grad(f).wrt::<1>(), (x(), Tensor::from(-1f64)), &Engines)?.item::<f64>()?, 0.0);
    // By rows, each with an order of its own.
    let rows = evaluate(vmap(grad(f)).in_axes([None, Some(0)]), (x(), Tensor::from([1f64, -1.0])), &Engines)?;
    assert_eq!(rows.to_vec::<f64>()?, [4.0, 2.0, 3.0, 1.0, 1.0, 3.0, 2.0, 4.0]);
    Ok(())
}
