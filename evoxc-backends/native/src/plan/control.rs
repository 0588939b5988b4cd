//! Control flow: blocks run by the plan itself, and values carried by exchanging addresses.

use super::run::Run;
use super::steps::{Carry, Choose, Copy, Next, Place, Scan, While};
use evoxc_core::Result;
use smallvec::SmallVec;

impl<'p> Run<'p, '_> {
    #[inline]
    fn address(&self, p: Place) -> *mut u8 {
        self.frame.places[p as usize]
    }
    #[inline]
    fn set(&mut self, p: Place, to: *mut u8) {
        self.frame.places[p as usize] = to;
    }
    /// The bool at a place.
    fn truth(&self, p: Place) -> bool {
        // SAFETY: the plan has put a bool there.
        unsafe { *self.address(p) != 0 }
    }
    pub(super) fn copy(&self, c: &Copy) {
        self.bytes(self.address(c.from), self.address(c.to), c.bytes.size(&self.frame.extents));
    }
    fn bytes(&self, from: *const u8, to: *mut u8, n: usize) {
        if !std::ptr::eq(from, to) {
            // SAFETY: both places are memory of at least so many bytes; two are the same, or apart.
            unsafe { std::ptr::copy_nonoverlapping(from, to, n) };
        }
    }

    pub(super) fn choose(&mut self, c: &'p Choose) -> Result<()> {
        let last = c.branches.len().saturating_sub(1);
        let taken = if c.truth {
            usize::from(!self.truth(c.by))
        } else {
            // SAFETY: the plan has put an `i32` there.
            let index = unsafe { self.address(c.by).cast::<i32>().read_unaligned() };
            usize::try_from(index).map_or(last, |i| i.min(last))
        };
        let Some((block, copies)) = c.branches.get(taken) else { return Ok(()) };
        self.block(block)?;
        copies.iter().for_each(|c| self.copy(c));
        Ok(())
    }

    pub(super) fn while_loop(&mut self, w: &'p While) -> Result<()> {
        self.start(&w.carry, false);
        loop {
            self.block(&w.cond)?;
            if !self.truth(w.truth) {
                break;
            }
            self.block(&w.body)?;
            self.next(&w.carry);
        }
        self.finish(&w.carry);
        Ok(())
    }

    pub(super) fn scan(&mut self, s: &'p Scan) -> Result<()> {
        let n = s.length.size(&self.frame.extents);
        // The last iteration writes where the result stays.
        self.start(&s.carry, n.is_multiple_of(2));
        for k in 0..n {
            let i = if s.reverse { n - 1 - k } else { k };
            for e in &s.entries {
                let bytes = e.bytes.size(&self.frame.extents);
                // SAFETY: the whole has `n` entries of so many bytes.
                let at = unsafe { self.address(e.from).add(i * bytes) };
                self.set(e.to, at);
            }
            self.block(&s.body)?;
            for c in &s.copies {
                let bytes = c.bytes.size(&self.frame.extents);
                // SAFETY: as above.
                let to = unsafe { self.address(c.to).add(i * bytes) };
                self.bytes(self.address(c.from), to, bytes);
            }
            self.next(&s.carry);
        }
        self.finish(&s.carry);
        Ok(())
    }

    /// Before the first iteration; `second` says which of each pair it writes to.
    fn start(&mut self, c: &Carry, second: bool) {
        for s in &c.states {
            self.set(s.arg, self.address(s.init));
        }
        for p in &c.pairs {
            let to = p.second.filter(|_| second).unwrap_or(p.first);
            self.set(p.to, self.address(to));
        }
    }

    /// After an iteration: what it made is what the next one finds.
    fn next(&mut self, c: &Carry) {
        let mut found: SmallVec<[*mut u8; 8]> = SmallVec::new();
        for s in &c.states {
            found.push(match s.next {
                Next::At(p) => self.address(p),
                Next::Copied(p, pair) => {
                    let to = self.address(c.pairs[pair as usize].to);
                    self.bytes(self.address(p), to, s.bytes.size(&self.frame.extents));
                    to
                }
            });
        }
        for (s, at) in c.states.iter().zip(found) {
            self.set(s.arg, at);
        }
        for p in &c.pairs {
            if let Some(second) = p.second {
                let to = if self.address(p.to) == self.address(p.first) { second } else { p.first };
                self.set(p.to, self.address(to));
            }
        }
    }

    fn finish(&mut self, c: &Carry) {
        for s in &c.states {
            self.bytes(self.address(s.arg), self.address(s.result), s.bytes.size(&self.frame.extents));
        }
    }
}
