//! Random instances of the ops with many attributes, on integers where sums are exact: every layout, order of axes,
//! and batch.

use crate::loops::{ROWS, check, engines};
use evoxc::prelude::*;
use evoxc_core::{Dim, Shape};
use evoxc_ir::{
    Algorithm, AxisPair, ConvLayout, CumOp, Flag, Func, GatherDims, LinTranspose, Module, Op, Padding, Prim, Reducer,
    ScatterDims, ScatterOp, SortKeys, TensorType, Window, infer,
};
use evoxc_tests::random_graph::{Rng, tensor};

/// A program of one op, if its types are right.
fn module(prim: Prim, operands: &[TensorType]) -> Option<Module> {
    let refs: Vec<&TensorType> = operands.iter().collect();
    let types = infer(&prim, &refs, &[]).ok()?;
    let mut f = Func::new("main");
    f.body.args = operands.iter().map(|t| f.value(t.clone(), None)).collect();
    let results: Vec<_> = types.into_iter().map(|t| f.value(t, None)).collect();
    let args = f.body.args.iter().copied().collect();
    f.body.ops.push(Op {
        prim,
        operands: args,
        results: results.iter().copied().collect(),
        regions: vec![],
        loc: None,
    });
    f.body.results = results;
    Some(Module { name: "main".into(), funcs: vec![f], ..Module::default() })
}

/// Checks the instances that `make` gives for random numbers, of which this many must be well typed.
fn sweep(want: usize, make: impl Fn(&mut Rng) -> (Prim, Vec<TensorType>)) {
    let engines = engines();
    let mut found = 0;
    for seed in 0..40 * want as u64 {
        if found == want {
            break;
        }
        let mut rng = Rng::new(seed);
        let (prim, types) = make(&mut rng);
        let Some(m) = module(prim, &types) else { continue };
        found += 1;
        let concrete = |t: &TensorType| t.shape.to_static().expect("extents are constants here");
        let inputs: Vec<Tensor> = types.iter().map(|t| tensor(&mut rng, t.dtype(), &concrete(t))).collect();
        let size = if seed % 2 == 0 { Dim::constant(ROWS as i64) } else { dim("ROWS") };
        check(&engines, &m, &inputs, size).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{m}"));
    }
    assert_eq!(found, want, "too few instances are well typed");
}

fn dims(ns: &[usize]) -> Vec<Dim> {
    ns.iter().map(|&n| Dim::constant(n as i64)).collect()
}

fn of(dtype: DType, ns: &[usize]) -> TensorType {
    spec(dtype, ns.iter().map(|&n| Dim::constant(n as i64)).collect::<Shape>())
}

/// `n` things in random order.
fn shuffled(rng: &mut Rng, n: usize) -> Vec<usize> {
    let mut v: Vec<usize> = (0..n).collect();
    (1..n).rev().for_each(|i| v.swap(i, rng.below(i + 1)));
    v
}

fn sorted(mut v: Vec<usize>) -> Vec<usize> {
    v.sort_unstable();
    v
}

#[test]
fn dot() {
    sweep(80, |rng| {
        let sizes = [2, 3, 1];
        // The kinds of axes: batch, contracting, free.
        let count = [rng.below(3), rng.below(3), rng.below(3), rng.below(3)];
        let shared: Vec<usize> = (0..count[0] + count[1]).map(|_| rng.pick(&sizes)).collect();
        let mut side = |free: usize| {
            let order = shuffled(rng, shared.len() + free);
            let mut shape = vec![0; order.len()];
            for (k, &axis) in order.iter().enumerate() {
                shape[axis] = shared.get(k).copied().unwrap_or(2);
            }
            (order, shape)
        };
        let ((a, x), (b, y)) = (side(count[2]), side(count[3]));
        let (m, n) = (count[0], count[0] + count[1]);
        let pair = |r: std::ops::Range<usize>| AxisPair { lhs: a[r.clone()].to_vec(), rhs: b[r].to_vec() };
        let dtype = rng.pick(&[I32, U8]);
        let accumulate = rng.once_in(3).then_some(I64).filter(|_| dtype == I32);
        (Prim::Dot { batch: pair(0..m), contract: pair(m..n), accumulate }, vec![of(dtype, &x), of(dtype, &y)])
    });
}

#[test]
fn convolution() {
    sweep(120, |rng| {
        let spatial = rng.below(3);
        let (mut fg, mut bg) = (1, 1);
        match rng.below(3) {
            0 => fg = 2,
            1 => bg = 2,
            _ => {}
        }
        let (batch, features, out) = (bg * (1 + rng.below(2)), 1 + rng.below(2), fg * bg * (1 + rng.below(2)));
        let (room, kernel): (Vec<usize>, Vec<usize>) =
            (0..spatial).map(|_| (2 + rng.below(3), 1 + rng.below(2))).unzip();
        let mut place = |first: [usize; 2], rest: &[usize]| {
            let order = shuffled(rng, 2 + spatial);
            let mut shape = vec![0; order.len()];
            order.iter().zip(first.iter().chain(rest)).for_each(|(&axis, &n)| shape[axis] = n);
            (order[..2].to_vec(), order[2..].to_vec(), shape)
        };
        let (lhs, lhs_spatial, x) = place([batch, fg * features], &room);
        let (rhs, rhs_spatial, k) = place([out, features], &kernel);
        let (to, out_spatial, _) = place([0, 0], &kernel);
        let layout = ConvLayout { lhs, lhs_spatial, rhs, rhs_spatial, out: to, out_spatial };
        let mut window = Window::new(dims(&kernel));
        for i in 0..spatial {
            window.stride[i] = 1 + rng.below(2) as i64;
            window.base_dilation[i] = 1 + rng.below(2) as i64;
            window.window_dilation[i] = 1 + rng.below(2) as i64;
            window.reversal[i] = Flag(rng.once_in(2));
            let side = |rng: &mut Rng| Dim::constant(rng.below(3) as i64);
            window.padding[i] = Padding { low: side(rng), high: side(rng) };
        }
        let prim = Prim::Convolution { window, layout, feature_groups: fg, batch_groups: bg, accumulate: None };
        (prim, vec![of(I32, &x), of(I32, &k)])
    });
}

/// Random numbers of a gather or scatter: extents of x, of the indices, sizes of slices, and which axes are dropped,
/// batch, and named by an index.
struct Indexed {
    x: Vec<usize>,
    indices: Vec<usize>,
    sizes: Vec<usize>,
    dropped: Vec<usize>,
    operand_batching: Vec<usize>,
    indices_batching: Vec<usize>,
    map: Vec<usize>,
    index_vector: usize,
    /// Axes of the result (of the updates) that run over a slice.
    window: Vec<usize>,
    /// The extents of the result.
    result: Vec<usize>,
}

fn indexed(rng: &mut Rng) -> Indexed {
    let rank = 1 + rng.below(3);
    let x: Vec<usize> = (0..rank).map(|_| 2 + rng.below(3)).collect();
    let order = shuffled(rng, rank);
    let (paired, named) = (rng.below(2).min(rank - 1), 1 + rng.below(rank));
    let operand_batching: Vec<usize> = sorted(order[..paired].to_vec());
    let map: Vec<usize> = order[paired..].iter().copied().take(named).collect();
    let dropped = sorted(map.iter().copied().filter(|_| rng.once_in(2)).collect());
    // The batch axes of the indices: those that pair with an axis of x, and one or two others.
    let mut batch: Vec<usize> = operand_batching.iter().map(|&a| x[a]).collect();
    (0..rng.below(3)).for_each(|_| batch.push(1 + rng.below(3)));
    let index_vector = rng.below(batch.len() + 1);
    let indices_batching = (0..paired).map(|i| i + usize::from(i >= index_vector)).collect();
    let mut indices = batch.clone();
    indices.insert(index_vector, map.len());
    let gone = |a: &usize| dropped.contains(a) || operand_batching.contains(a);
    let sizes: Vec<usize> = (0..rank).map(|a| if gone(&a) { 1 } else { 1 + rng.below(x[a]) }).collect();
    let slices: Vec<usize> = (0..rank).filter(|a| !gone(a)).map(|a| sizes[a]).collect();
    let window = sorted(shuffled(rng, batch.len() + slices.len())[..slices.len()].to_vec());
    let (mut b, mut s) = (batch.iter(), slices.iter());
    let result = (0..batch.len() + slices.len())
        .filter_map(|i| if window.contains(&i) { s.next() } else { b.next() })
        .copied()
        .collect();
    Indexed { x, indices, sizes, dropped, operand_batching, indices_batching, map, index_vector, window, result }
}

#[test]
fn gather() {
    sweep(120, |rng| {
        let i = indexed(rng);
        let dims_ = GatherDims {
            offset: i.window,
            collapsed: i.dropped,
            operand_batching: i.operand_batching,
            indices_batching: i.indices_batching,
            start_map: i.map,
            index_vector: i.index_vector,
        };
        let dtype = rng.pick(&[I32, I8, U64, I64]);
        (Prim::Gather { dims: dims_, sizes: dims(&i.sizes), sorted: false }, vec![of(F32, &i.x), of(dtype, &i.indices)])
    });
}

#[test]
fn scatter() {
    sweep(150, |rng| {
        let i = indexed(rng);
        let dims = ScatterDims {
            update_window: i.window,
            inserted: i.dropped,
            operand_batching: i.operand_batching,
            indices_batching: i.indices_batching,
            scatter_map: i.map,
            index_vector: i.index_vector,
        };
        let op = rng.pick(ScatterOp::ALL);
        let types = vec![of(F32, &i.x), of(I32, &i.indices), of(F32, &i.result)];
        (Prim::Scatter { op, dims, sorted: false, unique: false }, types)
    });
}

#[test]
fn dynamic_slices() {
    let start = |rng: &mut Rng| rng.pick(&[I32, I8, U8, I64, U64, U32]);
    sweep(40, |rng| {
        let x: Vec<usize> = (0..rng.below(3)).map(|_| 1 + rng.below(4)).collect();
        let sizes: Vec<usize> = x.iter().map(|&n| rng.below(n + 1)).collect();
        let dtype = start(rng);
        let starts = x.iter().map(|_| of(dtype, &[]));
        (Prim::DynamicSlice { sizes: dims(&sizes) }, std::iter::once(of(F32, &x)).chain(starts).collect())
    });
    sweep(40, |rng| {
        let x: Vec<usize> = (0..rng.below(3)).map(|_| 1 + rng.below(4)).collect();
        let update: Vec<usize> = x.iter().map(|&n| rng.below(n + 1)).collect();
        let dtype = start(rng);
        let starts = x.iter().map(|_| of(dtype, &[]));
        (Prim::DynamicUpdateSlice {}, [of(I32, &x), of(I32, &update)].into_iter().chain(starts).collect())
    });
}

/// Sums are long enough to be cut into blocks, which must not move with the rows: the same bits.
#[test]
fn long_reductions() {
    sweep(40, |rng| {
        let x: Vec<usize> = (0..1 + rng.below(3)).map(|_| rng.pick(&[2, 3, 17, 150])).collect();
        let axes: Vec<usize> = (0..x.len()).filter(|_| rng.once_in(2)).collect();
        let op = rng.pick(&[Reducer::Sum, Reducer::Prod, Reducer::Max]);
        (Prim::Reduce { op, axes }, vec![of(rng.pick(&[F32, F16, C64]), &x)])
    });
    sweep(20, |rng| {
        let x: Vec<usize> = (0..1 + rng.below(2)).map(|_| rng.pick(&[3, 17, 150])).collect();
        let (axis, reverse) = (rng.below(x.len()), rng.once_in(2));
        (Prim::Cumulative { op: rng.pick(CumOp::ALL), axis, reverse }, vec![of(F32, &x)])
    });
}

/// Contractions beyond the smallest sizes, within their tolerance.
#[test]
fn larger_contractions() {
    let finite = |f: fn(Sym, Sym) -> Sym, a: &[usize], b: &[usize]| {
        let engines = engines();
        let g = trace(f, (of(F32, a), of(F32, b))).expect("it is well typed");
        let mut rng = Rng::new(7);
        let mut make = |shape: &[usize]| {
            let n = shape.iter().product();
            let v: Vec<f32> = (0..n).map(|_| rng.below(2001) as f32 / 1000.0 - 1.0).collect();
            Tensor::from_vec(v, shape).expect("as many elements")
        };
        let inputs = [make(a), make(b)];
        check(&engines, g.module(), &inputs, dim("ROWS")).unwrap_or_else(|e| panic!("{e}\n{g}"));
    };
    finite(|a, b| a.dot(b), &[40, 50], &[50, 30]);
    finite(|a, b| a.matmul(b), &[3, 20, 30], &[3, 30, 20]);
    finite(|a, b| a.conv(b, Conv::default()), &[2, 8, 12, 12], &[8, 8, 3, 3]);
    finite(|a, b| (a.tril(0) * 0.1 + eye(F32, 40)).triangular_solve(b, true), &[40, 40], &[40, 20]);
}

#[test]
fn pad() {
    sweep(60, |rng| {
        let x: Vec<usize> = (0..rng.below(4)).map(|_| rng.below(4)).collect();
        let mut edge = || x.iter().map(|_| Dim::constant(rng.below(4) as i64 - 1)).collect::<Vec<_>>();
        let (low, high) = (edge(), edge());
        let interior = x.iter().map(|_| rng.below(3) as i64).collect();
        let dtype = rng.pick(&[F32, BOOL, C64, I32]);
        (Prim::Pad { low, high, interior }, vec![of(dtype, &x), of(dtype, &[])])
    });
}

#[test]
fn select_and_clamp() {
    sweep(30, |rng| {
        let x: Vec<usize> = (0..rng.below(3)).map(|_| 1 + rng.below(3)).collect();
        let pred = if rng.once_in(2) { of(BOOL, &[]) } else { of(BOOL, &x) };
        (Prim::Select {}, vec![pred, of(F32, &x), of(F32, &x)])
    });
    sweep(30, |rng| {
        let x: Vec<usize> = (0..rng.below(3)).map(|_| 1 + rng.below(3)).collect();
        let mut bound = || if rng.once_in(2) { of(F32, &[]) } else { of(F32, &x) };
        let (low, high) = (bound(), bound());
        (Prim::Clamp {}, vec![low, of(F32, &x), high])
    });
}

#[test]
fn triangular_solve() {
    sweep(60, |rng| {
        let batch: Vec<usize> = (0..rng.below(3)).map(|_| 1 + rng.below(2)).collect();
        let (n, k) = (1 + rng.below(3), rng.below(3));
        let left = rng.once_in(2);
        let (a, b) = ([&batch[..], &[n, n]].concat(), [&batch[..], &if left { [n, k] } else { [k, n] }].concat());
        let transpose = rng.pick(LinTranspose::ALL);
        let (lower, unit_diagonal) = (rng.once_in(2), true);
        (Prim::TriangularSolve { left, lower, unit_diagonal, transpose }, vec![of(F64, &a), of(F64, &b)])
    });
}

#[test]
fn sort_together() {
    sweep(30, |rng| {
        let x: Vec<usize> = (0..1 + rng.below(3)).map(|_| 1 + rng.below(4)).collect();
        let keys = SortKeys((0..1 + rng.below(2)).map(|_| rng.once_in(2)).collect());
        let axis = rng.below(x.len());
        (Prim::Sort { axis, keys, stable: true }, vec![of(F32, &x), of(I32, &x), of(C64, &x)])
    });
}

#[test]
fn random_bits() {
    sweep(30, |rng| {
        let algorithm = rng.pick(Algorithm::ALL);
        let shape: Vec<usize> = (0..rng.below(3)).map(|_| rng.below(4)).collect();
        let mut key: Vec<usize> = (0..rng.below(2)).map(|_| 2).collect();
        let dtype = match algorithm {
            Algorithm::SplitMix64 => U64,
            Algorithm::Threefry2x32 => {
                key.push(2);
                U32
            }
            Algorithm::Philox4x32 => {
                key.push(4);
                U32
            }
        };
        let bits = rng.pick(&[U8, U32, U64, U16]);
        (Prim::RandomBits { algorithm, dtype: bits, shape: dims(&shape).into_iter().collect() }, vec![of(dtype, &key)])
    });
}
