//! Kernels are compiled once: within a program, and by a backend and its clones, which keep a bounded number of them.

use evoxc::{Native, Precision, prelude::*};

fn natives() -> [Native; 2] {
    [Native::default(), Native::interp()]
}

/// A layer on rows.
fn layer(h: Sym) -> Sym {
    (h * 2.0 + 1.0).tanh().softmax(1)
}

/// How many kernels differ in so many layers, which a product of matrices sets apart.
fn distinct(native: &Native, layers: usize) -> evoxc::Result<usize> {
    let program = |x: Sym, w: Sym| (0..layers).fold(x, |h, _| layer(h.dot(w)));
    let graph = trace(program, (spec(F32, [256, 256]), spec(F32, [256, 256])))?;
    Ok(graph.lower(native)?.compile()?.distinct_kernels())
}

#[test]
fn twelve_layers_have_the_kernels_of_one() -> evoxc::Result<()> {
    for native in natives() {
        // A first and a last layer may differ from those between.
        let (few, many) = (distinct(&native.clone().memo(0), 3)?, distinct(&native.clone().memo(0), 12)?);
        assert!(few > 0 && many <= few, "{few} and {many}");
        let before = native.memo_counts().compiled;
        distinct(&native, 1)?;
        let one = native.memo_counts().compiled - before;
        distinct(&native, 12)?;
        assert_eq!(native.memo_counts().compiled, one, "twelve layers compile what one has not");
    }
    Ok(())
}

#[test]
fn two_programs_share_a_kernel() -> evoxc::Result<()> {
    for native in natives() {
        let x = Tensor::from([[1f32, -2.0, 0.5], [3.0, 0.0, -0.0]]);
        let run = |n: &Native| build(layer, spec(F32, [2, 3]), n)?.run(x.clone())?.to_vec::<f32>();
        let first = run(&native)?;
        let counts = native.memo_counts();
        assert_eq!((counts.compiled, counts.found, counts.kept), (1, 0, 1));
        assert!(counts.bytes > 0);
        // Another value, which is the same one.
        assert_eq!(run(&native.clone().threads(2))?, first);
        let counts = native.memo_counts();
        assert_eq!((counts.compiled, counts.found, counts.kept), (1, 1, 1));
        // Other options make other kernels.
        run(&native.clone().precision(Precision::Fast))?;
        assert_eq!(native.memo_counts().compiled, 2);
        run(&native.clone().opt_level(evoxc::OptLevel::O0))?;
        assert_eq!(native.memo_counts().compiled, 3);
        // Without the memo, the same.
        let none = native.clone().memo(0);
        assert_eq!((run(&none)?, run(&none)?), (first.clone(), first));
        let counts = none.memo_counts();
        assert_eq!((counts.compiled, counts.found, counts.kept), (2, 0, 0));
    }
    Ok(())
}

#[test]
fn saved_artifacts_are_the_same_with_and_without_it() -> evoxc::Result<()> {
    use evoxc_stage::Backend;
    let graph = trace(layer, spec(F32, [4, 5]))?;
    let native = Native::default();
    if !native.abi_key().starts_with("x86-64") {
        println!("skipped: a C compiler need not give the same bytes twice; run it where there is machine code");
        return Ok(());
    }
    let bytes = |n: &Native| n.artifact_to_bytes(&n.compile(&n.lower(graph.module())?)?);
    let (first, second, none) = (bytes(&native)?, bytes(&native)?, bytes(&native.clone().memo(0))?);
    assert_eq!(native.memo_counts().found, 1);
    assert!(first == second && second == none);
    Ok(())
}

#[test]
fn threads_compile_at_once() -> evoxc::Result<()> {
    let native = Native::default();
    let one = |seed: usize| -> evoxc::Result<()> {
        for i in 0..50 {
            let c = ((i + seed) % 7) as f32;
            let exe = build(move |x: Sym| x * c + 1.0, spec(F32, [5]), &native)?;
            assert_eq!(exe.run(Tensor::ones(F32, [5]))?.to_vec::<f32>()?, [c + 1.0; 5]);
        }
        Ok(())
    };
    std::thread::scope(|s| {
        let all: Vec<_> = (0..4).map(|t| s.spawn(move || one(t))).collect();
        all.into_iter().try_for_each(|t| t.join().unwrap_or_else(|_| panic!("a thread panicked")))
    })?;
    assert!(native.memo_counts().kept <= 7);
    Ok(())
}

/// Ten thousand programs, each compiled, run and dropped: what is kept stays within its bound, and so does memory for code.
#[test]
fn ten_thousand_programs_stay_within_the_bound() -> evoxc::Result<()> {
    const MOST: usize = 1 << 20;
    let native = Native::default().memo(MOST).threads(1);
    let mut hottest = 0;
    for i in 0..10_000u32 {
        let c = i as f32;
        let exe = build(move |x: Sym| x + c, spec(F32, [3]), &native)?;
        assert_eq!(exe.run(Tensor::zeros(F32, [3]))?.to_vec::<f32>()?, [c; 3]);
        if i % 100 == 0 {
            let counts = native.memo_counts();
            assert!(counts.bytes <= MOST, "{counts:?}");
            hottest = counts.kept.max(hottest);
            #[cfg(all(unix, target_arch = "x86_64"))]
            assert!(evoxc_native::render::x86::mapped() <= 16 << 20);
        }
    }
    let counts = native.memo_counts();
    assert_eq!(counts.compiled + counts.found, 10_000);
    // Most have gone.
    assert!(hottest > 10 && hottest < 5_000, "{hottest}");
    Ok(())
}

/// A search that compiles its survivors again beside new programs stays within the bound too.
#[test]
fn survivors_stay_within_the_bound() -> evoxc::Result<()> {
    const MOST: usize = 1 << 17;
    let native = Native::default().memo(MOST).threads(1);
    for round in 0..12u32 {
        for i in 0..(round + 1) * 40 {
            let c = i as f32;
            build(move |x: Sym| x + c, spec(F32, [3]), &native)?;
            let counts = native.memo_counts();
            assert!(counts.bytes <= MOST, "round {round}: {counts:?}");
        }
    }
    assert!(native.memo_counts().found >= 40, "{:?}", native.memo_counts());
    Ok(())
}
