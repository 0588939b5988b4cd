//! Derivatives and rows of control flow and calls, against unrolled programs and formulas.

use evoxc::prelude::*;

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
    let (a, b) = evaluate(grad(looped).wrt2::<0, 1>(), args(), &Interp)?;
    let (c, d) = evaluate(grad(unrolled).wrt2::<0, 1>(), args(), &Interp)?;
    close(a.item()?, c.item()?);
    close(b.item()?, d.item()?);
    let forward = (args(), (Tensor::from(1f64), Tensor::from(0.5f64)));
    let (y, t) = evaluate(jvp(looped), forward.clone(), &Interp)?;
    let (y2, t2) = evaluate(jvp(unrolled), forward, &Interp)?;
    close(y.item()?, y2.item()?);
    close(t.item()?, t2.item()?);
    Ok(())
}

#[test]
fn third_derivatives_of_loops() -> Done {
    let third = |x: Sym, w: Sym| grad(grad(grad(looped).wrt::<1>()).wrt::<1>()).wrt::<1>().call((x, w));
    let want = |x: Sym, w: Sym| grad(grad(grad(unrolled).wrt::<1>()).wrt::<1>()).wrt::<1>().call((x, w));
    let got: f64 = evaluate(third, args(), &Interp)?.item()?;
    close(got, evaluate(want, args(), &Interp)?.item()?);
    let forward = |x: Sym, w: Sym| jvp(grad(looped).wrt::<1>()).call(((x, w), (x, w))).1;
    let want = |x: Sym, w: Sym| jvp(grad(unrolled).wrt::<1>()).call(((x, w), (x, w))).1;
    let got: f64 = evaluate(forward, args(), &Interp)?.item()?;
    close(got, evaluate(want, args(), &Interp)?.item()?);
    Ok(())
}

#[test]
fn branches() -> Done {
    let f = |x: Sym, w: Sym| cond(x.gt(1.0), || (x * w).sin(), || x * x * w);
    for (x, dx, dw) in [(0.5f64, 2.0 * 0.5 * 3.0, 0.25), (2.0, 3.0 * 6f64.cos(), 2.0 * 6f64.cos())] {
        let args = || (Tensor::from(x), Tensor::from(3f64));
        let (a, b) = evaluate(grad(f).wrt2::<0, 1>(), args(), &Interp)?;
        close(a.item()?, dx);
        close(b.item()?, dw);
        let ones = (Tensor::from(1f64), Tensor::from(0f64));
        close(evaluate(jvp(f), (args(), ones), &Interp)?.1.item()?, dx);
        let second = |x: Sym, w: Sym| grad(|x: Sym| grad(f).call((x, w)) * x).call(x);
        let want = if x > 1.0 { 3.0 * 6f64.cos() - x * 9.0 * 6f64.sin() } else { 4.0 * x * 3.0 };
        close(evaluate(second, args(), &Interp)?.item()?, want);
    }
    let g = |i: Sym, x: Sym| switch(i, [branch(|| x.sin()), branch(|| x * x), branch(|| x.ones_like())]);
    for (i, want) in [(0, 0.5f64.cos()), (1, 1.0), (2, 0.0), (9, 0.0)] {
        let args = (Tensor::from(i), Tensor::from(0.5f64));
        close(evaluate(grad(g).wrt::<1>(), args, &Interp)?.item()?, want);
    }
    Ok(())
}

#[test]
fn while_loops_go_forward_only() -> Done {
    // Newton's square root: d/dx √x = 1 / (2 √x).
    let root = |x: Sym| while_loop((x, x * 0.0), |(y, p)| (y - p).abs().gt(1e-12), |(y, _)| (0.5 * (y + x / y), y)).0;
    let (y, t) = evaluate(jvp(root), (Tensor::from(2f64), Tensor::from(1f64)), &Interp)?;
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
        while_loop((n, n * 0), |(n, _)| n.gt(1), |(n, k)| (odd(n).select(n * 3 + 1, n / 2), k + 1)).1
    };
    let steps = evaluate(vmap(collatz), Tensor::from([1i32, 6, 7, 27, 1]), &Interp)?;
    assert_eq!(steps.to_vec::<i32>()?, [0, 8, 16, 111, 0]); // OEIS A006577
    // The condition is the same for all rows: the number of steps is not mapped.
    let power = |x: Sym, n: Sym| while_loop((x.ones_like(), n), |(_, n)| n.gt(0), |(y, n)| (y * x, n - 1)).0;
    let all = vmap(power).in_axes([Some(0), None]);
    let graph = trace(all, (spec(F64, [3]), spec(I32, [])))?;
    assert!(!graph.to_string().contains("select"), "{graph}");
    let y = evaluate(&graph, (Tensor::from([1f64, 2.0, 3.0]), Tensor::from(3i32)), &Interp)?;
    assert_eq!(y.to_vec::<f64>()?, [1.0, 8.0, 27.0]);
    // Rows that are done keep their value, also when one of them would become NaN.
    let root = |x: Sym| while_loop((x, x * 0.0), |(y, p)| (y - p).abs().gt(1e-12), |(y, _)| (0.5 * (y + x / y), y)).0;
    let xs = [1f64, 2.0, 1e6, 1e-6];
    let got = evaluate(vmap(root), Tensor::from(xs), &Interp)?.to_vec::<f64>()?;
    assert_eq!(got, rows(|x| evaluate(root, Tensor::from(x), &Interp)?.item(), &xs)?);
    Ok(())
}

#[test]
fn branches_of_rows() -> Done {
    let f = |x: Sym| cond(x.gt(0.0), || x.log(), || x * x);
    let xs = [0.5f64, -2.0, 0.0, 3.0];
    let got = evaluate(vmap(f), Tensor::from(xs), &Interp)?.to_vec::<f64>()?;
    assert_eq!(got, rows(|x| evaluate(f, Tensor::from(x), &Interp)?.item(), &xs)?);
    let slopes = evaluate(vmap(grad(f)), Tensor::from(xs), &Interp)?.to_vec::<f64>()?;
    assert_eq!(slopes, [2.0, -4.0, 0.0, 1.0 / 3.0]);
    let g = |i: Sym, x: Sym| switch(i, [branch(|| x.sin()), branch(|| x * x), branch(|| -x)]);
    let args = (Tensor::from([0i32, 1, 2, 7, -1]), Tensor::from([0.5f64, 2.0, 3.0, 4.0, 5.0]));
    let got = evaluate(vmap(g), args, &Interp)?.to_vec::<f64>()?;
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
        let (dx, dw) = evaluate(grad(total).wrt2::<0, 1>(), args, &Interp)?;
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
    let (last, ys) = evaluate(vmap(f), (h, xs), &Interp)?;
    for i in 0..2 {
        let (h, x) = ([0.5f64, 1.5][i], [[1f64, 2.0, 3.0], [4.0, 5.0, 6.0]][i]);
        let (l, y) = evaluate(f, (Tensor::from(h), Tensor::from(x)), &Interp)?;
        assert_eq!(last.to_vec::<f64>()?[i], l.item::<f64>()?);
        assert_eq!(ys.to_vec::<f64>()?[3 * i..3 * i + 3], y.to_vec::<f64>()?[..]);
    }
    // The carry becomes batched only because the body adds what is.
    let g = |x: Sym| fori_loop(3, x.zeros_like(), |_, y| y + x);
    assert_eq!(evaluate(vmap(g), Tensor::from([1f64, 2.0]), &Interp)?.to_vec::<f64>()?, [3.0, 6.0]);
    Ok(())
}
