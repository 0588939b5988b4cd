//! Executables in memory, by what they were built from.

use super::{CompileKey, FileCache};
use crate::Executable;
use evoxc_core::Result;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A cache of executables, for `build_cached`: it holds as many as it is told to, and forgets the one that was not asked
/// for the longest. `Send + Sync`; nothing is cached but in caches that a program makes.
///
/// A hit gives the very executable that the miss gave. Threads that miss at the same time each build, and all get the
/// one that was done first; no thread waits for another.
///
/// ```
/// use evoxc::{CompileCache, build_cached, prelude::*};
///
/// #[defn]
/// fn double(x: Sym) -> Sym {
///     x + x
/// }
///
/// # fn main() -> evoxc::Result<()> {
/// let cache = CompileCache::new(100);
/// for n in [2, 3, 2, 2] {
///     let exe = build_cached(double, spec(F32, [n]), &Interp, &cache)?;
///     assert_eq!(exe.run(Tensor::ones(F32, [n]))?.to_vec::<f32>()?, vec![2.0; n]);
/// }
/// assert_eq!((cache.hits(), cache.misses(), cache.len()), (2, 2, 2));
/// # Ok(())
/// # }
/// ```
pub struct CompileCache {
    capacity: usize,
    files: Option<FileCache>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: FxHashMap<CompileKey, Entry>,
    /// The entries by the time of their last use, counted in uses.
    used: BTreeMap<u64, CompileKey>,
    time: u64,
    hits: u64,
    misses: u64,
}

struct Entry {
    exe: Executable<(), ()>,
    used: u64,
}

impl State {
    /// An entry, which is now the last one used.
    fn touch(&mut self, key: &CompileKey) -> Option<Executable<(), ()>> {
        let entry = self.entries.get_mut(key)?;
        self.time += 1;
        self.used.remove(&entry.used);
        entry.used = self.time;
        self.used.insert(self.time, *key);
        Some(entry.exe.clone())
    }
    fn insert(&mut self, key: CompileKey, exe: Executable<(), ()>, capacity: usize) {
        self.time += 1;
        self.entries.insert(key, Entry { exe, used: self.time });
        self.used.insert(self.time, key);
        while self.entries.len() > capacity {
            match self.used.pop_first() {
                Some((_, oldest)) => self.entries.remove(&oldest),
                None => return,
            };
        }
    }
}

impl CompileCache {
    /// A cache that holds up to `capacity` executables. One of capacity 0 holds none: every call is a miss.
    pub fn new(capacity: usize) -> CompileCache {
        CompileCache { capacity, files: None, state: Mutex::default() }
    }
    /// Looks for the artifacts of what it does not hold in a folder, and writes there what it had to compile, so that the
    /// next process finds it. The function is traced all the same: only the graph says whether a file is of it.
    ///
    /// ```
    /// use evoxc::{CompileCache, FileCache, build_cached, prelude::*};
    /// # let folder = std::env::temp_dir().join(format!("evoxc-doc-memory-{}", std::process::id()));
    /// let cache = CompileCache::new(100).with_files(FileCache::new(&folder)?);
    /// let exe = build_cached(|x: Sym| x * 2.0, spec(F32, []), &Interp, &cache)?;
    /// assert_eq!(exe.run(Tensor::from(3f32))?.item::<f32>()?, 6.0);
    /// assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    /// # std::fs::remove_dir_all(folder).unwrap();
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn with_files(mut self, files: FileCache) -> CompileCache {
        self.files = Some(files);
        self
    }
    /// The folder behind it.
    pub fn files(&self) -> Option<&FileCache> {
        self.files.as_ref()
    }
    /// How many executables it may hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }
    /// How many executables it holds.
    pub fn len(&self) -> usize {
        self.state().entries.len()
    }
    /// Does it hold nothing?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How often what was asked for was there.
    pub fn hits(&self) -> u64 {
        self.state().hits
    }
    /// How often it was not, and was built, or could not be.
    pub fn misses(&self) -> u64 {
        self.state().misses
    }
    /// Forgets all executables, not the counts. Those that are in use elsewhere live on.
    pub fn clear(&self) {
        let mut state = self.state();
        state.entries.clear();
        state.used.clear();
    }
    /// The executable of this key: the one it holds, or what `build` gives, which it then holds. The key must be made for
    /// the types `I` and `O`; an executable of other types would refuse its arguments when it runs.
    ///
    /// # Errors
    /// Those of `build`, which are not remembered.
    ///
    /// ```
    /// use evoxc::{CompileCache, CompileKey, prelude::*};
    /// let cache = CompileCache::new(8);
    /// let key = CompileKey::named::<(Tensor, Tensor), _>("exp", &[spec(F32, [2])], &Interp);
    /// for _ in 0..3 {
    ///     let exe = cache.get_or_build(key, || build(|x: Sym| x.exp(), spec(F32, [2]), &Interp))?;
    ///     assert_eq!(exe.run(Tensor::zeros(F32, [2]))?.to_vec::<f32>()?, [1.0, 1.0]);
    /// }
    /// assert_eq!((cache.hits(), cache.misses()), (2, 1));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn get_or_build<I, O>(
        &self,
        key: CompileKey,
        build: impl FnOnce() -> Result<Executable<I, O>>,
    ) -> Result<Executable<I, O>> {
        match self.get(&key) {
            Some(exe) => Ok(exe),
            // Without the lock: other keys are not held up, and `build` may use this cache.
            None => Ok(self.insert(key, build()?)),
        }
    }
    /// The executable of this key, if it is there: a hit, or a miss. The key must be made for the types `I` and `O`.
    pub fn get<I, O>(&self, key: &CompileKey) -> Option<Executable<I, O>> {
        let mut state = self.state();
        let found = state.touch(key);
        match found {
            Some(_) => state.hits += 1,
            None => state.misses += 1,
        }
        found.map(|exe| exe.retyped())
    }
    /// Holds an executable under this key, unless it holds one already; gives the one it holds. The key must be made for
    /// the types `I` and `O`.
    pub fn insert<I, O>(&self, key: CompileKey, exe: Executable<I, O>) -> Executable<I, O> {
        let mut state = self.state();
        if let Some(first) = state.touch(&key) {
            return first.retyped();
        }
        state.insert(key, exe.retyped(), self.capacity);
        exe
    }
    fn state(&self) -> MutexGuard<'_, State> {
        // No code that could panic half-way runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CompileCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, hits, misses) = (self.len(), self.hits(), self.misses());
        write!(f, "CompileCache of {len}/{} executables, {hits} hits, {misses} misses", self.capacity)
    }
}
