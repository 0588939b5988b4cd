//! Pure instructions that are written already, found by what they are.

use super::build::Pure;
use crate::lir::Reg;
use crate::uop::Ty;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// What a pure instruction is, but for where its result goes.
pub(super) type Key = (Pure, Ty, [Reg; 3]);

struct Entry {
    key: Key,
    hash: u32,
    reg: Reg,
    /// The number of the loop or condition that it is written in: once that is closed, the entry says nothing.
    level: u32,
}

/// Open addressing, at most half full, over entries in the order in which they came: a table of eight bytes a place, so
/// that long programs stay in the caches.
#[derive(Default)]
pub(super) struct Known {
    /// A hash, and the number of an entry plus one.
    table: Vec<(u32, u32)>,
    entries: Vec<Entry>,
}

impl Known {
    fn hash(key: &Key) -> u32 {
        let mut h = FxHasher::default();
        key.hash(&mut h);
        (h.finish() >> 16) as u32
    }
    /// The register of a key that was written where it can still be read, as `open` says of numbers of levels; or the place for
    /// [`Known::insert`].
    pub fn find(&mut self, key: &Key, open: impl Fn(Reg, u32) -> bool) -> Result<Reg, Place> {
        if self.table.len() <= self.entries.len() * 2 {
            self.grow();
        }
        let hash = Known::hash(key);
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let (h, n) = self.table[at];
            if n == 0 {
                return Err(Place { at, hash });
            }
            if h == hash {
                let e = &self.entries[n as usize - 1];
                if e.key == *key {
                    return if open(e.reg, e.level) { Ok(e.reg) } else { Err(Place { at, hash }) };
                }
            }
            at = (at + 1) & mask;
        }
    }
    /// Remembers a key that was not found.
    pub fn insert(&mut self, place: Place, key: Key, reg: Reg, level: u32) {
        let Place { at, hash } = place;
        let entry = Entry { key, hash, reg, level };
        match self.table[at].1 {
            0 => {
                self.entries.push(entry);
                self.table[at] = (hash, self.entries.len() as u32);
            }
            // Of a loop that is closed.
            n => self.entries[n as usize - 1] = entry,
        }
    }
    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(64);
        self.table.clear();
        self.table.resize(size, (0, 0));
        for (n, e) in self.entries.iter().enumerate() {
            let mut at = e.hash as usize & (size - 1);
            while self.table[at].1 != 0 {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = (e.hash, n as u32 + 1);
        }
    }
}

/// Where a key that was not found goes.
pub(super) struct Place {
    at: usize,
    hash: u32,
}
