//! The memory planner: which slot of a frame holds which value, so that values that are not needed at the same time share.

use super::extent::Amount;
use super::steps::{Info, Place, Slot, Source};

/// No slot, or no place.
pub(super) const NONE: u32 = u32::MAX;

/// The places of a routine, and the slots behind some of them.
#[derive(Default)]
pub(super) struct Places {
    pub sources: Vec<Source>,
    pub slots: Vec<Slot>,
    /// Slots that hold nothing that is still needed.
    free: Vec<u32>,
    /// Has every value a slot of its own, but for those that are computed in place?
    apart: bool,
}

impl Places {
    /// None yet; `apart` says that every value has a slot of its own, but for those that are computed in place.
    pub fn new(apart: bool) -> Places {
        Places { apart, ..Places::default() }
    }

    /// A new place.
    pub fn place(&mut self, source: Source) -> Place {
        self.sources.push(source);
        (self.sources.len() - 1) as Place
    }

    /// A slot for so many bytes: a free one that fits best, or a new one.
    pub fn take(&mut self, bytes: Amount, info: impl FnOnce() -> Info) -> u32 {
        // Few slots are free at any time, so looking through them is quick; the limit keeps it so.
        const LOOK: usize = 64;
        let score = |s: &Slot| match bytes {
            Amount::Const(n) if !s.sizes.is_empty() => (2, n),
            // Large enough, and by as little as can be; else to be enlarged, by as little as can be.
            Amount::Const(n) if s.fixed >= n => (0, s.fixed - n),
            Amount::Const(n) => (1, n - s.fixed),
            Amount::Extent(_) if s.sizes.contains(&bytes) => (0, 0),
            Amount::Extent(_) => (2, 0),
        };
        let start = self.free.len().saturating_sub(LOOK);
        let best = (start..self.free.len()).min_by_key(|&i| score(&self.slots[self.free[i] as usize]));
        if let Some(i) = best {
            let slot = &mut self.slots[self.free[i] as usize];
            // A value of known size goes into memory of unknown size only where that is not made larger by it.
            if score(slot).0 < 2 {
                if let Amount::Const(n) = bytes {
                    slot.fixed = slot.fixed.max(n);
                }
                return self.free.swap_remove(i);
            }
        }
        let (fixed, sizes) = match bytes {
            Amount::Const(n) => (n, Default::default()),
            Amount::Extent(_) => (0, smallvec::smallvec![bytes]),
        };
        self.slots.push(Slot { fixed, sizes, info: info() });
        (self.slots.len() - 1) as u32
    }

    /// Nothing in the slot is needed any more.
    pub fn give(&mut self, slot: u32) {
        if !self.apart {
            self.free.push(slot);
        }
    }
}
