//! Programs of 10,000 ops, and the deepest nesting that is allowed: nothing on the way may recurse once an op.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;

const N: usize = 10_000;

/// Runs `f` on a thread with a small stack.
fn small_stack(f: impl FnOnce() + Send + 'static) {
    let t = std::thread::Builder::new().stack_size(256 * 1024).spawn(f).unwrap();
    t.join().unwrap();
}

fn chain(x: Sym) -> Sym {
    (0..N).fold(x, |y, i| if i % 2 == 0 { y + 1.0 } else { -y })
}

// x → x + 1 → -(x + 1) → -x → x: after four ops the value is back.
#[test]
fn a_chain_of_ten_thousand_ops_passes_every_stage() {
    small_stack(|| {
        let g = trace(chain, spec(F32, [])).unwrap();
        let text = g.to_string();
        let again = Graph::parse(&text).unwrap();
        assert_eq!(again, g.clone().erase());
        g.verify().unwrap();
        assert!(g.to_dot().len() > N);
        let y =
            g.lower(&Engines).unwrap().compile().unwrap().load(Device::cpu()).unwrap().run(Tensor::from(2f32)).unwrap();
        assert_eq!(y.item::<f32>().unwrap(), 2.0);
        let s = g.simplify();
        s.verify().unwrap();
        let y =
            s.lower(&Engines).unwrap().compile().unwrap().load(Device::cpu()).unwrap().run(Tensor::from(2f32)).unwrap();
        assert_eq!(y.item::<f32>().unwrap(), 2.0);
        drop((g, again, s));
    });
}

#[test]
fn nesting_is_bounded_by_an_error() {
    fn nest(x: Sym, depth: usize) -> Sym {
        if depth == 0 { x } else { cond(x.gt(0.0), || nest(x, depth - 1), || x) }
    }
    let deep = |n: usize| trace(move |x: Sym| nest(x, n), spec(F32, []));
    let g = deep(90).unwrap();
    assert_eq!(Graph::parse(&g.to_string()).unwrap(), g.clone().erase());
    let y = evaluate(&g, Tensor::from(1f32), &Engines).unwrap();
    assert_eq!(y.item::<f32>().unwrap(), 1.0);
    assert!(deep(500).unwrap_err().to_string().contains("nests deeper"));
}

// d/dx of the sum of sin applied N times is the product of N cosines: three ops each, and a few.
#[test]
fn transforms_of_ten_thousand_ops_do_not_recurse() {
    small_stack(|| {
        let f = |x: Sym| (0..N).fold(x, |y, _| y.sin());
        let g = trace(vmap(grad(f)), spec(F32, [2])).unwrap();
        assert!(g.ops().len() <= 3 * N + 10, "{}", g.ops().len());
        let g = trace(jvp(f), (spec(F32, []), spec(F32, []))).unwrap();
        assert_eq!(g.ops().len(), 3 * N);
    });
}

// What a branch does not store stands for itself in one zero of each type.
#[test]
fn long_branches_store_without_a_constant_for_every_value() {
    let f = |x: Sym| cond(x.gt(0.0), || (0..1000).fold(x, |y, _| y.sin()), || x);
    let g = trace(grad(f), spec(F32, [])).unwrap();
    assert!(g.ops().len() < 10, "{}", g.ops().len());
}

// 2,000 calls of checkpointed functions, each of which gets a name of its own.
#[test]
fn many_calls_are_told_apart() {
    let f = |x: Sym| (0..2000).fold(x, |y, _| checkpoint(|z: Sym| z.sin()).call(y));
    let g = trace(f, spec(F32, [])).unwrap();
    assert_eq!(g.module().funcs.len(), 2001);
    g.verify().unwrap();
}
