//! What the plans of the native compiler promise: any number of runs at once, no growth, results that do not depend on
//! threads, donation in place, control flow as on the interpreter, and errors of the same words.

use evoxc::ir::Module;
use evoxc::{AnyBackend, Native, Program, prelude::*, scan_n, scan_reverse};
use std::sync::Arc;

type Done = evoxc::Result<()>;

fn native() -> Native {
    let native = Native::default();
    if native.devices().is_empty() { Native::interp() } else { native }
}

/// Pseudo-random floats.
fn floats(n: usize, shape: &[usize]) -> Tensor {
    let mut state = n as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 40) as f32) / (1 << 23) as f32 - 1.0
    };
    Tensor::from_vec((0..n).map(|_| next()).collect::<Vec<f32>>(), shape).unwrap()
}

fn bits(t: &Tensor) -> Vec<u32> {
    t.to_vec::<f32>().unwrap().iter().map(|x| x.to_bits()).collect()
}

/// Products, reductions and a loop in one program.
fn mixed(x: Sym, w: Sym) -> Sym {
    let y = x.dot(w).softmax(1);
    let step = |c: Sym, row: Sym| ((c * 0.5 + row).sin(), c);
    let (last, all) = scan(y.sum(0) * 0.0, y, step);
    all.sum(0) + last
}

#[test]
fn eight_threads_run_one_program_at_once() -> Done {
    let exe = build(mixed, (spec(F32, (dim("B"), 24)), spec(F32, [24, 40])), &native())?;
    let w = floats(24 * 40, &[24, 40]);
    let cases: Vec<(Tensor, Vec<u32>)> = (1..9)
        .map(|n| {
            let x = floats(n * 24, &[n, 24]);
            let y = exe.run((x.clone(), w.clone())).unwrap();
            (x, bits(&y))
        })
        .collect();
    std::thread::scope(|s| {
        for t in 0..8 {
            let (exe, cases, w) = (&exe, &cases, &w);
            s.spawn(move || {
                for i in 0..100 {
                    let (x, want) = &cases[(t + i) % 8];
                    assert_eq!(bits(&exe.run((x.clone(), w.clone())).unwrap()), *want);
                }
            });
        }
    });
    Ok(())
}

/// Bytes of memory that this process holds, where the system tells.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_whitespace().nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
}

#[test]
fn ten_thousand_runs_take_no_more_memory() -> Done {
    let exe = build(mixed, (spec(F32, (dim("B"), 8)), spec(F32, [8, 8])), &native())?;
    let (w, xs) = (floats(64, &[8, 8]), [floats(24, &[3, 8]), floats(40, &[5, 8])]);
    let run = |n: usize| (0..n).try_for_each(|i| exe.run((xs[i % 2].clone(), w.clone())).map(drop));
    run(1000)?;
    let before = resident();
    run(10_000)?;
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after < before + (16 << 20), "{before} bytes became {after}");
    }
    Ok(())
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() -> Done {
    let programs: [(fn(Sym, Sym) -> Sym, [usize; 2], [usize; 2]); 6] = [
        (|x, y| (x * y).exp() + x, [701, 333], [701, 333]),
        (|x, y| (x + y).softmax(1), [700, 333], [700, 333]),
        (|x, y| (x * y).sum(..), [1023, 517], [1023, 517]),
        (|x, y| (x * y).sum(0), [1023, 517], [1023, 517]),
        (|x, w| x.dot(w), [300, 700], [700, 260]),
        (|x, w| x.dot(w).tanh().sum(1), [65, 1100], [1100, 129]),
    ];
    for (f, a, b) in programs {
        let specs = (spec(F32, a), spec(F32, b));
        let args = || (floats(a[0] * a[1], &a), floats(b[0] * b[1], &b));
        let mut seen: Option<Vec<u32>> = None;
        for threads in [1, 2, 3] {
            let exe = build(f, specs.clone(), &native().threads(threads))?;
            for _ in 0..3 {
                let got = bits(&exe.run(args())?);
                assert_eq!(seen.get_or_insert_with(|| got.clone()), &got, "{threads} threads");
            }
        }
    }
    Ok(())
}

/// Products by a transposed matrix, of few rows and of many: sums of small integers are exact, and bits are those of one thread.
#[test]
fn products_of_few_rows() -> Done {
    for (n, k) in [(64, 513), (65, 7), (545, 1100), (1030, 64), (2049, 40)] {
        let mut seen: Vec<Vec<u32>> = vec![];
        for threads in [1, 2, 3] {
            let specs = (spec(F32, (dim("M"), k)), spec(F32, [n, k]));
            let exe = build(|x: Sym, w: Sym| x.dot(w.t()), specs, &native().threads(threads))?;
            for (i, m) in [1, 2, 5, 16, 33, 100, 256, 257].into_iter().enumerate() {
                let whole = |rows: usize, a: i64| {
                    let all = (0..(rows * k) as i64).map(|i| ((i * a + i / 13) % 15 - 7) as f32);
                    Tensor::from_vec(all.collect::<Vec<_>>(), [rows, k])
                };
                let (x, w) = (whole(m, 7)?, whole(n, 11)?);
                let (got, profile) = exe.profile((x.clone(), w.clone()))?;
                assert!(profile.steps.iter().any(|s| s.kind == "matmul"), "{:?}", profile.steps);
                let (got, x, w) = (got.to_vec::<f32>()?, x.as_slice::<f32>()?, w.as_slice::<f32>()?);
                // Some of them: the bits say that the rest are alike for all numbers of threads.
                for (at, g) in got.iter().enumerate().filter(|(at, _)| threads == 1 && at % 7 == 0 || at + 20 > m * n) {
                    let (row, column) = (&x[at / n * k..][..k], &w[at % n * k..][..k]);
                    let want: f32 = row.iter().zip(column).map(|(a, b)| a * b).sum();
                    assert_eq!(*g, want, "[{m}, {k}] · [{n}, {k}]ᵀ at {at}, {threads} threads");
                }
                let random = bits(&exe.run((floats(m * k, &[m, k]), floats(n * k, &[n, k])))?);
                match seen.get(i) {
                    Some(first) => assert_eq!(first, &random, "[{m}, {k}] · [{n}, {k}]ᵀ, {threads} threads"),
                    None => seen.push(random),
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_donated_input_is_where_the_result_is() -> Done {
    let exe = build(|x: Sym| (x * 2.0 + 1.0).tanh(), spec(F32, [1000]), &native())?;
    let x = floats(1000, &[1000]);
    let (at, want) = (x.as_slice::<f32>()?.as_ptr(), bits(&exe.run(x.clone())?));
    let y = exe.run(x)?;
    assert_eq!(y.as_slice::<f32>()?.as_ptr(), at, "in place");
    assert_eq!(bits(&y), want);
    // One that is kept is not touched.
    let x = floats(1000, &[1000]);
    let (before, kept) = (bits(&x), x.clone());
    exe.run(x)?;
    assert_eq!(bits(&kept), before);
    // Given twice, it has two owners.
    let exe = build(|x: Sym, y: Sym| (x + 1.0, x * y), (spec(F32, [8]), spec(F32, [8])), &native())?;
    let x = Tensor::ones(F32, [8]);
    let (a, b) = exe.run((x.clone(), x))?;
    assert_eq!((a.to_vec::<f32>()?, b.to_vec::<f32>()?), (vec![2.0; 8], vec![1.0; 8]));
    // Read by one step, written by a later one.
    let exe = build(|x: Sym, y: Sym| (x.sum(0), y.sum(0) + x), (spec(F32, [64]), spec(F32, [64])), &native())?;
    let (s, z) = exe.run((Tensor::ones(F32, [64]), Tensor::ones(F32, [64])))?;
    assert_eq!((s.item::<f32>()?, z.to_vec::<f32>()?), (64.0, vec![65.0; 64]));
    Ok(())
}

/// A part is written where the whole is, if nobody else has it; wherever it is written, the values are those of a copy.
#[test]
fn parts_are_written_in_place() -> Done {
    let (n, m) = (dim("N"), dim("M"));
    let f = |x: Sym, part: Sym, at: Sym| x.dynamic_update_slice(part, [at.zeros_like(), at, at.zeros_like()]);
    let exe = build(f, (spec(F32, (2, n, 3)), spec(F32, (2, m, 3)), spec(I32, [])), &native())?;
    let x = Tensor::from_vec((0..48).map(|i| i as f32).collect::<Vec<_>>(), [2, 8, 3])?;
    let part = Tensor::from_vec((0..12).map(|i| -1.0 - i as f32).collect::<Vec<_>>(), [2, 2, 3])?;
    // Starts clamp so that the part fits: by hand, NumPy's x[:, at:at + 2] = part.
    for (start, first) in [(3, 3), (-5, 0), (100, 6)] {
        let want: Vec<f32> = (0..48)
            .map(|i| match (i / 24, i / 3 % 8, i % 3) {
                (b, r, c) if (first..first + 2).contains(&r) => -1.0 - (b * 6 + (r - first) * 3 + c) as f32,
                _ => i as f32,
            })
            .collect();
        let (kept, own) = (x.clone(), Tensor::from_vec(x.to_vec::<f32>()?, [2, 8, 3])?);
        let at = own.as_slice::<f32>()?.as_ptr();
        let y = exe.run((own, part.clone(), Tensor::from(start)))?;
        assert_eq!(y.as_slice::<f32>()?.as_ptr(), at, "in place");
        assert_eq!(y.to_vec::<f32>()?, want);
        let z = exe.run((kept, part.clone(), Tensor::from(start)))?;
        assert_eq!((z.to_vec::<f32>()?, x.as_slice::<f32>()?[47]), (want, 47.0), "one that is kept is not touched");
    }
    let e = exe.run((x.clone(), Tensor::zeros(F32, [2, 9, 3]), Tensor::from(0))).unwrap_err().to_string();
    assert!(e.contains("dynamic_update_slice"), "{e}");
    assert_eq!(
        exe.run((x.clone(), Tensor::zeros(F32, [2, 0, 3]), Tensor::from(4)))?.to_vec::<f32>()?,
        x.to_vec::<f32>()?
    );
    // What is read later is copied first; a start that is in the whole is read before it is written over.
    let both = |x: Sym, part: Sym| {
        let y = x.dynamic_update_slice(part, [x.slice(s![0..1]).squeeze(0)]);
        (y, y.dynamic_update_slice(part, [x.slice(s![0..1]).squeeze(0) + 2]), x.sum(..))
    };
    let specs = || (spec(I32, [64]), spec(I32, [2]));
    let args =
        || (Tensor::from((0..64).map(|i| if i == 0 { 40 } else { i }).collect::<Vec<i32>>()), Tensor::from([7, 8]));
    let (a, b) = (build(both, specs(), &native())?.run(args())?, build(both, specs(), &Interp)?.run(args())?);
    assert!(a.0.bit_eq(&b.0) && a.1.bit_eq(&b.1) && a.2.bit_eq(&b.2));
    // In a loop, the state is one block of memory.
    let squares = |x: Sym| {
        fori_loop(60, x, |i, x: Sym| {
            let part = (i * i).reshape([1]);
            x.dynamic_update_slice(part, [i])
        })
    };
    let y = build(squares, spec(I32, [64]), &native())?.run(Tensor::zeros(I32, [64]))?;
    assert_eq!(y.to_vec::<i32>()?, (0..64).map(|i| if i < 60 { i * i } else { 0 }).collect::<Vec<i32>>());
    Ok(())
}

#[test]
fn large_results_are_made_in_memory_that_is_used_again() -> Done {
    let n = 1 << 19;
    let exe = build(|x: Sym| x * 2.0 + 1.0, spec(F32, [n]), &native())?;
    let x = floats(n, &[n]);
    let first = exe.run(x.clone())?;
    let at = first.as_slice::<f32>()?.as_ptr();
    let kept = first.clone();
    let second = exe.run(first)?;
    assert_ne!(second.as_slice::<f32>()?.as_ptr(), at, "it has another owner");
    let want = bits(&second);
    let third = exe.run(kept)?;
    assert_eq!(third.as_slice::<f32>()?.as_ptr(), at, "in place");
    assert_eq!(bits(&third), want);
    drop(third);
    assert_eq!(exe.run(x.clone())?.as_slice::<f32>()?.as_ptr(), at, "used again");
    assert_eq!(bits(&second), want);
    Ok(())
}

/// Runs a module on a backend.
fn run_on(module: &Module, backend: &AnyBackend, args: Vec<Tensor>) -> evoxc::Result<Vec<Tensor>> {
    let program: Arc<dyn Program> = backend.load(&backend.compile(&backend.lower(module)?)?, Device::cpu())?;
    // Twice: the second run finds what the first left.
    let first = program.run(args.clone())?;
    let again = program.run(args)?;
    assert!(first.iter().zip(&again).all(|(a, b)| a.bit_eq(b)), "the second run gives something else");
    Ok(first)
}

/// On the interpreter and here.
fn both(module: &Module, args: Vec<Tensor>) -> [evoxc::Result<Vec<Tensor>>; 2] {
    [AnyBackend::new(Interp), AnyBackend::new(native())].map(|b| run_on(module, &b, args.clone()))
}

/// The same bits on the interpreter and here.
#[track_caller]
fn agree(module: &Module, args: Vec<Tensor>) {
    let [want, got] = both(module, args).map(|r| r.unwrap_or_else(|e| panic!("{e}\n{module}")));
    assert_eq!(want.len(), got.len());
    for (i, (w, g)) in want.iter().zip(&got).enumerate() {
        assert!(w.bit_eq(g), "result {i}: {w}\n{g}\n{module}");
    }
}

fn ints(v: &[i32]) -> Tensor {
    Tensor::from(v.to_vec())
}

#[test]
fn values_are_carried_in_every_way() -> Done {
    let three = || (spec(I32, [3]), spec(I32, [3]), spec(I32, []));
    let args = |n: i32| vec![ints(&[1, 2, 3]), ints(&[5, 7, 11]), Tensor::from(n)];
    let turns = |n: Sym| move |i: Sym| i.lt(n);
    // Places are exchanged, one value stands twice, one never changes, one comes from outside, one is a constant.
    let swap = move |a: Sym, b: Sym, n: Sym| {
        let go = turns(n);
        let zero = full(I32, [], 0);
        while_loop((zero, a, b), move |(i, _, _)| go(i), |(i, a, b)| (i + 1, b, a + b))
    };
    let twice = move |a: Sym, b: Sym, n: Sym| {
        let go = turns(n);
        let body = |(i, a, b, c): (Sym, Sym, Sym, Sym)| {
            let s = a * 3 + b;
            (i + 1, s, s, c)
        };
        while_loop((full(I32, [], 0), a, b, a), move |(i, ..)| go(i), body)
    };
    let outside = move |a: Sym, b: Sym, n: Sym| {
        let go = turns(n);
        let outer = a - b;
        let body = move |(i, x, y, z): (Sym, Sym, Sym, Sym)| (i + 1, outer, full(I32, [3], 9), x + y + z);
        while_loop((full(I32, [], 0), a, b, a), move |(i, ..)| go(i), body)
    };
    let turned = move |a: Sym, b: Sym, n: Sym| {
        let go = turns(n);
        let body = |(i, a, b, c): (Sym, Sym, Sym, Sym)| (i + 1, b, c, a);
        while_loop((full(I32, [], 0), a, b, a + b), move |(i, ..)| go(i), body)
    };
    for n in [0, 1, 2, 3, 6, 7] {
        agree(trace(swap, three())?.module(), args(n));
        agree(trace(twice, three())?.module(), args(n));
        agree(trace(outside, three())?.module(), args(n));
        agree(trace(turned, three())?.module(), args(n));
    }
    Ok(())
}

#[test]
fn scans_write_where_their_results_stay() -> Done {
    let n = dim("N");
    let specs = || (spec(I32, [3]), spec(I32, (n, 3)));
    let args = |n: usize| {
        let xs: Vec<i32> = (0..n as i32 * 3).map(|i| i * i - 7).collect();
        vec![ints(&[1, 2, 3]), Tensor::from_vec(xs, [n, 3]).unwrap()]
    };
    // What is carried is also a result of every step; entries, the carry before, constants and outer values are results.
    let forms: [fn(Sym, Sym) -> (Sym, (Sym, Sym)); 5] = [
        |c, xs| scan(c, xs, |c, x| (c * 2 + x, (c * 2 + x, x))),
        |c, xs| {
            scan(c, xs, |c, x| {
                let y = c * 2 + x;
                (y, (y, y))
            })
        },
        |c, xs| scan_reverse(c, xs, |c, x| (x, (c, c + x))),
        |c, xs| scan(c, xs, |c, x| (c, (x * 2, c * x))),
        |c, xs| {
            let k = c * c;
            scan(c, xs, move |c, x| (c + x.max(0), (k, full(I32, [3], 4))))
        },
    ];
    for f in forms {
        let graph = trace(f, specs())?;
        for n in [0, 1, 2, 3, 8] {
            agree(graph.module(), args(n));
        }
    }
    Ok(())
}

#[test]
fn control_flow_inside_control_flow() -> Done {
    let f = |x: Sym, n: Sym| {
        let inner = |c: Sym, k: Sym| {
            let small = move || while_loop(c, |c| c.sum(..).lt(100), |c| c * 2 + 1);
            let large = move || scan_n(3, c, |c| (c - k, c.sum(..))).0;
            let pick = switch(k % 3, [branch(move || c + k), branch(move || c), branch(move || c * c - k)]);
            cond(c.sum(..).lt(50), small, large) + pick
        };
        let (last, rows) = scan_n(4, (x, n), |(c, k)| ((inner(c, k), k + 1), inner(c, k) - c));
        (last, rows, fori_loop(3, x, |i, c| cond(i.eq(1), move || c, move || c + i.cast(I32))))
    };
    let graph = trace(f, (spec(I32, (dim("B"),)), spec(I32, [])))?;
    for b in [1, 2, 5] {
        for n in [0, 1, 5] {
            agree(graph.module(), vec![ints(&(1..b + 1).collect::<Vec<_>>()), Tensor::from(n)]);
        }
    }
    Ok(())
}

#[test]
fn sizes_around_those_of_vectors() -> Done {
    let f = |x: Sym| {
        let y = x * 3 + 1;
        (y, y.sum(..), y.flip(0), concat([x, y], 0), x.cast(F32) * 0.5, y.max(..))
    };
    let exe = trace(f, spec(I32, [dim("B")]))?;
    let square =
        trace(|x: Sym| (x.t() + 1, x.sum(0), x.sum(1), x * x.sum(1).expand_dims(1)), spec(I32, (dim("B"), 3)))?;
    for n in [0, 1, 7, 8, 9, 31, 32, 33, 1023] {
        agree(exe.module(), vec![ints(&(0..n).collect::<Vec<_>>())]);
        let x: Vec<i32> = (0..n * 3).map(|i| i * 7 % 31).collect();
        agree(square.module(), vec![Tensor::from_vec(x, [n as usize, 3])?]);
    }
    Ok(())
}

#[test]
fn tensors_without_elements() -> Done {
    let f = |x: Sym, y: Sym| (x + 1, x.sum(0), x.sum(1), x.cast(F32).dot(y), concat([x, x], 1));
    let graph = trace(f, (spec(I32, (dim("A"), dim("B"))), spec(F32, (dim("B"), 2))))?;
    for (a, b) in [(0, 0), (0, 3), (3, 0), (1, 1)] {
        agree(graph.module(), vec![Tensor::zeros(I32, [a, b]), Tensor::zeros(F32, [b, 2])]);
    }
    Ok(())
}

#[test]
fn arguments_and_constants_are_results() -> Done {
    let f = |x: Sym, y: Sym| (y, x, x, full(I32, [2], 7), x.reshape([3, 1]), full(I32, [3], 7) + x, y);
    agree(trace(f, (spec(I32, [3]), spec(F32, [])))?.module(), vec![ints(&[1, 2, 3]), Tensor::from(2f32)]);
    let calls = |x: Sym, y: Sym| {
        let g = checkpoint(|x: Sym, y: Sym| (y, x, full(I32, [2], 7), x + y, x));
        (g.call((x, y)), g.call((y, x)))
    };
    agree(trace(calls, (spec(I32, [dim("N")]), spec(I32, [dim("N")])))?.module(), vec![ints(&[1, 2]), ints(&[3, 4])]);
    Ok(())
}

#[test]
fn what_fails_on_the_interpreter_fails_in_the_same_words() -> Done {
    let b = dim("B");
    let cases: Vec<(Graph<Sym, Sym>, Tensor)> = vec![
        (trace(|x: Sym| x.slice(s![3..]) + 1.0, spec(F32, [b]))?, Tensor::zeros(F32, [2])),
        (
            trace(|x: Sym| cond(x.sum(..).lt(1.0), || x.slice(s![5..]).sum(..), || x.sum(..)), spec(F32, [b]))?,
            Tensor::zeros(F32, [4]),
        ),
        (trace(|x: Sym| iota(F32, (b - 4,), 0).sum(..) + x.sum(..), spec(F32, [b]))?, Tensor::zeros(F32, [1])),
        (trace(|x: Sym| iota(F32, (x.dim(0), 1i64 << 38), 0), spec(F32, [b]))?, Tensor::zeros(F32, [64])),
    ];
    for (graph, x) in cases {
        let [want, got] = both(graph.module(), vec![x]);
        match (want, got) {
            (Err(want), Err(got)) => assert_eq!(want.to_string(), got.to_string()),
            (want, got) => panic!("{:?} {:?}", want.map(|_| ()), got.map(|_| ())),
        }
    }
    Ok(())
}

#[test]
fn programs_are_saved_and_loaded_with_their_code() -> Done {
    let native = native();
    let graph = trace(mixed, (spec(F32, (dim("B"), 24)), spec(F32, [24, 40])))?;
    let artifact = graph.lower(&native)?.compile()?;
    let path = std::env::temp_dir().join(format!("native-{}.evoxcartifact", std::process::id()));
    artifact.save(&path)?;
    let again = CompiledArtifact::open(&path, &native)?.typed::<(Tensor, Tensor), Tensor>();
    std::fs::remove_file(&path).unwrap();
    let args = || (floats(72, &[3, 24]), floats(960, &[24, 40]));
    let want = artifact.load(Device::cpu())?.run(args())?;
    assert!(again?.load(Device::cpu())?.run(args())?.bit_eq(&want));
    // Damage is an error, wherever it is.
    let bytes = native.artifact_to_bytes(artifact.artifact())?;
    for end in [0, 5, 15, 20, bytes.len() / 2, bytes.len() - 1] {
        assert!(native.artifact_from_bytes(&bytes[..end]).is_err(), "{end} bytes");
    }
    Ok(())
}

#[test]
fn a_search_changes_times_and_no_bits() -> Done {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("search-{}", std::process::id()));
    let specs = || (spec(F32, [40, 24]), spec(F32, [24, 40]));
    let args = || (floats(960, &[40, 24]), floats(960, &[24, 40]));
    let want = evaluate(mixed, args(), &native())?;
    let native = native().search(4).cache_dir(&folder);
    assert!(build(mixed, specs(), &native)?.run(args())?.bit_eq(&want));
    assert!(std::fs::read_dir(&folder).unwrap().count() > 0, "winners are written down");
    let artifact = trace(mixed, specs())?.lower(&native)?.compile()?;
    let bytes = native.artifact_to_bytes(artifact.artifact())?;
    assert_eq!(native.artifact_from_bytes(&bytes)?.code(), artifact.code());
    std::fs::remove_dir_all(&folder).unwrap();
    Ok(())
}

#[test]
fn profiles_say_what_took_how_long() -> Done {
    let exe = build(mixed, (spec(F32, (dim("B"), 24)), spec(F32, [24, 40])), &native())?;
    let args = || (floats(72, &[3, 24]), floats(960, &[24, 40]));
    let want = exe.run(args())?;
    let (got, profile) = exe.profile(args())?;
    assert!(got.bit_eq(&want));
    assert!(profile.steps.iter().any(|s| s.kind == "kernel" && s.bytes > 0 && s.flops > 0), "{profile}");
    assert!(profile.steps.iter().map(|s| s.time).sum::<std::time::Duration>() <= profile.total);
    let trace: serde_json::Value = serde_json::from_str(&profile.chrome_trace()).unwrap();
    assert_eq!(trace.as_array().map(Vec::len), Some(profile.steps.len()));
    // Other backends know nothing of their steps.
    let exe = build(mixed, (spec(F32, [3, 24]), spec(F32, [24, 40])), &Interp)?;
    assert_eq!(exe.profile(args())?.1.steps.len(), 1);
    Ok(())
}

/// Products of matrices are steps of the plan for every dtype but the complex ones, whatever the order of axes.
#[test]
fn large_products_of_every_dtype_are_those_of_the_interpreter() -> Done {
    let all = [BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64];
    for (i, dtype) in all.into_iter().enumerate() {
        let numbers = |n: usize, shape: &[usize]| -> evoxc::Result<Tensor> {
            let t = Tensor::from_vec((0..n).map(|k| (k * 37 % 29) as i32 - 9).collect::<Vec<i32>>(), shape)?;
            t.cast(dtype)
        };
        // Sums that no rounding changes: the bits are the same.
        let (x, y) = (numbers(3 * 41 * 50, &[3, 41, 50])?, numbers(3 * 50 * 47, &[3, 50, 47])?);
        let turned = numbers(47 * 3 * 50, &[47, 3, 50])?;
        let product: fn(Sym, Sym) -> Sym = |x, y| x.matmul(y);
        let other: fn(Sym, Sym) -> Sym = |x, y| x.matmul(y.transpose([1, 2, 0]));
        for (f, y) in [(product, &y), (other, &turned)] {
            let graph = trace(move |x: Sym, y: Sym| f(x, y), (x.spec(), y.spec()))?;
            let native = native().threads(1 + i % 3);
            let counters = graph.lower(&native)?.schedule().counters();
            assert_eq!((counters.matmuls, counters.library), (1, 0), "{dtype}");
            let got = build(&graph, (x.spec(), y.spec()), &native)?.run((x.clone(), y.clone()))?;
            let want = build(&graph, (x.spec(), y.spec()), &Interp)?.run((x.clone(), y.clone()))?;
            assert!(got.bit_eq(&want), "{dtype}: {got:?} is not {want:?}");
        }
    }
    Ok(())
}
