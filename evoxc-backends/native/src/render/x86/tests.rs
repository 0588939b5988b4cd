//! Tests of the x86-64 renderer: the suite of all renderers, and what is particular to machine code.

use super::{Level, X86};
use crate::lir::{Inst, Lir, Memory, Reg, Size, Stride};
use crate::render::{Code, Interp, Renderer, suite};
use crate::uop::{Alu, LibFn, Ty};
use evoxc_core::DType;
use evoxc_ir::Unary;
use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind, Register};
use smallvec::smallvec;

/// Compares every instruction that was encoded with what a decoder reads: all kernels of all tests go through this.
pub(super) fn decoded(listing: &[(usize, Instruction)], bytes: &[u8], code: usize) -> Result<(), String> {
    let mut wanted = listing.iter().peekable();
    let mut starts = vec![];
    let mut jumps = vec![];
    for got in &mut Decoder::with_ip(64, &bytes[..code], 0, DecoderOptions::NONE) {
        starts.push(got.ip());
        if got.op0_kind() == OpKind::NearBranch64 {
            jumps.push(got.near_branch_target());
        }
        let Some((_, want)) = wanted.next_if(|(at, _)| *at as u64 == got.ip()) else {
            // Jumps and the gaps before loops are written as bytes.
            if got.op0_kind() == OpKind::NearBranch64 || got.mnemonic() == iced_x86::Mnemonic::Nop {
                continue;
            }
            return Err(format!("{got} is not expected"));
        };
        let mut same = got.code() == want.code() && got.op_count() == want.op_count();
        same &= got.op_mask() == want.op_mask() && !got.zeroing_masking() && !got.is_broadcast();
        for n in 0..want.op_count() {
            same &= got.op_kind(n) == want.op_kind(n);
            same &= match want.op_kind(n) {
                OpKind::Register => got.op_register(n) == want.op_register(n),
                OpKind::Memory if want.memory_base() == Register::RIP => {
                    let target = got.ip_rel_memory_address();
                    got.is_ip_rel_memory_operand() && target >= code as u64 && target < bytes.len() as u64
                }
                OpKind::Memory => {
                    got.memory_base() == want.memory_base()
                        && got.memory_index() == want.memory_index()
                        && (want.memory_index() == Register::None
                            || got.memory_index_scale() == want.memory_index_scale())
                        && got.memory_displacement64() == want.memory_displacement64()
                }
                _ => got.immediate(n) == want.immediate(n),
            };
        }
        if !same {
            return Err(format!("{want} was encoded as {got}"));
        }
    }
    if let Some((at, want)) = wanted.next() {
        return Err(format!("{want} at {at} was not decoded"));
    }
    match jumps.iter().find(|j| starts.binary_search(j).is_err()) {
        Some(j) => Err(format!("a jump to {j:#x}, where no instruction starts")),
        None => Ok(()),
    }
}

/// Those that this processor has the instructions for: the widest last.
fn renderers() -> Vec<X86> {
    let all: Vec<X86> = [Level::V3, Level::V4].into_iter().filter_map(X86::of).collect();
    match all.len() {
        0 => println!("skipped: this processor has no AVX2, FMA, F16C, BMI2"),
        1 => println!("skipped of level v4: this processor has no AVX-512"),
        _ => {}
    }
    all
}
fn renderer() -> Option<X86> {
    renderers().pop()
}

#[test]
fn every_instruction_is_that_of_the_interpreter() {
    for x86 in renderers() {
        suite::sweep(&x86);
    }
}

#[test]
fn stores_past_the_caches_are_those_of_the_interpreter() {
    for mut x86 in renderers() {
        x86.cache = 0.into();
        suite::sweep(&x86);
        suite::check_cases(&x86, 256);
        for lanes in [8, 16].into_iter().filter(|lanes| *lanes <= x86.target().lanes) {
            past_the_caches(&x86, lanes);
        }
    }
}

fn past_the_caches(x86: &X86, lanes: u8) {
    let lir = chain(1 << 20, lanes);
    assert!(x86.compile(&lir).unwrap().text().contains("vmovntps"));
    for shift in [0, 1, 8] {
        let mut input = vec![1.5f32; 4096];
        let mut output = vec![0f32; 4200];
        let start = output.as_ptr().align_offset(64) + shift;
        let code = x86.compile(&lir).unwrap();
        let out = output[start..].as_mut_ptr().cast();
        // SAFETY: both buffers hold more than the elements that these iterations touch.
        unsafe { code.run([input.as_mut_ptr().cast(), out].as_ptr(), std::ptr::null(), std::ptr::null(), 16, 4096) };
        assert!(output[start + 16..start + 4096].iter().all(|x| *x == 3.0));
        assert!(output[start..start + 16].iter().chain(&output[start + 4096..]).all(|x| *x == 0.0));
    }
    // In place it is the plain form that runs, and gives the same.
    let mut both = vec![1.5f32; 4096 + 16];
    let start = both.as_ptr().align_offset(64);
    let pointer: *mut u8 = both[start..].as_mut_ptr().cast();
    let code = x86.compile(&lir).unwrap();
    // SAFETY: as above; an element is read by the iteration that writes it.
    unsafe { code.run([pointer, pointer].as_ptr(), std::ptr::null(), std::ptr::null(), 0, 4096) };
    assert!(both[start..start + 4096].iter().all(|x| *x == 3.0));
}

/// Doubles so many numbers.
fn chain(n: i64, lanes: u8) -> Lir {
    let ty = Ty::vector(DType::F32, lanes);
    let mut b = Build::new(&[DType::F32, DType::F32]);
    b.0.extent = Size::Const(n);
    let (from, to, var) = (b.reg(Ty::INDEX), b.reg(Ty::INDEX), b.reg(Ty::INDEX));
    b.put(Inst::Begin { dst: from });
    b.put(Inst::End { dst: to });
    b.put(Inst::For { var, from, to, step: lanes.into() });
    let x = b.load(ty, 0, var, 0, Stride::One);
    let y = b.alu(Alu::Add, ty, &[x, x]);
    b.store(1, var, 0, Stride::One, y);
    b.put(Inst::EndFor);
    b.0
}

#[test]
fn random_kernels_are_those_of_the_interpreter() {
    for x86 in renderers() {
        suite::check(&x86);
    }
}

/// A kernel in the making.
struct Build(Lir);

impl Build {
    fn new(buffers: &[DType]) -> Build {
        Build(Lir {
            buffers: buffers.to_vec(),
            scratch: vec![],
            params: 0,
            extent: Size::Const(1),
            grain: Size::Const(1),
            regs: vec![],
            body: vec![],
        })
    }
    fn reg(&mut self, ty: Ty) -> Reg {
        self.0.regs.push(ty);
        Reg(self.0.regs.len() as u32 - 1)
    }
    fn put(&mut self, inst: Inst) {
        self.0.body.push(inst);
    }
    fn constant(&mut self, ty: Ty, bits: u64) -> Reg {
        let dst = self.reg(ty);
        self.put(Inst::Const { dst, bits });
        dst
    }
    fn index(&mut self, at: i64) -> Reg {
        self.constant(Ty::INDEX, at as u64)
    }
    fn alu(&mut self, op: Alu, ty: Ty, src: &[Reg]) -> Reg {
        let dst = self.reg(ty);
        self.put(Inst::Alu { dst, op, src: src.iter().copied().collect() });
        dst
    }
    fn load(&mut self, ty: Ty, from: u32, index: Reg, offset: i64, stride: Stride) -> Reg {
        let dst = self.reg(ty);
        self.put(Inst::Load { dst, from: Memory::Buffer(from), index, offset, stride });
        dst
    }
    fn store(&mut self, to: u32, index: Reg, offset: i64, stride: Stride, src: Reg) {
        self.put(Inst::Store { to: Memory::Buffer(to), index, offset, stride, src });
    }
    fn open(&mut self, from: i64, to: i64, step: i64) -> Reg {
        let (from, to, var) = (self.index(from), self.index(to), self.reg(Ty::INDEX));
        self.put(Inst::For { var, from, to, step });
        var
    }
}

fn run(code: &dyn Code, buffers: &[*mut u8]) {
    // SAFETY: the kernels of these tests touch as much as their buffers hold.
    unsafe { code.run(buffers.as_ptr(), std::ptr::null(), std::ptr::null(), 0, 1) };
}

/// Runs it here and on the interpreter, on a buffer of inputs and one of outputs.
fn same(x86: &X86, lir: &Lir, input: &[u64], len: usize) {
    crate::lir::verify(lir).unwrap();
    let outputs: Vec<Vec<u64>> = [x86.compile(lir).unwrap(), Interp.compile(lir).unwrap()]
        .iter()
        .map(|code| {
            let (mut input, mut output) = (input.to_vec(), vec![0u64; len]);
            run(&**code, &[input.as_mut_ptr().cast(), output.as_mut_ptr().cast()]);
            output
        })
        .collect();
    assert!(outputs[0] == outputs[1], "{lir}\n{}", x86.compile(lir).unwrap().text());
}

#[test]
fn two_hundred_values_live_at_once() {
    let Some(x86) = renderer() else { return };
    let types = [(DType::I64, 1), (DType::F64, 1), (DType::F32, 8), (DType::I64, 4), (DType::F32, 16)];
    for ty in types.map(|(dtype, lanes)| Ty::vector(dtype, lanes)) {
        if ty.lanes > x86.target().lanes {
            continue;
        }
        let n = 200;
        let bytes = ty.dtype.size() * ty.lanes as usize;
        let mut b = Build::new(&[ty.dtype, ty.dtype]);
        let zero = b.index(0);
        let step = ty.lanes as i64;
        let all: Vec<Reg> = (0..n).map(|i| b.load(ty, 0, zero, i * step, Stride::One)).collect();
        // Across a loop, and each used twice.
        let outer = b.open(0, 3, 1);
        let mut sum = all[0];
        for r in all.iter().rev() {
            sum = b.alu(Alu::Add, ty, &[sum, *r]);
            sum = b.alu(Alu::Max, ty, &[sum, *r]);
        }
        b.store(1, outer, 0, Stride::One, sum);
        b.put(Inst::EndFor);
        for (i, r) in all.iter().enumerate() {
            b.store(1, zero, (i as i64 + 8) * step, Stride::One, *r);
        }
        let input: Vec<u64> = (0..n as usize * bytes / 8).map(|i| (i as f64 * 0.37).to_bits()).collect();
        same(&x86, &b.0, &input, (n as usize + 9) * bytes / 8 + 8);
    }
}

#[test]
fn deep_loops() {
    let Some(x86) = renderer() else { return };
    let ty = Ty::scalar(DType::I64);
    let mut b = Build::new(&[DType::I64, DType::I64]);
    let zero = b.index(0);
    let sum = b.reg(ty);
    let first = b.load(ty, 0, zero, 0, Stride::One);
    b.put(Inst::Copy { dst: sum, src: first });
    let mut vars = vec![];
    for depth in 0..14 {
        vars.push(b.open(depth % 3, depth % 3 + 2, 1));
    }
    for var in &vars {
        let product = b.alu(Alu::Mul, ty, &[sum, *var]);
        let next = b.alu(Alu::Add, ty, &[product, sum]);
        b.put(Inst::Copy { dst: sum, src: next });
    }
    for _ in 0..14 {
        let one = b.constant(ty, 1);
        let next = b.alu(Alu::Xor, ty, &[sum, one]);
        b.put(Inst::Copy { dst: sum, src: next });
        b.put(Inst::EndFor);
    }
    b.store(1, zero, 0, Stride::One, sum);
    same(&x86, &b.0, &[3], 1);
}

fn lgamma() -> Lir {
    let ty = Ty::vector(DType::F32, 8);
    let mut b = Build::new(&[DType::F32, DType::F32]);
    let zero = b.index(0);
    let kept = b.load(ty, 0, zero, 8, Stride::One);
    let x = b.load(ty, 0, zero, 0, Stride::One);
    let y = b.reg(ty);
    b.put(Inst::Call { dst: y, function: LibFn::Unary(Unary::Lgamma, true), src: smallvec![x] });
    let y = b.alu(Alu::Add, ty, &[y, kept]);
    b.store(1, zero, 0, Stride::One, y);
    b.0
}

// A call keeps none of the registers in which the range of iterations is given. With enough values that live over the
// call, no other register is left for it.
#[test]
fn the_range_may_be_asked_for_after_a_call() {
    let Some(x86) = renderer() else { return };
    let ty = Ty::scalar(DType::I64);
    for values in [0, 3, 4, 5, 20] {
        let mut b = Build::new(&[DType::I64, DType::I64]);
        let zero = b.index(0);
        let all: Vec<Reg> = (0..=values).map(|i| b.load(ty, 0, zero, i, Stride::One)).collect();
        let (x, y) = (b.reg(Ty::scalar(DType::F64)), b.reg(Ty::scalar(DType::F64)));
        b.put(Inst::Bitcast { dst: x, src: all[0] });
        b.put(Inst::Call { dst: y, function: LibFn::Unary(Unary::Lgamma, false), src: smallvec![x] });
        let (from, to, var) = (b.reg(Ty::INDEX), b.reg(Ty::INDEX), b.reg(Ty::INDEX));
        b.put(Inst::Begin { dst: from });
        b.put(Inst::End { dst: to });
        let mut sum = b.reg(ty);
        b.put(Inst::Bitcast { dst: sum, src: y });
        for value in all {
            sum = b.alu(Alu::Xor, ty, &[sum, value]);
        }
        b.put(Inst::For { var, from, to, step: 1 });
        b.store(1, var, 0, Stride::One, sum);
        b.put(Inst::EndFor);
        let input: Vec<u64> = (0..=values).map(|i| (i as f64 + 0.7).to_bits()).collect();
        same(&x86, &b.0, &input, 1);
    }
}

// A call under a condition is to leave the registers of others as they are, whether it runs or not.
#[test]
fn a_rare_call_keeps_what_registers_hold() {
    let Some(x86) = renderer() else { return };
    let types = [Ty::scalar(DType::F64), Ty::vector(DType::F32, 8), Ty::vector(DType::F64, 4)];
    let wide = [Ty::vector(DType::F32, 16)].into_iter().filter(|ty| ty.lanes <= x86.target().lanes);
    for ty in types.into_iter().chain(wide) {
        for values in [1, 5, 12, 30] {
            let long = Ty::scalar(DType::I64);
            let single = ty.dtype == DType::F32;
            let step = i64::from(ty.lanes) * if single { 1 } else { 2 } / 2;
            let mut b = Build::new(&[DType::I64, DType::I64, ty.dtype]);
            let var = b.open(0, 3, 1);
            let ints: Vec<Reg> = (0..values).map(|i| b.load(long, 0, var, i, Stride::One)).collect();
            let all: Vec<Reg> = (0..values).map(|i| b.load(ty, 2, var, i * step, Stride::One)).collect();
            let half = b.constant(ty, if single { 0.5f32.to_bits().into() } else { 0.5f64.to_bits() });
            let gate = b.alu(Alu::Lt, ty, &[half, all[0]]);
            b.0.regs[gate.0 as usize] = ty.with(DType::BOOL);
            let out = b.reg(ty);
            b.put(Inst::Copy { dst: out, src: all[0] });
            let any = if ty.lanes > 1 {
                let any = b.reg(Ty::scalar(DType::BOOL));
                b.put(Inst::Across { dst: any, op: Alu::Or, src: gate });
                any
            } else {
                gate
            };
            b.put(Inst::If { condition: any });
            let called = b.reg(ty);
            b.put(Inst::Call { dst: called, function: LibFn::Unary(Unary::Lgamma, single), src: smallvec![all[0]] });
            let kept = b.alu(Alu::Select, ty, &[gate, called, all[0]]);
            b.put(Inst::Copy { dst: out, src: kept });
            b.put(Inst::EndIf);
            let mut sum = out;
            for x in all {
                sum = b.alu(Alu::Add, ty, &[sum, x]);
            }
            let mut mixed = ints[0];
            for x in ints {
                let turned = b.alu(Alu::Mul, long, &[mixed, x]);
                mixed = b.alu(Alu::Xor, long, &[turned, x]);
            }
            b.store(1, var, 0, Stride::One, mixed);
            b.store(2, var, 64 * i64::from(ty.lanes), Stride::One, sum);
            b.put(Inst::EndFor);
            let input: Vec<u64> = (0..64).map(|i| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let floats = |at_once: f64| -> Vec<u64> {
                let mut all = vec![0u64; 640];
                for (i, x) in all.iter_mut().enumerate() {
                    let v = 0.25 + (i % 7) as f64 * at_once;
                    let four = u64::from((v as f32).to_bits());
                    *x = if single { four | four << 32 } else { v.to_bits() };
                }
                all
            };
            // Of the second none is over a half: the call does not run.
            for at_once in [0.3, 0.01] {
                let outputs: Vec<_> = [x86.compile(&b.0).unwrap(), Interp.compile(&b.0).unwrap()]
                    .iter()
                    .map(|code| {
                        let (mut ints, mut out, mut floats) = (input.clone(), vec![0u64; 8], floats(at_once));
                        let pointers = [ints.as_mut_ptr().cast(), out.as_mut_ptr().cast(), floats.as_mut_ptr().cast()];
                        run(&**code, &pointers);
                        (out, floats)
                    })
                    .collect();
                assert!(outputs[0] == outputs[1], "{}\n{}", b.0, x86.compile(&b.0).unwrap().text());
            }
        }
    }
}

#[test]
fn saved_code_runs_again() {
    let Some(x86) = renderer() else { return };
    let lir = lgamma();
    let code = x86.compile(&lir).unwrap();
    let bytes = code.bytes();
    assert_eq!(bytes, x86.compile(&lir).unwrap().bytes(), "saved code depends on where it was");
    let again = X86::new().unwrap().load(&lir, &bytes).unwrap();
    assert_eq!(code.text(), again.text());
    let mut input: Vec<f32> = (0..16).map(|i| i as f32 * 0.7 + 0.1).collect();
    let mut outputs = [[0f32; 8]; 2];
    for (code, output) in [code, again].iter().zip(&mut outputs) {
        run(&**code, &[input.as_mut_ptr().cast(), output.as_mut_ptr().cast()]);
    }
    assert_eq!(outputs[0], outputs[1]);
    assert!(outputs[0].iter().all(|x| *x != 0.0));
    for broken in [&bytes[..8], &bytes[..40], &[], &[0; 64]] {
        assert!(x86.load(&lir, broken).is_err());
    }
}

/// Pages of memory between pages that must not be touched.
struct Guarded {
    all: *mut u8,
    size: usize,
}

impl Guarded {
    fn new(bytes: usize) -> Guarded {
        let size = bytes.next_multiple_of(4096) + 8192;
        // SAFETY: a new mapping; the pages in its middle are within it.
        let all = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            let p = libc::mmap(std::ptr::null_mut(), size, libc::PROT_NONE, flags, -1, 0);
            assert!(p != libc::MAP_FAILED);
            assert_eq!(libc::mprotect(p.byte_add(4096), size - 8192, libc::PROT_READ | libc::PROT_WRITE), 0);
            p.cast::<u8>()
        };
        Guarded { all, size }
    }
    /// The last `bytes` before the guard, or the first after the other.
    fn pointer(&self, bytes: usize, at_end: bool) -> *mut u8 {
        // SAFETY: within the mapping.
        unsafe { if at_end { self.all.add(self.size - 4096 - bytes) } else { self.all.add(4096) } }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: it was mapped with that size.
        unsafe { libc::munmap(self.all.cast(), self.size) };
    }
}

#[test]
fn nothing_beyond_the_elements_is_touched() {
    let Some(x86) = renderer() else { return };
    let (from, to) = (Guarded::new(4096), Guarded::new(4096));
    for dtype in DType::ALL {
        if matches!(dtype, DType::C64 | DType::C128) {
            continue;
        }
        let size = dtype.size();
        let most = if size == 8 { 4 } else { x86.target().lanes };
        for lanes in [1u8, 4, 8, 16].into_iter().filter(|l| *l <= most) {
            let ty = Ty::vector(dtype, lanes);
            let last = i64::from(lanes) - 1;
            for (stride, first, elements) in [
                (Stride::One, 0, last + 1),
                (Stride::Const(0), 0, 1),
                (Stride::Const(-1), last, last + 1),
                (Stride::Const(3), 0, last * 3 + 1),
                (Stride::Const(-2), last * 2, last * 2 + 1),
            ] {
                let mut b = Build::new(&[dtype, dtype]);
                let at = b.index(first);
                let v = b.load(ty, 0, at, 0, stride);
                let stored = if stride == Stride::Const(0) { Stride::One } else { stride };
                let length = if stride == Stride::Const(0) { last + 1 } else { elements };
                b.store(1, at, 0, stored, v);
                let code = x86.compile(&b.0).unwrap();
                for at_end in [true, false] {
                    run(
                        &*code,
                        &[from.pointer(elements as usize * size, at_end), to.pointer(length as usize * size, at_end)],
                    );
                }
            }
            // Lanes whose gate is shut have indices far outside.
            let mut b = Build::new(&[dtype, dtype]);
            let zero = b.index(0);
            let wide = Ty::vector(if most == 4 { DType::I64 } else { DType::I32 }, lanes);
            let index = match lanes {
                1 => b.constant(wide, 1 << 30),
                _ => {
                    let index = b.reg(wide);
                    b.put(Inst::Lanes { dst: index });
                    let big = b.constant(wide, 1 << 27);
                    b.alu(Alu::Mul, wide, &[index, big])
                }
            };
            let none = b.constant(wide, 0);
            let gate = b.alu(Alu::Eq, wide.with(DType::BOOL), &[index, none]);
            let otherwise = b.constant(ty, 1);
            let dst = b.reg(ty);
            b.put(Inst::Gather { dst, from: Memory::Buffer(0), index, gate: Some((gate, otherwise)) });
            b.put(Inst::Scatter { to: Memory::Buffer(1), index, src: dst, gate: Some(gate) });
            b.store(1, zero, 0, Stride::One, dst);
            let code = x86.compile(&b.0).unwrap();
            run(&*code, &[from.pointer(size, true), to.pointer(size * lanes as usize, true)]);
        }
    }
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = text.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}

// Code is for processors that have its instructions: on others it is refused, as is what has no such vectors.
#[test]
fn levels_do_not_load_each_others_code() {
    let all = renderers();
    let [v3, v4] = &all[..] else { return };
    assert_ne!(v3.name(), v4.name());
    let lir = chain(64, 8);
    for (from, to) in [(v3, v4), (v4, v3)] {
        let bytes = from.compile(&lir).unwrap().bytes();
        assert!(from.load(&lir, &bytes).is_ok());
        assert!(to.load(&lir, &bytes).is_err());
    }
    assert!(v4.compile(&chain(64, 16)).unwrap().text().contains("zmm"));
    assert!(v3.compile(&chain(64, 16)).is_err());
}

#[test]
fn ten_thousand_compiles_keep_no_memory() {
    let Some(x86) = renderer() else { return };
    let lir = lgamma();
    let mut kept = std::collections::VecDeque::new();
    let mut round = |x86: &X86| {
        for _ in 0..5_000 {
            kept.push_back(x86.compile(&lir).unwrap());
            // Some stay for a while.
            if kept.len() > 100 {
                kept.pop_front();
            }
        }
    };
    round(&x86);
    // Other tests run in the same process, and take memory as well: a leak grows every time.
    let mut grown = (0..4).map(|_| {
        let before = resident();
        round(&x86);
        resident().saturating_sub(before)
    });
    assert!(grown.any(|bytes| bytes < 4 << 20), "more memory every time");
}

#[test]
fn divisions_by_constants() {
    let Some(x86) = renderer() else { return };
    let mut divisors: Vec<i64> = (1..40).collect();
    divisors.extend([
        63,
        64,
        100,
        127,
        255,
        641,
        1000,
        1023,
        1024,
        12345,
        65535,
        65536,
        1_000_003,
        (1 << 30) - 1,
        1 << 30,
    ]);
    divisors.extend([i32::MAX as i64 - 1, i32::MAX as i64, 1 << 31, (1 << 40) + 7, (1 << 62) - 1, 1 << 62]);
    divisors.extend([i64::MAX - 1, i64::MAX, -1, -3, -64]);
    let wide: Vec<u64> =
        [0i64, 1, 2, 5, 63, 64, 65, 999, 1 << 20, i32::MAX as i64, i64::MAX, i64::MAX - 1, i64::MAX / 3]
            .into_iter()
            .flat_map(|x| [x, -x, -x + 1, x / 7, x ^ 0x55])
            .map(|x| x as u64)
            .chain([i64::MIN as u64 + 1])
            .collect();
    for dtype in [DType::I64, DType::I32, DType::U32, DType::U64] {
        let ty = Ty::scalar(dtype);
        for by in &divisors {
            let bits = if dtype.size() == 4 { *by as u32 as u64 } else { *by as u64 };
            if dtype.size() == 4 && (bits as u32 as i64 != *by && bits as i32 as i64 != *by) {
                continue;
            }
            let n = wide.len() as i64;
            let mut b = Build::new(&[dtype, dtype]);
            let var = b.open(0, n, 1);
            let x = b.load(ty, 0, var, 0, Stride::One);
            let by = b.constant(ty, bits);
            let q = b.alu(Alu::IntDiv, ty, &[x, by]);
            let r = b.alu(Alu::IntRem, ty, &[x, by]);
            b.store(1, var, 0, Stride::One, q);
            b.store(1, var, n, Stride::One, r);
            b.put(Inst::EndFor);
            // Of 32 bits the halves of the numbers are numbers, but for one that has no quotient by -1.
            let input: Vec<u64> = match (dtype, bits as i32) {
                (DType::I32, -1) => wide.iter().map(|x| if *x as u32 == 1 << 31 { 0 } else { *x }).collect(),
                _ => wide.clone(),
            };
            same(&x86, &b.0, &input, 2 * n as usize);
        }
    }
}

#[test]
fn blocks_are_transposed() {
    let Some(x86) = renderer() else { return };
    for (dtype, lanes) in [(DType::F32, 8u8), (DType::I32, 8), (DType::U32, 4), (DType::F64, 4), (DType::I64, 4)] {
        let ty = Ty::vector(dtype, lanes);
        let n = i64::from(lanes);
        for step in [n, 11, -9] {
            let mut b = Build::new(&[dtype, dtype]);
            // Every element of a block of columns, and one column more.
            let at = b.index(if step < 0 { -step * (n - 1) } else { 0 });
            let mut all = vec![];
            for column in (0..n).rev() {
                all.push(b.load(ty, 0, at, (column + 3) % n, Stride::Const(step)));
            }
            let zero = b.index(0);
            for (k, r) in all.iter().enumerate() {
                b.store(1, zero, k as i64 * n, Stride::One, *r);
            }
            // As the compiler makes them: in order, each stored at once.
            for column in 0..n + 1 {
                let r = b.load(ty, 0, at, column, Stride::Const(step));
                b.store(1, zero, (n + column) * n, Stride::One, r);
            }
            let input: Vec<u64> = (0..100).map(|i| i * 0x1_0000_0001 + 0x8000_0000).collect();
            same(&x86, &b.0, &input, ((2 * n + 1) * n) as usize);
        }
    }
}

#[test]
fn eight_threads_compile_and_run_at_once() {
    let Some(x86) = renderer() else { return };
    let lir = lgamma();
    let expected = {
        let (mut input, mut output) = ([2.5f32; 16], [0f32; 8]);
        run(&*Interp.compile(&lir).unwrap(), &[input.as_mut_ptr().cast(), output.as_mut_ptr().cast()]);
        output
    };
    std::thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| {
                // Few are kept, so that chunks come and go while others run.
                let mut kept = std::collections::VecDeque::new();
                for _ in 0..300 {
                    let code = x86.compile(&lir).unwrap();
                    let (mut input, mut output) = ([2.5f32; 16], [0f32; 8]);
                    run(&*code, &[input.as_mut_ptr().cast(), output.as_mut_ptr().cast()]);
                    assert_eq!(output, expected);
                    kept.push_back(code);
                    if kept.len() > 20 {
                        kept.pop_front();
                    }
                }
            });
        }
    });
}
