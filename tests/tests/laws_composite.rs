//! Random smooth programs obey the laws that single ops obey, and what transforms write prints, parses and simplifies.

use evoxc::{Graph, dim};
use evoxc_core::Tensor;
use evoxc_tests::laws::host::near;
use evoxc_tests::laws::program::{Program, flat};
use evoxc_tests::laws::{derivative, rows};
use evoxc_tests::run::same_bits;
use evoxc_tests::smooth_graph::{Smooth, looping, smooth};
use evoxc_tests::tolerance::Category;

/// The programs; `PROGRAMS=n` and `SEED=n` in the environment ask for more, or others.
fn each(default: u64, check: impl Fn(&Program, &[Vec<Tensor>]) -> Result<(), String>) {
    each_of(smooth, default, check);
}

fn each_of(
    make: fn(u64, usize) -> evoxc::Result<Smooth>,
    default: u64,
    check: impl Fn(&Program, &[Vec<Tensor>]) -> Result<(), String>,
) {
    let of = |key: &str, otherwise| std::env::var(key).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let (n, first): (u64, u64) = (of("PROGRAMS", default), of("SEED", 0));
    let inputs = [Smooth::inputs(0), Smooth::inputs(1)];
    let mut failures = vec![];
    for seed in first..first + n {
        let made = make(seed, 6 + (seed % 7) as usize).map_err(|e| e.to_string());
        let result = made.and_then(|s| {
            let f = Program::new(flat(&s.graph)?)?;
            check(&f, &inputs).map_err(|e| format!("{e}\n{}", f.graph))
        });
        if let Err(e) = result {
            failures.push(format!("seed {seed}: {e}"));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn derivatives() {
    each(40, |f, x| {
        derivative::differences(f, &x[0], Category::Linalg).map_err(|e| format!("jvp: {e}"))?;
        derivative::adjoint(f, &x[0]).map_err(|e| format!("vjp: {e}")).map(|_| ())
    });
}

#[test]
fn second_derivatives() {
    each(20, |f, x| derivative::seconds(f, &x[0], Category::Linalg, true).map(|_| ()));
}

#[test]
fn rows_are_a_loop() {
    each(24, |f, x| rows::all_patterns(f, x, Category::Linalg, true).map(|_| ()));
}

#[test]
fn vmap_and_vjp_exchange() {
    each(24, |f, x| rows::exchanged(f, x, 1e-10).map(|_| ()));
}

#[test]
fn loops_of_unknown_length() {
    each_of(looping, 24, |f, x| {
        derivative::differences(f, &x[0], Category::Linalg).map_err(|e| format!("jvp: {e}"))?;
        rows::all_patterns(f, x, Category::Linalg, true).map_err(|e| format!("vmap: {e}"))?;
        let (specs, mapped) = (f.graph.input_specs(), vec![true; x[0].len()]);
        let rows = rows::specs(f, &mapped, 2, false);
        let wide = f.vmap(&vec![Some(0); specs.len()], 0, rows)?;
        derivative::differences(&wide, &rows::stacked(x, false)?, Category::Linalg)
            .map_err(|e| format!("jvp of vmap: {e}"))
            .map(|_| ())
    });
}

/// Derivatives of programs with symbolic extents are those of the same programs with static ones.
#[test]
fn symbolic_extents() {
    each(24, |f, x| {
        let (mapped, axes) = (vec![true; x[0].len()], vec![Some(0); x[0].len()]);
        let of = |specs| f.vmap(&axes, 0, specs);
        let fixed = of(rows::specs(f, &mapped, x.len(), false))?;
        let symbolic = of(rows::specs(f, &mapped, dim("Rows"), false))?;
        let x = rows::stacked(x, false)?;
        let pairs = [(fixed.jvp()?, symbolic.jvp()?), (fixed.vjp()?, symbolic.vjp()?)];
        pairs.iter().try_for_each(|(a, b)| {
            let more = a.graph.input_specs().into_iter().skip(x.len());
            let inputs: Vec<Tensor> =
                x.iter().cloned().chain(more.map(|t| Tensor::ones(t.dtype(), t.shape()))).collect();
            near(&b.run(&inputs)?, &a.run(&inputs)?, 1e-13)
        })
    });
}

/// The text of a transformed graph parses to an equal one, and simplification keeps its bits.
#[test]
fn what_transforms_write_is_a_graph() {
    each(24, |f, x| {
        let x = &x[0];
        for g in [f.jvp()?, f.vjp()?] {
            let n = g.graph.input_specs().len();
            let inputs: Vec<Tensor> = (0..n)
                .map(|k| {
                    x.get(k).cloned().unwrap_or_else(|| {
                        let t = &g.graph.input_specs()[k];
                        Tensor::ones(t.dtype(), t.shape())
                    })
                })
                .collect();
            let again = Graph::parse(&g.graph.to_string()).map_err(|e| e.to_string())?;
            if again != g.graph {
                return Err(format!("the print parses to another graph:\n{}", g.graph));
            }
            let simple = Program::new(g.graph.simplify())?;
            same_bits(&g.run(&inputs)?, &simple.run(&inputs)?).map_err(|e| format!("simplified: {e}"))?;
        }
        Ok(())
    });
}
