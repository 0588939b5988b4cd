//! Trying forms of a kernel on memory of the sizes that it works on, and remembering the quickest.
//!
//! All forms of a kernel give the same bits, so a search decides about time alone. Kernels of symbolic sizes are timed where
//! every symbol is [`SYMBOL`]; those that work on more than [`MOST`] bytes are not tried.

use crate::linearise::Shape;
use crate::lir::Lir;
use crate::plan::Memory;
use crate::render::Code;
use crate::schedule::KernelItem;
use crate::uop::Key;
use evoxc_core::{DType, Dim};
use evoxc_ir::TensorType;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What symbolic extents are taken to be.
const SYMBOL: i64 = 256;
/// More bytes are not made for a search.
const MOST: usize = 1 << 28;
/// How long a form is timed at most, and how often.
const TIME: Duration = Duration::from_millis(30);
const RUNS: usize = 15;

/// Memory for a kernel to work on.
pub(crate) struct Bench {
    buffers: Vec<Memory>,
    params: Vec<i64>,
}

impl Bench {
    /// For a kernel whose values have these types, of the routine's; `None` where it is too large.
    pub fn new(item: &KernelItem, types: &[TensorType]) -> Option<Bench> {
        let value = |d: Dim| d.evaluate(&mut |_| Some(SYMBOL)).ok().map(|v| v.max(0));
        let params = item.params.iter().map(|&d| value(d)).collect::<Option<_>>()?;
        let (mut buffers, mut total) = (vec![], 0usize);
        for v in &item.buffers {
            let ty = types.get(v.index())?;
            let n = usize::try_from(value(ty.shape.size())?).ok()?.checked_mul(ty.dtype.size())?;
            total = total.checked_add(n).filter(|&t| t <= MOST)?;
            let m = Memory::new(n)?;
            // Numbers that no op is slow on, and truth values and indices that are some.
            let byte = if ty.dtype.is_float() || ty.dtype.is_complex() { 0x3f } else { 1 };
            // SAFETY: the block has `n` bytes.
            unsafe { std::ptr::write_bytes(m.start(), byte, n) };
            buffers.push(m);
        }
        Some(Bench { buffers, params })
    }

    /// The quickest of some runs on one thread.
    pub fn time(&self, lir: &Lir, code: &dyn Code) -> Option<Duration> {
        let bytes = |d: DType, n: i64| usize::try_from(n.max(0)).ok()?.checked_mul(d.size()).filter(|&n| n <= MOST);
        let scratch = lir.scratch.iter().map(|(d, n)| Memory::new(bytes(*d, n.value(&self.params))?));
        let scratch: Vec<Memory> = scratch.collect::<Option<_>>()?;
        let buffers: Vec<*mut u8> = self.buffers.iter().map(Memory::start).collect();
        let rooms: Vec<*mut u8> = scratch.iter().map(Memory::start).collect();
        let extent = lir.extent.value(&self.params);
        let begin = Instant::now();
        let mut best: Option<Duration> = None;
        for _ in 0..RUNS {
            let start = Instant::now();
            // SAFETY: every buffer has the size of its value's type, under the values of symbols that the parameters have
            // too; they are apart, and nobody else knows them.
            unsafe { code.run(buffers.as_ptr(), self.params.as_ptr(), rooms.as_ptr(), 0, extent) };
            let time = start.elapsed();
            best = Some(best.map_or(time, |b| b.min(time)));
            if begin.elapsed() > TIME {
                break;
            }
        }
        best
    }
}

/// The file that remembers the shape of a kernel in a folder: named after its structure and what else times depend on.
pub(crate) fn file(folder: &Path, kernel: &Key, machine: &str) -> PathBuf {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &b in kernel.bytes().iter().chain(machine.as_bytes()) {
        hash = (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    }
    folder.join(format!("search-{hash:016x}"))
}

/// What an earlier search found.
pub(crate) fn remembered(file: &Path) -> Option<Shape> {
    let text = std::fs::read_to_string(file).ok()?;
    let (lanes, unroll) = text.trim().split_once(' ')?;
    let number = |s: &str, most: u8| s.parse::<u8>().ok().filter(|n| (1..=most).contains(n));
    Some(Shape { lanes: number(lanes, 16)?, unroll: number(unroll, 8)? })
}

/// Writes it down, under another name first: readers see it whole. A folder that cannot be written to is as good as none.
pub(crate) fn remember(file: &Path, shape: Shape) {
    let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
    let text = format!("{} {}\n", shape.lanes, shape.unroll);
    let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| std::fs::write(&temporary, text));
    if written.and_then(|()| std::fs::rename(&temporary, file)).is_err() {
        // It may not be there at all.
        let _ = std::fs::remove_file(&temporary);
    }
}
