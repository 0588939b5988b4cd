//! Rewriting itself: a fixpoint, in either order, of any depth, in near-linear time.

use crate::rules;
use crate::uop::{Alu, Arena, Op, Rewriter, Ty, UOp, rewrite, rewrite_top_down, simplify_index, substitute};

rules! {
    static DOUBLES(a, count: u64, _root) {
        "x + x": (Add x x) => {
            *count += 1;
            let two = a.index(2);
            a.alu(Alu::Mul, &[x, two])
        };
        "x * 2 * 2": (Mul (Mul x #2) #2) => {
            *count += 1;
            let four = a.index(4);
            a.alu(Alu::Mul, &[x, four])
        };
    }
}
rules! {
    /// These never end.
    static FOREVER(a, _context: (), _root) {
        "x + y": (Add x y) => a.alu(Alu::Sub, &[x, y]);
        "x - y": (Sub x y) => a.alu(Alu::Add, &[x, y]);
        "-x": (Neg x) => { let one = a.index(1); let y = a.alu(Alu::Mul, &[x, one]); a.alu(Alu::Neg, &[y]) };
    }
}

fn param(a: &mut Arena) -> UOp {
    a.node(Op::Param(0), Ty::INDEX, &[])
}

#[test]
fn fixpoint_in_either_order() {
    let mut a = Arena::new();
    let x = param(&mut a);
    let two = a.alu(Alu::Add, &[x, x]);
    let four = a.alu(Alu::Add, &[two, two]);
    let (c, mut count) = (a.index(4), 0);
    let expected = a.alu(Alu::Mul, &[x, c]);
    assert_eq!(rewrite(&mut a, &[four], &DOUBLES, &mut count), [expected]);
    assert_eq!(count, 3);
    // From above, the sum of sums is seen before its operands are products.
    let c = a.index(2);
    let (inner, mut count) = (a.alu(Alu::Mul, &[x, c]), 0);
    let expected = a.alu(Alu::Mul, &[inner, c]);
    assert_eq!(rewrite_top_down(&mut a, &[four], &DOUBLES, &mut count), [expected]);
}

#[test]
fn no_set_runs_forever() {
    let mut a = Arena::new();
    let x = param(&mut a);
    let y = a.alu(Alu::Neg, &[x]);
    let z = a.alu(Alu::Add, &[x, y]);
    for top in [false, true] {
        let new = if top {
            rewrite_top_down(&mut a, &[z, y], &FOREVER, &mut ())
        } else {
            rewrite(&mut a, &[z, y], &FOREVER, &mut ())
        };
        assert_eq!(new.len(), 2);
    }
}

/// Chains of 100,000 nodes and half as many: each pass takes some steps a node, and no stack.
#[test]
fn long_chains() {
    let mut steps = vec![];
    for n in [25_000, 50_000] {
        let mut a = Arena::new();
        let mut x = param(&mut a);
        for i in 0..n {
            let c = a.index(i % 7 - 3);
            let y = a.alu(Alu::Add, &[x, c]);
            x = if i % 3 == 0 { a.alu(Alu::Mul, &[y, x]) } else { a.alu(Alu::Add, &[y, x]) };
        }
        let mut none = ();
        let values = &*crate::uop::VALUES;
        let mut r = Rewriter::new(&mut a, values, &mut none);
        r.bottom_up(&[x]);
        steps.push(r.steps);
        r.top_down(&[x]);
        let before = a.len();
        simplify_index(&mut a, x);
        assert!(a.len() - before < 40 * n as usize, "{} nodes", a.len() - before);
        let (p, zero) = (param(&mut a), a.index(0));
        substitute(&mut a, x, &[(p, zero)].into_iter().collect());
    }
    assert!(steps[1] < steps[0] * 5 / 2, "{steps:?}");
    assert!(steps[1] < 20 * 100_000, "{steps:?}");
}

/// What a shared node became is found again: a DAG of 60 levels has 2^60 paths.
#[test]
fn shared_nodes_are_rewritten_once() {
    let mut a = Arena::new();
    let mut x = param(&mut a);
    for _ in 0..60 {
        x = a.alu(Alu::Add, &[x, x]);
    }
    let mut count = 0;
    rewrite(&mut a, &[x], &DOUBLES, &mut count);
    assert!(count < 200, "{count}");
}
