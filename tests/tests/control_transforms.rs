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
