//! A kernel for every op, conversion, function and form of memory access, on every dtype that has it, over the edges of
//! the dtype.

use super::build::{DTYPES, functions};
use super::case::Case;
use super::memory::{Random, Region, mask, patterns};
use crate::lir::{Inst, Lir, Memory, Reg, Size, Stride, takes};
use crate::render::Target;
use crate::uop::{Alu, LibFn, Ty};
use evoxc_core::DType;

/// How many elements each kernel works on.
const LEN: usize = 1024;

/// All of them.
pub(super) fn cases(target: &Target) -> Vec<Case> {
    let mut out = vec![];
    let lanes = [1, 4, 8, 16].into_iter().filter(|&n| n <= target.lanes);
    for lanes in lanes {
        let fits = |dtype: DType| lanes <= 4 || dtype.size() < 8;
        for &dtype in DTYPES.iter().filter(|d| fits(**d)) {
            let ty = Ty { dtype, lanes, pointer: false };
            for &op in Alu::ALL.iter().filter(|op| takes(**op, dtype)) {
                if lanes == 1 || (target.alu)(op, dtype) {
                    out.push(alu(op, ty));
                    out.extend(across(op, ty));
                }
            }
            for &to in DTYPES.iter().filter(|d| fits(**d)) {
                if lanes == 1 || (target.cast)(dtype, to) {
                    out.push(unary(format!("cast {ty} to {to}"), ty, ty.with(to), |dst, src| Inst::Cast { dst, src }));
                }
                if dtype.size() == to.size() && dtype != DType::BOOL && to != DType::BOOL {
                    let name = format!("bitcast {ty} to {to}");
                    out.push(unary(name, ty, ty.with(to), |dst, src| Inst::Bitcast { dst, src }));
                }
            }
            for function in functions() {
                let (LibFn::Unary(_, single) | LibFn::Binary(_, single)) = function;
                if dtype == if single { DType::F32 } else { DType::F64 } {
                    let types = vec![ty; function.arity()];
                    out.push(case(format!("call {function} {ty}"), &types, ty, |_, src, dst| {
                        vec![Inst::Call { dst, function, src: src.into() }]
                    }));
                }
            }
            out.extend(memory(ty));
            if lanes == 16 {
                let half = Ty::vector(dtype, 8);
                out.extend([0, 8].map(|lane| {
                    let name = format!("extract {ty} from lane {lane}");
                    unary(name, ty, half, |dst, src| Inst::Extract { dst, src, lane })
                }));
            }
            if lanes > 1 {
                out.extend((0..lanes).map(|lane| {
                    let name = format!("extract {ty} lane {lane}");
                    unary(name, ty, Ty::scalar(dtype), |dst, src| Inst::Extract { dst, src, lane })
                }));
                out.push(case(format!("splat {ty}"), &[Ty::scalar(dtype)], ty, |_, src, dst| {
                    vec![Inst::Splat { dst, src: src[0] }]
                }));
            }
        }
    }
    out
}

/// A kernel of one instruction, or a few, on loaded operands, whose result is stored.
fn case(name: String, operands: &[Ty], result: Ty, f: impl FnOnce(&mut Vec<Ty>, &[Reg], Reg) -> Vec<Inst>) -> Case {
    let mut regs = vec![Ty::INDEX; 3];
    let mut body = vec![Inst::Begin { dst: Reg(0) }, Inst::End { dst: Reg(1) }];
    let widest = operands.iter().map(|ty| ty.lanes).chain([result.lanes]).max().unwrap_or(1);
    let (index, stride) = (Reg(2), Stride::One);
    body.push(Inst::For { var: index, from: Reg(0), to: Reg(1), step: i64::from(widest) });
    for (n, &ty) in operands.iter().enumerate() {
        regs.push(ty);
        body.push(Inst::Load { dst: Reg(3 + n as u32), from: Memory::Buffer(n as u32), index, offset: 0, stride });
    }
    let dst = Reg(regs.len() as u32);
    regs.push(result);
    let src: Vec<Reg> = (3..dst.0).map(Reg).collect();
    body.extend(f(&mut regs, &src, dst));
    let to = Memory::Buffer(operands.len() as u32);
    body.push(Inst::Store { to, index, offset: 0, stride, src: dst });
    body.push(Inst::EndFor);
    let buffers: Vec<Region> = operands
        .iter()
        .enumerate()
        .map(|(n, ty)| Region { dtype: ty.dtype, misaligned: 0, below: 0, bits: data(ty.dtype, n) })
        .chain([Region { dtype: result.dtype, misaligned: 0, below: 0, bits: vec![0; LEN] }])
        .collect();
    let extent = LEN as i64;
    Case {
        name,
        lir: Lir {
            buffers: buffers.iter().map(|b| b.dtype).collect(),
            scratch: vec![],
            params: 0,
            extent: Size::Const(extent),
            grain: Size::Const(1),
            regs,
            body,
        },
        buffers,
        scratch: vec![],
        params: vec![],
        calls: vec![(0, extent)],
    }
}

/// Elements of the n-th operand: edges, against edges of the others.
fn data(dtype: DType, n: usize) -> Vec<u64> {
    let (edges, mut random) = (patterns(dtype), Random(n as u64));
    (0..LEN)
        .map(|i| match n {
            // The first 32 edges against each other, then random ones.
            0 if i < LEN / 2 => edges[i % 64],
            1 if i < LEN / 2 => edges[(i / 64 * 5 + i) % 64],
            _ => random.element(dtype, &edges),
        })
        .collect()
}

fn unary(name: String, from: Ty, to: Ty, inst: impl FnOnce(Reg, Reg) -> Inst) -> Case {
    let mut case = case(name, &[from], to, |_, src, dst| vec![inst(dst, src[0])]);
    if matches!(case.lir.body[4], Inst::Bitcast { .. }) {
        let nan = |bits: &u64| !super::memory::is_nan(to.dtype, *bits);
        case.buffers[0].bits.iter_mut().filter(|bits| !nan(bits)).for_each(|bits| *bits = 0);
    }
    case
}

fn alu(op: Alu, ty: Ty) -> Case {
    let mut types = vec![ty; op.arity()];
    if op == Alu::Select {
        types[0] = ty.with(DType::BOOL);
    }
    let result = if op.is_comparison() { ty.with(DType::BOOL) } else { ty };
    let name = format!("{op:?} {ty}");
    let mut case = case(name, &types, result, |_, src, dst| vec![Inst::Alu { dst, op, src: src.into() }]);
    let width = 8 * ty.dtype.size() as u64;
    let least = (mask(ty.dtype) >> 1) + 1;
    let signed = matches!(ty.dtype, DType::I32 | DType::I64);
    let dividends = case.buffers[0].bits.clone();
    if let Some(second) = case.buffers.get_mut(1) {
        for (b, a) in second.bits.iter_mut().zip(dividends) {
            match op {
                Alu::Shl | Alu::Shr | Alu::Sar => *b %= width,
                Alu::IntDiv | Alu::IntRem if *b == 0 => *b = 1,
                Alu::IntDiv | Alu::IntRem if signed && a == least && *b == mask(ty.dtype) => *b = 1,
                _ => {}
            }
        }
    }
    case
}

fn across(op: Alu, ty: Ty) -> Option<Case> {
    let combines = matches!(op, Alu::Add | Alu::Mul | Alu::Min | Alu::Max | Alu::And | Alu::Or | Alu::Xor);
    (combines && ty.lanes > 1).then(|| {
        let name = format!("across {op:?} {ty}");
        unary(name, ty, Ty::scalar(ty.dtype), |dst, src| Inst::Across { dst, op, src })
    })
}

/// Loads and stores of every stride, gathers and scatters, with and without gates.
fn memory(ty: Ty) -> Vec<Case> {
    let mut out = vec![];
    let mut index = ty.with(DType::I32);
    loop {
        for gated in [false, true] {
            out.push(gather(ty, index, gated));
            out.push(scatter(ty, index, gated));
        }
        index = match index.dtype {
            DType::I32 if ty.lanes <= 4 => ty.with(DType::I64),
            _ => break,
        };
    }
    for apart in [-3, -1, 0, 2, 3, 1 << 40] {
        // A scalar has one lane: the stride is no matter.
        if ty.lanes > 1 && apart < 1 << 40 {
            out.push(strided(ty, apart, false));
            out.push(strided(ty, apart, true));
        }
    }
    out
}

/// Loads with one stride, stores with another: both constants, or both of registers.
fn strided(ty: Ty, apart: i64, in_register: bool) -> Case {
    let name = format!("strided {ty} by {apart} {in_register}");
    let mut case = case(name, &[ty], ty, |_, src, dst| vec![Inst::Copy { dst, src: src[0] }]);
    // Room for indices below 0 and beyond the last.
    for region in &mut case.buffers {
        region.below = 64;
        region.bits = data(region.dtype, 0);
    }
    let back = if apart == 0 { 5 } else { apart };
    let (mut load, mut store) = (Stride::Const(apart), Stride::Const(back));
    if in_register {
        let regs = &mut case.lir.regs;
        let (a, b) = (Reg(regs.len() as u32), Reg(regs.len() as u32 + 1));
        regs.extend([Ty::INDEX; 2]);
        case.lir.body.insert(0, Inst::Const { dst: a, bits: apart as u64 });
        case.lir.body.insert(0, Inst::Const { dst: b, bits: back as u64 });
        (load, store) = (Stride::Reg(a), Stride::Reg(b));
    }
    for inst in &mut case.lir.body {
        match inst {
            Inst::Load { stride, offset, .. } => (*stride, *offset) = (load, 3),
            Inst::Store { stride, offset, .. } => (*stride, *offset) = (store, -2),
            _ => {}
        }
    }
    case.calls = vec![(0, 512)];
    case
}

fn gather(ty: Ty, index: Ty, gated: bool) -> Case {
    let name = format!("gather {ty} by {index}{}", if gated { " gated" } else { "" });
    let mut case = case(name, &[ty, index, ty.with(DType::BOOL), ty], ty, |_, src, dst| {
        let gate = gated.then_some((src[2], src[3]));
        vec![Inst::Gather { dst, from: Memory::Buffer(0), index: src[1], gate }]
    });
    if gated {
        let open = case.buffers[2].bits.clone();
        within(&mut case.buffers[1], |i| open[i] != 0);
    } else {
        within(&mut case.buffers[1], |_| true);
    }
    case
}

fn scatter(ty: Ty, index: Ty, gated: bool) -> Case {
    let name = format!("scatter {ty} by {index}{}", if gated { " gated" } else { "" });
    let mut case = case(name, &[ty, index, ty.with(DType::BOOL)], ty, |_, _, _| vec![]);
    let result = Reg(case.lir.regs.len() as u32 - 1);
    for inst in &mut case.lir.body {
        if let Inst::Store { to, src, .. } = inst {
            debug_assert_eq!(*src, result);
            *inst = Inst::Scatter { to: *to, index: Reg(4), src: Reg(3), gate: gated.then_some(Reg(5)) };
        }
    }
    if gated {
        let open = case.buffers[2].bits.clone();
        within(&mut case.buffers[1], |i| open[i] != 0);
    } else {
        within(&mut case.buffers[1], |_| true);
    }
    case
}

/// Makes indices reach the buffer, where they are used.
fn within(indices: &mut Region, used: impl Fn(usize) -> bool) {
    let mut random = Random(3);
    for (i, bits) in indices.bits.iter_mut().enumerate() {
        let n = random.next() % LEN as u64;
        if used(i) {
            *bits = n & mask(indices.dtype);
        }
    }
}
