//! Random programs of loops, scans, branches, checkpoints and custom rules, nested in each other, against the same
//! programs unrolled by Rust: values, derivatives in both modes, second derivatives, and rows.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;

/// A small generator of choices (Marsaglia's xorshift64).
#[derive(Clone)]
struct Choices(u64);

impl Choices {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

/// How a program is written.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// Rust runs its loops and branches.
    Unrolled,
    /// They are ops; custom rules are for forward mode.
    Forward,
    /// They are ops; custom rules are for reverse mode.
    Reverse,
}

/// A program of two scalars.
fn program(c: &mut Choices, depth: u32, how: How, x: Sym, w: Sym) -> Sym {
    let flow = how != How::Unrolled;
    if depth == 0 {
        return match c.below(5) {
            0 => (x * w).sin(),
            1 => x * 0.5 + w,
            2 => (x - w).tanh(),
            3 => x * x * 0.3,
            _ => w.cos(),
        };
    }
    let d = depth - 1;
    match c.below(7) {
        0 => {
            let y = program(c, d, how, x, w);
            program(c, d, how, y, x)
        }
        1 => {
            let body = c.clone();
            c.below(1 << 20);
            if flow {
                fori_loop(2, x, |_, y| program(&mut body.clone(), d, how, y, w))
            } else {
                (0..2).fold(x, |y, _| program(&mut body.clone(), d, how, y, w))
            }
        }
        2 => {
            let body = c.clone();
            c.below(1 << 20);
            let xs = [x, w, x * 0.5];
            let step = |h: Sym, x: Sym| {
                let mut c = body.clone();
                let next = program(&mut c, d, how, h, x);
                (next, program(&mut c, d, how, x, w) + next)
            };
            if flow {
                let (h, ys) = scan(w, stack(xs, 0), step);
                h + ys.sum(0)
            } else {
                let (mut h, mut sum) = (w, None);
                for x in xs {
                    let (next, y) = step(h, x);
                    h = next;
                    sum = Some(sum.map_or(y, |s| s + y));
                }
                h + sum.unwrap_or(h)
            }
        }
        3 => {
            let (a, b) = (c.clone(), Choices(c.below(1 << 40) + 1));
            let yes = || program(&mut a.clone(), d, how, x, w);
            let no = || program(&mut b.clone(), d, how, w, x);
            let p = x.gt(w);
            if flow { cond(p, yes, no) } else { p.select(yes(), no()) }
        }
        4 => {
            let (a, b) = (c.clone(), Choices(c.below(1 << 40) + 1));
            let index = (x * 2.0).floor().cast(I32);
            let zero = || program(&mut a.clone(), d, how, x, w);
            let one = || w * w;
            let last = || program(&mut b.clone(), d, how, w, w);
            if flow {
                switch(index, [branch(zero), branch(one), branch(last)])
            } else {
                index.eq(0).select(zero(), index.eq(1).select(one(), last()))
            }
        }
        5 => {
            let body = c.clone();
            c.below(1 << 20);
            let f = |x: Sym, w: Sym| program(&mut body.clone(), d, how, x, w);
            if flow { checkpoint(f).call((x, w)) } else { f(x, w) }
        }
        _ => {
            let body = c.clone();
            c.below(1 << 20);
            let f = |x: Sym, w: Sym| program(&mut body.clone(), d, how, x, w);
            if flow { custom_jvp(f, |p: (Sym, Sym), t: (Sym, Sym)| jvp(f).call((p, t))).call((x, w)) } else { f(x, w) }
        }
    }
}

fn agree(seed: u64, what: &str, a: &Tensor, b: &Tensor) -> evoxc::Result<()> {
    for (a, b) in a.to_vec::<f64>()?.into_iter().zip(b.to_vec::<f64>()?) {
        assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "seed {seed}: {what}: {a} is not {b}");
    }
    Ok(())
}

fn check(seed: u64, depth: u32, how: How) -> evoxc::Result<()> {
    let run = |how: How| move |x: Sym, w: Sym| program(&mut Choices(seed * 0x9E37_79B9 + 77), depth, how, x, w);
    let (f, g) = (run(how), run(How::Unrolled));
    let args = || (Tensor::from(0.8f64), Tensor::from(0.35f64));
    agree(seed, "value", &evaluate(f, args(), &Engines)?, &evaluate(g, args(), &Engines)?)?;
    let (a, b) = evaluate(grad(f).wrt2::<0, 1>(), args(), &Engines)?;
    let (p, q) = evaluate(grad(g).wrt2::<0, 1>(), args(), &Engines)?;
    agree(seed, "d/dx", &a, &p)?;
    agree(seed, "d/dw", &b, &q)?;
    let twice = evaluate(grad(grad(f).wrt::<1>()), args(), &Engines)?;
    agree(seed, "second", &twice, &evaluate(grad(grad(g).wrt::<1>()), args(), &Engines)?)?;
    if how == How::Forward {
        let both = || (args(), (Tensor::from(1f64), Tensor::from(-0.5f64)));
        agree(seed, "jvp", &evaluate(jvp(f), both(), &Engines)?.1, &evaluate(jvp(g), both(), &Engines)?.1)?;
        let (a, b) = evaluate(jvp(grad(f)), both(), &Engines)?;
        let (p, q) = evaluate(jvp(grad(g)), both(), &Engines)?;
        agree(seed, "gradient under jvp", &a, &p)?;
        agree(seed, "jvp of the gradient", &b, &q)?;
    }
    // Forward over reverse: rules for reverse mode are gone then.
    let over = |x: Sym, w: Sym| jvp(|x: Sym| grad(f).call((x, w))).call((x, x.ones_like())).1;
    let want = |x: Sym, w: Sym| jvp(|x: Sym| grad(g).call((x, w))).call((x, x.ones_like())).1;
    agree(seed, "forward over reverse", &evaluate(over, args(), &Engines)?, &evaluate(want, args(), &Engines)?)?;
    let rows = || (Tensor::from([0.8f64, -0.4, 0.1]), Tensor::from([0.35f64, 0.9, 0.1]));
    agree(seed, "rows", &evaluate(vmap(f), rows(), &Engines)?, &evaluate(vmap(g), rows(), &Engines)?)?;
    let want = evaluate(vmap(grad(g)), rows(), &Engines)?;
    agree(seed, "rows of gradients", &evaluate(vmap(grad(f)), rows(), &Engines)?, &want)?;
    let sum = |x: Sym, w: Sym| vmap(f).call((x, w)).sum(..);
    agree(seed, "gradient of rows", &evaluate(grad(sum), rows(), &Engines)?, &want)?;
    let one = |x: Sym, w: Sym| vmap(f).in_axes([Some(0), None]).call((x, w)).sum(..);
    let plain = |x: Sym, w: Sym| vmap(g).in_axes([Some(0), None]).call((x, w)).sum(..);
    let mixed = || (Tensor::from([0.8f64, -0.4, 0.1]), Tensor::from(0.35f64));
    let (a, b) =
        (evaluate(grad(one).wrt::<1>(), mixed(), &Engines)?, evaluate(grad(plain).wrt::<1>(), mixed(), &Engines)?);
    agree(seed, "gradient of a shared value", &a, &b)?;
    let table = |x: Sym, w: Sym| vmap(vmap(f).in_axes([Some(0), None])).in_axes([None, Some(0)]).call((x, w)).sum(..);
    let plain = |x: Sym, w: Sym| vmap(vmap(g).in_axes([Some(0), None])).in_axes([None, Some(0)]).call((x, w)).sum(..);
    agree(seed, "table", &evaluate(grad(table), rows(), &Engines)?, &evaluate(grad(plain), rows(), &Engines)?)?;
    let graph = trace(grad(f), (spec(F64, []), spec(F64, [])))?;
    assert_eq!(Graph::parse(&graph.to_string())?.module(), graph.module());
    let simple = evaluate(&graph.simplify(), args(), &Engines)?;
    agree(seed, "simplified", &simple, &evaluate(grad(g), args(), &Engines)?)
}

#[test]
fn random_control_flow_differentiates_as_unrolled() -> evoxc::Result<()> {
    let many = if std::env::var_os("MANY").is_some() { 1000 } else { 60 };
    for seed in 0..many {
        check(seed, 1 + (seed % 3) as u32, if seed % 2 == 0 { How::Forward } else { How::Reverse })?;
    }
    Ok(())
}
