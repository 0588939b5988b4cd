//! x86-64 machine code: of level v3, for processors with AVX2, FMA, F16C and BMI2, and of level v4, for those with AVX-512
//! (F, VL, DQ, BW, CD) beside them.
//!
//! ```text
//! Lir ──select──▶ Mir ──passes──▶ Mir ──regs──▶ places ──emit──▶ bytes ──heap──▶ memory that runs
//! ```
//!
//! `select` (with `alu`, `cast`, `memory`) chooses instructions and composes what AVX2 lacks; `passes` drops what is not
//! used and moves loads into operands; `regs` is a linear scan; `emit` (with `lanes`) writes bytes through the assembler
//! `asm`. On level v4 vectors of 16 lanes have 64 bytes and 32 registers; all else is as on v3, and what 512 bits lack is
//! done by halves. A vector of bools is a mask of full lanes on both: mask registers do not live from one instruction to
//! the next. `heap` owns the pages; `stream` knows stores that go past the caches. The code is independent of its position
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
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

/// Bytes of memory that is mapped for code of this process now.
pub fn mapped() -> usize {
    heap::mapped()
}

/// What processors have in common: the instructions that code may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// AVX2, FMA, F16C, BMI2: vectors of 256 bits.
    V3,
    /// AVX-512 F, VL, DQ, BW and CD too: vectors of 512 bits.
    V4,
}

impl Level {
    /// That of this processor.
    fn here() -> Option<Level> {
        macro_rules! has {
            ($($feature:tt),*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
        }
        let v3 = has!("avx2", "fma", "f16c", "bmi2");
        let v4 = has!("avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd");
        v3.then_some(if v4 { Level::V4 } else { Level::V3 })
    }
}

/// The renderer of x86-64 code.
pub struct X86 {
    heap: heap::Heap,
    /// From so many bytes on, what is stored goes past the caches. Asked for when it first matters: it takes files to read.
    cache: OnceLock<i64>,
    level: Level,
}

impl X86 {
    /// With the best code for this processor; none where it lacks what any code needs.
    ///
    /// ```
    /// use evoxc_native::render::{Renderer, x86::X86};
    /// if let Some(x86) = X86::new() {
    ///     assert!(x86.name().starts_with("x86-64-v"));
    /// }
    /// ```
    pub fn new() -> Option<X86> {
        X86::of(Level::here()?)
    }

    /// With code of that level alone; none where the processor has not what it needs.
    pub fn of(level: Level) -> Option<X86> {
        let able = match (level, Level::here()?) {
            (Level::V3, _) | (Level::V4, Level::V4) => true,
            (Level::V4, Level::V3) => false,
        };
        able.then(|| X86 { heap: heap::Heap::default(), cache: OnceLock::new(), level })
    }

    /// The first bytes of saved code.
    fn magic(&self) -> usize {
        u32::from_le_bytes(match self.level {
            Level::V3 => *b"evx3",
            Level::V4 => *b"evx4",
        }) as usize
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
        let (code, table) = (bytes.code, bytes.functions);
        Ok(Arc::new(Kernel { placed, code, functions: table, calls: functions.len(), magic: self.magic() }))
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
fn build(lir: &Lir, cache: &OnceLock<i64>) -> Result<asm::Bytes> {
    let (m, a) = assigned(lir, None)?;
    let streams = match cache.get() {
        Some(&least) => stream::streams(lir, least),
        None => stream::streams(lir, *CACHE.start()).and_then(|_| stream::streams(lir, *cache.get_or_init(last_cache))),
    };
    let bytes = match streams {
        None => emit::emit(&m, &a),
        Some(streams) => {
            let (pm, pa) = assigned(lir, Some(&streams))?;
            emit::emit_both((&pm, &pa), (&m, &a), &streams)
        }
    };
    bytes.map_err(malformed)
}

/// What caches are taken to have at least and at most.
const CACHE: RangeInclusive<i64> = 4 << 20..=64 << 20;

/// Bytes of the last cache that a core sees.
fn last_cache() -> i64 {
    let read = |n: u32| {
        let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{n}/size")).ok()?;
        text.trim().strip_suffix('K')?.parse::<i64>().ok()
    };
    let kib = read(3).or_else(|| read(2)).unwrap_or(32 << 10);
    (kib << 10).clamp(*CACHE.start(), *CACHE.end())
}

impl Renderer for X86 {
    fn name(&self) -> &'static str {
        match self.level {
            Level::V3 => "x86-64-v3",
            Level::V4 => "x86-64-v4",
        }
    }
    fn target(&self) -> Target {
        let (lanes, more) = match self.level {
            Level::V3 => (8, 16),
            Level::V4 => (16, 32),
        };
        Target { lanes, wide: 4, registers: 16, more, alu: alu::has_vector, cast: has_cast }
    }
    fn compile(&self, kernel: &Lir) -> Result<Arc<dyn Code>> {
        if self.level == Level::V3 && kernel.regs.iter().any(|ty| ty.lanes > 8) {
            return Err(malformed("vectors of 16 lanes, which this level has not"));
        }
        self.placed(build(kernel, &self.cache)?, &select::functions(kernel))
    }
    fn load(&self, kernel: &Lir, bytes: &[u8]) -> Result<Arc<dyn Code>> {
        let functions = select::functions(kernel);
        let number = |at: usize| -> Option<usize> {
            let four = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(four) as usize)
        };
        let (Some(magic), Some(code), Some(table), Some(body)) = (number(0), number(4), number(8), bytes.get(12..))
        else {
            return Err(malformed("these bytes are no code of this renderer"));
        };
        if magic != self.magic() || code > body.len() || table < code || table + functions.len() * 8 > body.len() {
            return Err(malformed("these bytes are no code of this renderer"));
        }
        self.placed(asm::Bytes { bytes: body.to_vec(), code, functions: table }, &functions)
    }
}

fn has_cast(from: DType, to: DType) -> bool {
    cast::has_vector(from, to)
}

struct Kernel {
    placed: heap::Placed,
    code: usize,
    functions: usize,
    calls: usize,
    magic: usize,
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
        for n in [self.magic, self.code, self.functions] {
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
