//! Kernels that programs have compiled, kept for programs that come after.
//!
//! A kernel is found by its structure and the options that decide what is made of it, all of it compared and not a hash
//! alone. What is found is what would be made again, so that no result depends on it. It is asked while programs are compiled,
//! never while they run.

use crate::decompose::Precision;
use crate::lir::{Inst, Lir};
use crate::plan::Compiled;
use crate::uop::{Key, Ty};
use evoxc_stage::OptLevel;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// What decides, beside its structure, what is made of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub code: &'static str,
    pub precision: Precision,
    pub level: OptLevel,
    pub search: usize,
}

/// What the memo of a [`Native`](crate::Native) has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoCounts {
    /// Kernels that were compiled.
    pub compiled: u64,
    /// Kernels that were not, as they were found.
    pub found: u64,
    /// Kernels that are kept.
    pub kept: usize,
    /// What they take, roughly.
    pub bytes: usize,
}

/// The memory of it, by default.
const BYTES: usize = 32 << 20;

/// The memo. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Memo {
    most: usize,
    kept: Arc<Mutex<Kept>>,
}

/// Two generations: what is found moves to the younger one, and the older one goes when the younger is half of what is allowed.
#[derive(Default)]
struct Kept {
    young: Generation,
    old: Generation,
    compiled: u64,
    found: u64,
}

#[derive(Default)]
struct Generation {
    kernels: FxHashMap<Key, SmallVec<[Entry; 1]>>,
    bytes: usize,
}

struct Entry {
    options: Options,
    bytes: usize,
    kernel: Compiled,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo::new(BYTES)
    }
}
impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memo({} bytes)", self.most)
    }
}

impl Memo {
    /// One that keeps at most so many bytes, roughly.
    pub fn new(most: usize) -> Memo {
        Memo { most, kept: Arc::default() }
    }
    /// An empty one of the same size.
    pub fn anew(&self) -> Memo {
        Memo::new(self.most)
    }
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// What was made of the kernel.
    pub fn find(&self, key: &Key, options: Options) -> Option<Compiled> {
        if self.most == 0 {
            return None;
        }
        let mut kept = self.lock();
        if let Some(entry) = kept.young.get(key, options) {
            let kernel = entry.kernel.clone();
            kept.found += 1;
            return Some(kernel);
        }
        let entry = kept.old.take(key, options)?;
        kept.found += 1;
        let kernel = entry.kernel.clone();
        let gone = kept.age(entry.bytes, self.most);
        kept.young.put(key.clone(), entry);
        drop(kept);
        drop(gone);
        Some(kernel)
    }
    /// Keeps what was made of a kernel.
    pub fn put(&self, key: Key, options: Options, kernel: &Compiled) {
        let bytes = bytes(&key, &kernel.lir) + kernel.code.bytes().len();
        let mut kept = self.lock();
        kept.compiled += 1;
        if bytes > self.most / 2 || kept.young.get(&key, options).is_some() {
            return;
        }
        let gone = kept.age(bytes, self.most);
        kept.young.put(key, Entry { options, bytes, kernel: kernel.clone() });
        drop(kept);
        drop(gone);
    }
    /// What it has done.
    pub fn counts(&self) -> MemoCounts {
        let kept = self.lock();
        let of = |g: &Generation| g.kernels.values().map(|list| list.len()).sum::<usize>();
        MemoCounts {
            compiled: kept.compiled,
            found: kept.found,
            kept: of(&kept.young) + of(&kept.old),
            bytes: kept.young.bytes + kept.old.bytes,
        }
    }
}

impl Kept {
    /// Makes room in the younger generation, of half the bytes, for so many more. Gives what has grown too old, to be dropped
    /// once the lock is open.
    fn age(&mut self, bytes: usize, most: usize) -> Option<Generation> {
        if self.young.bytes + bytes <= most / 2 {
            return None;
        }
        let young = std::mem::take(&mut self.young);
        Some(std::mem::replace(&mut self.old, young))
    }
}

impl Generation {
    fn get(&self, key: &Key, options: Options) -> Option<&Entry> {
        self.kernels.get(key)?.iter().find(|e| e.options == options)
    }
    fn take(&mut self, key: &Key, options: Options) -> Option<Entry> {
        let list = self.kernels.get_mut(key)?;
        let entry = list.swap_remove(list.iter().position(|e| e.options == options)?);
        if list.is_empty() {
            self.kernels.remove(key);
        }
        self.bytes -= entry.bytes;
        Some(entry)
    }
    fn put(&mut self, key: Key, entry: Entry) {
        self.bytes += entry.bytes;
        self.kernels.entry(key).or_default().push(entry);
    }
}

/// What a key and a kernel's last form take, roughly.
fn bytes(key: &Key, lir: &Lir) -> usize {
    const OTHER: usize = 512;
    let body = lir.body.len() * size_of::<Inst>();
    key.bytes().len() + body + lir.regs.len() * size_of::<Ty>() + OTHER
}
