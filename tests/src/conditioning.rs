//! Is a result of a program worth comparing? Not where another rounding, or another sign of NaN, would change it.
//!
//! Programs made at random subtract what is nearly equal, take logarithms of what is nearly 1, and order NaN by its sign,
//! which IEEE 754 leaves open for the results of arithmetic. [`nudged`] is the program in which each function of a library
//! and each sum is off by half of its tolerance, and all NaNs of arithmetic have one sign. Where its results are not
//! those of the program itself, nothing can be said of a backend's.

use crate::tolerance::{Category, of_prim, precision};
use evoxc_core::{DType, Tensor};
use evoxc_ir::{
    Binary, CumOp, Direction, Func, Literal, Module, Op, Prim, Reducer, Region, SortOrder, TensorType, Unary, Value,
    infer,
};
use half::{bf16, f16};
use std::collections::HashMap;

/// The program with every rounded real number off by half of its tolerance, up or down, and NaNs all above numbers or all below. Down,
/// products lose the factors that may underflow.
pub fn nudged(module: &Module, up: bool) -> Module {
    let mut module = module.clone();
    for f in &mut module.funcs {
        let mut body = std::mem::take(&mut f.body);
        region(f, &mut body, up, &mut HashMap::new());
        f.body = body;
    }
    module
}

/// The program in which each element of what is computed, and of what is added up, is off by a few roundings, some up and
/// some down, others with another `seed`, and all up with seed 0. How far its results are from the program's own is how far roundings move them.
pub fn shaken(module: &Module, seed: u32) -> Module {
    let mut module = module.clone();
    for f in &mut module.funcs {
        let mut body = std::mem::take(&mut f.body);
        shake(f, &mut body, seed, &mut HashMap::new());
        f.body = body;
    }
    module
}

fn shake(f: &mut Func, r: &mut Region, seed: u32, instead: &mut HashMap<Value, Value>) {
    let mut ops = Vec::new();
    let replace = |v: &mut Value, instead: &HashMap<Value, Value>| {
        if let Some(&w) = instead.get(v) {
            *v = w;
        }
    };
    for mut op in std::mem::take(&mut r.ops) {
        op.operands.iter_mut().for_each(|v| replace(v, instead));
        op.regions.iter_mut().for_each(|r| shake(f, r, seed, instead));
        if of_prim(&op.prim, false) > Category::Transcendental {
            for v in &mut op.operands {
                if f.ty(*v).dtype().is_float() {
                    *v = rough(f, &mut ops, *v, seed, true);
                }
            }
        }
        let computed = matches!(op.prim, Prim::Unary(_) | Prim::Binary(_));
        let results: Vec<Value> = op.results.iter().copied().collect();
        ops.push(op);
        for v in results {
            if computed && f.ty(v).dtype().is_float() {
                let w = rough(f, &mut ops, v, seed, false);
                instead.insert(v, w);
            }
        }
    }
    r.ops = ops;
    r.results.iter_mut().for_each(|v| replace(v, instead));
}

/// A value whose elements are off: all up with seed 0, else each in a direction that its place decides. What is added up
/// may be off by more the more of it there is.
fn rough(f: &mut Func, ops: &mut Vec<Op>, v: Value, seed: u32, summed: bool) -> Value {
    let ty = f.ty(v).clone();
    let by = 4.0 * precision(ty.dtype()).0;
    let extents = ty.shape.to_static().filter(|_| seed > 0 || summed);
    let Some(extents) = extents else {
        let factor = splat(f, ops, v, if seed.is_multiple_of(2) { 1.0 + by } else { 1.0 - by });
        return push(f, ops, Prim::Binary(Binary::Mul), &[v, factor]);
    };
    let n: usize = extents.iter().product();
    let by = if summed { by * (n.max(1) as f64).sqrt() } else { by };
    // The upper bit of a product with 2³² / φ is as good as a coin.
    let salt = v.0.wrapping_mul(0x9E37_79B9).wrapping_add(seed.wrapping_mul(0x85EB_CA6B)) | 1;
    let up = |i: usize| seed == 0 || (i as u32).wrapping_add(salt).wrapping_mul(0x9E37_79B9 ^ (salt << 8)) >> 31 == 0;
    let list: Vec<f64> = (0..n).map(|i| if up(i) { 1.0 + by } else { 1.0 - by }).collect();
    let factor = Tensor::from_vec(list, extents).and_then(|t| t.cast(ty.dtype())).expect("as many as the shape says");
    let factor = push(f, ops, Prim::Constant { value: Literal::Dense(factor) }, &[]);
    push(f, ops, Prim::Binary(Binary::Mul), &[v, factor])
}

/// Puts a value that is off after each op; what follows takes that instead.
fn region(f: &mut Func, r: &mut Region, up: bool, instead: &mut HashMap<Value, Value>) {
    let mut ops = Vec::new();
    let replace = |v: &mut Value, instead: &HashMap<Value, Value>| {
        if let Some(&w) = instead.get(v) {
            *v = w;
        }
    };
    for mut op in std::mem::take(&mut r.ops) {
        op.operands.iter_mut().for_each(|v| replace(v, instead));
        for inner in &mut op.regions {
            region(f, inner, up, instead);
        }
        let arithmetic = matches!(
            op.prim,
            Prim::Unary(_) | Prim::Binary(_) | Prim::Reduce { .. } | Prim::Cumulative { .. } | Prim::Dot { .. }
        );
        let category = of_prim(&op.prim, false);
        let product =
            matches!(op.prim, Prim::Reduce { op: Reducer::Prod, .. } | Prim::Cumulative { op: CumOp::Prod, .. });
        if product && !up {
            for v in &mut op.operands {
                if f.ty(*v).dtype().is_float() {
                    *v = flushed(f, &mut ops, *v);
                }
            }
        }
        let results: Vec<Value> = op.results.iter().copied().collect();
        ops.push(op);
        for v in results {
            if arithmetic && f.ty(v).dtype().is_float() {
                let w = off(f, &mut ops, v, category, up);
                instead.insert(v, w);
            }
        }
    }
    r.ops = ops;
    r.results.iter_mut().for_each(|v| replace(v, instead));
}

/// Appends an op on values of one type.
fn push(f: &mut Func, ops: &mut Vec<Op>, prim: Prim, operands: &[Value]) -> Value {
    let types: Vec<&TensorType> = operands.iter().map(|&v| f.ty(v)).collect();
    let types = infer(&prim, &types, &[]).expect("an op on values of one type");
    let result = f.value(types[0].clone(), None);
    let (operands, results) = (operands.iter().copied().collect(), [result].into_iter().collect());
    ops.push(Op { prim, operands, results, regions: vec![], loc: None });
    result
}

/// A real number everywhere in the shape of a value.
fn splat(f: &mut Func, ops: &mut Vec<Op>, like: Value, x: f64) -> Value {
    let ty = f.ty(like).clone();
    push(f, ops, Prim::Constant { value: Literal::Splat(scalar(ty.dtype(), x), ty.shape.clone()) }, &[])
}

fn off(f: &mut Func, ops: &mut Vec<Op>, v: Value, category: Category, up: bool) -> Value {
    let d = f.ty(v).dtype();
    let is_nan = push(f, ops, Prim::Compare { direction: Direction::Ne, order: SortOrder::Ieee }, &[v, v]);
    let nan = splat(f, ops, v, f64::NAN.copysign(if up { 1.0 } else { -1.0 }));
    let mut moved = v;
    if category > Category::Exact {
        let by = precision(d).0 * category.steps(matches!(d, DType::F16 | DType::BF16)).0 / 2.0;
        let factor = splat(f, ops, v, if up { 1.0 + by } else { 1.0 - by });
        moved = push(f, ops, Prim::Binary(Binary::Mul), &[v, factor]);
    }
    push(f, ops, Prim::Select {}, &[is_nan, nan, moved])
}

/// Zeros for what is so small that products of two of them are zeros; whether they are depends on the order.
fn flushed(f: &mut Func, ops: &mut Vec<Op>, v: Value) -> Value {
    let least = precision(f.ty(v).dtype()).1.sqrt();
    let (least, zero) = (splat(f, ops, v, least), splat(f, ops, v, 0.0));
    let magnitude = push(f, ops, Prim::Unary(Unary::Abs), &[v]);
    let small = Prim::Compare { direction: Direction::Lt, order: SortOrder::Ieee };
    let small = push(f, ops, small, &[magnitude, least]);
    push(f, ops, Prim::Select {}, &[small, zero, v])
}

fn scalar(d: DType, x: f64) -> Tensor {
    let made = match d {
        DType::F16 => Tensor::from_vec(vec![f16::from_f64(x)], []),
        DType::BF16 => Tensor::from_vec(vec![bf16::from_f64(x)], []),
        DType::F32 => Tensor::from_vec(vec![x as f32], []),
        _ => Tensor::from_vec(vec![x], []),
    };
    made.expect("one element")
}
