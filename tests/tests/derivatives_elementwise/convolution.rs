//! Convolution with every attribute, against central differences.

use crate::check::*;
use evoxc::prelude::*;
use evoxc_tests::engines::Engines;
use evoxc_trace as tr;

#[test]
fn convolutions_are_transposed_with_every_attribute() {
    use evoxc::ir::{ConvLayout, Flag, Padding, Prim, Window};
    struct Case {
        name: &'static str,
        lhs: Vec<usize>,
        rhs: Vec<usize>,
        stride: Vec<i64>,
        padding: Vec<(i64, i64)>,
        base: Vec<i64>,
        dilation: Vec<i64>,
        reversal: Vec<bool>,
        groups: (usize, usize),
        last: bool,
    }
    let plain = || Case {
        name: "plain",
        lhs: vec![2, 2, 5],
        rhs: vec![3, 2, 2],
        stride: vec![1],
        padding: vec![(0, 0)],
        base: vec![1],
        dilation: vec![1],
        reversal: vec![false],
        groups: (1, 1),
        last: false,
    };
    let cases = [
        plain(),
        Case { name: "stride", stride: vec![2], ..plain() },
        Case { name: "stride 3", stride: vec![3], padding: vec![(1, 1)], ..plain() },
        Case { name: "padding", padding: vec![(2, 1)], ..plain() },
        Case { name: "wide padding", padding: vec![(4, 3)], ..plain() },
        Case { name: "negative padding", padding: vec![(-1, -1)], ..plain() },
        Case { name: "mixed padding", padding: vec![(-2, 3)], ..plain() },
        Case { name: "base dilation", base: vec![3], ..plain() },
        Case { name: "window dilation", dilation: vec![3], ..plain() },
        Case { name: "reversal", reversal: vec![true], ..plain() },
        Case { name: "feature groups", lhs: vec![2, 4, 5], rhs: vec![6, 2, 2], groups: (2, 1), ..plain() },
        Case { name: "depthwise", lhs: vec![1, 3, 5], rhs: vec![3, 1, 2], groups: (3, 1), ..plain() },
        Case { name: "batch groups", lhs: vec![4, 2, 5], rhs: vec![6, 2, 2], groups: (1, 2), ..plain() },
        Case { name: "channels last", lhs: vec![2, 5, 2], rhs: vec![2, 2, 3], last: true, ..plain() },
        Case {
            name: "all of it",
            lhs: vec![2, 4, 4],
            rhs: vec![4, 2, 2],
            stride: vec![2],
            padding: vec![(-1, 3)],
            base: vec![2],
            dilation: vec![3],
            reversal: vec![true],
            groups: (2, 1),
            last: false,
        },
        Case {
            name: "all of it, batch groups, channels last",
            lhs: vec![4, 4, 2],
            rhs: vec![2, 2, 4],
            stride: vec![3],
            padding: vec![(3, -1)],
            base: vec![3],
            dilation: vec![2],
            reversal: vec![true],
            groups: (1, 2),
            last: true,
        },
        Case {
            name: "two axes",
            lhs: vec![1, 2, 3, 4],
            rhs: vec![2, 2, 2, 3],
            stride: vec![1, 2],
            padding: vec![(1, 0), (-1, 2)],
            base: vec![2, 1],
            dilation: vec![1, 2],
            reversal: vec![false, true],
            groups: (1, 1),
            last: false,
        },
        Case { name: "no places", lhs: vec![1, 1, 1], rhs: vec![1, 1, 3], ..plain() },
        Case { name: "an empty axis", lhs: vec![1, 1, 0], rhs: vec![1, 1, 3], padding: vec![(2, 2)], ..plain() },
        Case { name: "an empty batch", lhs: vec![0, 2, 5], ..plain() },
    ];
    let x: Vec<f64> = (0..96).map(|i| (f64::from(i) * 0.7).sin()).collect();
    for c in cases {
        let n = c.stride.len();
        let spatial: Vec<usize> = if c.last { (1..=n).collect() } else { (2..n + 2).collect() };
        let feature = if c.last { n + 1 } else { 1 };
        let kernel: Vec<usize> = if c.last { (0..n).collect() } else { (2..n + 2).collect() };
        let kernel_features = if c.last { vec![n + 1, n] } else { vec![0, 1] };
        let prim = Prim::Convolution {
            window: Window {
                size: kernel.iter().map(|&a| Dim::constant(c.rhs[a] as i64)).collect(),
                stride: c.stride,
                padding: c
                    .padding
                    .iter()
                    .map(|&(l, h)| Padding { low: Dim::constant(l), high: Dim::constant(h) })
                    .collect(),
                base_dilation: c.base,
                window_dilation: c.dilation,
                reversal: c.reversal.into_iter().map(Flag).collect(),
            },
            layout: ConvLayout {
                lhs: vec![0, feature],
                lhs_spatial: spatial.clone(),
                rhs: kernel_features,
                rhs_spatial: kernel,
                out: vec![0, feature],
                out_spatial: spatial,
            },
            feature_groups: c.groups.0,
            batch_groups: c.groups.1,
            accumulate: None,
        };
        let split: usize = c.lhs.iter().product();
        let all = split + c.rhs.iter().product::<usize>();
        let f = |v: Sym| {
            let (l, r) = (v.slice(s![..split]).reshape(&c.lhs), v.slice(s![split..]).reshape(&c.rhs));
            tr::emitter::emit(prim.clone(), &[l, r])
        };
        smooth(c.name, f, &x[..all], 1e-7);
    }
}

#[test]
fn convolutions_of_symbolic_extents_are_transposed() {
    let conv = |x: Sym| {
        let w = (tr::iota(F64, [2, 1, 3], 2) + 1.0).sin() + (x.sum(..) * 0.1);
        let y = x.reshape((1, 1, x.dim(0)));
        y.conv(w, Conv::default().strides([2]).padding([(2, 1)])).tanh().sum(..)
            + y.conv(w, Conv::default().dilation([2]).padding([(2, 3)])).tanh().sum(..)
    };
    let g = |x: Sym| grad(conv).call(x);
    let exe = build(g, spec(F64, [dim("B")]), &Engines).unwrap();
    let x = [0.4, -0.3, 1.2, 0.9, 0.1];
    for n in [5, 4, 3, 2, 1] {
        let got = exe.run(Tensor::from(x[..n].to_vec())).unwrap().to_vec::<f64>().unwrap();
        near(&format!("length {n}"), &got, &run1(g, &x[..n]), 1e-14);
    }
}
