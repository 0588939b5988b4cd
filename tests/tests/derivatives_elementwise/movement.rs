//! Data movement and dot, of constant and of symbolic extents.

use crate::check::*;
use evoxc::prelude::*;
use evoxc_tests::engines::Engines;
use evoxc_trace as tr;

#[test]
fn movement_is_transposed() {
    let table: &[(&str, F1)] = &[
        ("broadcast", |x| x.reshape([1, 2, 3]).broadcast_to([4, 2, 3]) * x.reshape([2, 3]).sin()),
        ("broadcast of one", |x| x.reshape([6, 1]).broadcast_to([6, 2])),
        ("reshape, transpose", |x| x.reshape([2, 3]).t().reshape([6]) * x),
        ("transpose of three", |x| x.reshape([1, 2, 3]).transpose([2, 0, 1]).sin()),
        ("slice", |x| x.slice(s![1..4])),
        ("strided slice", |x| x.slice(s![1..6;2])),
        ("reversed slice", |x| x.slice(s![..;-2])),
        ("pad", |x| x.pad(&[(1, 2)], 0.5)),
        ("cutting pad", |x| x.pad(&[(-1, -2)], 0.5)),
        ("mixed pad", |x| x.pad(&[(3, -4)], 0.5)),
        ("concatenate", |x| concat([x, x.sin(), x.slice(s![1..2])], 0)),
        ("concatenate with a constant", |x| concat([x.zeros_like(), x.sin()], 0)),
        ("reverse", |x| x.flip(0) * x),
        ("barrier", |x| {
            let (a, b) = tr::optimization_barrier((x.sin(), x * 2.0));
            a * b
        }),
        ("convert", |x| x.cast(F64).cast(C128).real() + x.cast(I32).cast(F64)),
    ];
    for (name, f) in table {
        smooth(name, |x: Sym| f(x).sin(), &[0.1, -1.2, 2.3, 0.7, -0.4, 1.6], 1e-6);
    }
}

#[test]
fn dots_are_transposed_in_every_layout() {
    // x holds both operands.
    let x: Vec<f64> = (0..48).map(|i| (f64::from(i) * 0.7).sin()).collect();
    smooth("matrices", |x| x.slice(s![..6]).reshape([2, 3]).dot(x.slice(s![6..12]).reshape([3, 2])), &x[..12], 1e-7);
    smooth("vectors", |x| x.slice(s![..3]).dot(x.slice(s![3..])), &x[..6], 1e-7);
    let specs = [
        "bij,bjk->bik",
        "bji,bjk->bik",
        "bij,bkj->bik",
        "ijb,jkb->bik",
        "bij,jkb->kib",
        "abc,dcb->ad",
        "abc,bca->ab",
        "abc,cab->",
        "ab,cd->abcd",
    ];
    for spec in specs {
        let sizes = |c: char| match c {
            'b' => 2usize,
            'i' | 'a' => 3,
            _ => 2,
        };
        let (ins, _) = spec.split_once("->").unwrap();
        let (l, r) = ins.split_once(',').unwrap();
        let dims = |s: &str| s.chars().map(sizes).collect::<Vec<_>>();
        let (ls, rs) = (dims(l), dims(r));
        let (nl, nr) = (ls.iter().product::<usize>(), rs.iter().product::<usize>());
        let f = |x: Sym| {
            let (a, b) = (x.slice(s![..nl]).reshape(&ls), x.slice(s![nl..]).reshape(&rs));
            einsum(spec, [a, b])
        };
        smooth(spec, f, &x[..nl + nr], 1e-7);
    }
}

#[test]
fn symbolic_extents_stay_symbolic() {
    let b = dim("B");
    let table: &[(&str, F1)] = &[
        ("slice", |x| x.slice(s![..;2])),
        ("pad", |x| x.pad(&[(1, 2)], 0.0)),
        ("reverse slice", |x| x.slice(s![..;-2])),
        ("concatenate", |x| concat([x, x * x], 0)),
        ("broadcast", |x| x.expand_dims(0).broadcast_to((3, x.dim(0)))),
        ("prod", |x| x.prod(..)),
        ("max", |x| x.max(..)),
        ("cumprod", |x| x.cumprod(0)),
        ("cummax", |x| x.cummax(0)),
        ("cumlogsumexp", |x| x.cumlogsumexp(0)),
        ("cumsum", |x| x.cumsum(0)),
        ("roll", |x| x.roll(1, 0) * x),
        ("outer", |x| x.expand_dims(1).dot(x.expand_dims(0))),
        ("reshape", |x| (x.expand_dims(1) * full(F64, [4], 1.5)).ravel()),
        ("interior", |x| {
            let (one, zero) = (Dim::constant(1), tr::zeros(F64, []));
            let prim = evoxc::ir::Prim::Pad { low: vec![one], high: vec![-one], interior: vec![2] };
            tr::emitter::emit(prim, &[x, zero])
        }),
    ];
    let x = [0.4, -0.3, 1.2, 0.9];
    for (name, f) in table {
        let g = |x: Sym| grad(|x: Sym| f(x).sin().sum(..)).call(x);
        let exe = build(g, spec(F64, [b]), &Engines).unwrap();
        for n in [4, 1, 0] {
            if n == 0 && *name == "max" {
                continue;
            }
            let got = exe.run(Tensor::from(x[..n].to_vec())).unwrap().to_vec::<f64>().unwrap();
            near(name, &got, &run1(g, &x[..n]), 1e-14);
        }
    }
}

#[test]
fn the_padding_value_gets_what_it_pads() -> evoxc::Result<()> {
    let pad = |x: Sym, v: Sym| {
        let (low, high) = (vec![Dim::constant(1)], vec![Dim::constant(-2)]);
        tr::emitter::emit(evoxc::ir::Prim::Pad { low, high, interior: vec![1] }, &[x, v])
    };
    // [v, x0, v, x1]: v gets 1 + 4, which a difference of sums with the infinity would lose.
    let f = move |x: Sym, v: Sym| (pad(x, v) * tr::constant(&Tensor::from([1f64, f64::INFINITY, 4.0, 8.0]))).sum(..);
    let args = (Tensor::from([1f64, 2.0, 3.0]), Tensor::from(5f64));
    let (x, v) = evaluate(grad(f).wrt2::<0, 1>(), args, &Engines)?;
    assert_eq!(x.to_vec::<f64>()?, [f64::INFINITY, 8.0, 0.0]);
    assert_eq!(v.item::<f64>()?, 5.0);
    Ok(())
}

// bf16 operands of which f32 sums keep what bf16 loses: 256 + 1.
#[test]
fn an_accumulator_wider_than_the_operands_is_not_narrowed_before_the_sum() -> evoxc::Result<()> {
    use evoxc::ir::{AxisPair, Prim};
    let dot = |x: Sym, y: Sym| {
        let contract = AxisPair { lhs: vec![1], rhs: vec![0] };
        tr::emitter::emit(Prim::Dot { batch: AxisPair::default(), contract, accumulate: Some(F32) }, &[x, y])
    };
    // d/dx Σ c·(x y) = c yᵀ with c = 257, which bf16 does not hold: 257 - 256 is exact only in f32.
    let f = move |x: Sym| {
        let y = tr::constant(&Tensor::from([[1f32, -1.0]])).cast(BF16);
        (dot(x, y) * tr::constant(&Tensor::from([[257f32, 256.0]]))).sum(..)
    };
    let got = evaluate(grad(f), Tensor::from([[3f32]]).cast(BF16)?, &Engines)?;
    assert_eq!((got.dtype(), got.cast(F32)?.to_vec::<f32>()?), (BF16, vec![1.0]));
    Ok(())
}

#[test]
fn an_accumulator_wider_than_the_operands_is_converted_back() -> evoxc::Result<()> {
    use evoxc::ir::{AxisPair, Prim};
    let wide = |x: Sym, y: Sym| {
        let contract = AxisPair { lhs: vec![1], rhs: vec![0] };
        tr::emitter::emit(Prim::Dot { batch: AxisPair::default(), contract, accumulate: Some(F32) }, &[x, y])
    };
    let g =
        trace(grad(move |x: Sym, y: Sym| wide(x, y).sum(..)).wrt2::<0, 1>(), (spec(BF16, [2, 3]), spec(BF16, [3, 4])))?;
    assert_eq!(g.output_specs(), [spec(BF16, [2, 3]), spec(BF16, [3, 4])]);
    Ok(())
}
