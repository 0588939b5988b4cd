//! Programs at the edges of the language: extents that turn out to be 0 or 1, narrow dtypes, indices far out of range.
//! Expected numbers: NumPy on the same data, or the rule stated beside them.

use evoxc::prelude::*;

fn floats(t: Tensor) -> Vec<f32> {
    t.to_vec().unwrap()
}

fn first(n: usize) -> Tensor {
    Tensor::from((0..n).map(|i| i as f32).collect::<Vec<_>>())
}

/// The results of `f` on [0, 1, …] of each length, from one executable.
fn for_lengths<const N: usize>(f: impl Fn(Sym) -> Sym, lengths: [usize; N]) -> [Vec<f32>; N] {
    let exe = build(f, spec(F32, [dim("B")]), &Interp).unwrap();
    lengths.map(|n| floats(exe.run(first(n)).unwrap()))
}

// Out of range takes the last branch, whatever the low bits say.
#[test]
fn a_wide_branch_number_is_not_cut_to_its_low_bits() -> evoxc::Result<()> {
    let f = |i: Sym| switch(i, [branch(|| full(I32, [], 0)), branch(|| full(I32, [], 1)), branch(|| full(I32, [], 2))]);
    let wide = [(1i64 << 32, 2), (-1, 2), (i64::MIN, 2), (0, 0), (1, 1), ((1 << 33) + 1, 2)];
    for (i, want) in wide {
        assert_eq!(evaluate(f, Tensor::from(i), &Interp)?.item::<i32>()?, want, "{i}");
    }
    for (i, want) in [(1u64 << 32, 2), (u64::MAX, 2), (1, 1)] {
        assert_eq!(evaluate(f, Tensor::from(i), &Interp)?.item::<i32>()?, want, "{i}");
    }
    assert_eq!(evaluate(f, Tensor::from(-1i8), &Interp)?.item::<i32>()?, 2);
    Ok(())
}
