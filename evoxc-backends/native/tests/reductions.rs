//! Reductions of much to little: threads share them, and any number of threads gives the same bits.

use evoxc::{Native, prelude::*};

fn must<T>(r: evoxc::Result<T>) -> T {
    r.unwrap_or_else(|e| panic!("{e:?}"))
}

/// Numbers of which sums are exact: integers up to 9, of both signs.
fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919 + 13) % 19) as f32 - 9.0).collect()
}

#[track_caller]
fn check(shape: &[usize], specs: &[TensorSpec]) {
    let f = |x: Sym| (x.sum(..), x.max(..), x.min(..), (x * x).mean(..), x.logsumexp(..));
    let data = numbers(shape.iter().product());
    let n = data.len() as f64;
    let wide = || data.iter().map(|&x| f64::from(x));
    let (sum, squares) = (wide().sum::<f64>(), wide().map(|x| x * x).sum::<f64>() / n);
    let lse = wide().map(f64::exp).sum::<f64>().ln();
    let x = must(Tensor::from_vec::<f32>(data.clone(), shape));
    for spec in specs {
        let run = |threads: usize| {
            let exe = must(build(f, spec.clone(), &Native::default().threads(threads)));
            let (a, b, c, d, e) = must(exe.run(x.clone()));
            [a, b, c, d, e].map(|t| must(t.item::<f32>()))
        };
        let one = run(1);
        // Sums of integers below 2^24 are exact; the others are rounded a few times.
        assert_eq!(one[..3], [sum as f32, 9.0, -9.0], "{spec}");
        for (got, want) in [(one[3], squares), (one[4], lse)] {
            assert!((f64::from(got) - want).abs() <= 1e-5 * want.abs(), "{spec}: {got} and {want}");
        }
        for threads in [2, 3] {
            assert_eq!(run(threads).map(f32::to_bits), one.map(f32::to_bits), "{spec}, {threads} threads");
        }
    }
}

#[test]
fn all_elements_of_large_arrays() {
    check(&[1 << 20], &[spec(F32, [1 << 20])]);
    // 7^7: no run of whole vectors.
    check(&[823_543], &[spec(F32, [823_543])]);
    // A prime, which no equal parts make.
    check(&[1_000_003], &[spec(F32, [1_000_003])]);
    check(&[1000, 1031], &[spec(F32, [1000, 1031]), spec(F32, (dim("B"), 1031)), spec(F32, (dim("B"), dim("N")))]);
    check(&[3, 7, 41, 1024], &[spec(F32, [3, 7, 41, 1024])]);
}
