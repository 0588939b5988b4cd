//! Decompositions, evaluated by the meaning of machine ops, against the reference kernels and exact values.

mod eval;
mod exact;
mod kernels;
mod sweep;
mod values;

use super::{Precision, decompose};
use crate::kernel::{BufferDecl, Kernel};
use crate::uop::{AxisKind, Op, Ty, cast};
use eval::Program;
use evoxc_core::{Buffer, DType, Tensor};
use evoxc_ir::Module;
use evoxc_reference::Plan;

/// The real dtypes and bool.
const REAL: [DType; 13] = [
    DType::BOOL,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// A kernel that stores one op of as many loaded operands.
fn kernel(op: Op, operands: &[DType], to: DType) -> Kernel {
    let mut k = Kernel::default();
    let a = &mut k.uops;
    let size = a.index(1 << 20);
    let i = a.node(Op::Range(0, AxisKind::Loop), Ty::INDEX, &[size]);
    let mut src = vec![];
    for (n, &d) in operands.iter().enumerate() {
        let buffer = a.node(Op::Buffer(n as u32), Ty::memory(d), &[]);
        src.push(a.node(Op::Load, Ty::scalar(d), &[buffer, i]));
        k.buffers.push(BufferDecl { dtype: d, written: false, shares: vec![] });
    }
    let value = a.node(op, Ty::scalar(to), &src);
    let out = a.node(Op::Buffer(operands.len() as u32), Ty::memory(to), &[]);
    k.stores = vec![a.node(Op::Store, Ty::VOID, &[out, i, value])];
    k.loops = vec![i];
    k.buffers.push(BufferDecl { dtype: to, written: true, shares: vec![] });
    k
}

/// The decomposed op, or nothing where the dtype has none.
fn program(op: Op, operands: &[DType], to: DType) -> Option<Program> {
    let mut k = kernel(op, operands, to);
    decompose(&mut k, Precision::Strict).ok()?;
    Some(Program::new(&k))
}

/// Elements of a dtype given by their bits, as a tensor.
fn tensor(dtype: DType, bits: &[u64]) -> Tensor {
    let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes()[..dtype.size()].to_vec()).collect();
    Tensor::from_parts(Buffer::from_le_bytes(dtype, &bytes).unwrap(), &[bits.len()]).unwrap()
}
/// The bits of the elements of a tensor.
fn bits(t: &Tensor) -> Vec<u64> {
    t.buffer()
        .bytes()
        .chunks_exact(t.dtype().size())
        .map(|c| c.iter().rev().fold(0, |bits, &b| bits << 8 | u64::from(b)))
        .collect()
}
/// What the reference gives for `op` (name and attributes as in the text form).
fn reference(op: &str, operands: &[Tensor], to: DType) -> Option<Vec<u64>> {
    let params: Vec<String> = operands.iter().enumerate().map(|(i, t)| format!("%a{i}: {}", t.spec())).collect();
    let names: Vec<String> = (0..operands.len()).map(|i| format!("%a{i}")).collect();
    let (name, attributes) = op.split_once(' ').unwrap_or((op, ""));
    let result = format!("tensor<{}x{to}>", operands[0].len());
    let text = format!(
        "module @test version 1 {{\nfunc @f({}) -> {result} {{\n %r = evoxc.{name}({}) {attributes} : {result}\n return %r\n}}\n}}",
        params.join(", "),
        names.join(", ")
    );
    let module = Module::parse(&text).ok()?;
    Some(bits(&Plan::new(&module).ok()?.run(operands.to_vec()).ok()?[0]))
}

fn is_nan(dtype: DType, bits: u64) -> bool {
    dtype.is_float() && f64::from_bits(cast(dtype, DType::F64, bits)).is_nan()
}

/// Numbers of a dtype at which something happens.
fn edges(dtype: DType) -> Vec<u64> {
    let width = 8 * dtype.size() as u32;
    let mask = !0u64 >> (64 - width);
    let mut out = vec![];
    if dtype == DType::BOOL {
        return vec![0, 1];
    }
    if dtype.is_float() {
        let values = [
            0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 5.5, 7.0, 10.0, 100.0, 127.0, 128.0, 255.5, 256.0, 1e-3, 3e4,
        ];
        let more = [32767.0, 32768.0, 65504.0, 65535.0, 65536.0, 8388607.5, 8388609.0, 16777217.0, 2147483647.0];
        let wide =
            [4294967295.0, 4294967296.0, 9.2e18, 1.9e19, 1e30, 1e-30, 1e300, 1e-300, 4503599627370495.5, 0.1, 0.3];
        for v in values.into_iter().chain(more).chain(wide) {
            out.push(cast(DType::F64, dtype, f64::to_bits(v)));
        }
        let infinity = cast(DType::F64, dtype, f64::INFINITY.to_bits());
        let (one, half) = (cast(DType::F64, dtype, 1f64.to_bits()), cast(DType::F64, dtype, 0.5f64.to_bits()));
        let normal = infinity & infinity.wrapping_neg();
        out.extend([
            infinity,
            infinity - 1,
            infinity + 1,
            infinity | normal >> 1,
            (infinity | normal >> 1) + 5,
            mask >> 1,
        ]);
        out.extend([1, 2, normal - 1, normal, normal + 1, one - 1, one + 1, half - 1, half + 1]);
        for i in 0..out.len() {
            out.push(out[i] | 1 << (width - 1));
        }
    } else {
        for bit in [0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 23, 24, 31, 32, 62, 63] {
            let one = 1u64.checked_shl(bit).unwrap_or(0);
            out.extend([one, one.wrapping_sub(1), one.wrapping_add(1), one.wrapping_neg(), !one]);
        }
        out.extend([10, 13, 100, 0x1234_5678_9abc_def0, 0x0f0f_3333_5555_ffff, 77]);
        out.extend([1u64 << (width - 1), (1u64 << (width - 1)).wrapping_sub(1), !0]);
    }
    out.iter_mut().for_each(|b| *b &= mask);
    out.sort_unstable();
    out.dedup();
    out
}

/// Every pair of two lists.
fn pairs(a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y))).unzip()
}

/// Some numbers without order.
fn noise(n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..n).map(|_| next()).collect()
}

/// Does the op give the same bits as the reference (any NaN for a NaN), on every list of elements? `false` where neither
/// has the op.
#[track_caller]
fn same(text: &str, op: Op, operands: &[DType], to: DType, inputs: &[Vec<u64>]) -> bool {
    let tensors: Vec<Tensor> = operands.iter().zip(inputs).map(|(&d, bits)| tensor(d, bits)).collect();
    let expected = reference(text, &tensors, to);
    let program = program(op, operands, to);
    assert_eq!(expected.is_some(), program.is_some(), "{text} on {operands:?}: only one of the two has it");
    let (Some(expected), Some(mut program)) = (expected, program) else { return false };
    let columns: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
    let got = program.run(&columns);
    for (i, (&got, &expected)) in got.iter().zip(&expected).enumerate() {
        if got == expected || (is_nan(to, got) && is_nan(to, expected)) {
            continue;
        }
        let of: Vec<String> = inputs.iter().zip(operands).map(|(c, &d)| show(d, c[i])).collect();
        panic!("{text} of {operands:?} ({}): {} and not {}", of.join(", "), show(to, got), show(to, expected));
    }
    true
}

fn show(dtype: DType, bits: u64) -> String {
    let value = match dtype.is_float() {
        true => f64::from_bits(cast(dtype, DType::F64, bits)).to_string(),
        false if dtype.is_signed_int() => (cast(dtype, DType::I64, bits) as i64).to_string(),
        false => bits.to_string(),
    };
    format!("{value} ({bits:#x})")
}
