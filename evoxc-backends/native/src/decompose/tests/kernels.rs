//! Whole kernels: chains, reductions, what fast arithmetic leaves out, known operands, and how many nodes become of ops.

use super::eval::Program;
use super::{Precision, decompose, kernel};
use crate::kernel::Kernel;
use crate::uop::{Alu, AxisKind, Op, Ty, UOp};
use evoxc_core::DType;
use evoxc_ir::{Binary, Reducer, Unary};

/// A kernel of one operand whose stored value is made by `f` from the loaded one.
fn with(dtype: DType, f: impl FnOnce(&mut Kernel, UOp) -> UOp) -> Kernel {
    let mut k = kernel(Op::Unary(Unary::Real), &[dtype], dtype);
    let [buffer, index, identity] = k.uops.src(k.stores[0]) else { unreachable!() };
    let (buffer, index, x) = (*buffer, *index, k.uops.src(*identity)[0]);
    let value = f(&mut k, x);
    k.stores = vec![k.uops.node(Op::Store, Ty::VOID, &[buffer, index, value])];
    k
}
/// The nodes that a kernel needs for its stores, by op.
fn ops(k: &Kernel) -> Vec<Op> {
    let mut needed = vec![false; k.uops.len()];
    k.stores.iter().for_each(|s| needed[s.index()] = true);
    for (u, node) in k.uops.iter().rev() {
        if needed[u.index()] {
            node.src.iter().for_each(|s| needed[s.index()] = true);
        }
    }
    k.uops.iter().filter(|(u, _)| needed[u.index()]).map(|(_, n)| n.op).collect()
}

// No recursion, and time and nodes linear in the length.
#[test]
fn long_chains() {
    let chain = |n: usize| {
        let mut k = with(DType::F32, |k, x| {
            (0..n).fold(x, |x, _| k.uops.node(Op::Unary(Unary::Tanh), Ty::scalar(DType::F32), &[x]))
        });
        decompose(&mut k, Precision::Strict).unwrap();
        k.uops.len()
    };
    let (ten, many) = (chain(10), chain(10_000));
    assert!(many <= ten * 1000, "{ten} {many}");
}

// What is not needed is gone, loops and scratch memory follow.
#[test]
fn only_what_is_needed() {
    let mut k = kernel(Op::Unary(Unary::Neg), &[DType::F32], DType::F32);
    let one = k.uops.constant(DType::F32, 0x3f80_0000);
    k.uops.node(Op::Unary(Unary::Exp), Ty::scalar(DType::F32), &[one]);
    decompose(&mut k, Precision::Strict).unwrap();
    assert!(!ops(&k).iter().any(|op| matches!(op, Op::Alu(Alu::Fma))));
    assert!(matches!(k.uops.op(k.loops[0]), Op::Range(0, AxisKind::Loop)));
    assert!(matches!(k.uops.op(k.stores[0]), Op::Store));
}

// The table of ops: halves accumulate in f32, bools by or and and, narrow integers keep their own identities.
#[test]
fn reductions() {
    let reduced = |dtype: DType, op: Reducer| {
        let mut k = with(dtype, |k, x| {
            let size = k.uops.index(5);
            let r = k.uops.node(Op::Range(1, AxisKind::Reduce), Ty::INDEX, &[size]);
            k.uops.node(Op::Reduce(op), Ty::scalar(dtype), &[x, r])
        });
        decompose(&mut k, Precision::Strict).unwrap();
        let found = k.uops.iter().find_map(|(u, n)| match n.op {
            Op::Reduce(op) => Some((op, n.ty.dtype, u)),
            _ => None,
        });
        let (op, of, u) = found.unwrap();
        let stored = k.uops.src(k.stores[0])[2];
        assert_eq!(k.uops.ty(stored).dtype, dtype);
        let bound = k.uops.iter().any(|(_, n)| n.op == Op::Alu(Alu::Max) && n.src.contains(&u));
        (op, of, bound)
    };
    assert_eq!(reduced(DType::BF16, Reducer::Sum), (Reducer::Sum, DType::F32, false));
    assert_eq!(reduced(DType::F16, Reducer::Max), (Reducer::Max, DType::F32, false));
    assert_eq!(reduced(DType::BOOL, Reducer::Sum), (Reducer::Or, DType::BOOL, false));
    assert_eq!(reduced(DType::BOOL, Reducer::Min), (Reducer::And, DType::BOOL, false));
    assert_eq!(reduced(DType::I8, Reducer::Max), (Reducer::Max, DType::I32, true));
    assert_eq!(reduced(DType::U16, Reducer::Prod), (Reducer::Prod, DType::U32, false));
    assert_eq!(reduced(DType::F64, Reducer::Sum), (Reducer::Sum, DType::F64, false));
}

// `Precision`: strict arithmetic rounds halves after every op and fuses nothing, fast arithmetic does neither.
#[test]
fn precisions() {
    let casts = |precision| {
        let mut k = with(DType::BF16, |k, x| {
            let ty = Ty::scalar(DType::BF16);
            let y = k.uops.node(Op::Binary(Binary::Mul), ty, &[x, x]);
            k.uops.node(Op::Binary(Binary::Add), ty, &[y, x])
        });
        decompose(&mut k, precision).unwrap();
        let ops = ops(&k);
        let count = |f: &dyn Fn(&Op) -> bool| ops.iter().filter(|op| f(op)).count();
        (count(&|op| matches!(op, Op::Cast)), count(&|op| matches!(op, Op::Alu(Alu::Fma))))
    };
    assert_eq!(casts(Precision::Strict), (4, 0));
    assert_eq!(casts(Precision::Fast), (2, 1));
}

// IEEE 754's pow, and integers by squaring: exponents that are known leave few ops.
#[test]
fn known_exponents() {
    let power = |dtype: DType, exponent: u64| {
        let mut k = with(dtype, |k, x| {
            let e = k.uops.constant(dtype, exponent);
            k.uops.node(Op::Binary(Binary::Pow), Ty::scalar(dtype), &[x, e])
        });
        decompose(&mut k, Precision::Strict).unwrap();
        Program::new(&k)
    };
    let f = |x: f32| u64::from(x.to_bits());
    let inputs: Vec<u64> = [3.0, -2.0, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40].map(f).to_vec();
    for exponent in [0.0, 1.0, 2.0, 3.0, 4.0, -1.0, 0.5, -0.5f32] {
        let mut p = power(DType::F32, f(exponent));
        assert!(p.ops() <= 5);
        for (&x, &y) in inputs.iter().zip(p.run(&[&inputs])) {
            let (x, y) = (f32::from_bits(x as u32), f32::from_bits(y as u32));
            let expected = x.powf(exponent);
            let same = y.to_bits() == expected.to_bits() || (y.is_nan() && expected.is_nan());
            assert!(same || (y - expected).abs() <= expected.abs() * 1e-6, "{x} to the {exponent}: {y}");
        }
    }
    let mut p = power(DType::I32, 5);
    assert_eq!((p.ops(), p.run(&[&[3, 7]])), (3, &[243, 16807][..]));
}
