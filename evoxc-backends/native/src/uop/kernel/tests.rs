//! Equal kernels, broken kernels, and kernels as text.

use super::*;
use crate::kernel::{BufferDecl, Kernel, ScratchDecl};
use crate::uop::{Alu, AxisKind, Op, Ty};
use evoxc_core::DType;
use evoxc_ir::{Reducer, Unary};

/// `exp(x - max of the row)`, its nodes made in some order and numbered in some way.
fn shifted_exp(late: bool, numbers: [u32; 4]) -> Kernel {
    let mut k = Kernel { params: 1, ..Kernel::default() };
    let [first, second, row, other] = numbers;
    k.buffers = vec![BufferDecl { dtype: DType::F32, written: false, shares: vec![] }; 2];
    k.buffers[second as usize].written = true;
    k.buffers[second as usize].shares = vec![first];
    let a = &mut k.uops;
    if late {
        // Nothing uses these, or they are made early.
        let x = a.index(77);
        a.alu(Alu::Add, &[x, x]);
        a.node(Op::Buffer(second), Ty::memory(DType::F32), &[]);
        a.index(64);
    }
    let p = a.node(Op::Param(0), Ty::INDEX, &[]);
    let i = a.node(Op::Range(row, AxisKind::Loop), Ty::INDEX, &[p]);
    let n = a.index(64);
    let j = a.node(Op::Range(other, AxisKind::Loop), Ty::INDEX, &[n]);
    let r = a.node(Op::Range(other + 7, AxisKind::Reduce), Ty::INDEX, &[n]);
    let x = a.node(Op::Buffer(first), Ty::memory(DType::F32), &[]);
    let start = a.alu(Alu::Mul, &[i, n]);
    let (here, there) = (a.alu(Alu::Add, &[start, j]), a.alu(Alu::Add, &[start, r]));
    let f32 = Ty::scalar(DType::F32);
    let (value, each) = (a.node(Op::Load, f32, &[x, here]), a.node(Op::Load, f32, &[x, there]));
    let most = a.node(Op::Reduce(Reducer::Max), f32, &[each, r]);
    let shifted = a.node(Op::Binary(evoxc_ir::Binary::Sub), f32, &[value, most]);
    let exp = a.node(Op::Unary(Unary::Exp), f32, &[shifted]);
    let y = a.node(Op::Buffer(second), Ty::memory(DType::F32), &[]);
    k.stores = vec![a.node(Op::Store, Ty::VOID, &[y, here, exp])];
    k.loops = vec![i, j];
    k
}

#[test]
fn equal_kernels_have_equal_keys() {
    let (x, y) = (shifted_exp(false, [0, 1, 0, 1]), shifted_exp(true, [0, 1, 0, 1]));
    assert_eq!(key(&x), key(&y));
    let other = shifted_exp(true, [1, 0, 9, 3]);
    assert_ne!(key(&x), key(&other));
    let ((x, _), (other, numbers)) = (renumber(&x), renumber(&other));
    assert_eq!(key(&x), key(&other));
    assert_eq!(other.buffers, x.buffers);
    // What stands in place of what follows.
    assert_eq!((numbers.buffers, numbers.ranges), (vec![0, 1], vec![9, 3, 10]));
    let (again, numbers) = renumber(&x);
    assert_eq!((key(&again), numbers.ranges), (key(&x), vec![0, 1, 2]));
}

#[test]
fn text() {
    let (k, _) = renumber(&shifted_exp(false, [0, 1, 0, 1]));
    let expected = "\
buffers: b0 f32 written or in place of b1, b1 f32
loops: r0 < p0, r1 < 64
v0 = r0 * 64
v1 = v0 + r1
v2 = max(r2 < 64: b1[v0 + r2])
b0[v1] = exp(b1[v1] - v2)
";
    assert_eq!(k.to_string(), expected);
    assert_eq!(verify(&k, Stage::Scheduled), Ok(()));
}

/// Brackets where they are needed, and shared values by name.
#[test]
fn text_of_gates() {
    let mut k =
        Kernel { buffers: vec![BufferDecl { dtype: DType::I64, written: true, shares: vec![] }], ..Kernel::default() };
    let a = &mut k.uops;
    let (n, two, minus) = (a.index(9), a.index(2), a.index(-2));
    let i = a.node(Op::Range(0, AxisKind::Loop), Ty::INDEX, &[n]);
    let x = a.alu(Alu::Add, &[i, minus]);
    let (low, high) = (a.alu(Alu::Le, &[two, i]), a.alu(Alu::Lt, &[x, two]));
    let odd = a.node(Op::IndexMod, Ty::INDEX, &[x, two]);
    let odd = a.alu(Alu::Ne, &[odd, i]);
    let gate = a.alu(Alu::And, &[low, high]);
    let gate = a.alu(Alu::And, &[gate, odd]);
    let y = a.alu(Alu::Mul, &[x, two]);
    let value = a.alu(Alu::Select, &[gate, y, n]);
    let memory = a.node(Op::Buffer(0), Ty::memory(DType::I64), &[]);
    k.stores = vec![a.node(Op::Store, Ty::VOID, &[memory, i, value, gate])];
    k.loops = vec![i];
    let expected = "\
buffers: b0 i64 written
loops: r0 < 9
v0 = r0 - 2
v1 = (2 <= r0) & (v0 < 2) & (v0 % 2 != r0)
if v1: b0[r0] = v1 ? v0 * 2 : 9
";
    assert_eq!(k.to_string(), expected);
}

/// Each mutation breaks one rule of the form.
#[test]
fn broken_kernels_are_refused() {
    type Break = fn(&mut Kernel);
    let cases: [(Break, &str); 9] = [
        (|k| k.loops.truncate(1), "a range is no loop"),
        (|k| k.params = 0, "no such parameter"),
        (|k| k.buffers[0].dtype = DType::F64, "no buffer of that number and dtype"),
        (|k| k.buffers[1].written = false, "only a written buffer"),
        (|k| k.buffers[0].written = true, "a written buffer is not read"),
        (|k| k.stores[0] = k.loops[0], "stores are stores"),
        (
            |k| {
                let l = k.loops[0];
                let other = k.uops.index(5);
                let r = k.uops.node(k.uops.op(l), Ty::INDEX, &[other]);
                k.loops.push(r);
            },
            "two ranges have one number",
        ),
        (
            |k| {
                let (x, l) = (k.uops.constant(DType::F32, 0), k.loops[0]);
                let sum = k.uops.node(Op::Alu(Alu::Add), Ty::INDEX, &[l, x]);
                k.scratch.push(ScratchDecl { dtype: DType::F32, len: sum });
            },
            "one type",
        ),
        (|k| k.scratch.push(ScratchDecl { dtype: DType::F32, len: k.loops[0] }), "the size of scratch memory is known"),
    ];
    for (n, (break_it, message)) in cases.into_iter().enumerate() {
        let mut k = shifted_exp(false, [0, 1, 0, 1]);
        break_it(&mut k);
        let e = verify(&k, Stage::Scheduled).expect_err(message);
        assert!(e.message.contains(message), "case {n}: {} instead of {message}", e.message);
    }
    let e = verify(&shifted_exp(false, [0, 1, 0, 1]), Stage::Decomposed).expect_err("ops of the IR");
    assert!(e.message.contains("gone after decomposition"), "{}", e.message);
}

/// No recursion, and text that grows with the kernel, not with its depth.
#[test]
fn deep_kernels() {
    let mut k =
        Kernel { buffers: vec![BufferDecl { dtype: DType::F32, written: true, shares: vec![] }], ..Kernel::default() };
    let a = &mut k.uops;
    let (one, zero) = (a.constant(DType::F32, 0x3f80_0000), a.index(0));
    let mut x = one;
    for _ in 0..100_000 {
        x = a.alu(Alu::Add, &[x, one]);
    }
    let y = a.node(Op::Buffer(0), Ty::memory(DType::F32), &[]);
    k.stores = vec![a.node(Op::Store, Ty::VOID, &[y, zero, x])];
    assert_eq!(verify(&k, Stage::Decomposed), Ok(()));
    let (again, _) = renumber(&k);
    assert_eq!(key(&again), key(&k));
    assert!(key(&k).bytes().len() < 10 * 100_000);
    assert!(k.to_string().len() < 20 * 100_000);
}
