//! Derivatives and rows of control flow and calls, against unrolled programs and formulas.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;

type Done = evoxc::Result<()>;

fn close(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{got} is not {want}");
}

fn step(y: Sym, w: Sym) -> Sym {
    (y * w).sin() + w
}

/// Three steps as a loop, and unrolled.
fn looped(y: Sym, w: Sym) -> Sym {
    fori_loop(3, y, |_, y| step(y, w))
}
fn unrolled(y: Sym, w: Sym) -> Sym {
    step(step(step(y, w), w), w)
}

fn args() -> (Tensor, Tensor) {
    (Tensor::from(0.7f64), Tensor::from(1.3f64))
}

#[test]
fn loops_differentiate_as_unrolled() -> Done {
    let (a, b) = evaluate(grad(looped).wrt2::<0, 1>(), args(), &Engines)?;
    let (c, d) = evaluate(grad(unrolled).wrt2::<0, 1>(), args(), &Engines)?;
    close(a.item()?, c.item()?);
    close(b.item()?, d.item()?);
    let forward = (args(), (Tensor::from(1f64), Tensor::from(0.5f64)));
    let (y, t) = evaluate(jvp(looped), forward.clone(), &Engines)?;
    let (y2, t2) = evaluate(jvp(unrolled), forward, &Engines)?;
    close(y.item()?, y2.item()?);
    close(t.item()?, t2.item()?);
    Ok(())
}

#[test]
fn third_derivatives_of_loops() -> Done {
    let third = |x: Sym, w: Sym| grad(grad(grad(looped).wrt::<1>()).wrt::<1>()).wrt::<1>().call((x, w));
    let want = |x: Sym, w: Sym| grad(grad(grad(unrolled).wrt::<1>()).wrt::<1>()).wrt::<1>().call((x, w));
    let got: f64 = evaluate(third, args(), &Engines)?.item()?;
    close(got, evaluate(want, args(), &Engines)?.item()?);
    let forward = |x: Sym, w: Sym| jvp(grad(looped).wrt::<1>()).call(((x, w), (x, w))).1;
    let want = |x: Sym, w: Sym| jvp(grad(unrolled).wrt::<1>()).call(((x, w), (x, w))).1;
    let got: f64 = evaluate(forward, args(), &Engines)?.item()?;
    close(got, evaluate(want, args(), &Engines)?.item()?);
    Ok(())
}

#[test]
fn branches() -> Done {
    let f = |x: Sym, w: Sym| cond(x.gt(1.0), || (x * w).sin(), || x * x * w);
    for (x, dx, dw) in [(0.5f64, 2.0 * 0.5 * 3.0, 0.25), (2.0, 3.0 * 6f64.cos(), 2.0 * 6f64.cos())] {
        let args = || (Tensor::from(x), Tensor::from(3f64));
        let (a, b) = evaluate(grad(f).wrt2::<0, 1>(), args(), &Engines)?;
        close(a.item()?, dx);
        close(b.item()?, dw);
        let ones = (Tensor::from(1f64), Tensor::from(0f64));
        close(evaluate(jvp(f), (args(), ones), &Engines)?.1.item()?, dx);
        let second = |x: Sym, w: Sym| grad(|x: Sym| grad(f).call((x, w)) * x).call(x);
        let want = if x > 1.0 { 3.0 * 6f64.cos() - x * 9.0 * 6f64.sin() } else { 4.0 * x * 3.0 };
        close(evaluate(second, args(), &Engines)?.item()?, want);
    }
    let g = |i: Sym, x: Sym| switch(i, [branch(|| x.sin()), branch(|| x * x), branch(|| x.ones_like())]);
    for (i, want) in [(0, 0.5f64.cos()), (1, 1.0), (2, 0.0), (9, 0.0)] {
        let args = (Tensor::from(i), Tensor::from(0.5f64));
        close(evaluate(grad(g).wrt::<1>(), args, &Engines)?.item()?, want);
    }
    Ok(())
}

#[test]
fn while_loops_go_forward_only() -> Done {
    // Newton's square root: d/dx √x = 1 / (2 √x).
    let root = |x: Sym| while_loop((x, x * 0.0), |(y, p)| (y - p).abs().gt(1e-12), |(y, _)| (0.5 * (y + x / y), y)).0;
    let (y, t) = evaluate(jvp(root), (Tensor::from(2f64), Tensor::from(1f64)), &Engines)?;
    close(y.item()?, 2f64.sqrt());
    assert!((t.item::<f64>()? - 0.5 / 2f64.sqrt()).abs() < 1e-9);
    let e = trace(grad(root), spec(F64, [])).unwrap_err().to_string();
    assert!(e.contains("while_loop") && e.contains("fori_loop") && e.contains("control_transforms.rs:"), "{e}");
    Ok(())
}

/// Every row by itself, stacked: what vmap must equal.
fn rows(f: impl Fn(f64) -> evoxc::Result<f64>, xs: &[f64]) -> evoxc::Result<Vec<f64>> {
    xs.iter().map(|&x| f(x)).collect()
}

#[test]
fn loops_end_at_another_step_for_every_row() -> Done {
    let collatz = |n: Sym| {
        let odd = |n: Sym| (n % 2).eq(1);
        while_loop((n, n.zeros_like()), |(n, _)| n.gt(1), |(n, k)| (odd(n).select(n * 3 + 1, n / 2), k + 1)).1
    };
    let steps = evaluate(vmap(collatz), Tensor::from([1i32, 6, 7, 27, 1]), &Engines)?;
    assert_eq!(steps.to_vec::<i32>()?, [0, 8, 16, 111, 0]); // OEIS A006577
    // The condition is the same for all rows: the number of steps is not mapped.
    let power = |x: Sym, n: Sym| while_loop((x.ones_like(), n), |(_, n)| n.gt(0), |(y, n)| (y * x, n - 1)).0;
    let all = vmap(power).in_axes([Some(0), None]);
    let graph = trace(all, (spec(F64, [3]), spec(I32, [])))?;
    assert!(!graph.to_string().contains("select"), "{graph}");
    let y = evaluate(&graph, (Tensor::from([1f64, 2.0, 3.0]), Tensor::from(3i32)), &Engines)?;
    assert_eq!(y.to_vec::<f64>()?, [1.0, 8.0, 27.0]);
    // Rows that are done keep their value, also when one of them would become NaN.
    let root = |x: Sym| while_loop((x, x * 0.0), |(y, p)| (y - p).abs().gt(1e-12), |(y, _)| (0.5 * (y + x / y), y)).0;
    let xs = [1f64, 2.0, 1e6, 1e-6];
    let got = evaluate(vmap(root), Tensor::from(xs), &Engines)?.to_vec::<f64>()?;
    assert_eq!(got, rows(|x| evaluate(root, Tensor::from(x), &Engines)?.item(), &xs)?);
    Ok(())
}

#[test]
fn branches_of_rows() -> Done {
    let f = |x: Sym| cond(x.gt(0.0), || x.log(), || x * x);
    let xs = [0.5f64, -2.0, 0.0, 3.0];
    let got = evaluate(vmap(f), Tensor::from(xs), &Engines)?.to_vec::<f64>()?;
    assert_eq!(got, rows(|x| evaluate(f, Tensor::from(x), &Engines)?.item(), &xs)?);
    let slopes = evaluate(vmap(grad(f)), Tensor::from(xs), &Engines)?.to_vec::<f64>()?;
    assert_eq!(slopes, [2.0, -4.0, 0.0, 1.0 / 3.0]);
    let g = |i: Sym, x: Sym| switch(i, [branch(|| x.sin()), branch(|| x * x), branch(|| -x)]);
    let args = (Tensor::from([0i32, 1, 2, 7, -1]), Tensor::from([0.5f64, 2.0, 3.0, 4.0, 5.0]));
    let got = evaluate(vmap(g), args, &Engines)?.to_vec::<f64>()?;
    assert_eq!(got, [0.5f64.sin(), 4.0, -3.0, -4.0, -5.0]);
    let one = trace(vmap(g).in_axes([None, Some(0)]), (spec(I32, []), spec(F64, [5])))?;
    assert!(one.to_string().contains("evoxc.switch"), "{one}");
    Ok(())
}

#[test]
fn branches_that_rows_do_not_take_give_no_nan() -> Done {
    // d/dx and d/dw of Σ cond(x > 0, log(w x), 0), summed by the gradient of a mapped function.
    let f = |x: Sym, w: Sym| cond(x.gt(0.0), || (w * x).log(), || x * 0.0);
    let total = |x: Sym, w: Sym| vmap(f).in_axes([Some(0), None]).call((x, w)).sum(..);
    for xs in [[1f64, 0.0, 2.0, -1.0], [0.0, 0.0, -1.0, 0.0]] {
        let n = xs.iter().filter(|&&x| x > 0.0).count() as f64;
        let args = (Tensor::from(xs), Tensor::from(2f64));
        let (dx, dw) = evaluate(grad(total).wrt2::<0, 1>(), args, &Engines)?;
        let want: Vec<f64> = xs.iter().map(|&x| if x > 0.0 { 1.0 / x } else { 0.0 }).collect();
        assert_eq!(dx.to_vec::<f64>()?, want);
        close(dw.item()?, n / 2.0);
    }
    Ok(())
}

#[test]
fn scans_of_rows() -> Done {
    let f = |h: Sym, xs: Sym| scan(h, xs, |h, x| ((h * x).sin(), h + x));
    let (h, xs) = (Tensor::from([0.5f64, 1.5]), Tensor::from([[1f64, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    let (last, ys) = evaluate(vmap(f), (h, xs), &Engines)?;
    for i in 0..2 {
        let (h, x) = ([0.5f64, 1.5][i], [[1f64, 2.0, 3.0], [4.0, 5.0, 6.0]][i]);
        let (l, y) = evaluate(f, (Tensor::from(h), Tensor::from(x)), &Engines)?;
        assert_eq!(last.to_vec::<f64>()?[i], l.item::<f64>()?);
        assert_eq!(ys.to_vec::<f64>()?[3 * i..3 * i + 3], y.to_vec::<f64>()?[..]);
    }
    // The carry becomes batched only because the body adds what is.
    let g = |x: Sym| fori_loop(3, x.zeros_like(), |_, y| y + x);
    assert_eq!(evaluate(vmap(g), Tensor::from([1f64, 2.0]), &Engines)?.to_vec::<f64>()?, [3.0, 6.0]);
    Ok(())
}

/// An unrolled recurrent net, and the same by a scan; the weights are captured by the body.
fn cell(h: Sym, x: Sym, w: Sym, u: Sym) -> Sym {
    (h.dot(w) + x.dot(u)).tanh()
}
fn rnn(h: Sym, xs: Sym, w: Sym, u: Sym) -> Sym {
    let (last, hs) = scan(h, xs, |h, x| {
        let next = cell(h, x, w, u);
        (next, next)
    });
    (last * last).sum(..) + hs.sin().sum(..)
}
fn rnn_unrolled(h: Sym, xs: Sym, w: Sym, u: Sym) -> Sym {
    let mut h = h;
    let mut loss = None;
    for i in 0..3 {
        h = cell(h, xs.at(i), w, u);
        let term = h.sin().sum(..);
        loss = Some(loss.map_or(term, |l| l + term));
    }
    (h * h).sum(..) + loss.unwrap_or(h)
}
fn rnn_args() -> (Tensor, Tensor, Tensor, Tensor) {
    let fill = |n: usize, k: f64| (0..n).map(|i| ((i as f64 + k) * 0.7).sin()).collect::<Vec<f64>>();
    let t = |shape: &[usize], k: f64| Tensor::from_vec(fill(shape.iter().product(), k), shape).unwrap();
    (t(&[2], 0.0), t(&[3, 4], 1.0), t(&[2, 2], 2.0), t(&[4, 2], 3.0))
}
fn all_close(a: &Tensor, b: &Tensor) -> Done {
    let (a, b) = (a.to_vec::<f64>()?, b.to_vec::<f64>()?);
    assert_eq!(a.len(), b.len());
    a.iter().zip(&b).for_each(|(a, b)| close(*a, *b));
    Ok(())
}

#[test]
fn recurrent_nets() -> Done {
    let (a, b) = evaluate(grad(rnn).wrt2::<0, 2>(), rnn_args(), &Engines)?;
    let (c, d) = evaluate(grad(rnn_unrolled).wrt2::<0, 2>(), rnn_args(), &Engines)?;
    all_close(&a, &c)?;
    all_close(&b, &d)?;
    let (a, b) = evaluate(grad(rnn).wrt2::<1, 3>(), rnn_args(), &Engines)?;
    let (c, d) = evaluate(grad(rnn_unrolled).wrt2::<1, 3>(), rnn_args(), &Engines)?;
    all_close(&a, &c)?;
    all_close(&b, &d)?;
    // Second derivatives, forward over reverse and reverse over reverse.
    let fr = |h: Sym, x: Sym, w: Sym, u: Sym| jvp(|w: Sym| grad(|w: Sym| rnn(h, x, w, u)).call(w)).call((w, w)).1;
    let rr = |h: Sym, x: Sym, w: Sym, u: Sym| {
        grad(|v: Sym| (grad(|w: Sym| rnn(h, x, w, u)).call(v) * w.stop_gradient()).sum(..)).call(w)
    };
    let want =
        |h: Sym, x: Sym, w: Sym, u: Sym| jvp(|w: Sym| grad(|w: Sym| rnn_unrolled(h, x, w, u)).call(w)).call((w, w)).1;
    let want = evaluate(want, rnn_args(), &Engines)?;
    all_close(&evaluate(fr, rnn_args(), &Engines)?, &want)?;
    all_close(&evaluate(rr, rnn_args(), &Engines)?, &want)?;
    Ok(())
}

#[test]
fn nested_scans() -> Done {
    let inner = |x: Sym, w: Sym| fori_loop(2, x, |_, y| (y * w).sin());
    let f = |xs: Sym, w: Sym| scan(w, xs, |c, x| (inner(c, w) + x, inner(x, c))).1.sum(..);
    let unrolled = |xs: Sym, w: Sym| {
        let inner = |x: Sym, w: Sym| ((x * w).sin() * w).sin();
        let (x0, x1) = (xs.at(0), xs.at(1));
        inner(x0, w) + inner(x1, inner(w, w) + x0)
    };
    let args = || (Tensor::from([0.3f64, 0.9]), Tensor::from(1.2f64));
    let (a, b) = evaluate(grad(f).wrt2::<0, 1>(), args(), &Engines)?;
    let (c, d) = evaluate(grad(unrolled).wrt2::<0, 1>(), args(), &Engines)?;
    all_close(&a, &c)?;
    all_close(&b, &d)?;
    let hessian = |xs: Sym, w: Sym| grad(|w: Sym| grad(f).wrt::<1>().call((xs, w))).call(w);
    let want = |xs: Sym, w: Sym| grad(|w: Sym| grad(unrolled).wrt::<1>().call((xs, w))).call(w);
    all_close(&evaluate(hessian, args(), &Engines)?, &evaluate(want, args(), &Engines)?)?;
    Ok(())
}

fn count<I, O>(g: &Graph<I, O>, op: &str) -> usize
where
    I: Tree<Sym>,
    O: Tree<Sym>,
{
    g.to_string().matches(&format!("evoxc.{op}(")).count()
}

#[test]
fn checkpoints_store_only_arguments() -> Done {
    let body = |c: Sym, w: Sym| (c * w).sin().exp();
    let plain = |x: Sym, w: Sym| fori_loop(4, x, |_, c| body(c, w));
    let saved = |x: Sym, w: Sym| fori_loop(4, x, |_, c| checkpoint(body).call((c, w)));
    let captured = |x: Sym, w: Sym| fori_loop(4, x, |_, c| checkpoint(|c: Sym| body(c, w)).call(c));
    let args = || (Tensor::from(0.4f64), Tensor::from(0.8f64));
    let (a, b) = evaluate(grad(plain).wrt2::<0, 1>(), args(), &Engines)?;
    let (c, d) = evaluate(grad(saved).wrt2::<0, 1>(), args(), &Engines)?;
    let (e, f) = evaluate(grad(captured).wrt2::<0, 1>(), args(), &Engines)?;
    for (x, y) in [(&a, &c), (&b, &d), (&a, &e), (&b, &f)] {
        all_close(x, y)?;
    }
    let types = (spec(F64, []), spec(F64, []));
    let graph = trace(grad(saved), types.clone())?.simplify();
    // The function computes sin once, the backward scan once more; the forward scan stacks the carry alone.
    assert_eq!((count(&graph, "sin"), count(&graph, "optimization_barrier")), (2, 1), "{graph}");
    let forward = graph.ops().iter().find(|op| op.prim.name() == "scan").unwrap();
    assert_eq!(forward.results.len(), 2, "{graph}");
    let stored = trace(grad(plain), types)?.simplify();
    let forward = stored.ops().iter().find(|op| op.prim.name() == "scan").unwrap();
    assert!(forward.results.len() > 2 && count(&stored, "sin") == 1, "{stored}");
    // Nor do second derivatives store more than the state, its tangent and the cotangent of each step.
    let second = trace(grad(grad(saved)), (spec(F64, []), spec(F64, [])))?.simplify();
    let stacks = |op: &&evoxc::ir::Op| match op.prim {
        evoxc::ir::Prim::Scan { carry, .. } => Some(op.results.len() - carry),
        _ => None,
    };
    let stacked: Vec<usize> = second.ops().iter().filter_map(|op| stacks(&op)).collect();
    assert_eq!(stacked, [1, 1, 1, 0], "{second}");
    // What is linear needs nothing of the forward pass.
    let linear = |x: Sym, w: Sym| fori_loop(4, x, |_, c| checkpoint(|c: Sym| c * 2.0 + w).call(c)).sum(..);
    let graph = trace(grad(linear), (spec(F64, [3]), spec(F64, [])))?.simplify();
    assert_eq!(graph.ops().iter().filter(|op| op.prim.name() == "scan").count(), 1, "{graph}");
    // A result that does not depend on what is differentiated has no tangent.
    let apart = |x: Sym, w: Sym| {
        let (a, b) = checkpoint(|x: Sym, w: Sym| (x.sin(), w.exp())).call((x, w));
        a + b * w
    };
    let graph = trace(|x: Sym, w: Sym| jvp(|x: Sym| apart(x, w)).call((x, x)).1, (spec(F64, []), spec(F64, [])))?;
    let graph = graph.simplify();
    assert_eq!((count(&graph, "exp"), count(&graph, "mul"), count(&graph, "add")), (1, 1, 0), "{graph}");
    let stopped = |x: Sym, w: Sym| checkpoint(|x: Sym| x.sin().stop_gradient()).call(x) * w * x;
    close(evaluate(grad(stopped), args(), &Engines)?.item()?, 0.4f64.sin() * 0.8);
    // It nests with the other transforms.
    let twice = evaluate(grad(grad(saved)), args(), &Engines)?;
    all_close(&twice, &evaluate(grad(grad(plain)), args(), &Engines)?)?;
    let forward = evaluate(jvp(saved), (args(), args()), &Engines)?.1;
    all_close(&forward, &evaluate(jvp(plain), (args(), args()), &Engines)?.1)?;
    let xs = (Tensor::from([0.1f64, 0.2]), Tensor::from([0.3f64, 0.4]));
    let mapped = evaluate(vmap(grad(saved)), xs.clone(), &Engines)?;
    all_close(&mapped, &evaluate(vmap(grad(plain)), xs.clone(), &Engines)?)?;
    let mapped = evaluate(grad(|x: Sym, w: Sym| vmap(saved).call((x, w)).sum(..)), xs.clone(), &Engines)?;
    all_close(&mapped, &evaluate(vmap(grad(plain)), xs, &Engines)?)?;
    Ok(())
}

#[test]
fn custom_rules() -> Done {
    // Rules that are wrong on purpose: 3 and 5 instead of the derivative 2x.
    let forward = custom_jvp(|x: Sym| x * x, |x: Sym, t: Sym| (x * x, t * 3.0));
    let reverse = custom_vjp(|x: Sym| x * x, |x: Sym| (x * x, x), |x: Sym, ct: Sym| ct * 5.0 + x * 0.0);
    let x = || Tensor::from(2f64);
    close(evaluate(&forward, x(), &Engines)?.item()?, 4.0);
    close(evaluate(grad(&forward), x(), &Engines)?.item()?, 3.0);
    close(evaluate(jvp(&forward), (x(), x()), &Engines)?.1.item()?, 6.0);
    close(evaluate(grad(&reverse), x(), &Engines)?.item()?, 5.0);
    let e = trace(jvp(&reverse), (spec(F64, []), spec(F64, []))).unwrap_err().to_string();
    assert!(e.contains("custom vjp only"), "{e}");
    let xs = || Tensor::from([1f64, 2.0, 3.0]);
    assert_eq!(evaluate(vmap(grad(&forward)), xs(), &Engines)?.to_vec::<f64>()?, [3.0; 3]);
    assert_eq!(evaluate(vmap(grad(&reverse)), xs(), &Engines)?.to_vec::<f64>()?, [5.0; 3]);
    let sum = |x: Sym| vmap(&forward).call(x).sum(..);
    assert_eq!(evaluate(grad(sum), xs(), &Engines)?.to_vec::<f64>()?, [3.0; 3]);
    let sum = |x: Sym| vmap(&reverse).call(x).sum(..);
    assert_eq!(evaluate(grad(sum), xs(), &Engines)?.to_vec::<f64>()?, [5.0; 3]);
    // In a loop, and in one within another: 3³ and 5³.
    let thrice = |x: Sym| fori_loop(3, x, |_, y| forward.call(y));
    close(evaluate(grad(thrice), Tensor::from(1f64), &Engines)?.item()?, 27.0);
    let thrice = |x: Sym| fori_loop(3, x, |_, y| reverse.call(y));
    close(evaluate(grad(thrice), Tensor::from(1f64), &Engines)?.item()?, 125.0);
    let inside = |x: Sym| checkpoint(|x: Sym| reverse.call(x).sin()).call(x);
    close(evaluate(grad(inside), Tensor::from(1f64), &Engines)?.item()?, 5.0 * 1f64.cos());
    // An argument that every row shares gets the sum over the rows.
    let f = custom_vjp(
        |x: Sym, w: Sym| x * w,
        |x: Sym, w: Sym| (x * w, (x, w)),
        |(x, w): (Sym, Sym), ct: Sym| (ct * w, ct * x * 10.0),
    );
    let sum = |x: Sym, w: Sym| vmap(&f).in_axes([Some(0), None]).call((x, w)).sum(..);
    close(evaluate(grad(sum).wrt::<1>(), (xs(), x()), &Engines)?.item()?, 60.0);
    Ok(())
}

#[test]
fn rules_that_scan() -> Done {
    // A rule whose tangent goes through a loop over values and tangents at once.
    let power = |x: Sym| fori_loop(3, x.ones_like(), |_, y| y * x);
    let f = custom_jvp(power, |x: Sym, t: Sym| jvp(power).call((x, t)));
    close(evaluate(grad(&f), Tensor::from(2f64), &Engines)?.item()?, 12.0); // 3x²
    close(evaluate(grad(grad(&f)), Tensor::from(2f64), &Engines)?.item()?, 12.0); // 6x
    Ok(())
}

#[test]
fn captured_values_have_no_rule() -> Done {
    let f = |x: Sym, w: Sym| custom_jvp(|x: Sym| x * w, |x: Sym, t: Sym| (x * w, t * w)).call(x);
    let args = (Tensor::from(2f64), Tensor::from(3f64));
    close(evaluate(grad(f), args.clone(), &Engines)?.item()?, 3.0);
    let e = evaluate(grad(f).wrt::<1>(), args, &Engines).unwrap_err().to_string();
    assert!(e.contains("pass that value as an argument"), "{e}");
    let f = |x: Sym, w: Sym| custom_vjp(|x: Sym| x * w, |x: Sym| (x * w, ()), |_: (), ct: Sym| ct * w).call(x);
    let args = (Tensor::from(2f64), Tensor::from(3f64));
    close(evaluate(grad(f), args.clone(), &Engines)?.item()?, 3.0);
    let e = evaluate(grad(f).wrt::<1>(), args, &Engines).unwrap_err().to_string();
    assert!(e.contains("pass that value as an argument"), "{e}");
    Ok(())
}

#[test]
fn saved_graphs_keep_their_rules() -> Done {
    let program = |x: Sym| {
        let a = custom_jvp(|x: Sym| x * x, |x: Sym, t: Sym| (x * x, t * 3.0)).call(x);
        let b = custom_vjp(|x: Sym| x * x, |x: Sym| (x * x, ()), |_: (), ct: Sym| ct * 5.0).call(x);
        (a + b + checkpoint(|x: Sym| x.sin()).call(x)).sum(..)
    };
    let graph = trace(program, spec(F64, [2]))?;
    assert_eq!(Graph::parse(&graph.to_string())?.module(), graph.module());
    let path = std::env::temp_dir().join(format!("evoxc-rules-{}.evoxcgraph", std::process::id()));
    graph.save(&path)?;
    let loaded = Graph::load(&path)?.typed::<Sym, Sym>()?;
    std::fs::remove_file(&path).ok();
    let x = Tensor::from([1f64, 2.0]);
    let want = [8.0 + 1f64.cos(), 8.0 + 2f64.cos()];
    for g in [&graph, &loaded] {
        let slope = trace(grad(g), spec(F64, [2]))?;
        let got = evaluate(&slope, x.clone(), &Engines)?.to_vec::<f64>()?;
        got.iter().zip(want).for_each(|(a, b)| close(*a, b));
        assert_eq!(Graph::parse(&slope.to_string())?.module(), slope.module());
    }
    Ok(())
}

#[test]
fn rules_that_do_not_fit_are_refused() {
    let f = custom_jvp(|x: Sym| x * x, |x: Sym, t: Sym| (x * x, t.sum(..)));
    let e = trace(f, spec(F64, [2])).unwrap_err().to_string();
    assert!(e.contains("custom_jvp") && e.contains("tensor<f64>") && e.contains("must be tensor<2xf64>"), "{e}");
    let f = custom_vjp(|x: Sym| x.sum(..), |x: Sym| (x.sum(..), ()), |_: (), ct: Sym| ct);
    let e = trace(f, spec(F64, [2])).unwrap_err().to_string();
    assert!(e.contains("backward") && e.contains("must be tensor<2xf64>"), "{e}");
}

#[test]
fn what_no_gradient_needs_is_not_stored() -> Done {
    // The stacked exp is dropped, and with it its residuals: what is left is the carry, cos, and x.
    let last = |w: Sym, xs: Sym| scan(w, xs, |h: Sym, x: Sym| ((h * x).sin(), (h * h).exp())).0;
    let graph = trace(grad(last), (spec(F64, []), spec(F64, [3])))?;
    assert_eq!(count(&graph, "exp"), 0, "{graph}");
    let scans: Vec<_> = graph.ops().iter().filter(|op| op.prim.name() == "scan").collect();
    assert_eq!((scans[0].results.len(), scans[1].operands.len()), (2, 3), "{graph}");
    let got = evaluate(&graph, (Tensor::from(0.5f64), Tensor::from([1f64, 2.0, 3.0])), &Engines)?;
    let (a, b) = (0.5f64.sin(), (2.0 * 0.5f64.sin()).sin());
    close(got.item()?, 0.5f64.cos() * 2.0 * (2.0 * a).cos() * 3.0 * (3.0 * b).cos());
    Ok(())
}
