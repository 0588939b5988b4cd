//! `batch_functions`: what the merged program gives is, bit for bit, what every program gives alone. Expectations come
//! from running the programs one by one on the interpreter.

use evoxc::ir::{FftKind, ScatterOp};
use evoxc::prelude::*;
use evoxc::{Dyn, Error, checkpoint, custom_jvp};
use evoxc_stage::AnyBackend;
use evoxc_tests::engines::Engines;
use evoxc_tests::random_graph::{Rng, population, tensor};
use evoxc_tests::run::{execute, same_bits};

fn engines() -> AnyBackend {
    AnyBackend::new(Engines)
}

/// Row `i` of axis 0.
fn row(t: &Tensor, i: usize) -> Tensor {
    let n: usize = t.shape()[1..].iter().product();
    let size = t.dtype().size();
    let bytes = &t.buffer().bytes()[i * n * size..(i + 1) * n * size];
    let buffer = evoxc::Buffer::from_le_bytes(t.dtype(), bytes).expect("whole elements");
    Tensor::from_buffer(buffer, &t.shape()[1..]).expect("the size of a row")
}

/// Tensors of one type along a new axis 0.
fn stack(rows: &[Tensor]) -> Tensor {
    let bytes: Vec<u8> = rows.iter().flat_map(|t| t.buffer().bytes().to_vec()).collect();
    let shape: Vec<usize> = std::iter::once(rows.len()).chain(rows[0].shape().iter().copied()).collect();
    let buffer = evoxc::Buffer::from_le_bytes(rows[0].dtype(), &bytes).expect("whole elements");
    Tensor::from_buffer(buffer, shape).expect("the size of the rows")
}

/// Every set of options.
fn options() -> Vec<(SwitchOps, Bands, Alignment)> {
    let switches = [SwitchOps::None, SwitchOps::Elementwise, SwitchOps::Comparison, SwitchOps::All];
    let mut out = vec![];
    for (i, switch) in switches.into_iter().enumerate() {
        for (j, alignment) in [Alignment::Variant, Alignment::Occurrence, Alignment::Auto].into_iter().enumerate() {
            let bands = [Bands::One, Bands::Count(2), Bands::Auto, Bands::Count(1000)][(i + j) % 4];
            out.push((switch.clone(), bands, alignment));
        }
    }
    out
}

/// Merges graphs with these options and compares each row with the program alone. `inputs[p]` are those of program `p`;
/// a shared input is that of program 0 for all.
fn check(graphs: &[Graph], inputs: &[Vec<Tensor>], mapped: &[bool], what: &str) -> usize {
    let engines = engines();
    let alone: Result<Vec<Vec<Tensor>>, _> = (0..graphs.len())
        .map(|p| {
            let own = mapped.iter().enumerate().map(|(i, m)| inputs[if *m { p } else { 0 }][i].clone());
            execute(&engines, graphs[p].module(), &own.collect::<Vec<_>>())
        })
        .collect();
    let Ok(alone) = alone else { return 0 };
    let together: Vec<Tensor> = mapped
        .iter()
        .enumerate()
        .map(|(i, m)| match m {
            true => stack(&inputs.iter().map(|l| l[i].clone()).collect::<Vec<_>>()),
            false => inputs[0][i].clone(),
        })
        .collect();
    for (switch, bands, alignment) in options() {
        let axes = mapped.iter().map(|m| m.then_some(0));
        let label = format!("{what} {switch:?} {bands:?} {alignment:?}");
        let merged = batch_functions(graphs).axes(axes).switch_ops(switch).bands(bands).alignment(alignment).build();
        let merged = merged.unwrap_or_else(|e| panic!("{label}: {e}\n{}", graphs[0]));
        let got = execute(&engines, merged.module(), &together);
        let got = got.unwrap_or_else(|e| panic!("{label}: {e:?}\n{merged}"));
        for (p, expected) in alone.iter().enumerate() {
            let rows: Vec<Tensor> = got.iter().map(|t| row(t, p)).collect();
            let same = same_bits(expected, &rows);
            same.unwrap_or_else(|e| panic!("{label}: program {p}: {e}\n{}\n{merged}", graphs[p]));
        }
        let text = merged.to_string();
        assert_eq!(Graph::parse(&text).expect("it parses").to_string(), text, "{label}");
        let r = merged.report();
        assert_eq!((r.programs, r.emitted_ops), (graphs.len(), merged.ops().len()), "{label}");
        assert_eq!(r.band_sizes.iter().sum::<usize>(), graphs.len(), "{label}");
        assert_eq!(r.bands, r.band_sizes.len(), "{label}");
    }
    1
}

#[test]
fn random_programs_give_the_same_bits() {
    let n = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let first = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut ran = 0;
    for seed in first..first + n {
        let programs = population(seed, 1 + (seed % 7) as usize, 4 + (seed % 13) as usize);
        let graphs: Vec<Graph> =
            programs.iter().map(|p| Graph::from_module(p.module.clone()).expect("a valid program")).collect();
        let inputs: Vec<Vec<Tensor>> = programs.iter().map(|p| p.inputs.clone()).collect();
        let mut rng = Rng::new(seed);
        // The extents of symbolic inputs agree in all of them, as the symbol has one value.
        let mapped: Vec<bool> = inputs[0].iter().map(|_| !rng.once_in(3)).collect();
        ran += check(&graphs, &inputs, &mapped, &format!("seed {seed}"));
    }
    println!("{ran} populations ran");
    assert!(ran as u64 > n / 2, "only {ran} populations run");
}

/// A random tree of element-wise ops over inputs and constants.
fn tree(rng: &mut Rng, leaves: &[Sym], depth: usize) -> Sym {
    if depth == 0 || rng.once_in(6) {
        return rng.pick(leaves);
    }
    let x = tree(rng, leaves, depth - 1);
    match rng.below(9) {
        0 => x.sin(),
        1 => x.exp(),
        2 => x.tanh(),
        3 => x * (rng.below(9) as f32 - 4.0),
        4 => x + rng.below(5) as f32,
        5 => x + tree(rng, leaves, depth - 1),
        6 => x - tree(rng, leaves, depth - 1),
        7 => x * tree(rng, leaves, depth - 1),
        _ => x.gt(tree(rng, leaves, depth - 1)).select(x, 0.5),
    }
}

/// Random trees over two vectors, traced.
fn trees(seed: u64, count: u64, depth: usize) -> Vec<Graph> {
    let one = |i| {
        let f = move |x: Sym, y: Sym| tree(&mut Rng::new(seed * 1000 + i), &[x, y], depth);
        trace(f, (spec(F32, [16]), spec(F32, [16]))).expect("a tree").erase()
    };
    (0..count).map(one).collect()
}

#[test]
fn expression_trees_give_the_same_bits() {
    for seed in 0..6 {
        let graphs = trees(seed, 20, 1 + seed as usize % 5);
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<Tensor>> =
            graphs.iter().map(|_| vec![tensor(&mut rng, F32, &[16]), tensor(&mut rng, F32, &[16])]).collect();
        for mapped in [[true, true], [false, true], [false, false]] {
            assert_eq!(check(&graphs, &inputs, &mapped, &format!("trees {seed}")), 1);
        }
    }
}

/// Traces functions of one signature and checks them with every option.
fn check_functions(specs: (TensorSpec, TensorSpec), fs: &[fn(Sym, Sym) -> Sym]) {
    let graphs: Vec<Graph> = fs.iter().map(|f| trace(*f, specs.clone()).expect("it traces").erase()).collect();
    let mut rng = Rng::new(7);
    let shape = |s: &TensorSpec| s.shape.to_static().expect("a static shape");
    let mut input = |s: &TensorSpec| tensor(&mut rng, s.dtype, &shape(s));
    let inputs: Vec<Vec<Tensor>> = fs.iter().map(|_| vec![input(&specs.0), input(&specs.1)]).collect();
    for mapped in [[true, true], [false, true], [true, false], [false, false]] {
        assert_eq!(check(&graphs, &inputs, &mapped, "functions"), 1);
    }
}

#[test]
fn outputs_that_are_inputs_or_constants() {
    check_functions(
        (spec(F32, [3]), spec(F32, [3])),
        &[|x, _| x, |_, y| y, |_, _| ones(F32, [3]), |_, _| zeros(F32, [3]), |x, y| x + y, |x, _| x],
    );
    check_functions((spec(I32, []), spec(I32, [])), &[|x, _| x]);
    check_functions((spec(I32, []), spec(I32, [])), &[|_, _| zeros(I32, []), |_, _| zeros(I32, [])]);
}

#[test]
fn reductions_dots_and_orderings() {
    check_functions(
        (spec(F32, [5, 40]), spec(F32, [40, 3])),
        &[
            |x, y| x.dot(y).sum(..) + x.sum(1).max(0),
            |x, y| x.dot(y).sum(..) + x.sum(0).max(0),
            |x, y| x.exp().dot(y).mean(..) + x.sum(..),
            |x, _| x.top_k(2).0.sum(..) + x.sort(0).cumsum(1).min(..),
            |x, _| x.top_k(2).1.cast(F32).sum(..) + x.argmax(1).cast(F32).sum(..),
        ],
    );
}

/// Every group of ops, of which each function does something, twice: once by rows, and once with a twin of its own.
#[test]
fn every_group_of_ops() {
    check_functions(
        (spec(F32, [6, 6]), spec(F32, [6, 6])),
        &[
            |x, y| (x.fft(FftKind::Rfft, [6]).abs().sum(..) * y).cumsum(0),
            |x, y| (x.fft(FftKind::Rfft, [6]).abs().sum(..) * y).cumsum(1),
            |x, y| x.dot(x.swap_axes(0, 1)).cholesky() + y.tril(0),
            |x, y| x.qr().0 + y.eigh().1,
            |x, y| x.svd().1 * y.qr().1,
            |x, y| x.solve(y),
            |x, y| y.solve(x),
            |x, y| x.take(y.argmax(1), 0) - x.sort(1),
            |x, y| x.scatter_rows(ScatterOp::Add, y.argmax(0), y.cumlogsumexp(0)),
            |x, y| x.dynamic_slice([y.argmax(0).max(0), y.argmin(0).min(0)], [3, 3]).pad(&[(1, 2), (2, 1)], 0.5) + y,
            |x, y| x.roll(2, 1).clip(-1.0, y.max(..)) * y.roll(1, 0),
            |x, y| concat([x, y], 1).reshape([6, 12]).slice(s![.., 3..9]) % 2.0,
        ],
    );
    check_functions(
        (spec(F32, [1, 2, 6, 6]), spec(F32, [2, 2, 3, 3])),
        &[
            |x, w| x.conv2d(w, Conv::default()).max_pool([2, 2], [2, 2]).sum([0, 1]),
            |x, w| x.conv2d(w, Conv::default()).avg_pool([2, 2], [2, 2]).sum([0, 1]),
            |x, w| x.avg_pool([3, 3], [3, 3]).sum([0, 1]) + w.sum(..),
            |x, w| x.conv2d(w, Conv::default()).max_pool([2, 2], [2, 2]).sum([0, 1]),
            |x, w| x.max_pool([3, 3], [3, 3]).sum([0, 1]) - w.prod(..),
        ],
    );
}

#[test]
fn control_flow_and_calls() {
    check_functions(
        (spec(F32, [4]), spec(F32, [])),
        &[
            |x, y| cond(y.gt(0.0), || x + y, || x * 2.0),
            |x, y| cond(y.gt(0.0), || x + y, || x * 2.0),
            |x, y| cond(y.gt(0.5), || x - y, || x),
            |x, y| fori_loop(3, x, |_, c: Sym| c * 0.5 + y),
            |x, y| fori_loop(3, x, |_, c: Sym| c * 0.5 + y).tanh(),
            |x, y| x.exp() + while_loop(y, |c: Sym| c.lt(3.0), |c: Sym| c.maximum(0.0) + 1.0),
        ],
    );
}

#[test]
fn equal_control_flow_is_one_op() -> evoxc::Result<()> {
    // Equal but for a constant that is captured.
    let f = |a: f32| {
        move |x: Sym, y: Sym| {
            let a = constant(&Tensor::from(a));
            let x = cond(y.gt(0.0), || x + a, || x * 2.0);
            while_loop(x, |c: Sym| c.min(..).lt(a), |c: Sym| c + 1.0)
        }
    };
    let graphs: Vec<Graph> =
        [1.0, 2.0, 3.0].map(|a| trace(f(a), (spec(F32, [4]), spec(F32, []))).expect("it traces").erase()).into();
    let inputs: Vec<Vec<Tensor>> = [1f32, -1.0, 0.5].map(|y| vec![Tensor::from([y; 4]), Tensor::from(y)]).into();
    assert_eq!(check(&graphs, &inputs, &[true, true], "equal control flow"), 1);
    let r = batch_functions(&graphs).build()?.report().clone();
    assert_eq!((r.value_classes, r.per_program, r.operand_muxes), (3, 0, 0), "{r}"); // gt, cond, while_loop
    // A product of matrices inside would sum in another order with rows.
    let dots = |a: f32| move |x: Sym| cond(x.sum(..).gt(0.0), || x.dot(x), || x) + a;
    let merged = batch_functions_of(&[dots(1.0), dots(2.0)], spec(F32, [3, 3])).build()?;
    assert_eq!(merged.report().per_program, 1, "{}", merged.report());
    // Computed once a row, a function that all call is still there once.
    let calls = |a: f32| move |x: Sym| checkpoint(|x: Sym| x.dot(x)).call(x * a);
    let merged = batch_functions_of(&[calls(1.0), calls(2.0), calls(3.0)], spec(F32, [3, 3])).build()?;
    assert_eq!((merged.report().per_program, merged.module().funcs.len()), (1, 2), "{merged}");
    Ok(())
}

#[test]
fn calls_keep_their_own_functions() {
    check_functions(
        (spec(F32, [4]), spec(F32, [])),
        &[
            |x, y| checkpoint(|x: Sym, y: Sym| (x * y).sin()).call((x, y)),
            |x, y| checkpoint(|x: Sym, y: Sym| (x * y).sin()).call((x, y)),
            |x, y| checkpoint(|x: Sym, y: Sym| (x + y).sin()).call((x, y)),
            |x, y| checkpoint(|x: Sym, y: Sym| checkpoint(|x: Sym| x.exp()).call(x) * y).call((x, y)),
        ],
    );
}

#[test]
fn random_numbers() -> evoxc::Result<()> {
    let draw = |scale: f32| move |key: Sym| evoxc::random::uniform(key, F32, [5]) * scale;
    let functions: Vec<_> = [1.0, 2.0, 3.0].map(draw).into();
    let keys: Vec<Tensor> = (0..3).map(evoxc::random::key).collect();
    let merged = batch_functions_of(&functions, keys[0].spec()).build()?;
    let all = build(&merged, merged.specs(), &Engines)?.run(stack(&keys))?;
    for (i, f) in functions.iter().enumerate() {
        assert!(row(&all, i).bit_eq(&evaluate(f, keys[i].clone(), &Engines)?));
    }
    Ok(())
}

#[test]
fn axes_of_inputs_and_results() -> evoxc::Result<()> {
    let f = |a: f32| move |x: Sym, w: Sym| (x * a + w, w * 2.0);
    let merged = batch_functions_of(&[f(1.0), f(2.0)], (spec(F32, [3]), spec(F32, [3])))
        .axes([Some(1), None])
        .out_axes([Some(-1), None])
        .build()?;
    assert_eq!(merged.input_specs(), [spec(F32, [3, 2]), spec(F32, [3])]);
    assert_eq!(merged.output_specs(), [spec(F32, [3, 2]), spec(F32, [3])]);
    let x = Tensor::from([[1f32, 10.0], [2.0, 20.0], [3.0, 30.0]]);
    let (y, w) = evaluate(&merged, (x, Tensor::from([1f32, 2.0, 3.0])), &Engines)?;
    assert_eq!(y.to_vec::<f32>()?, [2.0, 21.0, 4.0, 42.0, 6.0, 63.0]); // columns x·1 + w and x·2 + w
    assert_eq!(w.to_vec::<f32>()?, [2.0, 4.0, 6.0]);
    Ok(())
}

#[test]
fn equal_positions_are_one_op() -> evoxc::Result<()> {
    let x = spec(F32, [8]);
    let f = |a: f32| move |x: Sym| ((x * a).tanh() + a).exp();
    let merged = batch_functions_of(&[f(1.0), f(2.0), f(3.0)], x.clone()).build()?;
    let r = merged.report();
    assert_eq!((r.value_classes, r.shared_classes, r.operand_muxes, r.output_muxes), (4, 0, 0, 0), "{r}");
    assert_eq!(merged.ops().len(), 5, "{merged}"); // and one stack of constants
    // Programs that differ in nothing, on an input that they share, run once; the result is repeated.
    let merged = batch_functions_of(&[f(1.0), f(1.0)], x.clone()).axes([None]).build()?;
    let r = merged.report();
    assert_eq!((r.value_classes, r.shared_classes), (0, 4), "{r}");
    // Where one op differs, a switch class keeps what follows together.
    let graphs = [trace(|x: Sym| x.sin().exp(), x.clone())?, trace(|x: Sym| x.cos().exp(), x)?];
    let apart = batch_functions(&graphs).build()?;
    assert_eq!((apart.report().value_classes, apart.report().operand_muxes), (3, 1), "{}", apart.report());
    let switched = batch_functions(&graphs).switch_ops(SwitchOps::Elementwise).build()?;
    assert_eq!((switched.report().value_classes, switched.report().switched), (2, 1), "{}", switched.report());
    // Constants are no part of a position, so ops may differ in them, too.
    let scaled = [graphs[0].clone(), trace(|x: Sym| (1.0 - x).exp(), spec(F32, [8]))?];
    let r = batch_functions(&scaled).switch_ops(SwitchOps::All).build()?.report().clone();
    assert_eq!((r.value_classes, r.switched, r.operand_muxes), (2, 1, 0), "{r}");
    let named = batch_functions(&graphs).switch_ops(SwitchOps::named(["sin"])).build()?;
    assert_eq!(named.report().switched, 0);
    Ok(())
}

/// 32 chains of ten steps over a vector that they share: the reference system merges 544 ops into 133.
#[test]
fn chains_merge_into_few_ops() {
    let chain = |seed| {
        move |x: Sym| {
            let mut rng = Rng::new(seed);
            (0..10).fold(x, |y, _| match rng.below(3) {
                0 => y + rng.below(9) as f32,
                1 => y * (rng.below(9) as f32 / 8.0),
                _ => y.tanh(),
            })
        }
    };
    let graphs: Vec<Graph> =
        (0..32).map(|seed| trace(chain(seed), spec(F32, [64])).expect("it traces").erase()).collect();
    let before: usize = graphs.iter().map(|g| g.ops().len()).sum();
    assert!((500..600).contains(&before), "{before}"); // ten steps, two of three with a constant
    for alignment in [Alignment::Variant, Alignment::Occurrence] {
        let merged = batch_functions(&graphs).axes([None]).alignment(alignment).build().expect("it merges");
        assert!(merged.ops().len() <= 133, "{}", merged.report());
    }
    let x = tensor(&mut Rng::new(1), F32, &[64]);
    assert_eq!(check(&graphs, &vec![vec![x]; 32], &[false], "chains"), 1);
}

#[test]
fn automatic_choices_are_not_worse_by_their_own_estimate() -> evoxc::Result<()> {
    for seed in 0..5 {
        let graphs = trees(seed, 30, 4);
        let cost = |bands, alignment| -> evoxc::Result<f64> {
            let merged = batch_functions(&graphs).axes([None, None]).bands(bands).alignment(alignment).build()?;
            Ok(merged.report().cost_estimate)
        };
        let flat = cost(Bands::One, Alignment::Variant)?;
        assert!(cost(Bands::Auto, Alignment::Variant)? <= flat);
        assert!(cost(Bands::One, Alignment::Auto)? <= flat.min(cost(Bands::One, Alignment::Occurrence)?));
        assert!(cost(Bands::Auto, Alignment::Auto)? <= flat);
    }
    Ok(())
}

#[test]
fn merged_programs_are_graph_functions() -> evoxc::Result<()> {
    let f = |a: f32| move |x: Sym| (x * a).sin();
    let merged = batch_functions_of(&[f(1.0), f(2.0)], spec(F64, [])).axes([None]).build()?;
    let twice = evaluate(|x: Sym| merged.call(x * 0.5) + merged.call(x), Tensor::from(0f64), &Engines)?;
    assert_eq!(twice.to_vec::<f64>()?, [0.0, 0.0]); // sin 0
    let slope = evaluate(grad(|x: Sym| merged.call(x).sum(..)), Tensor::from(0f64), &Engines)?;
    assert_eq!(slope.item::<f64>()?, 3.0); // of sin x + sin 2x at 0
    let again = trace(&merged, merged.specs())?;
    assert_eq!(&again, &*merged);
    Ok(())
}

#[test]
fn symbolic_extents_stay_symbolic() -> evoxc::Result<()> {
    let f = |a: f32| move |x: Sym| (x * a).exp().sum(0);
    let merged = batch_functions_of(&[f(1.0), f(2.0)], spec(F32, (dim("B"), 2))).build()?;
    assert_eq!(merged.output_specs(), [spec(F32, [2, 2])]);
    for b in [1, 3] {
        let x = Tensor::ones(F32, [2, b, 2]);
        let y = build(&merged, merged.specs(), &Engines)?.run(x)?;
        let alone = evaluate(f(2.0), Tensor::ones(F32, [b, 2]), &Engines)?;
        assert!(row(&y, 1).bit_eq(&alone));
    }
    Ok(())
}

#[test]
fn what_is_refused_says_why() -> evoxc::Result<()> {
    let refused = |r: evoxc::Result<_>| match r {
        Err(Error::Transform(e)) => e.to_string(),
        Err(e) => panic!("another error: {e}"),
        Ok(_) => panic!("it is accepted"),
    };
    let none: [Graph<Sym, Sym>; 0] = [];
    assert!(refused(batch_functions(&none).build().map(drop)).contains("the list is empty"));
    let (a, b) = (trace(|x: Sym| x.exp(), spec(F32, [2]))?, trace(|x: Sym| x.exp(), spec(F32, [3]))?);
    let e = refused(batch_functions(&[a.clone(), a.clone(), b]).build().map(drop));
    assert!(e.contains("program 2 differs from program 0 in input: expected tensor<2xf32>, got tensor<3xf32>"), "{e}");
    let c = trace(|x: Sym| x.sum(0), spec(F32, [2]))?;
    let e = refused(batch_functions(&[a.clone(), c]).build().map(drop));
    assert!(e.contains("in result: expected tensor<2xf32>, got tensor<f32>"), "{e}");
    let two = trace(|x: Vec<Sym>| x[0], vec![spec(F32, []); 2])?.erase();
    let three = trace(|x: Vec<Sym>| x[0], vec![spec(F32, []); 3])?.erase();
    let e = refused(batch_functions(&[two, three]).build().map(drop));
    assert!(e.contains("program 1 differs from program 0 in its inputs"), "{e}");
    let e = refused(batch_functions(std::slice::from_ref(&a)).axes([Some(0), None]).build().map(drop));
    assert!(e.contains("it has 2 entries, but there is 1 argument"), "{e}");
    let e = refused(batch_functions(std::slice::from_ref(&a)).axes([Some(2)]).build().map(drop));
    assert!(e.contains("axis 2 is out of range"), "{e}");
    let e = refused(batch_functions(&[a.clone(), a]).out_axes([None]).build().map(drop));
    assert!(e.contains("differs from row to row"), "{e}");
    let noisy =
        Graph::parse("func @f(%x: tensor<f32>) -> tensor<f32> {\n  evoxc.print(%x) {label = \"x\"}\n  return %x\n}")?;
    let e = refused(batch_functions(&[noisy]).build().map(drop));
    assert!(e.contains("print: program 0 has an effect"), "{e}");
    let inner = trace(
        |x: Sym| {
            let inner = trace(|y: Sym| y + x, spec(F32, [])).expect("it traces");
            let e = batch_functions(&[inner]).build().map(drop).unwrap_err().to_string();
            assert!(e.contains("uses values of an enclosing trace"), "{e}");
            x
        },
        spec(F32, []),
    );
    inner.map(drop)
}

#[test]
fn erased_graphs_merge() -> evoxc::Result<()> {
    let graphs = trees(3, 3, 2);
    let merged = batch_functions(&graphs).axes([None, None]).build()?;
    let x = || Tensor::ones(F32, [16]);
    let y: Dyn<Tensor> = merged.lower(&Engines)?.compile()?.load(Device::cpu())?.run(Dyn::of((x(), x())))?;
    assert_eq!(y.leaves()[0].shape(), [3, 16]);
    Ok(())
}

/// A random value of the type of `x` (4 rows of 5): each step is of another group of ops, some with regions that capture
/// constants of the program, some calls with rules of their own.
fn mixed(rng: &mut Rng, x: Sym, v: Sym, i: Sym, key: Sym, steps: usize) -> (Sym, Sym, Sym) {
    let mut floats = vec![x, x * 0.25 + v];
    let mut ints = vec![i];
    for _ in 0..steps {
        let (a, b, n) = (rng.pick(&floats), rng.pick(&floats), rng.pick(&ints));
        let c = constant(&Tensor::from((rng.below(5) as f32 - 2.0) / 2.0));
        let k = rng.below(3);
        let to = |y: Sym| y.broadcast_to([4, 5]);
        let y = match rng.below(34) {
            0 => a.dot(b.swap_axes(0, 1)).tanh().dot(v.broadcast_to([4, 5])),
            1 => a.cumsum(k % 2),
            2 => a.sort(1),
            3 => a.take(n, 0),
            4 => a.scatter_rows([ScatterOp::Add, ScatterOp::Set, ScatterOp::Max][k], n, b),
            5 => a.dynamic_slice([n.max(0), n.min(0)], [2, 3]).pad(&[(1, 1), (2, 0)], 0.5),
            6 => a.dynamic_update_slice(b.slice(s![0..2, 1..3]), [n.min(0), n.max(0)]),
            7 => a.cast(C64).fft(FftKind::Fft, [5]).abs(),
            8 => to(a.sum(k % 2).max(0)) + b,
            9 => {
                let p = a.sum(..).gt(c);
                cond(p, || a * c, || a.tanh() + b)
            }
            10 => {
                while_loop((a, zeros(I32, [])), |(_, k): (Sym, Sym)| k.lt(n.max(0) % 4), |(y, k)| (y * c + b, k + 1)).0
            }
            11 => fori_loop(3, a, |_, y: Sym| y.sin() + c * b),
            12 => {
                let (h, ys) = scan(v, a, |h: Sym, row: Sym| ((h * c + row).tanh(), h - row));
                ys + h
            }
            13 => checkpoint(move |y: Sym, z: Sym| (y * z).sin()).call((a, b)),
            14 => custom_jvp(|y: Sym| y.sin(), |y: Sym, t: Sym| (y.sin(), t * 3.0)).call(a) * c,
            15 => evoxc::random::uniform(key, F32, [4, 5]) * a,
            16 => {
                let drawn = evoxc::random::permutation(key, 4);
                a.take(drawn, 0)
            }
            17 => (a.cast(F16) * b.cast(F16)).cast(F32),
            18 => (a.cast(I32) / n.sum(..)).cast(F32) + b,
            19 => a.gt(b).select(a, c),
            20 => grad(|y: Sym| (y * y * c).sin().sum(..)).call(a),
            21 => vmap(|r: Sym| r.cumsum(0) * r.max(0)).call(a),
            22 => a.roll(1 + k as i64, 1).clip(-1.0, to(v)),
            23 => to(a.max(0)).maximum(b) - to(b.min(0)),
            24 => jvp(|y: Sym| y.cumprod(1) * y).call((a, b)).1,
            25 => switch(n.max(0), [branch(|| a), branch(|| b * c), branch(|| a - b)]),
            26 => -a,
            27 => a * c,
            28 => a + c,
            29 => c - a,
            30 => a.top_k(5).0 + to(v.sort(0)),
            31 => concat([a, b], 1).slice(s![.., 3..8]),
            32 => {
                let g = a.dot(a.swap_axes(0, 1));
                g.qr().0.dot(b)
            }
            _ => a.scatter_rows(ScatterOp::Add, a.argmax(0).slice(s![0..4]), b * c),
        };
        floats.push(y);
        match rng.below(6) {
            0 => ints.push(a.argmax(1)),
            1 => ints.push(n / (k as i32)),
            2 => ints.push(n % (k as i32 + 1)),
            3 => ints.push((n + 1) * 7 - rng.pick(&ints)),
            _ => {}
        }
    }
    let late = |rng: &mut Rng, l: &[Sym]| l[l.len() - 1 - rng.below(l.len().min(3))];
    let y = late(rng, &floats);
    (y, if rng.once_in(3) { y } else { late(rng, &floats) }, late(rng, &ints))
}

#[test]
fn random_functions_of_all_kinds_give_the_same_bits() {
    let n = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let first = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut ran = 0;
    for seed in first..first + n {
        let count = 1 + seed % 6;
        let specs = || (spec(F32, [4, 5]), spec(F32, [5]), spec(I32, [4]), evoxc::random::key(0).spec());
        let one = |p: u64| {
            let p = if p % 4 == 3 { p - 1 } else { p };
            let f = move |x: Sym, v: Sym, i: Sym, key: Sym| {
                mixed(&mut Rng::new(seed * 1000 + p), x, v, i, key, 2 + (seed % 9) as usize)
            };
            trace(f, specs()).unwrap_or_else(|e| panic!("seed {seed}: {e}")).erase()
        };
        let graphs: Vec<Graph> = (0..count).map(one).collect();
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<Tensor>> = (0..count)
            .map(|p| {
                vec![
                    tensor(&mut rng, F32, &[4, 5]),
                    tensor(&mut rng, F32, &[5]),
                    tensor(&mut rng, I32, &[4]),
                    evoxc::random::key(p as i64),
                ]
            })
            .collect();
        let mapped: Vec<bool> = (0..4).map(|_| !rng.once_in(3)).collect();
        ran += check(&graphs, &inputs, &mapped, &format!("seed {seed}"));
        // What was merged merges again.
        let merge = |g: &[Graph]| batch_functions(g).axes(vec![None; 4]).build().map(|m| m.into_graph());
        let twice: Vec<Graph> = vec![merge(&graphs).expect("it merges"), merge(&graphs).expect("it merges")];
        check(&twice, &vec![inputs[0].clone(); 2], &[false, true, true, false], &format!("seed {seed}, merged twice"));
    }
    assert_eq!(ran as u64, n);
}

/// Sizes for which kernels go by blocks.
#[test]
fn large_operands_give_the_same_bits() {
    check_functions(
        (spec(F32, [67, 131]), spec(F32, [131, 45])),
        &[
            |x, y| x.dot(y).sum(0).sum(0) + x.sum(0).sum(0),
            |x, y| x.exp().dot(y).sum(1).sum(0) * x.sum(1).sum(0),
            |x, y| x.tanh().dot(y * 0.5).cumsum(0).sum(1).sum(0) - x.sum(..),
            |x, y| x.dot(y).cast(BF16).sum(..).cast(F32) - x.mean(0).logsumexp(0),
            |x, y| x.cumsum(1).sum(0).sum(0) + y.cumlogsumexp(0).prod(1).sum(..) + x.erf().sum([0, 1]),
            |x, y| x.sum(0).dot(y).sum(0) + x.cast(F64).sum(..).cast(F32) + x.var(1).sum(0),
            |x, y| x.dot(y).dot(y.swap_axes(0, 1)).sum(..),
            |x, y| x.softmax(1).dot(y.softmax(0)).sum(..),
        ],
    );
    check_functions(
        (spec(F16, [1001]), spec(F32, [517])),
        &[
            |x, y| x.sum(..).cast(F32) + y.exp() * y.sin() - y.dot(y),
            |x, y| x.dot(x).cast(F32) + y.tanh().sort(0).cumsum(0),
            |x, y| x.max(0).cast(F32) * y.lgamma() + y.prod(0),
            |x, y| x.prod(0).cast(F32) * y.erf() + y.mean(0),
        ],
    );
}

#[test]
fn programs_without_inputs_or_results() -> evoxc::Result<()> {
    let graphs: Vec<Graph> = (0..3).map(|_| trace(|_: Sym| (), spec(F32, [3])).expect("it traces").erase()).collect();
    assert_eq!(batch_functions(&graphs).build()?.output_specs(), []);
    let graphs: Vec<Graph> = (0..3).map(|_| trace(|| ones(F32, [2]), ()).expect("it traces").erase()).collect();
    assert_eq!(check(&graphs, &[vec![], vec![], vec![]], &[], "no inputs"), 1);
    Ok(())
}

#[test]
fn zero_sizes() {
    check_functions(
        (spec(F32, [0, 3]), spec(I32, [0])),
        &[
            |x, _| x,
            |x, _| x + 1.0,
            |x, y| x.take(y, 0),
            |x, _| x * 2.0,
            |x, _| zeros(F32, [0, 3]).dot(ones(F32, [3, 3])) + x.sum(0),
            |x, _| x.cumsum(0).sin(),
            |x, _| x.scatter_rows(ScatterOp::Add, zeros(I32, [0]), x),
            |x, y| cond(y.sum(..).gt(0), || x, || x.exp()),
        ],
    );
}

/// Every op, on the instances that its laws are shown by.
#[test]
fn every_op_of_the_table() {
    let all = evoxc_tests::laws::instances::all().unwrap_or_else(|e| panic!("{e:?}"));
    let mut ran = 0;
    for i in &all {
        let graphs = vec![i.graph.clone(); 3];
        if i.graph.ops().iter().any(|op| op.prim.has_effect()) {
            let error = batch_functions(&graphs).build().map(drop).unwrap_err().to_string();
            assert!(error.starts_with("batch_functions: "), "{}: {error}", i.label);
            continue;
        }
        let inputs: Vec<Vec<Tensor>> = (0..3).map(|row| i.inputs(row)).collect();
        let n = inputs[0].len();
        let mut subsets = vec![vec![true; n], vec![false; n]];
        subsets.extend((0..n).filter(|_| n > 1).map(|k| (0..n).map(|j| j == k).collect()));
        subsets.extend((0..n).filter(|_| n > 2).map(|k| (0..n).map(|j| j != k).collect()));
        for mapped in subsets {
            ran += check(&graphs, &inputs, &mapped, &i.label);
        }
    }
    assert!(ran > all.len(), "{ran}");
}

/// What a row of a switch does not select has no part in its gradient, not even as zero times infinity.
#[test]
fn gradients_of_switches_are_those_of_the_programs() -> evoxc::Result<()> {
    fn spiky(rng: &mut Rng, leaves: &[Sym], depth: usize) -> Sym {
        if depth == 0 {
            return rng.pick(leaves);
        }
        let x = spiky(rng, leaves, depth - 1);
        match rng.below(9) {
            0 => x.sqrt(),
            1 => x.log(),
            2 => x.sin(),
            3 => x.exp(),
            4 => 1.0 / x,
            5 => x * f32::INFINITY,
            6 => -x,
            7 => x * spiky(rng, leaves, depth - 1),
            _ => x + spiky(rng, leaves, depth - 1),
        }
    }
    let fs: [fn(Sym) -> Sym; 3] = [|x| x.sin(), |x| x.sqrt(), |x| x.log()];
    let merged = batch_functions_of(&fs, spec(F32, [])).switch_ops(SwitchOps::All).build()?;
    assert_eq!(merged.report().switched, 1);
    let slopes = evaluate(grad(|x: Sym| merged.call(x).sum(..)), Tensor::from([0f32, 4.0, 2.0]), &Engines)?;
    assert_eq!(slopes.to_vec::<f32>()?, [1.0, 0.25, 0.5]); // cos 0, 1 / 2√4, 1 / 2
    for seed in 0..60 {
        let one = |p| {
            let f = move |x: Sym, y: Sym| spiky(&mut Rng::new(seed * 100 + p), &[x, y], 1 + seed as usize % 4);
            trace(f, (spec(F32, [4]), spec(F32, [4])))
        };
        let graphs = (0..6).map(one).collect::<evoxc::Result<Vec<_>>>()?;
        let mut rng = Rng::new(seed);
        let (x, y): (Vec<_>, Vec<_>) =
            graphs.iter().map(|_| (tensor(&mut rng, F32, &[4]), tensor(&mut rng, F32, &[4]))).unzip();
        for alignment in [Alignment::Variant, Alignment::Occurrence] {
            let merged = batch_functions(&graphs).switch_ops(SwitchOps::All).alignment(alignment).build()?;
            let all = |x: Sym, y: Sym| merged.call((x, y)).sum(..);
            let (dx, dy) = evaluate(grad(all).wrt2::<0, 1>(), (stack(&x), stack(&y)), &Engines)?;
            for (p, g) in graphs.iter().enumerate() {
                let f = |x: Sym, y: Sym| g.call((x, y)).sum(..);
                let alone = evaluate(grad(f).wrt2::<0, 1>(), (x[p].clone(), y[p].clone()), &Engines)?;
                for (got, expected) in [(row(&dx, p), alone.0), (row(&dy, p), alone.1)] {
                    for (a, b) in got.to_vec::<f32>()?.into_iter().zip(expected.to_vec::<f32>()?) {
                        let near = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-5 * b.abs();
                        assert!(near, "seed {seed} {alignment:?} program {p}: {a} is not {b}\n{g}\n{merged}");
                    }
                }
            }
        }
    }
    Ok(())
}

#[defn]
fn powers(x: Sym, n: usize) -> Sym {
    (1..n).fold(x, |y, _| y * x)
}

#[test]
fn static_values_of_all_programs_are_listed() -> evoxc::Result<()> {
    let graphs = [trace(|x: Sym| powers(x, 2), spec(F32, []))?, trace(|x: Sym| powers(x, 3), spec(F32, []))?];
    for axis in [None, Some(0)] {
        let merged = batch_functions(&graphs).axes([axis]).build()?;
        let listed: Vec<&str> = merged.static_values().iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(listed, ["2", "3"], "{axis:?}");
    }
    Ok(())
}
