//! Random numbers of odd parameters (each draw ends, and gives what its documentation says), bounds that fill a dtype,
//! and derivatives in parameters, from formulas.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;

fn run(f: impl Fn(Sym, Sym) -> Sym, p: Tensor) -> Tensor {
    evaluate(f, (random::key(5), p), &Engines).unwrap()
}

const INF: f32 = f32::INFINITY;

#[test]
fn odd_parameters_end() -> evoxc::Result<()> {
    let alpha = Tensor::from([0.0f32, -1.0, f32::NAN, INF, 1e-30, 1e30, 2.0]);
    let g = run(|k, a| random::gamma(k, F32, [7], a), alpha.clone()).to_vec::<f32>()?;
    assert!(g[0] == 0.0 && g[1].is_nan() && g[2].is_nan() && g[3] == INF && g[4] == 0.0, "{g:?}");
    assert!((g[5] / 1e30 - 1.0).abs() < 1e-5 && g[6] > 0.0, "{g:?}");
    let b = run(|k, a| random::beta(k, F32, [7], a, 1.0), alpha.clone()).to_vec::<f32>()?;
    assert!(b[0] == 0.0 && b[1].is_nan() && b[2].is_nan() && b[4] == 0.0 && b[5] == 1.0, "{b:?}");
    let d = run(|k, a| random::dirichlet(k, [], a), Tensor::from([1e-30f32, 1e-30, 1e-30])).to_vec::<f32>()?;
    assert_eq!(d.iter().sum::<f32>(), 1.0, "{d:?}");
    let rate = Tensor::from([0.0f32, -1.0, f32::NAN, INF, 1e-30, 1e9, 3e38, -0.0]);
    let p = run(|k, r| random::poisson(k, I32, [8], r), rate.clone()).to_vec::<i32>()?;
    assert!(p[..5] == [0, -1, -1, -1, 0] && p[7] == 0, "{p:?}");
    assert!((p[5] - 1_000_000_000).abs() < 200_000 && p[6] == i32::MAX, "{p:?}");
    assert_eq!(run(|k, r| random::poisson(k, U8, [8], r), rate).to_vec::<u8>()?[..5], [0, 255, 255, 255, 0]);
    let p = Tensor::from([f32::NAN, -1.0, 0.0, 1.0, 2.0]);
    let coins = run(|k, p| random::bernoulli(k, [9, 5], p), p).to_vec::<bool>()?;
    assert_eq!(coins, [false, false, false, true, true].repeat(9));
    let high = Tensor::from([0.0f32, -5.0, 0.5, 30.0]);
    let t = run(|k, h| random::truncated_normal(k, F32, [4], 0.0, h), high).to_vec::<f32>()?;
    assert!(t.iter().all(|t| t.is_finite()) && 0.0 < t[2] && t[2] < 0.5 && t[3] > 0.0, "{t:?}");
    let far =
        run(|k, h| random::truncated_normal(k, F32, [4], h, f64::INFINITY), Tensor::from([20f32])).to_vec::<f32>()?;
    assert!(far.iter().all(|t| *t > 20.0 && t.is_finite()), "{far:?}");
    Ok(())
}

#[test]
fn integers_of_bounds_known_late() -> evoxc::Result<()> {
    let high = Tensor::from([3i32, 2, -7, 4, i32::MAX]);
    for key in [random::key(5), random::threefry_key(5), random::philox_key(5)] {
        let f = |k: Sym, h: Sym| random::randint(k, I32, [50, 5], 3, h);
        let x = evaluate(f, (key.clone(), high.clone()), &Engines)?.to_vec::<i32>()?;
        for row in x.chunks(5) {
            assert!(row[..4] == [3, 3, 3, 3] && row[4] >= 3, "{row:?}");
        }
        // A bound that is known and one that is not give the numbers of two that are known.
        let (low, known) = (Tensor::from(-9i64), |k: Sym| random::randint(k, I64, [50], -9, 1000));
        let late = |k: Sym, low: Sym| random::randint(k, I64, [50], low, 1000);
        let (a, b) = (evaluate(known, key.clone(), &Engines)?, evaluate(late, (key.clone(), low), &Engines)?);
        assert!(a.bit_eq(&b));
        // All values of a dtype come up.
        let bytes = |k: Sym| random::randint(k, I8, [10_000], -128, 128);
        let mut seen = evaluate(bytes, key.clone(), &Engines)?.to_vec::<i8>()?;
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 256);
        let all = |k: Sym| random::randint(k, I64, [4000], i64::MIN, 1u64 << 63).popcount().cast(F64).mean(..);
        let bits = evaluate(all, key.clone(), &Engines)?.item::<f64>()?;
        assert!((bits - 32.0).abs() < 5.0 * 4.0 / 4000f64.sqrt(), "{bits}"); // 64 fair bits: a mean of 32, σ = 4
    }
    Ok(())
}

// low + u (high - low): the derivatives are 1 - u and u.
#[test]
fn derivatives_in_the_bounds_of_a_uniform() -> evoxc::Result<()> {
    let f = |low: Sym, high: Sym| random::uniform_range(constant(&random::key(3)), F64, [], low, high);
    let (x, (dl, dh)) = evaluate(value_and_grad(f).wrt2::<0, 1>(), (Tensor::from(1f64), Tensor::from(3f64)), &Engines)?;
    let u = (x.item::<f64>()? - 1.0) / 2.0;
    assert!((dl.item::<f64>()? - (1.0 - u)).abs() < 1e-15 && (dh.item::<f64>()? - u).abs() < 1e-15);
    Ok(())
}

// F(x; l, h) = (Φ(x) - Φ(l))/(Φ(h) - Φ(l)) = u stays, so dx/dl = (1 - u) φ(l)/φ(x) and dx/dh = u φ(h)/φ(x).
#[test]
fn derivatives_in_the_bounds_of_a_truncated_normal() -> evoxc::Result<()> {
    let f = |low: Sym, high: Sym| random::truncated_normal(constant(&random::key(3)), F64, [], low, high);
    let at = (Tensor::from(-0.5f64), Tensor::from(1.5f64));
    let (x, (dl, dh)) = evaluate(value_and_grad(f).wrt2::<0, 1>(), at, &Engines)?;
    let u = evaluate(|k: Sym| random::uniform(k, F64, []), random::key(3), &Engines)?.item::<f64>()?;
    let x = x.item::<f64>()?;
    let ratio = |b: f64| ((x * x - b * b) / 2.0).exp();
    assert!((dl.item::<f64>()? - (1.0 - u) * ratio(-0.5)).abs() < 1e-13);
    assert!((dh.item::<f64>()? - u * ratio(1.5)).abs() < 1e-13);
    Ok(())
}

// What is drawn inside of a differentiated function is a constant to it.
#[test]
fn noise_is_a_constant_to_derivatives() -> evoxc::Result<()> {
    let f = |w: Sym, k: Sym| {
        let (a, b) = random::split(k);
        let keep = random::bernoulli(a, [5], w.stop_gradient() * 0.0 + 0.5);
        let noise = random::normal(b, F32, [5]) + random::gamma(b, F32, [5], 2.0);
        (keep.select(noise, 0.0) * w).sum(..)
    };
    let (l, g) = evaluate(value_and_grad(f), (Tensor::from(1f32), random::key(1)), &Engines)?;
    assert!(l.bit_eq(&g));
    Ok(())
}

// What a dtype does not hold is said, and does not come out as infinities, NaN or wrapped counts.
#[test]
fn numbers_that_a_dtype_does_not_hold_are_refused() {
    type Draw = fn(Sym) -> Sym;
    let cases: [(Draw, &str); 4] = [
        (|k| random::uniform_range(k, F32, [2], -3e38, 3e38), "infinite as f32"),
        (|k| random::uniform_range(k, F16, [2], 0.0, 1e5), "infinite as f16"),
        (|k| random::gamma(k, F16, [2], 1e30), "infinite as f16"),
        (|k| random::multinomial(k, I8, [], 1000, zeros(F32, [2]) + 0.5), "more than i8 holds"),
    ];
    for (f, want) in cases {
        let e = trace(f, random::key_spec()).unwrap_err().to_string();
        assert!(e.contains(want) && e.contains("random_edges.rs"), "{e}");
    }
    assert!(trace(|k: Sym| random::truncated_normal(k, F16, [2], -1e30, 1e30), random::key_spec()).is_ok());
}

#[test]
fn nothing_can_be_chosen_from_nothing() -> evoxc::Result<()> {
    let f = |k: Sym, rows: Sym| {
        let weights = random::Choice::default().weights(zeros(F32, [0]));
        (random::choice(k, [0, 3], 0, random::Choice::default()), random::choice(k, [0], rows, weights))
    };
    let (a, b) = evaluate(f, (random::key(1), Tensor::zeros(F32, [0, 2])), &Engines)?;
    assert_eq!((a.shape(), b.shape()), (&[0, 3][..], &[0, 2][..]));
    Ok(())
}
