//! Programs at the edges of the language: extents that turn out to be 0 or 1, narrow dtypes, indices far out of range.
//! Expected numbers: NumPy on the same data, or the rule stated beside them.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;

fn floats(t: Tensor) -> Vec<f32> {
    t.to_vec().unwrap()
}

fn first(n: usize) -> Tensor {
    Tensor::from((0..n).map(|i| i as f32).collect::<Vec<_>>())
}

/// The results of `f` on [0, 1, …] of each length, from one executable.
fn for_lengths<const N: usize>(f: impl Fn(Sym) -> Sym, lengths: [usize; N]) -> [Vec<f32>; N] {
    let exe = build(f, spec(F32, [dim("B")]), &Engines).unwrap();
    lengths.map(|n| floats(exe.run(first(n)).unwrap()))
}

// Out of range takes the last branch, whatever the low bits say.
#[test]
fn a_wide_branch_number_is_not_cut_to_its_low_bits() -> evoxc::Result<()> {
    let f = |i: Sym| switch(i, [branch(|| full(I32, [], 0)), branch(|| full(I32, [], 1)), branch(|| full(I32, [], 2))]);
    let wide = [(1i64 << 32, 2), (-1, 2), (i64::MIN, 2), (0, 0), (1, 1), ((1 << 33) + 1, 2)];
    for (i, want) in wide {
        assert_eq!(evaluate(f, Tensor::from(i), &Engines)?.item::<i32>()?, want, "{i}");
    }
    for (i, want) in [(1u64 << 32, 2), (u64::MAX, 2), (1, 1)] {
        assert_eq!(evaluate(f, Tensor::from(i), &Engines)?.item::<i32>()?, want, "{i}");
    }
    assert_eq!(evaluate(f, Tensor::from(-1i8), &Engines)?.item::<i32>()?, 2);
    Ok(())
}

// NumPy: linspace(2, 5, n) for n = 0, 1, 4.
#[test]
fn linspace_of_a_symbolic_length_of_one_is_its_start() {
    let [none, one, four] = for_lengths(|x| linspace(F32, 2.0, 5.0, x.dim(0)), [0, 1, 4]);
    assert_eq!((none, one, four), (vec![], vec![2.0], vec![2.0, 3.0, 4.0, 5.0]));
}

// NumPy: arange(5, 0, -2, dtype=uint8), arange(0, -2, -1), arange(127, -128, -128, dtype=int8).
#[test]
fn arange_counts_down_in_every_dtype() -> evoxc::Result<()> {
    assert_eq!(evaluate(|| arange(U8, 5, 0, -2), (), &Engines)?.to_vec::<u8>()?, [5, 3, 1]);
    assert_eq!(evaluate(|| arange(I8, 127, -128, -128), (), &Engines)?.to_vec::<i8>()?, [127, -1]);
    let down = floats(evaluate(|| arange(F32, 0, -2, -1), (), &Engines)?);
    assert_eq!(down.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [0f32, -1.0].map(f32::to_bits));
    Ok(())
}

// NumPy: x[::-2] and roll(x, 1) of [0, 1, …].
#[test]
fn an_axis_that_turns_out_empty_can_be_stepped_through_and_rolled() {
    let [none, one, four, five] = for_lengths(|x| x.slice(s![..;-2]), [0, 1, 4, 5]);
    assert_eq!((none, one, four, five), (vec![], vec![0.0], vec![3.0, 1.0], vec![4.0, 2.0, 0.0]));
    let [none, one, three] = for_lengths(|x| x.roll(1, 0), [0, 1, 3]);
    assert_eq!((none, one, three), (vec![], vec![0.0], vec![2.0, 0.0, 1.0]));
}

#[test]
fn a_bound_outside_of_its_axis_is_quoted_as_written() {
    let e = trace(|x: Sym| x.slice(s![-3]), spec(F32, [2])).unwrap_err();
    assert!(e.to_string().contains("-3 is outside of axis 0, which has size 2"), "{e}");
}

// A u8 counts to 255: 5 must not come round again at 261.
#[test]
fn one_hot_is_longer_than_a_narrow_dtype_counts() -> evoxc::Result<()> {
    let hot = floats(evaluate(|i: Sym| i.one_hot(300), Tensor::from([5u8]), &Engines)?);
    assert_eq!((hot.iter().sum::<f32>(), hot[5]), (1.0, 1.0));
    let both = floats(evaluate(|i: Sym| i.one_hot(2), Tensor::from([true, false]), &Engines)?);
    assert_eq!(both, [0.0, 1.0, 1.0, 0.0]);
    Ok(())
}

// NumPy: searchsorted([0, 1, …], 1.5).
#[test]
fn a_table_that_turns_out_empty_can_be_searched() {
    let [none, one, four] = for_lengths(|x| x.searchsorted(full(F32, [1], 1.5)).cast(F32), [0, 1, 4]);
    assert_eq!((none, one, four), (vec![0.0], vec![1.0], vec![2.0]));
}

#[test]
fn a_loop_of_fewer_than_no_steps_is_refused_by_its_name() {
    let e = trace(|x: Sym| fori_loop(-1, x, |_, x| x), spec(F32, [2])).unwrap_err();
    assert!(e.to_string().contains("fori_loop: the number of steps is -1"), "{e}");
}

fn refused(f: impl Fn(Sym) -> Sym, dtype: DType) -> String {
    trace(f, spec(dtype, [2, 3])).map_or_else(|e| e.to_string(), |g| panic!("{g}"))
}

#[test]
fn a_scalar_that_does_not_fit_is_refused_beside_its_tensor() {
    let e = refused(|x| x * 1.5, I32);
    assert!(e.contains("the scalar 1.5 is a float, which i32 does not hold (tensor<2x3xi32>)"), "{e}");
    let e = refused(|x| x.lt(300), U8);
    assert!(e.contains("the scalar 300 is out of the range of u8 (tensor<2x3xu8>)"), "{e}");
}

#[test]
fn a_label_of_two_sizes_is_named() {
    let e = refused(|x| einsum("ij,jk->ik", [x, x]), F32);
    assert!(e.contains("einsum: `j` has sizes 3 and 2 (tensor<2x3xf32>, tensor<2x3xf32>)"), "{e}");
    let e = refused(|x| einsum("...i,...->...", [x, x]), F32);
    assert!(e.contains("einsum: `...` has sizes 2 and 3"), "{e}");
}

#[test]
fn an_option_that_a_transposed_convolution_has_not_is_refused() {
    let f = |x: Sym, w: Sym| x.conv_transpose(w, Conv::default().input_dilation([2]));
    let e = trace(f, (spec(F32, [1, 1, 4]), spec(F32, [1, 1, 2]))).unwrap_err();
    assert!(e.to_string().contains("input_dilation"), "{e}");
}

// Half-pixel centres: 3 elements of [0, 1] lie at -1/6 (clamped), 1/2, 7/6 (clamped); 7 of [0, 1] at (i + 0.5)·2/7 - 0.5.
#[test]
fn resizing_f64_keeps_its_digits() -> evoxc::Result<()> {
    let y = evaluate(|x: Sym| x.resize_linear(7, 0), Tensor::from([0f64, 1.0]), &Engines)?.to_vec::<f64>()?;
    let want: Vec<f64> = (0..7).map(|i| ((f64::from(i) + 0.5) * 2.0 / 7.0 - 0.5).clamp(0.0, 1.0)).collect();
    assert!(y.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-15), "{y:?} {want:?}");
    Ok(())
}

// NumPy: take(x, [], 0), take_along_axis(x, [], 0) and sort(x) of no elements are empty, and so are all that derives from
// them, whether the extent is known to be 0 or turns out to be.
#[test]
fn nothing_is_taken_of_nothing() -> evoxc::Result<()> {
    let all: [fn(Sym) -> Sym; 4] =
        [|x| x.sort(0), |x| x.take(x.cast(I32), 0), |x| x.take_along_axis(x.cast(I32), 0), |x| x.top_k(0).0];
    let none = |shape: &[usize]| Tensor::zeros(F64, shape);
    for f in all {
        let total = move |x: Sym| f(x).sin().sum(..);
        for n in [Dim::constant(0), dim("N")] {
            let x = spec(F64, [n]);
            assert_eq!(build(f, x.clone(), &Engines)?.run(none(&[0]))?.shape(), [0]);
            let (_, t) = build(jvp(f), (x.clone(), x.clone()), &Engines)?.run((none(&[0]), none(&[0])))?;
            assert_eq!(t.shape(), [0]);
            assert_eq!(build(grad(total), x.clone(), &Engines)?.run(none(&[0]))?.shape(), [0]);
            assert_eq!(build(evoxc::hessian(total), x, &Engines)?.run(none(&[0]))?.shape(), [0, 0]);
            let rows = spec(F64, (3, n));
            assert_eq!(build(vmap(f), rows.clone(), &Engines)?.run(none(&[3, 0]))?.shape(), [3, 0]);
            assert_eq!(build(vmap(grad(total)), rows, &Engines)?.run(none(&[3, 0]))?.shape(), [3, 0]);
        }
    }
    // One that asks for an element is refused: when traced, or when it turns out.
    let one = |x: Sym, i: Sym| x.take(i, 0);
    assert!(trace(one, (spec(F64, [0]), spec(I32, [1]))).is_err());
    let exe = build(one, (spec(F64, [dim("N")]), spec(I32, [1])), &Engines)?;
    assert!(exe.run((none(&[0]), Tensor::from([0i32]))).is_err());
    Ok(())
}

// Element i is that at floor(i·50000/100000), also where i·50000 is more than an i32 holds.
#[test]
fn long_axes_are_resized_to_the_end() -> evoxc::Result<()> {
    let y = evaluate(|x: Sym| x.resize_nearest(100_000, 0), first(50_000), &Engines)?;
    assert!(floats(y).iter().enumerate().all(|(i, y)| *y == (i / 2) as f32));
    Ok(())
}
