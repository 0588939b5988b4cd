//! Reductions and running combinations: smooth points against central differences, ties and zeros against JAX 0.10.

use crate::check::*;
use evoxc::prelude::*;
use evoxc_trace as tr;

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
        ("complex prod", |x| {
            let z = x.slice(s![..3]).complex(x.slice(s![3..]));
            concat([z.prod(..).imag().ravel(), z.cumprod(0).real()], 0)
        }),
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

// d³(xyz)/dx dy dz = 1, through the product of a reduction and of a running product.
#[test]
fn products_have_third_derivatives() {
    for f in [(|x| x.prod(..)) as F1, |x| x.cumprod(0).slice(s![2])] {
        let part = |g: Sym, i: usize| g.slice(s![i]);
        let third = |x: Sym| grad(|x: Sym| part(grad(|x: Sym| part(grad(f).call(x), 0)).call(x), 1)).call(x);
        assert_eq!(run1(third, &[0.0, 2.0, 0.0]), [0.0, 0.0, 1.0]);
    }
}
