//! Derivatives of gamma, beta and dirichlet numbers in their parameters.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;

type Result<T = ()> = evoxc::Result<T>;

fn close(got: f64, want: f64, tolerance: f64) -> bool {
    (got - want).abs() <= tolerance * want.abs()
}

/// Numbers of key 7 with these parameters and their first derivatives in them.
fn moved(dtype: DType, a: Vec<f64>) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = a.len();
    let f = move |k: Sym, a: Sym| {
        let draw = move |a: Sym| random::gamma(k, dtype, [n], a);
        let (x, t) = jvp(draw).call((a.cast(dtype), a.ones_like().cast(dtype)));
        (x.cast(F64), t.cast(F64))
    };
    let (x, t) = evaluate(f, (random::key(7), Tensor::from(a)), &Engines)?;
    Ok((x.to_vec()?, t.to_vec()?))
}

// mpmath (50 digits): the first and second difference of the x(a) for which gammainc(a, 0, x, regularized) stays what it
// is; the first is also jax.lax.random_gamma_grad(a, x).
const KNOWN: [(usize, f64, f64, f64, f64); 11] = [
    (3, 0.05, 0.1155134886493504, 4.546674369069704, 19.371716262780897),
    (6, 0.05, 6.4859925846104745e-12, 3.2771815282943536e-09, 1.5249750757537167e-06),
    (3, 0.3, 2.5670514686776613, 3.8730969355188547, -7.15773556854335),
    (6, 0.9, 0.05058562414755367, 0.19364172028333604, 0.36427243445283136),
    (3, 0.9, 4.70971514763894, 2.437772071151204, -0.9825948387628871),
    (3, 1.7, 5.399310728979409, 1.8562394630088443, -0.28670816230221985),
    (6, 6.0, 2.117547698924851, 0.5833518443702903, 0.034723178155625),
    (3, 11.9, 19.97029606982402, 1.2990518888190874, -0.012785072335253075),
    (6, 12.1, 6.158464909653203, 0.7095793111003245, 0.012071937745156329),
    (3, 50.0, 65.45103020308505, 1.1444764955834374, -0.0014501590684557243),
    (6, 1000.0, 937.8284995950728, 0.968410596836169, 1.579722749891828e-05),
];

#[test]
fn first_and_second_derivatives() -> Result {
    for (at, a, x, first, second) in KNOWN {
        let f = |a: Sym, k: Sym| random::gamma(k, F64, [20], a).take(at as i64, 0);
        let inputs = (Tensor::from(a), random::key(7));
        let got = evaluate(f, inputs.clone(), &Engines)?.item::<f64>()?;
        assert!(close(got, x, 1e-12), "{a}: {got} {x}");
        let got = evaluate(grad(f), inputs.clone(), &Engines)?.item::<f64>()?;
        assert!(close(got, first, 1e-12), "{a}: {got} {first}");
        // By both modes, each over each. Of large parameters the second is a small difference.
        let tolerance = if a < 100.0 { 1e-9 } else { 1e-6 };
        let slope = |a: Sym, k: Sym| jvp(|a: Sym| f(a, k)).call((a, a.ones_like())).1;
        let all = |a: Sym, k: Sym| {
            let forward = jvp(|a: Sym| slope(a, k)).call((a, a.ones_like())).1;
            let mixed = jvp(|a: Sym| grad(|a: Sym| f(a, k)).call(a)).call((a, a.ones_like())).1;
            let backward = grad(|a: Sym| grad(|a: Sym| f(a, k)).call(a)).call(a);
            // (x²)'' = 2x'² + 2xx'': the value, too, depends on a.
            let square = grad(|a: Sym| grad(|a: Sym| f(a, k).square()).call(a)).call(a);
            (forward, mixed, backward, square)
        };
        let (forward, mixed, backward, square) = evaluate(all, inputs, &Engines)?;
        for got in [forward, mixed, backward] {
            let got = got.item::<f64>()?;
            assert!(close(got, second, tolerance), "{a}: {got} {second}");
        }
        let (square, want) = (square.item::<f64>()?, 2.0 * (first * first + x * second));
        assert!(close(square, want, 1e-9), "{a}: {square} {want}");
    }
    Ok(())
}

/// dx/da = -(dP/da)/p(x), by a central difference of igamma.
fn by_definition(a: f64, x: f64) -> Result<f64> {
    let f = |a: Sym, x: Sym| {
        let h = a * 1e-5;
        let density = ((a - 1.0) * x.log() - x - a.lgamma()).exp();
        ((a - h).igamma(x) - (a + h).igamma(x)) / (h * 2.0) / density
    };
    evaluate(f, (Tensor::from(a), Tensor::from(x)), &Engines)?.item()
}

#[test]
fn every_dtype() -> Result {
    let a: Vec<f64> = [0.0625, 0.25, 1.0, 2.5, 12.0, 100.0, 1024.0].iter().flat_map(|a| [*a; 8]).collect();
    for (dtype, tolerance) in [(F64, 2e-7), (F32, 2e-5), (F16, 2e-3), (BF16, 2e-2)] {
        let (x, t) = moved(dtype, a.clone())?;
        for ((&a, &x), &t) in a.iter().zip(&x).zip(&t).filter(|((_, x), _)| **x > 1e-3) {
            let want = by_definition(a, x)?;
            // Rounding x moves the derivative by as much, and by more where few bits are left.
            assert!(close(t, want, tolerance), "{dtype} {a} {x}: {t} {want}");
        }
    }
    Ok(())
}

#[test]
fn numbers_that_underflow_and_odd_parameters() -> Result {
    // Of a = 0.001 nearly every number is 0 in f32, and so is its derivative; none is NaN.
    let (x, t) = moved(F32, vec![0.001; 40])?;
    assert!(
        x.contains(&0.0) && x.iter().zip(&t).all(|(x, t)| t.is_finite() && (*x > 0.0) == (*t > 0.0)),
        "{x:?} {t:?}"
    );
    let (x, t) = moved(F32, vec![0.0, -1.0, f64::NAN, 1e-30, 1e30])?;
    assert!(x[0] == 0.0 && t[0] == 0.0 && t[1].is_nan() && t[2].is_nan() && t[3] == 0.0, "{x:?} {t:?}");
    assert!((t[4] - 1.0).abs() < 1e-5, "{t:?}");

    // Nor is a second derivative, by both modes: 0 stays 0, however fast its logarithm moves.
    for (dtype, a) in [(F32, 1e-10), (F32, 1e-14), (F32, 1e-30), (F32, 1e-38), (F32, 1e-40), (F64, 1e-300)] {
        let f = move |a: Sym, k: Sym| random::gamma(k, dtype, [], a);
        let slope = move |a: Sym, k: Sym| jvp(move |a: Sym| f(a, k)).call((a, a.ones_like())).1;
        let both = move |a: Sym, k: Sym| {
            let forward = jvp(move |a: Sym| slope(a, k)).call((a, a.ones_like())).1;
            (f(a, k), forward, grad(move |a: Sym| grad(move |a: Sym| f(a, k)).call(a)).call(a))
        };
        let (x, forward, backward) = evaluate(both, (Tensor::full(dtype, [], a), random::key(11)), &Engines)?;
        for t in [x, forward, backward] {
            assert_eq!(t.cast(F64)?.item::<f64>()?, 0.0, "{dtype} {a}");
        }
    }
    // Their logarithms have derivatives as long as a float holds them.
    for a in [1e-10f32, 1e-20, 1e-30, 1e-37, 1e-38] {
        let f = |a: Sym, k: Sym| random::beta(k, F32, [20, 3], a, 2).sum(..) + random::dirichlet(k, [20], a).sum(..);
        let f = move |a: Sym, k: Sym| f(a.broadcast_to([3]), k);
        let slope = evaluate(grad(f), (Tensor::from(a), random::key(5)), &Engines)?.item::<f32>()?;
        assert!(slope.is_finite(), "{a}: {slope}");
    }
    Ok(())
}

#[test]
fn drawing_is_not_changed() -> Result {
    // The value of a derivative's primal is the draw, bit by bit.
    let f = |a: Sym, k: Sym| random::gamma(k, F32, [50], a);
    let inputs = (Tensor::from(0.7f32), random::key(3));
    let both = |a: Sym, k: Sym| jvp(|a: Sym| f(a, k)).call((a, a.ones_like())).0;
    let (drawn, primal) = (evaluate(f, inputs.clone(), &Engines)?, evaluate(both, inputs, &Engines)?);
    assert_eq!(drawn.to_vec::<f32>()?, primal.to_vec::<f32>()?);
    Ok(())
}

#[test]
fn rows_and_broadcasting() -> Result {
    let loss = |a: Sym, k: Sym| (random::gamma(k, F64, [4, 3], a) * arange(F64, 0, 3, 1)).sum(..);
    let a = Tensor::from([0.4, 2.0, 30.0]);
    let together = evaluate(grad(loss), (a.clone(), random::key(5)), &Engines)?.to_vec::<f64>()?;
    assert!(together[0] == 0.0 && together[1] > 0.0 && together[2] > 0.0, "{together:?}");
    // The sum over rows of x(a) is that of each row.
    let each = |a: Sym, k: Sym| {
        let rows = a.broadcast_to([4, 3]);
        grad(move |a: Sym| (random::gamma(k, F64, [4, 3], a) * arange(F64, 0, 3, 1)).sum(..)).call(rows).sum(0)
    };
    let each = evaluate(each, (a, random::key(5)), &Engines)?.to_vec::<f64>()?;
    assert!(together.iter().zip(&each).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs()), "{together:?} {each:?}");

    // vmap of grad is grad row by row, over parameters and over keys.
    let one = |a: Sym, k: Sym| random::gamma(k, F64, [2], a).sum(..);
    let a = Tensor::from([0.3, 1.5, 20.0]);
    let keys = evaluate(|k: Sym| random::split_n(k, 3), random::key(8), &Engines)?;
    let rows = evaluate(vmap(grad(one)), (a.clone(), keys.clone()), &Engines)?.to_vec::<f64>()?;
    let inner = evaluate(grad(|a: Sym, k: Sym| vmap(one).call((a, k)).sum(..)), (a.clone(), keys.clone()), &Engines)?;
    assert_eq!(rows, inner.to_vec::<f64>()?);
    for (i, row) in rows.iter().enumerate() {
        let at = move |a: Sym, k: Sym| grad(one).call((a.take(i as i64, 0), k.take(i as i64, 0)));
        assert_eq!(evaluate(at, (a.clone(), keys.clone()), &Engines)?.item::<f64>()?, *row);
    }
    Ok(())
}

/// Mean and standard error of numbers.
fn mean(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let m = x.iter().sum::<f64>() / n;
    (m, (x.iter().map(|x| (x - m).powi(2)).sum::<f64>() / n / n).sqrt())
}

#[test]
fn beta_and_dirichlet() -> Result {
    const N: usize = 4000;
    // E[y] = a/(a + b), so E[dy/da] = b/(a + b)² and E[dy/db] = -a/(a + b)²; E[y(1 - y)] = ab/((a + b)(a + b + 1)).
    for (a, b) in [(0.05f64, 0.2), (0.5, 2.0), (3.0, 1.0), (40.0, 1000.0)] {
        let y = |a: Sym, b: Sym, k: Sym| random::beta(k, F64, [N], a, b);
        let tangents = |a: Sym, b: Sym, k: Sym| {
            let of = |ta: Sym, tb: Sym| jvp(|a: Sym, b: Sym| y(a, b, k)).call(((a, b), (ta, tb))).1;
            (of(a.ones_like(), a.zeros_like()), of(a.zeros_like(), a.ones_like()))
        };
        let (da, db) = evaluate(tangents, (Tensor::from(a), Tensor::from(b), random::key(1)), &Engines)?;
        for (got, want) in [(da, b / (a + b).powi(2)), (db, -a / (a + b).powi(2))] {
            let (m, error) = mean(got.as_slice()?);
            assert!((m - want).abs() < 5.0 * error, "{a} {b}: {m} {want} ± {error}");
        }
    }
    // E[y_i] = a_i/s of the sum s, so E[dy_i/da_j] = (i = j)/s - a_i/s².
    let alpha = [0.05, 0.9, 6.0];
    let s: f64 = alpha.iter().sum();
    for j in 0..3 {
        let f = move |a: Sym, k: Sym| {
            let t = arange(I64, 0, 3, 1).eq(j as i64).cast(F64);
            jvp(|a: Sym| random::dirichlet(k, [N], a)).call((a, t)).1.transpose([1, 0])
        };
        let t = evaluate(f, (Tensor::from(alpha), random::key(2)), &Engines)?.to_vec::<f64>()?;
        for i in 0..3 {
            let (m, error) = mean(&t[i * N..(i + 1) * N]);
            let want = if i == j { 1.0 / s } else { 0.0 } - alpha[i] / (s * s);
            assert!((m - want).abs() < 5.0 * error, "{i} {j}: {m} {want} ± {error}");
        }
    }
    // Classes whose numbers underflow give no NaN.
    let f = |a: Sym, k: Sym| random::dirichlet(k, [30], a).square().sum(..);
    let g = evaluate(grad(f), (Tensor::from([1e-4f32, 1e-3, 0.0, 2e-4]), random::key(2)), &Engines)?;
    assert!(g.to_vec::<f32>()?.iter().all(|g| g.is_finite()), "{g:?}");
    Ok(())
}

#[test]
fn saved_graphs_differentiate_and_a_third_derivative_is_refused() -> Result {
    let f = |a: Sym, k: Sym| random::gamma(k, F64, [], a);
    let inputs = (Tensor::from(2.5), random::key(4));
    let graph = trace(f, (spec(F64, []), random::key_spec()))?;
    let loaded = Graph::parse(&graph.to_string())?.typed::<(Sym, Sym), Sym>()?;
    let want = evaluate(grad(f), inputs.clone(), &Engines)?.item::<f64>()?;
    assert_eq!(evaluate(grad(&loaded), inputs.clone(), &Engines)?.item::<f64>()?, want);
    let twice = |a: Sym, k: Sym| grad(grad(f)).call((a, k));
    assert!(evaluate(twice, inputs, &Engines)?.item::<f64>()?.is_finite());
    for e in [
        trace(|a: Sym, k: Sym| grad(grad(grad(f))).call((a, k)), (spec(F64, []), random::key_spec())).unwrap_err(),
        trace(
            |a: Sym, k: Sym| jvp(|a: Sym| grad(grad(f)).call((a, k))).call((a, a.ones_like())),
            (spec(F64, []), random::key_spec()),
        )
        .unwrap_err(),
    ] {
        assert!(e.to_string().contains("gamma_number_third_derivative"), "{e}");
    }
    Ok(())
}
