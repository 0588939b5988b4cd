//! Control flow and calls under transforms at their edges: effects, empty and symbolic loops, integers, rules in text.

use evoxc::prelude::*;
use evoxc::scan_reverse;
use evoxc_tests::engines::Engines;

type Done = evoxc::Result<()>;

fn count<I: Tree<Sym>, O: Tree<Sym>>(g: &Graph<I, O>, op: &str) -> usize {
    g.to_string().matches(&format!("evoxc.{op}(")).count()
}

fn labels<I: Tree<Sym>, O: Tree<Sym>>(g: &Graph<I, O>) -> Vec<String> {
    let text = g.to_string();
    text.split("label = \"").skip(1).filter_map(|s| Some(s.split('"').next()?.to_string())).collect()
}

#[test]
fn prints_happen_once_and_in_order() -> Done {
    let f = |x: Sym| {
        x.print("before");
        let y = fori_loop(2, x, |_, y| (y * y).print("step").sin());
        let z = cond(y.gt(0.0), || y.print("yes").exp(), || (y * y).print("no"));
        let z = checkpoint(|z: Sym| (z * z).print("again").cos()).call(z);
        z.print("after") * x
    };
    let want = ["before", "step", "yes", "no", "after", "again"]; // the function that is called stands last
    let one = spec(F64, []);
    assert_eq!(labels(&trace(f, one.clone())?), want);
    assert_eq!(labels(&trace(grad(f), one.clone())?), want);
    assert_eq!(labels(&trace(grad(f), one.clone())?.simplify()), want);
    assert_eq!(labels(&trace(jvp(f), (one.clone(), one.clone()))?), want);
    assert_eq!(labels(&trace(vmap(f), spec(F64, [3]))?), want);
    assert_eq!(labels(&trace(vmap(grad(f)), spec(F64, [3]))?), want);
    // Nor does a call that is part of what is computed again, though nothing in it is differentiated.
    let g =
        |x: Sym, k: Sym| checkpoint(|x: Sym| (x * checkpoint(|k: Sym| k.print("inner").exp()).call(k)).sin()).call(x);
    let graph = trace(grad(g), (spec(F64, []), spec(F64, [])))?.simplify();
    assert_eq!((labels(&graph), count(&graph, "exp")), (vec!["inner".to_string()], 2), "{graph}");
    let got = evaluate(&graph, (Tensor::from(0.5f64), Tensor::from(0f64)), &Engines)?.item::<f64>()?;
    assert_eq!(got, 0.5f64.cos());
    // What is silenced keeps its rule, here a wrong one: d²/dx dk of f(k) x² is 2 x f'(k).
    for loud in [false, true] {
        let f = |k: Sym| if loud { k.print("f").sin() } else { k.sin() };
        let f = custom_jvp(f, |k: Sym, t: Sym| (k.sin(), t * 3.0));
        let g = |x: Sym, k: Sym| checkpoint(|x: Sym, k: Sym| f.call(k) * x * x).call((x, k));
        let args = (Tensor::from(2f64), Tensor::from(0.5f64));
        assert_eq!(evaluate(grad(grad(g)).wrt::<1>(), args, &Engines)?.item::<f64>()?, 12.0);
    }
    // A branch that prints is skipped if no row takes it.
    let text = trace(vmap(f), spec(F64, [3]))?.to_string();
    assert_eq!(text.matches("evoxc.cond(").count(), 2, "{text}");
    Ok(())
}

#[test]
fn loops_of_no_step_and_of_symbolic_length() -> Done {
    let n = dim("N");
    let sums = |x: Sym, xs: Sym| scan(x, xs, |c, x| ((c * x).sin(), c * c)).0;
    let graph = trace(grad(sums).wrt2::<0, 1>(), (spec(F64, []), spec(F64, [n])))?;
    let (dx, dxs) = evaluate(&graph, (Tensor::from(0.5f64), Tensor::zeros(F64, [0])), &Engines)?;
    assert_eq!((dx.item::<f64>()?, dxs.shape().to_vec()), (1.0, Tensor::zeros(F64, [0]).shape().to_vec()));
    let (dx, dxs) = evaluate(&graph, (Tensor::from(0.5f64), Tensor::from([2f64])), &Engines)?;
    assert_eq!((dx.item::<f64>()?, dxs.to_vec::<f64>()?), (2.0 * 1f64.cos(), vec![0.5 * 1f64.cos()]));
    let power = |x: Sym, xs: Sym| fori_loop(xs.dim(0), x.ones_like(), |_, y| y * x);
    let args = (Tensor::from(2f64), Tensor::zeros(F64, [4]));
    assert_eq!(evaluate(&trace(grad(power), (spec(F64, []), spec(F64, [n])))?, args, &Engines)?.item::<f64>()?, 32.0);
    Ok(())
}

#[test]
fn reversed_scans() -> Done {
    let f = |xs: Sym| {
        let (last, ys) = scan_reverse(xs.at(0) * 0.0, xs, |c, x| (c * 2.0 + x * x, c * x));
        last + ys.sum(..)
    };
    // c2 = 0, c1 = x2², c0 = 2 x2² + x1²; last = 4 x2² + 2 x1² + x0², ys = c0 x0 + c1 x1.
    let (a, b, c) = (0.5f64, 1.5, 2.0);
    let want = [2.0 * a + 2.0 * c * c + b * b, 4.0 * b + 2.0 * b * a + c * c, 8.0 * c + 4.0 * c * a + 2.0 * c * b];
    let xs = [a, b, c];
    assert_eq!(evaluate(grad(f), Tensor::from(xs), &Engines)?.to_vec::<f64>()?, want);
    let two = Tensor::from([xs, xs]);
    assert_eq!(evaluate(vmap(grad(f)), two, &Engines)?.to_vec::<f64>()?, [want, want].concat());
    Ok(())
}

#[test]
fn loops_without_tangents_do_not_stand_in_the_way() -> Done {
    // The number of halvings is counted in integers; its loop does not depend on what is differentiated.
    let f = |x: Sym, n: Sym| {
        let (k, _) = while_loop((n.zeros_like(), n), |(_, n)| n.gt(1), |(k, n)| (k + 1, n / 2));
        x * x * k.cast(F64)
    };
    let args = (Tensor::from(1.5f64), Tensor::from(9i32));
    assert_eq!(evaluate(grad(f), args, &Engines)?.item::<f64>()?, 9.0);
    let root = |x: Sym| while_loop((x, x * 0.0), |(y, p)| (y - p).abs().gt(1e-12), |(y, _)| (0.5 * (y + x / y), y)).0;
    let held = |x: Sym| root(x.stop_gradient()) * x;
    assert_eq!(evaluate(grad(held), Tensor::from(4f64), &Engines)?.item::<f64>()?, 2.0);
    // Nor if its tangents end behind it, and if only its steps count, wherever it stands.
    let loud = |x: Sym| {
        let step = |(y, _): (Sym, Sym)| (0.5 * (y + x / y.print("step")), y);
        while_loop((x, x * 0.0), |(y, p)| (y - p).abs().gt(1e-12), step).0
    };
    let held = |x: Sym| loud(x).stop_gradient().round_even() * x;
    let steps = |x: Sym| {
        while_loop((x, x.cast(I32).zeros_like()), |(x, _)| x.gt(1.0), |(x, k)| (x * 0.5, k + 1)).1.cast(F64) * x
    };
    let within = |x: Sym| {
        let (c, _) = scan(x, ones(F64, [2]), |c: Sym, y: Sym| (c * y + held(c.stop_gradient() + c * 0.0), c));
        cond(x.gt(0.0), || held(x), || x) + checkpoint(steps).call(x) + c
    };
    for (g, want) in [(trace(grad(held), spec(F64, []))?, 2.0), (trace(grad(steps), spec(F64, []))?, 2.0)] {
        assert_eq!(evaluate(&g, Tensor::from(4f64), &Engines)?.item::<f64>()?, want);
    }
    let graph = trace(grad(within), spec(F64, []))?;
    assert_eq!((evaluate(&graph, Tensor::from(4f64), &Engines)?.item::<f64>()?, count(&graph, "print")), (5.0, 2));
    let e = trace(grad(|x: Sym| scan(x, ones(F64, [2]), |c: Sym, y: Sym| (root(c) + y, y)).0), spec(F64, []));
    let e = e.unwrap_err().to_string();
    assert!(
        e.contains("control_edges.rs") && e.contains("while_loop") && e.contains("use `fori_loop` or `scan`"),
        "{e}"
    );
    // Forward mode and rows, in both orders.
    let (x, t) = (Tensor::from([1f64, 2.0, 9.0]), Tensor::from([1f64, 1.0, 1.0]));
    let (_, a) = evaluate(jvp(vmap(root)), (x.clone(), t.clone()), &Engines)?;
    let (_, b) = evaluate(vmap(jvp(root)), (x, t), &Engines)?;
    for (t, want) in
        [&a, &b].iter().flat_map(|t| t.to_vec::<f64>().unwrap()).zip([0.5, 0.125f64.sqrt(), 1.0 / 6.0].repeat(2))
    {
        assert!((t - want).abs() < 1e-9, "{t} {want}");
    }
    Ok(())
}

#[test]
fn branches_of_one_side_only() -> Done {
    // Only one branch depends on w; the other gives zeros. One result has no tangent at all.
    let f = |p: Sym, w: Sym| {
        let (a, b) = cond(p, || (w.sin(), w.floor()), || (w.ones_like(), w.ones_like()));
        a + b
    };
    for (p, want) in [(true, 0.5f64.cos()), (false, 0.0)] {
        let args = (Tensor::from(p), Tensor::from(0.5f64));
        assert_eq!(evaluate(grad(f).wrt::<1>(), args, &Engines)?.item::<f64>()?, want);
    }
    let (p, w) = (spec(BOOL, []), spec(F64, []));
    let graph = trace(jvp(|w: Sym| f(w.gt(0.0), w)), (w.clone(), w.clone()))?;
    let op = graph.ops().iter().find(|op| op.prim.name() == "cond").unwrap();
    assert_eq!(op.results.len(), 3, "{graph}");
    // A gradient that no branch changes needs no second cond.
    let g = |p: Sym, w: Sym| cond(p, || 1.0 * w.ones_like(), || w.zeros_like()) + w;
    let graph = trace(grad(g).wrt::<1>(), (p, w))?.simplify();
    assert_eq!(count(&graph, "cond"), 0, "{graph}");
    Ok(())
}

#[test]
fn rules_with_integers_and_trees() -> Done {
    // f(x, n) = (xⁿ, n): an integer argument and an integer result.
    let power = |x: Sym, n: Sym| (x.pow(n.cast(F64)), n);
    let rule = |(x, n): (Sym, Sym), (t, u): (Sym, Sym)| {
        let n1 = n.cast(F64);
        ((x.pow(n1), n), (t * n1 * x.pow(n1 - 1.0), u))
    };
    let f = custom_jvp(power, rule);
    let loss = |x: Sym, n: Sym| f.call((x, n)).0;
    let args = || (Tensor::from(2f64), Tensor::from(3i32));
    assert_eq!(evaluate(grad(loss), args(), &Engines)?.item::<f64>()?, 12.0);
    let g = custom_vjp(
        power,
        |x: Sym, n: Sym| (power(x, n), (x, n.cast(F64))),
        |(x, n): (Sym, Sym), (ct, u): (Sym, Sym)| (ct * n * x.pow(n - 1.0), u),
    );
    let loss = |x: Sym, n: Sym| g.call((x, n)).0;
    assert_eq!(evaluate(grad(loss), args(), &Engines)?.item::<f64>()?, 12.0);
    let rows = (Tensor::from([2f64, 3.0]), Tensor::from(3i32));
    let mapped = |x: Sym, n: Sym| vmap(&g).in_axes([Some(0), None]).call((x, n)).0.sum(..);
    assert_eq!(evaluate(grad(mapped), rows, &Engines)?.to_vec::<f64>()?, [12.0, 27.0]);
    Ok(())
}

#[test]
fn functions_of_symbolic_extents() -> Done {
    // The body needs B, which none of its arguments has.
    let f = |x: Sym, y: Sym| checkpoint(move |y: Sym| (y + zeros(F64, [x.dim(0)])).sin().sum(..)).call(y) + x.sum(..);
    let graph = trace(grad(f).wrt::<1>(), (spec(F64, [dim("B")]), spec(F64, [])))?;
    let got = evaluate(&graph, (Tensor::zeros(F64, [3]), Tensor::from(0.5f64)), &Engines)?.item::<f64>()?;
    assert!((got - 3.0 * 0.5f64.cos()).abs() < 1e-15);
    // A transpose that reads none of the values but their extent.
    let g = |x: Sym| checkpoint(|x: Sym| x.sum(..) * 2.0).call(x) + x.sum(..) * 0.0;
    let graph = trace(grad(g), spec(F64, [dim("B")]))?;
    graph.verify()?;
    assert_eq!(evaluate(&graph, Tensor::zeros(F64, [3]), &Engines)?.to_vec::<f64>()?, [2.0; 3]);
    let rows =
        trace(vmap(grad(f).wrt::<1>()).in_axes([None, Some(0)]), (spec(F64, [dim("B")]), spec(F64, [dim("R")])))?;
    assert_eq!(
        evaluate(&rows, (Tensor::zeros(F64, [3]), Tensor::zeros(F64, [2])), &Engines)?.to_vec::<f64>()?,
        [3.0; 2]
    );
    Ok(())
}

const RULES: &str = "
func @main(%x: tensor<f64>) -> tensor<f64> {
  %r = evoxc.call(%x) {callee = @f, jvp = @j, batch = @b} : tensor<f64>
  return %r
}
func @f(%x: tensor<f64>) -> tensor<f64> {
  return %x
}
func @j(%x: tensor<f64>, %t: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %u = evoxc.neg(%t) : tensor<f64>
  return %x, %u
}
func @b(%x: tensor<ROWSxf64>) -> tensor<ROWSxf64> {
  %y = evoxc.call(%x) {callee = @c} : tensor<ROWSxf64>
  return %y
}
func @c(%x: tensor<ROWSxf64>) -> tensor<ROWSxf64> {
  %y = evoxc.add(%x, %x) : tensor<ROWSxf64>
  return %y
}";

#[test]
fn rules_in_text() -> Done {
    // The rules differ from the function, to be seen.
    let g = Graph::parse(RULES)?.typed::<Sym, Sym>()?;
    assert_eq!(evaluate(grad(&g), Tensor::from(2f64), &Engines)?.item::<f64>()?, -1.0);
    let rows = trace(vmap(&g), spec(F64, [3]))?;
    assert_eq!(evaluate(&rows, Tensor::from([1f64, 2.0, 3.0]), &Engines)?.to_vec::<f64>()?, [2.0, 4.0, 6.0]);
    let rows = trace(vmap(&g), spec(F64, [dim("N")]))?;
    assert_eq!(evaluate(&rows, Tensor::from([1f64, 2.0]), &Engines)?.to_vec::<f64>()?, [2.0, 4.0]);
    let fixed = Graph::parse(&RULES.replace("ROWS", "2"))?.typed::<Sym, Sym>()?;
    let e = trace(vmap(&fixed), spec(F64, [3])).unwrap_err().to_string();
    assert!(e.contains("@b") && e.contains("tensor<2xf64>") && e.contains("tensor<3xf64>"), "{e}");
    Ok(())
}

fn recursive(x: Sym) -> Sym {
    custom_jvp(|x: Sym| x.sin(), |x: Sym, t: Sym| (recursive(x), t * x.cos())).call(x)
}

#[test]
fn rules_of_themselves() -> Done {
    let e = trace(recursive, spec(F64, [])).unwrap_err().to_string();
    assert!(e.contains("custom_jvp") && e.contains("call the function that is wrapped"), "{e}");
    // In text a rule may name itself: every derivative unrolls it once. Rows of it would never end.
    let text = "
func @main(%x: tensor<f64>) -> tensor<f64> {
  %r = evoxc.call(%x) {callee = @f, jvp = @j} : tensor<f64>
  return %r
}
func @f(%x: tensor<f64>) -> tensor<f64> {
  %y = evoxc.exp(%x) : tensor<f64>
  return %y
}
func @j(%x: tensor<f64>, %t: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %y = evoxc.call(%x) {callee = @f, jvp = @j} : tensor<f64>
  %u = evoxc.mul(%t, %y) : tensor<f64>
  return %y, %u
}";
    let g = Graph::parse(text)?.typed::<Sym, Sym>()?;
    let third = evaluate(grad(grad(grad(&g))), Tensor::from(0.5f64), &Engines)?.item::<f64>()?;
    assert!((third - 0.5f64.exp()).abs() < 1e-15);
    assert!(trace(vmap(&g), spec(F64, [3])).is_err());
    Ok(())
}

#[test]
fn rules_that_apply_their_function_to_tangents() -> Done {
    // f(x) = 2 x is linear, so its rule may say that the tangent is f(t); in g it is also computed again.
    let text = "
func @main(%x: tensor<f64>) -> tensor<f64> {
  %r = evoxc.call(%x) {callee = @f, jvp = @j} : tensor<f64>
  return %r
}
func @f(%x: tensor<f64>) -> tensor<f64> {
  %y = evoxc.add(%x, %x) : tensor<f64>
  return %y
}
func @g(%x: tensor<f64>) -> tensor<f64> {
  %y = evoxc.call(%x) {callee = @f, jvp = @j} : tensor<f64>
  return %y
}
func @j(%x: tensor<f64>, %t: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %y = evoxc.call(%x) {callee = @f, jvp = @j} : tensor<f64>
  %u = evoxc.call(%t) {callee = HOW} : tensor<f64>
  return %y, %u
}";
    for how in ["@f, jvp = @j", "@g", "@g, remat = true"] {
        let g = Graph::parse(&text.replace("HOW", how))?.typed::<Sym, Sym>()?;
        assert_eq!(evaluate(grad(&g), Tensor::from(3f64), &Engines)?.item::<f64>()?, 2.0);
        assert_eq!(evaluate(grad(grad(&g)), Tensor::from(3f64), &Engines)?.item::<f64>()?, 0.0);
        let ones = (Tensor::from(3f64), Tensor::from(1f64));
        assert_eq!(evaluate(jvp(&g), ones, &Engines)?.1.item::<f64>()?, 2.0);
    }
    Ok(())
}

#[test]
fn inner_loops_of_rows_that_are_done_end() -> Done {
    // With a step of 0 the inner loop would not end, but then the outer one does not begin.
    let f = |x: Sym, by: Sym| {
        let inner = |x: Sym| while_loop(x, |y| y.gt(0.0), |y| y - by);
        while_loop((x, by), |(_, n)| n.gt(0.0), |(x, n)| (inner(x) + 3.0, n - 1.0)).0
    };
    let g = |x: Sym, by: Sym| {
        let inner = |x: Sym| while_loop(x, |y| y.gt(0.0), |y| y - by);
        let turn = |x: Sym| cond(x.gt(2.0), || inner(x), || x + 5.0);
        while_loop((x, by), |(_, n)| n.gt(0.0), |(x, n)| (turn(x), n - 1.0)).0
    };
    let args = || (Tensor::from([[5f64, 5.0], [5.0, 5.0]]), Tensor::from([[0f64, 2.0], [0.0, 0.0]]));
    // Step 2: 5 to -1, and 3 more; 2 to 0, and 3 more.
    assert_eq!(evaluate(vmap(vmap(f)), args(), &Engines)?.to_vec::<f64>()?, [5.0, 3.0, 5.0, 5.0]);
    // 5 to -1; then 5 more.
    assert_eq!(evaluate(vmap(vmap(g)), args(), &Engines)?.to_vec::<f64>()?, [5.0, 4.0, 5.0, 5.0]);
    Ok(())
}

#[test]
fn deep_nests() -> Done {
    fn nest(depth: u32, x: Sym, w: Sym) -> Sym {
        if depth == 0 {
            return x * w;
        }
        // The second carry gets its tangent only from the first, in the second step.
        fori_loop(1, (x, x.zeros_like()), |_, (y, z)| (nest(depth - 1, y, w) + z * 0.5, y)).0
    }
    let start = std::time::Instant::now();
    for depth in [1, 15, 25] {
        let f = |x: Sym, w: Sym| nest(depth, x, w);
        let graph = trace(grad(f).wrt::<1>(), (spec(F64, []), spec(F64, [])))?;
        assert_eq!(evaluate(&graph, (Tensor::from(3f64), Tensor::from(0.5f64)), &Engines)?.item::<f64>()?, 3.0);
        let rows = trace(vmap(f), (spec(F64, [2]), spec(F64, [2])))?;
        assert_eq!(
            evaluate(&rows, (Tensor::from([3f64, 2.0]), Tensor::from([0.5f64, 2.0])), &Engines)?.to_vec::<f64>()?,
            [1.5, 4.0]
        );
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    Ok(())
}

#[test]
fn jacobians_of_control_flow() -> Done {
    let square = custom_vjp(|x: Sym| x * x, |x: Sym| (x * x, x), |x: Sym, ct: Sym| ct * x * 2.0);
    let f = |x: Sym| {
        let (c, ys) = scan(x.at(0), x, |c: Sym, x: Sym| (cond(x.gt(0.0), || c * x, || c + x * x), c * x));
        checkpoint(|y: Sym| square.call(y).sin()).call(ys) + c
    };
    let plain = |x: Sym| {
        let (mut c, mut ys) = (x.at(0), vec![]);
        for i in 0..3 {
            let x = x.at(i);
            ys.push(c * x);
            c = x.gt(0.0).select(c * x, c + x * x);
        }
        let y = stack(ys, 0);
        (y * y).sin() + c
    };
    let x = || Tensor::from([0.5f64, -1.5, 2.0]);
    let near = |a: &Tensor, b: &Tensor| -> Done {
        assert_eq!(a.shape().to_vec(), b.shape().to_vec());
        for (a, b) in a.to_vec::<f64>()?.into_iter().zip(b.to_vec::<f64>()?) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
        Ok(())
    };
    near(&evaluate(jacrev(f), x(), &Engines)?, &evaluate(jacrev(plain), x(), &Engines)?)?;
    near(&evaluate(jacrev(f), x(), &Engines)?, &evaluate(jacfwd(plain), x(), &Engines)?)?;
    let (a, b) = (|x: Sym| f(x).sum(..), |x: Sym| plain(x).sum(..));
    near(&evaluate(hessian(a), x(), &Engines)?, &evaluate(hessian(b), x(), &Engines)?)?;
    let root =
        |x: Sym| while_loop((x, x * 0.0), |(y, p)| (y - p).abs().max(..).gt(1e-14), |(y, _)| (0.5 * (y + x / y), y)).0;
    let slopes = evaluate(jacfwd(root), Tensor::from([1f64, 4.0]), &Engines)?;
    for (a, b) in slopes.to_vec::<f64>()?.into_iter().zip([0.5, 0.0, 0.0, 0.25]) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    Ok(())
}
