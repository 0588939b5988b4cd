//! Memory beside pages that nobody may touch, in which tests run whole plans: what reads or writes further than it may ends
//! the process.

use super::memory::Memory;
use super::run::start;
use super::steps::{From, Routine, Slot};
use evoxc_core::{OpError, Result, RunError, Tensor};
use smallvec::SmallVec;
use std::ptr::NonNull;

/// Where a value touches the page that nobody may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Its last byte is before one.
    End,
    /// Its first byte is after one.
    Start,
}

/// What memory holds that nobody has written to: no number, or an integer that no size and no index is.
const UNWRITTEN: u8 = 0xff;
/// More is not filled with it: it may be memory that nothing ever uses.
const FILLED: usize = 1 << 26;

/// Pages of the system: one that nobody may touch, those of a block, another one.
pub(super) struct Fence {
    map: NonNull<u8>,
    size: usize,
    /// The size of a page.
    page: usize,
}

impl Fence {
    /// Pages around `bytes` bytes, and where these start; `None` where there is not enough memory.
    #[cfg(unix)]
    pub fn new(bytes: usize, edge: Edge) -> Option<(Fence, NonNull<u8>)> {
        // SAFETY: it asks for a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let inner = bytes.checked_next_multiple_of(page)?;
        let size = inner.checked_add(2 * page)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new map, at no address in particular.
        let map = unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_NONE, flags, -1, 0) };
        if map == libc::MAP_FAILED {
            return None;
        }
        let fence = Fence { map: NonNull::new(map.cast())?, size, page };
        let skip = page + if edge == Edge::End { inner - bytes } else { 0 };
        // SAFETY: the pages between the first and the last are in the map, and the bytes in these.
        let start = unsafe {
            if inner > 0 && libc::mprotect(map.byte_add(page), inner, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                return None;
            }
            let start = fence.map.add(skip);
            start.write_bytes(UNWRITTEN, bytes.min(FILLED));
            start
        };
        Some((fence, start))
    }
    #[cfg(not(unix))]
    pub fn new(_: usize, _: Edge) -> Option<(Fence, NonNull<u8>)> {
        None
    }

    /// Nobody may write to the pages in between any more.
    pub fn read_only(&self) {
        #[cfg(unix)]
        // SAFETY: these pages are in the map; whoever writes to them all the same ends the process.
        unsafe {
            libc::mprotect(self.map.add(self.page).as_ptr().cast(), self.size - 2 * self.page, libc::PROT_READ);
        }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        #[cfg(unix)]
        // SAFETY: it was mapped with this size, and whoever has the block does not use it any more.
        unsafe {
            libc::munmap(self.map.as_ptr().cast(), self.size);
        }
    }
}

/// Arguments and results of a run.
pub(super) struct Apart {
    args: Vec<Memory>,
    /// None for those that are in an argument's memory.
    results: Vec<Option<Memory>>,
    /// The argument in whose memory a result is.
    donors: Vec<Option<u32>>,
}

impl Apart {
    /// Copies of the arguments, and memory for the results: that of an argument wherever one may be overwritten.
    pub fn new(main: &Routine, args: &[Tensor], extents: &[i64], edge: Edge) -> Result<Apart> {
        let none = || {
            let op = OpError::new("run", "there is not enough memory for fences");
            evoxc_core::Error::from(RunError::Op(Box::new(op)))
        };
        let donors: Vec<Option<u32>> = main.results.iter().map(|r| r.donor).collect();
        let mut copies = vec![];
        for (i, a) in args.iter().enumerate() {
            let copy = copy(a, edge)?.ok_or_else(none)?;
            if !donors.contains(&Some(i as u32)) {
                copy.read_only();
            }
            copies.push(copy);
        }
        let mut results = vec![];
        for r in &main.results {
            results.push(match (r.from, r.donor) {
                (From::Own(_), None) => Some(Memory::fenced(r.bytes.size(extents), edge).ok_or_else(none)?),
                _ => None,
            });
        }
        Ok(Apart { args: copies, results, donors })
    }
    pub fn args(&self) -> SmallVec<[*mut u8; 8]> {
        self.args.iter().map(Memory::start).collect()
    }
    pub fn results(&self) -> SmallVec<[*mut u8; 4]> {
        let donor = |d: Option<u32>| d.and_then(|i| self.args.get(i as usize)).map(Memory::start);
        let at = |(r, d): (&Option<Memory>, &Option<u32>)| r.as_ref().map(Memory::start).or_else(|| donor(*d));
        self.results.iter().zip(&self.donors).map(|x| at(x).unwrap_or(std::ptr::null_mut())).collect()
    }
}

/// A copy of a tensor's elements.
fn copy(t: &Tensor, edge: Edge) -> Result<Option<Memory>> {
    let bytes = t.len() * t.dtype().size();
    let from = start(t)?;
    let Some(memory) = Memory::fenced(bytes, edge) else { return Ok(None) };
    // SAFETY: the tensor has so many bytes, and the block too.
    unsafe { std::ptr::copy_nonoverlapping(from, memory.start(), bytes) };
    Ok(Some(memory))
}

/// Gives every slot and every constant of a routine memory of its own, slots first; false where there is not enough.
pub(super) fn lay_apart(
    r: &Routine,
    apart: &mut Vec<Memory>,
    size: &dyn Fn(&Slot) -> usize,
    edge: Edge,
) -> Result<bool> {
    apart.clear();
    for s in &r.slots {
        let Some(m) = Memory::fenced(size(s), edge) else { return Ok(false) };
        apart.push(m);
    }
    for c in &r.constants {
        let Some(m) = copy(c, edge)? else { return Ok(false) };
        m.read_only();
        apart.push(m);
    }
    Ok(true)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    /// What a process of its own does: named in the environment.
    const ACT: &str = "EVOXC_FENCE_ACT";

    fn reach(act: &str) {
        let block = |edge| Memory::fenced(5, edge).unwrap();
        let (end, start) = (block(Edge::End), block(Edge::Start));
        // SAFETY: it is not, where a page is touched: that ends the process, as the test expects.
        unsafe {
            match act {
                "inside" => {
                    end.start().add(4).write(7);
                    start.start().write(7);
                    assert_eq!((end.start().read(), end.start().add(4).read()), (UNWRITTEN, 7));
                }
                "beyond the end" => _ = end.start().add(5).read_volatile(),
                "before the start" => _ = start.start().sub(1).read_volatile(),
                "none at the end" => _ = Memory::fenced(0, Edge::End).unwrap().start().read_volatile(),
                "none at the start" => _ = Memory::fenced(0, Edge::Start).unwrap().start().sub(1).read_volatile(),
                "read only" => {
                    end.read_only();
                    end.start().write_volatile(1);
                }
                _ => unreachable!("{act}"),
            }
        }
    }

    #[test]
    fn what_touches_a_page_ends_the_process() {
        if let Ok(act) = std::env::var(ACT) {
            return reach(&act);
        }
        let name = "plan::fence::tests::what_touches_a_page_ends_the_process";
        for (act, ends) in [
            ("inside", false),
            ("beyond the end", true),
            ("before the start", true),
            ("none at the end", true),
            ("none at the start", true),
            ("read only", true),
        ] {
            let program = std::env::current_exe().unwrap();
            let run = Command::new(program).args(["--exact", name]).env(ACT, act).output().unwrap();
            // What comes of it is called SIGSEGV or SIGBUS.
            let by = run.status.signal();
            assert_eq!(by.is_some_and(|s| s == libc::SIGSEGV || s == libc::SIGBUS), ends, "{act}: {}", run.status);
            assert_eq!(run.status.success(), !ends, "{act}");
        }
    }
}
