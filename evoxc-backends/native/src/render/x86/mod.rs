//! x86-64 machine code, for processors with AVX2, FMA, F16C and BMI2.
//!
//! ```text
//! Lir ──select──▶ Mir ──passes──▶ Mir ──regs──▶ places ──emit──▶ bytes ──heap──▶ memory that runs
//! ```
//!
//! `select` (with `alu`, `cast`, `memory`) chooses instructions and composes what AVX2 lacks; `passes` drops what is not
//! used and moves loads into operands; `regs` is a linear scan; `emit` (with `lanes`) writes bytes through the assembler
//! `asm`; `heap` owns the pages; `stream` knows stores that go past the caches. The code is independent of its position
//! but for a table of the functions that it calls, which follows it and is filled in when it is placed.

mod alu;
mod asm;
mod cast;
mod codes;
mod emit;
mod heap;
mod lanes;
mod memory;
mod mir;
mod passes;
mod regs;
mod select;
mod stream;
#[cfg(test)]
mod tests;

use super::{Code, Renderer, Target, library};
use crate::lir::Lir;
use crate::uop::LibFn;
use evoxc_core::{DType, Result};
use select::malformed;
use std::sync::Arc;

/// Bytes of memory that is mapped for code of this process now.
pub fn mapped() -> usize {
    heap::mapped()
}

/// The renderer of x86-64 code.
pub struct X86 {
    heap: heap::Heap,
    /// From so many bytes on, what is stored goes past the caches.
    cache: i64,
}

impl X86 {
    /// None where the processor lacks what the code needs.
    ///
    /// ```
    /// use evoxc_native::render::{Renderer, x86::X86};
    /// if let Some(x86) = X86::new() {
    ///     assert_eq!(x86.name(), "x86-64");
    /// }
    /// ```
    pub fn new() -> Option<X86> {
        let able = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("f16c")
            && std::arch::is_x86_feature_detected!("bmi2");
        able.then(|| X86 { heap: heap::Heap::default(), cache: last_cache() })
    }

    fn placed(&self, mut bytes: asm::Bytes, functions: &[LibFn]) -> Result<Arc<dyn Code>> {
        for (i, f) in functions.iter().enumerate() {
            let at = bytes.functions + i * 8;
            let Some(slot) = bytes.bytes.get_mut(at..at + 8) else { return Err(malformed("code without its table")) };
            let Some(address) = library::address(*f) else {
                return Err(malformed(format_args!("the library has no {f:?}")));
            };
            slot.copy_from_slice(&(address as usize as u64).to_le_bytes());
        }
        let Some(placed) = self.heap.place(&bytes.bytes) else {
            return Err(malformed("the system gives no memory that can run"));
        };
        Ok(Arc::new(Kernel { placed, code: bytes.code, functions: bytes.functions, calls: functions.len() }))
    }
}

/// A function whose registers are assigned.
fn assigned(lir: &Lir, streams: Option<&stream::Streams>) -> Result<(mir::Mir, regs::Assignment)> {
    let mut select = select::Select::new(lir);
    select.streams = streams;
    let mut m = select.run()?;
    passes::sweep(&mut m);
    passes::fold(&mut m);
    let a = regs::assign(&m);
    Ok((m, a))
}

/// Code, the table of functions, constants.
fn build(lir: &Lir, cache: i64) -> Result<asm::Bytes> {
    let (m, a) = assigned(lir, None)?;
    let bytes = match stream::streams(lir, cache) {
        None => emit::emit(&m, &a),
        Some(streams) => {
            let (pm, pa) = assigned(lir, Some(&streams))?;
            emit::emit_both((&pm, &pa), (&m, &a), &streams)
        }
    };
    bytes.map_err(malformed)
}

/// Bytes of the last cache that a core sees.
fn last_cache() -> i64 {
    let read = |n: u32| {
        let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{n}/size")).ok()?;
        text.trim().strip_suffix('K')?.parse::<i64>().ok()
    };
    let kib = read(3).or_else(|| read(2)).unwrap_or(32 << 10);
    (kib << 10).clamp(4 << 20, 64 << 20)
}

impl Renderer for X86 {
    fn name(&self) -> &'static str {
        "x86-64"
    }
    fn target(&self) -> Target {
        Target { lanes: 8, registers: 16, alu: alu::has_vector, cast: has_cast }
    }
    fn compile(&self, kernel: &Lir) -> Result<Arc<dyn Code>> {
        self.placed(build(kernel, self.cache)?, &select::functions(kernel))
    }
    fn load(&self, kernel: &Lir, bytes: &[u8]) -> Result<Arc<dyn Code>> {
        let functions = select::functions(kernel);
        let number = |at: usize| -> Option<usize> {
            let four = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(four) as usize)
        };
        let (Some(MAGIC), Some(code), Some(table), Some(body)) = (number(0), number(4), number(8), bytes.get(12..))
        else {
            return Err(malformed("these bytes are no code of this renderer"));
        };
        if code > body.len() || table < code || table + functions.len() * 8 > body.len() {
            return Err(malformed("these bytes are no code of this renderer"));
        }
        self.placed(asm::Bytes { bytes: body.to_vec(), code, functions: table }, &functions)
    }
}

fn has_cast(from: DType, to: DType) -> bool {
    cast::has_vector(from, to)
}

/// The first bytes of saved code.
const MAGIC: usize = u32::from_le_bytes(*b"evx1") as usize;

struct Kernel {
    placed: heap::Placed,
    code: usize,
    functions: usize,
    calls: usize,
}

type Entry = unsafe extern "C" fn(*const *mut u8, *const i64, *const *mut u8, i64, i64);

impl Code for Kernel {
    unsafe fn run(&self, buffers: *const *mut u8, params: *const i64, scratch: *const *mut u8, begin: i64, end: i64) {
        // SAFETY: the address is that of code which this renderer made for this signature, and `placed` keeps it; what the
        // code reads and writes is what the caller vouches for.
        unsafe {
            let entry: Entry = std::mem::transmute(self.placed.address());
            entry(buffers, params, scratch, begin, end);
        }
    }
    fn bytes(&self) -> Vec<u8> {
        let mut out = vec![];
        for n in [MAGIC, self.code, self.functions] {
            out.extend_from_slice(&(n as u32).to_le_bytes());
        }
        out.extend_from_slice(self.placed.bytes());
        // Addresses are of this process.
        let table = 12 + self.functions;
        out[table..table + self.calls * 8].fill(0);
        out
    }
    fn text(&self) -> String {
        use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
        let code = &self.placed.bytes()[..self.code];
        let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
        let mut formatter = IntelFormatter::new();
        let mut text = String::new();
        for instruction in &mut decoder {
            text.push_str(&format!("{:5x}  ", instruction.ip()));
            formatter.format(&instruction, &mut text);
            text.push('\n');
        }
        text
    }
}
