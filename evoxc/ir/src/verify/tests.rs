//! Each rule of the verifier broken once, and mutations of modules that must give an error or none, but no panic.

use crate::*;
use evoxc_core::{DType, Dim, F32, dim, spec};

#[track_caller]
fn check(text: &str, message: &str) {
    let m = Module::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    check_module(&m, message);
}
#[track_caller]
fn check_module(m: &Module, message: &str) {
    match m.verify() {
        Ok(()) => assert_eq!(message, "ok"),
        Err(e) => assert!(e.to_string().contains(message), "{e}"),
    }
}

/// Ops with regions, calls and symbols.
pub(crate) const SAMPLE: &str = r#"
func @main(%x: tensor<Bx4xf32>, %w: tensor<4x3xf32>, %n: tensor<i32>, %p: tensor<bool>) -> (tensor<Bx3xf32>, tensor<3xf32>) {
  %0 = evoxc.dot(%x, %w) {batch = [], contract = [[1], [0]]} : tensor<Bx3xf32>
  %1 = evoxc.call(%0) {callee = @act} : tensor<Bx3xf32>
  %c = evoxc.constant() {value = splat<2.0> : tensor<Bx3xf32>} : tensor<Bx3xf32>
  %2 = evoxc.cond(%p) : tensor<Bx3xf32> {
    then() {
      %3 = evoxc.mul(%1, %c) : tensor<Bx3xf32>
      yield %3
    }
    else() {
      yield %1
    }
  }
  %k = evoxc.constant() {value = dense<0> : tensor<i32>} : tensor<i32>
  %i, %s = evoxc.while_loop(%k, %2) : tensor<i32>, tensor<Bx3xf32> {
    cond(%a: tensor<i32>, %b: tensor<Bx3xf32>) {
      %4 = evoxc.compare(%a, %n) {direction = lt, order = ieee} : tensor<bool>
      yield %4
    }
    body(%a: tensor<i32>, %b: tensor<Bx3xf32>) {
      %one = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>
      %5 = evoxc.add(%a, %one) : tensor<i32>
      %6 = evoxc.tanh(%b) : tensor<Bx3xf32>
      yield %5, %6
    }
  }
  %z = evoxc.constant() {value = splat<0.0> : tensor<3xf32>} : tensor<3xf32>
  %t = evoxc.scan(%z, %s) {carry = 1, length = B} : tensor<3xf32> {
    body(%acc: tensor<3xf32>, %row: tensor<3xf32>) {
      %7 = evoxc.add(%acc, %row) : tensor<3xf32>
      yield %7
    }
  }
  evoxc.print(%t) {label = "t"}
  %r = evoxc.reshape(%s) {shape = [3, B]} : tensor<3xBxf32>
  %q = evoxc.transpose(%r) {perm = [1, 0]} : tensor<Bx3xf32>
  return %q, %t
}
func @act(%x: tensor<Bx3xf32>) -> tensor<Bx3xf32> {
  %0 = evoxc.logistic(%x) : tensor<Bx3xf32>
  %1 = evoxc.pad(%0, %z) {low = [0, -1], high = [1, 0], interior = [0, 0]} : tensor<[B + 1]x2xf32>
  %2 = evoxc.slice(%1) {start = [0, 0], limit = [B, 1], stride = [1, 1]} : tensor<Bx1xf32>
  %3 = evoxc.broadcast_in_dim(%2) {shape = [B, 1, 3], dims = [0, 1]} : tensor<Bx1x3xf32>
  %4 = evoxc.reshape(%3) {shape = [B, 3]} : tensor<Bx3xf32>
  return %4
}
"#;

pub(crate) fn sample() -> Module {
    let z = "  %z = evoxc.constant() {value = dense<0.0> : tensor<f32>} : tensor<f32>\n  %1 = evoxc.pad";
    Module::parse(&SAMPLE.replace("  %1 = evoxc.pad", z)).unwrap_or_else(|e| panic!("{e:?}"))
}

#[test]
fn valid() {
    check_module(&sample(), "ok");
    check("func @f() -> () {\n  return\n}", "ok");
}

#[test]
fn types() {
    let e = "result 0 has type tensor<2xf32>, it is declared as tensor<3xf32>";
    check("func @f(%x: tensor<2xf32>) -> tensor<3xf32> {\n %y = evoxc.neg(%x) : tensor<3xf32>\n return %y\n}", e);
    let e = "lhs is f32, but rhs is i32";
    check("func @f(%x: tensor<f32>, %y: tensor<i32>) -> () {\n %z = evoxc.add(%x, %y) : tensor<f32>\n return\n}", e);
}

#[test]
fn symbols_come_from_arguments() {
    let f = |ty: &str, op: &str| format!("func @f(%x: tensor<{ty}>) -> () {{\n  {op}\n  return\n}}");
    let size = "%n = evoxc.dim_size() {extent = B, dtype = i32} : tensor<i32>";
    check(&f("f32", size), "the extent B needs B, which no argument of the function has");
    check(&f("Bxf32", size), "ok");
    check(&f("[2*B + 1]xf32", size), "ok");
    check(&f("[B*T]xTxf32", size), "ok");
    check(&f("[B*T]xf32", size), "no input tells the value of the extent B, T");
    let splat = "%n = evoxc.constant() {value = splat<1.0> : tensor<Bxf32>} : tensor<Bxf32>";
    check(&f("f32", splat), "the extent B needs B");
    // Functions that are called get the values from the entry, so their symbols need only appear.
    let called = f("[B*T]xf32", size).replace("@f", "@g");
    check(&format!("{}\n{called}", f("f32", "")), "ok");
}

#[test]
fn calls() {
    let f = |name: &str, callee: &str| {
        format!(
            "func @{name}(%x: tensor<f32>) -> tensor<f32> {{\n  %y = evoxc.call(%x) {{callee = @{callee}}} : tensor<f32>\n  return %y\n}}\n"
        )
    };
    let end = "func @end(%x: tensor<f32>) -> tensor<f32> {\n  return %x\n}\n";
    check(&(f("a", "b") + &f("b", "end") + end), "ok");
    check(&(f("a", "b") + &f("b", "a")), "calls itself");
    check(&f("a", "a"), "@a calls itself, through @a");
    check(&f("a", "b"), "there is no function @b");
    check(&(f("a", "end") + end + end), "two functions have this name");
    // A chain is as deep as regions may nest, no deeper.
    let chain = |n: usize| (0..n).map(|i| f(&format!("f{i}"), &format!("f{}", i + 1))).collect::<String>();
    let last = |n: usize| end.replace("@end", &format!("@f{n}"));
    check(&(chain(100) + &last(100)), "ok");
    check(&(chain(101) + &last(101)), "nest deeper than 100");
    // Diamonds are shared, not walked path by path.
    let twice = |i: usize| {
        let call = |v: &str| format!("  {v} = evoxc.call(%x) {{callee = @f{}}} : tensor<f32>\n", i + 1);
        format!("func @f{i}(%x: tensor<f32>) -> tensor<f32> {{\n{}{}  return %y\n}}\n", call("%y"), call("%z"))
    };
    check(&((0..90).map(twice).collect::<String>() + &last(90)), "ok");
}

/// A function with one scalar argument, and an op to break.
fn one_op() -> Module {
    Module::parse("func @f(%x: tensor<f32>) -> tensor<f32> {\n  %y = evoxc.neg(%x) : tensor<f32>\n  return %y\n}")
        .unwrap()
}

#[test]
fn values() {
    check_module(&Module::default(), "nothing to run");
    let mut m = one_op();
    m.funcs[0].body.ops[0].operands[0] = Value(1);
    check_module(&m, "%y is used before it is defined");
    m.funcs[0].body.ops[0].operands[0] = Value(7);
    check_module(&m, "value 7 is not in the function's table");
    let mut m = one_op();
    m.funcs[0].body.ops[0].results[0] = Value(0);
    check_module(&m, "%x is defined twice");
    let mut m = one_op();
    m.funcs[0].body.results = vec![Value(9)];
    check_module(&m, "value 9 is not in");
    let mut m = one_op();
    m.funcs[0].body.ops.clear();
    check_module(&m, "return: %y is used before");
    let mut m = one_op();
    m.funcs[0].body.ops[0].results.clear();
    check_module(&m, "it gives 1 results, 0 are named");
    let mut m = one_op();
    m.funcs[0].body.ops[0].regions.push(Region::default());
    check_module(&m, "it has 0 regions, got 1");
    let mut m = one_op();
    m.funcs[0].values[0].ty = spec(F32, (dim("B") / 0,));
    check_module(&m, "division by zero");
    m.funcs[0].values[0].ty = spec(F32, [-1]);
    check_module(&m, "axis 0 has size -1");
    let mut m = sample();
    let body = &mut m.funcs[0].body;
    let inner = body.ops.iter().find_map(|o| o.regions.first()).unwrap().ops[0].results[0];
    body.results[0] = inner;
    check_module(&m, "out of scope: its region has ended");
}

#[test]
fn regions() {
    let text = |a: &str, b: &str| {
        format!(
            "func @f(%p: tensor<bool>, %x: tensor<f32>) -> () {{\n %r = evoxc.cond(%p) : tensor<f32> {{\n then() {{\n yield {a}\n }}\n else() {{\n yield {b}\n }}\n }}\n return\n}}"
        )
    };
    check(&text("%x", "%x"), "ok");
    check(&text("%x", "%p"), "result 0 of branch `then` is tensor<f32>, of branch `else` it is tensor<bool>");
    let nested = |n: usize| {
        let mut m = one_op();
        let f = &mut m.funcs[0];
        let p = f.value(spec(DType::BOOL, []), None);
        f.body.args.push(p);
        let mut region = Region::default();
        for _ in 0..n {
            let op = Op {
                prim: Prim::Cond {},
                operands: [p].into_iter().collect(),
                results: Default::default(),
                regions: vec![region, Region::default()],
                loc: None,
            };
            region = Region { ops: vec![op], ..Region::default() };
        }
        f.body.ops.append(&mut region.ops);
        m
    };
    check_module(&nested(100), "ok");
    check_module(&nested(101), "regions nest deeper than 100");
}

#[test]
fn ten_thousand_ops() {
    let mut m = one_op();
    let f = &mut m.funcs[0];
    for _ in 0..10_000 {
        let last = f.body.results[0];
        let next = f.value(spec(F32, []), None);
        let op = Op {
            operands: [last].into_iter().collect(),
            results: [next].into_iter().collect(),
            ..f.body.ops[0].clone()
        };
        f.body.ops.push(op);
        f.body.results = vec![next];
    }
    check_module(&m, "ok");
}

/// xorshift64*: the mutations must be the same in every run.
pub(crate) struct Random(pub u64);
impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize) % n.max(1)
    }
}

fn with_op(r: &mut Region, n: &mut usize, f: &mut dyn FnMut(&mut Vec<Op>, usize)) {
    for i in 0..r.ops.len() {
        if *n == 0 {
            *n = usize::MAX;
            return f(&mut r.ops, i);
        }
        *n -= 1;
        for inner in &mut r.ops[i].regions {
            with_op(inner, n, f);
            if *n == usize::MAX {
                return;
            }
        }
    }
}

fn prims(r: &Region, out: &mut Vec<Prim>) {
    for op in &r.ops {
        out.push(op.prim.clone());
        op.regions.iter().for_each(|r| prims(r, out));
    }
}

fn odd_dim(r: &mut Random) -> Dim {
    let b = dim("B");
    let all = [b, b + 1, b - 7, b / 0, dim("T"), Dim::constant(0), Dim::constant(-1), Dim::constant(i64::MAX)];
    all[r.below(all.len())]
}

fn mutate(m: &mut Module, r: &mut Random, pool: &[Prim]) {
    let k = r.below(m.funcs.len());
    let Some(f) = m.funcs.get_mut(k) else { return };
    let n = f.values.len();
    let pick = |r: &mut Random| match r.below(20) {
        0 => Value(u32::MAX),
        1 => Value(n as u32),
        _ => Value(r.below(n) as u32),
    };
    match r.below(14) {
        0 => f.name = "main".into(),
        1 => f.body.results.push(pick(r)),
        2 => f.body.args.push(pick(r)),
        3 => {
            f.body.args.pop();
        }
        4 => {
            let v = pick(r);
            let i = r.below(15);
            let d = odd_dim(r);
            if let Some(info) = f.values.get_mut(v.index()) {
                match r.below(3) {
                    0 => info.ty.dtype = DType::ALL[i],
                    1 => info.ty.shape.push(d),
                    _ => info.ty.shape.dims_mut().iter_mut().for_each(|x| *x = d),
                }
            }
        }
        kind => {
            let (v, d, p) = (pick(r), odd_dim(r), pool[r.below(pool.len())].clone());
            let (i, j) = (r.below(4), r.below(4));
            with_op(&mut f.body, &mut r.below(40), &mut |ops, at| match kind {
                5 => {
                    ops.remove(at);
                }
                6 => {
                    let copy = ops[at].clone();
                    ops.insert(at, copy);
                }
                7 => ops[at].prim = p.clone(),
                8 => ops[at].prim.map_dims(&mut |_| d),
                9 => ops[at].operands.push(v),
                10 => ops[at].results.push(v),
                11 => {
                    let copy = ops[at].regions.get(i).cloned().unwrap_or_default();
                    ops[at].regions.insert(0, copy);
                }
                12 => {
                    if let Some(x) = ops[at].operands.get_mut(i) {
                        *x = v;
                    }
                }
                _ => {
                    if let Some(region) = ops[at].regions.get_mut(i) {
                        match j {
                            0 => region.results.push(v),
                            1 => region.args.push(v),
                            2 => region.args.clear(),
                            _ => region.results.clear(),
                        }
                    }
                }
            });
        }
    }
}

/// Op attributes that no module of the tests holds, on operands that do not fit.
fn odd_prims() -> Vec<Prim> {
    let big = usize::MAX;
    let w = Window { stride: vec![0, 1], ..Window::new(vec![dim("B"), Dim::constant(3)]) };
    let layout = ConvLayout {
        lhs: vec![big, 0],
        lhs_spatial: vec![1],
        rhs: vec![],
        rhs_spatial: vec![0, 0],
        out: vec![1],
        out_spatial: vec![big],
    };
    let flat = ConvLayout {
        lhs: vec![0, 1],
        lhs_spatial: vec![],
        rhs: vec![1, 0],
        rhs_spatial: vec![],
        out: vec![0, 1],
        out_spatial: vec![],
    };
    let gather = GatherDims {
        offset: vec![0, big],
        collapsed: vec![1],
        operand_batching: vec![],
        indices_batching: vec![],
        start_map: vec![0],
        index_vector: 0,
    };
    let scatter = ScatterDims {
        update_window: vec![0],
        inserted: vec![1],
        operand_batching: vec![],
        indices_batching: vec![],
        scatter_map: vec![0],
        index_vector: 0,
    };
    let conv = |layout: ConvLayout, w: Window, g: usize| Prim::Convolution {
        window: w,
        layout,
        feature_groups: g,
        batch_groups: 1,
        accumulate: Some(F32),
    };
    let mut all = vec![
        conv(layout, w.clone(), 0),
        conv(flat.clone(), Window::new(vec![]), 1),
        conv(flat, Window::new(vec![]), 3),
        Prim::Gather { dims: gather, sizes: vec![Dim::constant(1); 2], sorted: false },
        Prim::Scatter { op: ScatterOp::Add, dims: scatter.clone(), sorted: false, unique: false },
        Prim::ScatterBody { dims: scatter, sorted: false, unique: false },
        Prim::DynamicSlice { sizes: vec![Dim::constant(1); 2] },
        Prim::DynamicUpdateSlice {},
        Prim::Reduce { op: Reducer::And, axes: vec![big] },
        Prim::ReduceBody { axes: vec![0] },
        Prim::Argmax { axis: big },
        Prim::Argmin { axis: 1 },
        Prim::ReduceWindow { op: Reducer::Sum, window: w.clone() },
        Prim::ReduceWindowBody { window: w.clone() },
        Prim::SelectAndScatter { select: SelectOp::Max, window: w.clone() },
        Prim::SelectAndScatterBody { window: w },
        Prim::Cumulative { op: CumOp::Logsumexp, axis: 0, reverse: true },
        Prim::Sort { axis: 0, keys: SortKeys(vec![true; 3]), stable: true },
        Prim::SortBody { axis: 0, stable: false },
        Prim::TopK { k: dim("B") },
        Prim::Fft { kind: FftKind::Rfft, length: vec![dim("B"); 3] },
        Prim::Fft { kind: FftKind::Irfft, length: vec![] },
        Prim::Cholesky { lower: true },
        Prim::TriangularSolve { left: true, lower: true, unit_diagonal: true, transpose: LinTranspose::Adjoint },
        Prim::Lu {},
        Prim::Qr { full: true },
        Prim::Eigh {},
        Prim::Svd { full: false },
        Prim::Switch {},
        Prim::RandomBits { algorithm: Algorithm::Philox4x32, dtype: F32, shape: [dim("B")].into_iter().collect() },
        Prim::OptimizationBarrier {},
        Prim::StopGradient {},
        Prim::BitcastConvert { dtype: DType::C128 },
        Prim::ReducePrecision { exponent_bits: 0, mantissa_bits: 99 },
        Prim::Concatenate { axis: big },
        Prim::Reverse { axes: vec![0, 0] },
        Prim::Scan { carry: big, length: dim("B"), reverse: true },
    ];
    prims(&sample().funcs[0].body, &mut all);
    prims(&sample().funcs[1].body, &mut all);
    all
}

#[test]
fn mutations_do_not_panic() {
    let pool = odd_prims();
    let mut r = Random(0x9E37_79B9_7F4A_7C15);
    let mut valid = 0;
    for _ in 0..3_000 {
        let mut m = sample();
        for _ in 0..1 + r.below(6) {
            mutate(&mut m, &mut r, &pool);
        }
        valid += usize::from(m.verify().is_ok());
    }
    // Some mutations hit what nothing uses.
    assert!((1..1_500).contains(&valid), "{valid}");
}
