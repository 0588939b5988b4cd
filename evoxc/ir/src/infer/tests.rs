//! Type rules. Expectations follow the constraints of the StableHLO specification, or the formula in the comment.

use super::*;
use crate::*;
use evoxc_core::{BF16, BOOL, C64, DimLike, F16, F32, F64, I32, IntoShape, Tensor, U8, U32, U64, dim};

fn t(d: DType, s: impl IntoShape) -> TensorType {
    spec(d, s)
}
fn ok(prim: Prim, operands: &[&TensorType]) -> String {
    with(prim, operands, &[])
}
fn with(prim: Prim, operands: &[&TensorType], regions: &[RegionType]) -> String {
    match infer(&prim, operands, regions) {
        Ok(types) => types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", "),
        Err(e) => panic!("{e}"),
    }
}
#[track_caller]
fn fails(prim: Prim, operands: &[&TensorType], message: &str) {
    let e = infer(&prim, operands, &[]).expect_err(message);
    assert!(e.to_string().contains(message), "{e}");
}
fn region(args: &[&TensorType], results: &[&TensorType]) -> RegionType {
    let own = |l: &[&TensorType]| l.iter().map(|t| (*t).clone()).collect();
    RegionType { args: own(args), results: own(results) }
}
fn ds<T: DimLike>(l: &[T]) -> Vec<Dim> {
    l.iter().map(|d| d.to_dim()).collect()
}

#[test]
fn elementwise() {
    let (x, c, b, i) = (t(F32, [2, 3]), t(C64, [2]), t(BOOL, [2]), t(I32, [2]));
    assert_eq!(ok(Prim::Unary(Unary::Exp), &[&c]), "tensor<2xc64>");
    assert_eq!(ok(Prim::Unary(Unary::Abs), &[&c]), "tensor<2xf32>");
    assert_eq!(ok(Prim::Unary(Unary::IsFinite), &[&x]), "tensor<2x3xbool>");
    assert_eq!(ok(Prim::Binary(Binary::Complex), &[&x, &x]), "tensor<2x3xc64>");
    assert_eq!(ok(Prim::Binary(Binary::Add), &[&b, &b]), "tensor<2xbool>");
    fails(Prim::Unary(Unary::Erf), &[&c], "x must be a real float");
    fails(Prim::Unary(Unary::Exp), &[&i], "`.cast(F32)`");
    fails(Prim::Binary(Binary::Sub), &[&b, &b], "a number, not bool");
    fails(Prim::Binary(Binary::Add), &[&i, &b], "lhs is i32, but rhs is bool");
    fails(Prim::Binary(Binary::Add), &[&i], "it takes 2 operands, got 1");
    fails(Prim::Binary(Binary::Add), &[&x, &t(F32, [3])], "lhs has rank 2, rhs has rank 1");
    let s = t(BOOL, []);
    assert_eq!(ok(Prim::Select {}, &[&s, &x, &x]), "tensor<2x3xf32>");
    fails(Prim::Select {}, &[&b, &x, &x], "pred has rank 1, on_true has rank 2");
    assert_eq!(ok(Prim::Clamp {}, &[&t(F32, []), &x, &x]), "tensor<2x3xf32>");
}

#[test]
fn bitcasts_change_the_last_axis() {
    assert_eq!(ok(Prim::BitcastConvert { dtype: U8 }, &[&t(F32, [2])]), "tensor<2x4xu8>");
    assert_eq!(ok(Prim::BitcastConvert { dtype: F32 }, &[&t(U8, [2, 4])]), "tensor<2xf32>");
    fails(Prim::BitcastConvert { dtype: F32 }, &[&t(U8, [2, 3])], "must have size 4, not 3");
    fails(Prim::BitcastConvert { dtype: BOOL }, &[&t(U8, [2])], "a number");
}

#[test]
fn shapes() {
    let b = dim("B");
    let x = t(F32, (b, 4));
    assert_eq!(ok(Prim::Reshape { shape: (4, b).into_shape() }, &[&x]), "tensor<4xBxf32>");
    assert_eq!(ok(Prim::Reshape { shape: (b * 4,).into_shape() }, &[&x]), "tensor<[4*B]xf32>");
    fails(Prim::Reshape { shape: [8].into_shape() }, &[&x], "holds 4*B elements, shape [8] holds 8");
    fails(Prim::Reshape { shape: [-4, -2].into_shape() }, &[&t(F32, [8])], "axis 0 has size -4");
    assert_eq!(ok(Prim::Transpose { perm: vec![1, 0] }, &[&x]), "tensor<4xBxf32>");
    fails(Prim::Transpose { perm: vec![1, 1] }, &[&x], "axis 1 twice");
    fails(Prim::Transpose { perm: vec![0] }, &[&x], "has 1 entry");
    let bc = |shape: Shape, dims: &[usize]| Prim::BroadcastInDim { shape, dims: dims.to_vec() };
    assert_eq!(ok(bc((b, 3).into_shape(), &[0]), &[&t(F32, (b,))]), "tensor<Bx3xf32>");
    assert_eq!(ok(bc((b, 3).into_shape(), &[0]), &[&t(F32, [1])]), "tensor<Bx3xf32>");
    fails(bc((4, 3).into_shape(), &[0]), &[&t(F32, (b,))], "axis 0 of x has size B, axis 0 of the result has size 4");
    // ceil((7 - 1) / 4) = 2, and ceil((B - 0) / 2) = (B + 1) / 2.
    let slice =
        |a: &[Dim], l: &[Dim], s: &[i64]| Prim::Slice { start: a.to_vec(), limit: l.to_vec(), stride: s.to_vec() };
    assert_eq!(ok(slice(&ds(&[1]), &ds(&[7]), &[4]), &[&t(F32, [8])]), "tensor<2xf32>");
    let half = (b + 1) / 2;
    assert_eq!(ok(slice(&ds(&[0]), &[b], &[2]), &[&t(F32, (b,))]), t(F32, (half,)).to_string());
    fails(slice(&ds(&[0]), &ds(&[9]), &[1]), &[&t(F32, [8])], "0..9 is not within axis 0, which has size 8");
    fails(slice(&ds(&[3]), &ds(&[2]), &[1]), &[&t(F32, [8])], "3..2");
    fails(slice(&ds(&[0]), &[b + 1], &[1]), &[&t(F32, (b,))], "not within");
    fails(slice(&ds(&[0]), &ds(&[2]), &[0]), &[&t(F32, [8])], "stride of axis 0 is 0");
    let s = t(F32, []);
    let pad = |l: i64, h: i64, i: i64| Prim::Pad { low: ds(&[l]), high: ds(&[h]), interior: vec![i] };
    // low + n + (n - 1) * interior + high: 1 + 3 + 2 * 2 - 1 = 7.
    assert_eq!(ok(pad(1, -1, 2), &[&t(F32, [3]), &s]), "tensor<7xf32>");
    assert_eq!(ok(pad(1, 1, 0), &[&t(F32, (b,)), &s]), "tensor<[B + 2]xf32>");
    assert_eq!(ok(pad(0, 0, 2), &[&t(F32, [0]), &s]), "tensor<0xf32>");
    fails(pad(-2, -2, 0), &[&t(F32, [3]), &s], "size -1");
    assert_eq!(ok(Prim::Concatenate { axis: 0 }, &[&x, &t(F32, [2, 4])]), "tensor<[B + 2]x4xf32>");
    fails(Prim::Concatenate { axis: 0 }, &[&x, &t(F32, [2, 5])], "axis 1 of operand 0 has size 4, axis 1 of operand 1");
    fails(Prim::Reverse { axes: vec![2] }, &[&x], "axis 2, out of range for rank 2");
    let huge = [1i64 << 40, 1 << 40].into_shape();
    fails(bc(huge, &[]), &[&s], "does not fit 64 bits");
    fails(bc((b / 0,).into_shape(), &[]), &[&s], "division by zero");
}

#[test]
fn dots() {
    let pair = |l: &[usize], r: &[usize]| AxisPair { lhs: l.to_vec(), rhs: r.to_vec() };
    let dot = |accumulate| Prim::Dot { batch: pair(&[], &[]), contract: pair(&[1], &[0]), accumulate };
    let b = dim("B");
    assert_eq!(ok(dot(None), &[&t(F32, (b, 8)), &t(F32, [8, 3])]), "tensor<Bx3xf32>");
    assert_eq!(ok(dot(Some(F32)), &[&t(F16, [2, 8]), &t(F16, [8, 3])]), "tensor<2x3xf32>");
    fails(dot(Some(BF16)), &[&t(F16, [2, 8]), &t(F16, [8, 3])], "f16 cannot accumulate in bf16");
    fails(
        dot(None),
        &[&t(F32, [2, 8]), &t(F32, [7, 3])],
        "contracting axis 1 of lhs has size 8, axis 0 of rhs has size 7",
    );
    let batched = Prim::Dot { batch: pair(&[0], &[2]), contract: pair(&[2], &[0]), accumulate: None };
    // Batch 5, then the free axes 4 and 6.
    assert_eq!(ok(batched, &[&t(F32, [5, 4, 3]), &t(F32, [3, 6, 5])]), "tensor<5x4x6xf32>");
}

fn conv(w: Window, groups: usize, batch_groups: usize) -> Prim {
    let layout = ConvLayout {
        lhs: vec![0, 1],
        lhs_spatial: vec![2],
        rhs: vec![0, 1],
        rhs_spatial: vec![2],
        out: vec![0, 1],
        out_spatial: vec![2],
    };
    Prim::Convolution { window: w, layout, feature_groups: groups, batch_groups, accumulate: None }
}

#[test]
fn convolutions_and_windows() {
    let b = dim("B");
    let mut w = Window::new(ds(&[3]));
    // (10 - 3) / 1 + 1 = 8
    assert_eq!(ok(conv(w.clone(), 1, 1), &[&t(F32, (b, 4, 10)), &t(F32, [6, 4, 3])]), "tensor<Bx6x8xf32>");
    w.stride = vec![2];
    w.padding = vec![Padding { low: 1.to_dim(), high: 1.to_dim() }];
    w.window_dilation = vec![2];
    w.base_dilation = vec![2];
    // base (10-1)*2+1 = 19, window (3-1)*2+1 = 5: (19 + 2 - 5) / 2 + 1 = 9
    assert_eq!(ok(conv(w.clone(), 2, 1), &[&t(F32, [2, 4, 10]), &t(F32, [6, 2, 3])]), "tensor<2x6x9xf32>");
    assert_eq!(ok(conv(w.clone(), 1, 2), &[&t(F32, [2, 4, 10]), &t(F32, [6, 4, 3])]), "tensor<1x6x9xf32>");
    fails(conv(w, 1, 1), &[&t(F32, [2, 4, 10]), &t(F32, [6, 2, 3])], "feature axis 1 of lhs has size 4");
    // "same" padding keeps a symbolic extent: B + 2 - 3 + 1.
    let mut w = Window::new(ds(&[3]));
    w.padding = vec![Padding { low: 1.to_dim(), high: 1.to_dim() }];
    let pool = |w: &Window| Prim::ReduceWindow { op: Reducer::Max, window: w.clone() };
    assert_eq!(ok(pool(&w), &[&t(F32, (b,))]), "tensor<Bxf32>");
    // A window that does not fit has no place.
    let w = Window::new(ds(&[3]));
    assert_eq!(ok(pool(&w), &[&t(F32, [2])]), "tensor<0xf32>");
    assert_eq!(ok(pool(&w), &[&t(F32, (b,))]), t(F32, ((b - 2).max(0),)).to_string());
    let bwd = Prim::SelectAndScatter { select: SelectOp::Max, window: w };
    assert_eq!(ok(bwd.clone(), &[&t(F32, [5]), &t(F32, [3])]), "tensor<5xf32>");
    fails(bwd, &[&t(F32, [5]), &t(F32, [4])], "axis 0 of source has size 4");
    fails(pool(&Window::new(ds(&[0]))), &[&t(F32, [2])], "must be at least 1");
}

#[test]
fn gather_and_scatter() {
    // The example of the StableHLO specification: operand 2x3x4x2, indices 2x2x3x2, result 2x2x3x2x2.
    let dims = GatherDims {
        offset: vec![3, 4],
        collapsed: vec![1],
        operand_batching: vec![0],
        indices_batching: vec![1],
        start_map: vec![2, 1],
        index_vector: 3,
    };
    let gather = |d: &GatherDims, s: &[i64]| Prim::Gather { dims: d.clone(), sizes: ds(s), sorted: false };
    let (x, i) = (t(I32, [2, 3, 4, 2]), t(I32, [2, 2, 3, 2]));
    assert_eq!(ok(gather(&dims, &[1, 1, 2, 2]), &[&x, &i]), "tensor<2x2x3x2x2xi32>");
    fails(gather(&dims, &[1, 1, 5, 2]), &[&x, &i], "a slice of size 5 does not fit axis 2");
    fails(gather(&dims, &[1, 2, 2, 2]), &[&x, &i], "its size must be 1, not 2");
    fails(gather(&dims, &[1, 1, 2, 2]), &[&x, &t(F32, [2, 2, 3, 2])], "indices must be an integer dtype");
    let dims = ScatterDims {
        update_window: vec![3, 4],
        inserted: vec![1],
        operand_batching: vec![0],
        indices_batching: vec![1],
        scatter_map: vec![2, 1],
        index_vector: 3,
    };
    let scatter = Prim::Scatter { op: ScatterOp::Add, dims: dims.clone(), sorted: false, unique: false };
    assert_eq!(ok(scatter.clone(), &[&x, &i, &t(I32, [2, 2, 3, 2, 2])]), "tensor<2x3x4x2xi32>");
    fails(scatter, &[&x, &i, &t(I32, [2, 2, 3, 2, 3])], "axis 4 of updates has size 3");
    let body = Prim::ScatterBody { dims, sorted: false, unique: false };
    let s = t(I32, []);
    let r = [region(&[&s, &s], &[&s])];
    assert_eq!(with(body, &[&x, &i, &t(I32, [2, 2, 3, 2, 2])], &r), "tensor<2x3x4x2xi32>");
    assert_eq!(ok(Prim::DynamicSlice { sizes: ds(&[1, 2]) }, &[&t(F32, [3, 4]), &s, &s]), "tensor<1x2xf32>");
    fails(Prim::DynamicSlice { sizes: ds(&[1, 2]) }, &[&t(F32, [3, 4]), &s], "so it takes 2 starts, got 1");
    assert_eq!(ok(Prim::DynamicUpdateSlice {}, &[&t(F32, [3, 4]), &t(F32, [1, 4]), &s, &s]), "tensor<3x4xf32>");
    fails(Prim::DynamicUpdateSlice {}, &[&t(F32, [3]), &t(F32, [4]), &s], "axis 0 of update has size 4");
}

#[test]
fn reductions_and_sorts() {
    let (x, s) = (t(F32, [2, 3]), t(F32, []));
    assert_eq!(ok(Prim::Reduce { op: Reducer::Sum, axes: vec![0] }, &[&x]), "tensor<3xf32>");
    fails(Prim::Reduce { op: Reducer::And, axes: vec![0] }, &[&x], "bool or an integer dtype");
    fails(Prim::Reduce { op: Reducer::Sum, axes: vec![0, 0] }, &[&x], "axis 0 twice");
    let r = [region(&[&s, &s], &[&s])];
    assert_eq!(with(Prim::ReduceBody { axes: vec![1] }, &[&x, &s], &r), "tensor<2xf32>");
    assert_eq!(ok(Prim::Argmax { axis: 1 }, &[&x]), "tensor<2xi32>");
    fails(Prim::Argmax { axis: 0 }, &[&t(F32, [0])], "size 0");
    let keys = SortKeys(vec![false]);
    let sort = Prim::Sort { axis: 1, keys, stable: true };
    assert_eq!(ok(sort.clone(), &[&x, &t(I32, [2, 3])]), "tensor<2x3xf32>, tensor<2x3xi32>");
    fails(sort, &[&t(C64, [2, 3])], "a key must be a real dtype");
    assert_eq!(ok(Prim::TopK { k: 2.to_dim() }, &[&x]), "tensor<2x2xf32>, tensor<2x2xi32>");
    fails(Prim::TopK { k: 4.to_dim() }, &[&x], "k is 4, but axis 1 of x has size 3");
    fails(Prim::Cumulative { op: CumOp::Sum, axis: 2, reverse: false }, &[&x], "out of range for rank 2");
}

#[test]
fn linear_algebra() {
    let n = dim("N");
    let a = t(F64, (n, 3, 2));
    assert_eq!(ok(Prim::Qr { full: false }, &[&a]), "tensor<Nx3x2xf64>, tensor<Nx2x2xf64>");
    assert_eq!(ok(Prim::Qr { full: true }, &[&a]), "tensor<Nx3x3xf64>, tensor<Nx3x2xf64>");
    assert_eq!(ok(Prim::Svd { full: false }, &[&a]), "tensor<Nx3x2xf64>, tensor<Nx2xf64>, tensor<Nx2x2xf64>");
    assert_eq!(ok(Prim::Lu {}, &[&a]), "tensor<Nx3x2xf64>, tensor<Nx2xi32>, tensor<Nx3xi32>");
    assert_eq!(ok(Prim::Eigh {}, &[&t(C64, [2, 2])]), "tensor<2xf32>, tensor<2x2xc64>");
    fails(Prim::Cholesky { lower: true }, &[&a], "axis 1 of a has size 3, axis 2 has size 2");
    let solve = |left| Prim::TriangularSolve { left, lower: true, unit_diagonal: false, transpose: LinTranspose::None };
    assert_eq!(ok(solve(true), &[&t(F32, [2, 2]), &t(F32, [2, 5])]), "tensor<2x5xf32>");
    fails(solve(false), &[&t(F32, [2, 2]), &t(F32, [2, 5])], "axis 1 of b has size 5");
    // n / 2 + 1 frequencies.
    let fft = |kind, n: &[Dim]| Prim::Fft { kind, length: n.to_vec() };
    assert_eq!(ok(fft(FftKind::Rfft, &ds(&[8])), &[&t(F32, [2, 8])]), "tensor<2x5xc64>");
    assert_eq!(ok(fft(FftKind::Irfft, &ds(&[8])), &[&t(C64, [2, 5])]), "tensor<2x8xf32>");
    assert_eq!(ok(fft(FftKind::Rfft, &[n]), &[&t(F32, (n,))]), t(C64, (n / 2 + 1,)).to_string());
    fails(fft(FftKind::Fft, &ds(&[8])), &[&t(F32, [8])], "complex");
}

#[test]
fn control_flow() {
    let (p, s, x) = (t(BOOL, []), t(F32, []), t(F32, [5, 2]));
    let give = |r: &TensorType| region(&[], &[r]);
    assert_eq!(with(Prim::Cond {}, &[&p], &[give(&x), give(&x)]), "tensor<5x2xf32>");
    let e = infer(&Prim::Cond {}, &[&p], &[give(&x), give(&s)]).unwrap_err().to_string();
    assert!(e.contains("result 0 of branch `then` is tensor<5x2xf32>, of branch `else` it is tensor<f32>"), "{e}");
    assert_eq!(with(Prim::Switch {}, &[&t(I32, [])], &[give(&s)]), "tensor<f32>");
    fails(Prim::Switch {}, &[&t(I32, [])], "at least one branch");
    let state = [region(&[&x], &[&p]), region(&[&x], &[&x])];
    assert_eq!(with(Prim::WhileLoop {}, &[&x], &state), "tensor<5x2xf32>");
    let e = infer(&Prim::WhileLoop {}, &[&x], &[region(&[&x], &[&p]), region(&[&x], &[&s])]).unwrap_err().to_string();
    assert!(e.contains("(the next state): value 0 must be tensor<5x2xf32>, got tensor<f32>"), "{e}");
    let row = t(F32, [2]);
    let scan = Prim::Scan { carry: 1, length: 5.to_dim(), reverse: false };
    assert_eq!(with(scan, &[&s, &x], &[region(&[&s, &row], &[&s, &row])]), "tensor<f32>, tensor<5x2xf32>");
    let call = Prim::Call {
        callee: FuncRef("f".into()),
        jvp: None,
        forward: None,
        vjp: None,
        batch: None,
        captures: None,
        remat: false,
    };
    assert_eq!(with(call.clone(), &[&s], &[region(&[&s], &[&x])]), "tensor<5x2xf32>");
    let e = infer(&call, &[&x], &[region(&[&s], &[&x])]).unwrap_err().to_string();
    assert!(e.contains("argument 0 of @f must be tensor<f32>, got tensor<5x2xf32>"), "{e}");
    let bits = |algorithm| Prim::RandomBits { algorithm, dtype: U32, shape: [3].into_shape() };
    assert_eq!(ok(bits(Algorithm::Threefry2x32), &[&t(U32, (dim("B"), 2))]), "tensor<Bx3xu32>");
    assert_eq!(ok(bits(Algorithm::SplitMix64), &[&t(U64, [])]), "tensor<3xu32>");
    fails(bits(Algorithm::Philox4x32), &[&t(U32, [2])], "has size 4");
}

/// No value of the attributes and operands may panic; odd ones are errors.
#[test]
fn odd_attributes_are_errors() {
    let x = t(F32, [2, 3]);
    let poison = dim("B") / 0;
    fails(Prim::Slice { start: vec![poison; 2], limit: ds(&[1, 1]), stride: vec![1, 1] }, &[&x], "division by zero");
    fails(Prim::DimSize { extent: poison, dtype: I32 }, &[], "division by zero");
    fails(Prim::Constant { value: Literal::Splat(Tensor::zeros(F32, [2]), Shape::scalar()) }, &[], "a scalar");
    fails(Prim::Iota { dtype: I32, shape: Shape::scalar(), axis: 0 }, &[], "out of range for rank 0");
    fails(Prim::Pad { low: vec![], high: vec![], interior: vec![] }, &[&x, &t(F32, [])], "0 entries");
    fails(
        Prim::Slice { start: ds(&[i64::MIN, 0]), limit: ds(&[i64::MAX, 1]), stride: vec![i64::MAX, 1] },
        &[&x],
        "not within",
    );
    let min = Prim::Pad { low: ds(&[i64::MAX, 0]), high: ds(&[i64::MAX, 0]), interior: vec![0, i64::MAX] };
    fails(min, &[&x, &t(F32, [])], "64 bits");
    let mut w = Window::new(ds(&[3, 3]));
    w.stride.clear();
    fails(Prim::ReduceWindow { op: Reducer::Sum, window: w }, &[&x], "`stride` has 0 entries");
}
