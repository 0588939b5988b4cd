//! Loops whose body is small are one kernel. The code of every kind and for any number of threads gives the same bits, which
//! are those of the interpreter of the IR where nothing is approximated.

use evoxc::{Interp, Native, prelude::*, scan_reverse};
use evoxc_native::schedule::{Item, join_loops, schedule};

/// So many loops are kernels, so many are left to the plan, and the values are those of the interpreter within `tolerance`.
#[track_caller]
fn check(f: impl Fn(Vec<Sym>) -> Vec<Sym>, args: &[Tensor], joined_loops: usize, loops: usize, tolerance: f64) {
    let specs: Vec<_> = args.iter().map(Tensor::spec).collect();
    let graph = trace(f, specs).unwrap_or_else(|e| panic!("{e}"));
    let mut s = schedule(graph.module()).unwrap_or_else(|e| panic!("{e}"));
    join_loops(&mut s);
    let joined = |i: &&Item| matches!(i, Item::Kernel(k) if k.repeat.is_some());
    assert_eq!(
        (s.routines[0].body.items.iter().filter(joined).count(), s.counters().controls),
        (joined_loops, loops),
        "{s}"
    );
    let native = |n: Native| -> evoxc::Result<Vec<Tensor>> {
        let exe = graph.lower(&n)?.compile()?.load(Device::cpu())?;
        // Twice: the second run finds the memory of the first.
        exe.run(args.to_vec())?;
        exe.run(args.to_vec())
    };
    let expected = graph.lower(&Interp).and_then(|l| l.compile()?.load(Device::cpu())?.run(args.to_vec()));
    let expected = expected.unwrap_or_else(|e| panic!("{e:?}"));
    let one = native(Native::default().threads(1)).unwrap_or_else(|e| panic!("{e:?}"));
    let three = native(Native::default().threads(3)).unwrap_or_else(|e| panic!("{e:?}"));
    let interpreted = native(Native::interp()).unwrap_or_else(|e| panic!("{e:?}"));
    for (k, e) in expected.iter().enumerate() {
        let bytes = one[k].buffer().bytes();
        assert!(bytes == three[k].buffer().bytes(), "threads, result {k}");
        assert!(bytes == interpreted[k].buffer().bytes(), "interpreted kernels, result {k}");
        assert_eq!(one[k].shape(), e.shape());
        if tolerance == 0.0 {
            assert!(bytes == e.buffer().bytes(), "result {k}: {} and {e}", one[k]);
            continue;
        }
        let floats = |t: &Tensor| t.cast(F64).and_then(|t| t.to_vec::<f64>()).unwrap_or_else(|e| panic!("{e:?}"));
        for (a, b) in floats(&one[k]).into_iter().zip(floats(e)) {
            assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "result {k}: {a} and {b}");
        }
    }
}

fn ramp(shape: impl evoxc::IntoShape) -> Tensor {
    let shape = spec(F32, shape);
    let extents: Vec<usize> = shape.shape.to_static().unwrap_or_default();
    let n: usize = extents.iter().product();
    let data = (0..n).map(|i| ((i * 37 + 11) % 101) as f32 / 101.0 - 0.5).collect();
    Tensor::from_vec::<f32>(data, extents.as_slice()).unwrap_or_else(|e| panic!("{e:?}"))
}

#[test]
fn scalars_stay_in_registers() {
    // Collatz: ints of 64 bits, a condition on the state, integer division.
    let collatz = |x: Vec<Sym>| {
        let odd = |n: Sym| (n % 2).ne(0);
        let (n, steps) =
            while_loop((x[0], x[0].zeros_like()), |(n, _)| n.gt(1), |(n, k)| (odd(n).select(n * 3 + 1, n / 2), k + 1));
        vec![n, steps]
    };
    for n in [27i64, 1, 97, 0] {
        check(collatz, &[Tensor::from(n)], 1, 0, 0.0);
    }
    // Fibonacci: what is carried changes places.
    check(
        |x| {
            let (a, b, n) =
                while_loop((x[0], x[1], x[0].zeros_like()), |(_, _, n)| n.lt(40), |(a, b, n)| (b, a + b, n + 1));
            vec![a, b, n]
        },
        &[Tensor::from(0i32), Tensor::from(1i32)],
        1,
        0,
        0.0,
    );
    // Two values are exchanged by every step, and a third is carried and never changes.
    check(
        |x| {
            let (a, b, c, n) =
                while_loop((x[0], x[1], x[2], x[0] * 0.0), |(_, _, c, n)| n.lt(c), |(a, b, c, n)| (b, a, c, n + 1.0));
            vec![a, b, c, n]
        },
        &[Tensor::from(1f32), Tensor::from(2f32), Tensor::from(7f32)],
        1,
        0,
        0.0,
    );
    // Newton's iteration for a square root.
    check(
        |x| vec![while_loop((x[0], x[0] * 0.0), |(y, p)| (y - p).abs().gt(1e-6), |(y, _)| (0.5 * (y + x[0] / y), y)).0],
        &[Tensor::from(2f64)],
        1,
        0,
        0.0,
    );
}

#[test]
fn rows_are_carried_in_memory_of_the_loop() {
    for n in [1usize, 7, 8, 9, 64, 100] {
        // The logistic map, in place.
        check(|x| vec![fori_loop(50, x[0], |_, y| 3.7 * y * (1.0 - y))], &[ramp([n])], 1, 0, 0.0);
        // What is carried moves along: an element is read that another iteration of the inner loop writes.
        check(|x| vec![fori_loop(5, x[0], |i, y| y.flip(0) * 0.5 + i.cast(F32))], &[ramp([n])], 1, 0, 0.0);
    }
}

#[test]
fn entries_of_scans_are_read_and_written_where_they_lie() {
    for (steps, n) in [(0usize, 3usize), (1, 8), (5, 1), (13, 7)] {
        let args = [ramp([n]), ramp([steps, n])];
        let body = |h: Sym, x: Sym| (h * 0.5 + x, (h - x, x * 2.0));
        check(
            |x| {
                let (h, (a, b)) = scan(x[0], x[1], body);
                vec![h, a, b]
            },
            &args,
            1,
            0,
            0.0,
        );
        check(
            |x| {
                let (h, (a, b)) = scan_reverse(x[0], x[1], body);
                vec![h, a, b]
            },
            &args,
            1,
            0,
            0.0,
        );
    }
}

#[test]
fn a_recurrent_network_is_one_kernel() {
    check(
        |x| {
            let (w, u) = (x[0], x[1]);
            vec![scan(x[3], x[2], |h: Sym, x: Sym| ((h.dot(w) + x.dot(u)).tanh(), ())).0]
        },
        &[ramp([24, 24]), ramp([5, 24]), ramp([30, 5]), ramp([24])],
        1,
        0,
        1e-5,
    );
}

#[test]
fn loops_in_loops_are_one_kernel() {
    check(
        |x| vec![fori_loop(6, x[0], |_, y| while_loop(y, |z| z.abs().lt(1.5), |z| z * 1.25 + 0.01) - 1.0)],
        &[Tensor::from(0.3f32)],
        1,
        0,
        0.0,
    );
}

#[test]
fn large_bodies_stay_loops() {
    check(|x| vec![fori_loop(3, x[0], |_, y| y * 0.5 + 1.0)], &[ramp([1 << 18])], 0, 1, 0.0);
}

#[test]
fn lengths_may_be_symbolic() {
    let f = |h: Sym, xs: Sym| scan(h, xs, |h: Sym, x: Sym| (h * 0.5 + x, h));
    let specs = (spec(F32, [4]), spec(F32, (dim("N"), 4)));
    let exe = build(f, specs, &Native::default()).unwrap_or_else(|e| panic!("{e:?}"));
    for n in [0usize, 1, 2, 9] {
        let (h, ys) = exe.run((Tensor::ones(F32, [4]), Tensor::ones(F32, [n, 4]))).unwrap_or_else(|e| panic!("{e:?}"));
        // h_n = 2 - 2^-n, a sum of powers of two.
        let at = |k: usize| 2.0 - 0.5f32.powi(k as i32);
        assert_eq!(h.to_vec::<f32>().unwrap_or_default(), vec![at(n); 4]);
        let expected: Vec<f32> = (0..n).flat_map(|k| [at(k); 4]).collect();
        assert_eq!(ys.to_vec::<f32>().unwrap_or_default(), expected);
    }
}

#[test]
fn entries_are_gathered_by_data() {
    // The indices are data, so the loads of an entry are of lanes that lie apart.
    for n in [8usize, 16, 40] {
        let at = Tensor::from_vec((0..n).map(|i| (i * 7 % 24) as i32).collect::<Vec<i32>>(), [n]);
        let at = at.unwrap_or_else(|e| panic!("{e:?}"));
        let f = |x: Vec<Sym>| {
            let (init, xs, at) = (x[0], x[1], x[2]);
            vec![scan(init, xs, |c, entry: Sym| (c * 0.5 + entry.take(at, 0), c.sum(..))).0]
        };
        check(f, &[ramp([n]), ramp([9, 24]), at], 1, 0, 1e-5);
    }
}
