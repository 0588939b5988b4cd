//! Raw memory of runs: aligned blocks, and the frames that runs of a routine take from a pool and give back.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What every block and every slot in it is aligned to: a line of the cache, and the widest vector.
pub(crate) const ALIGN: usize = 64;

/// `n` rounded up to [`ALIGN`]; saturates.
pub(crate) fn aligned(n: usize) -> usize {
    n.checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX - ALIGN + 1)
}

/// A block of bytes without values.
pub(crate) struct Memory {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: a block is plain memory that only its owner gives out.
unsafe impl Send for Memory {}
// SAFETY: a shared reference gives nothing but the address.
unsafe impl Sync for Memory {}

impl Memory {
    /// No bytes.
    pub const fn empty() -> Memory {
        // SAFETY: ALIGN is not 0.
        Memory { start: unsafe { NonNull::new_unchecked(ALIGN as *mut u8) }, size: 0 }
    }
    /// A block; `None` where there is not enough memory.
    pub fn new(size: usize) -> Option<Memory> {
        if size == 0 {
            return Some(Memory::empty());
        }
        let layout = Layout::from_size_align(size, ALIGN).ok()?;
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        Some(Memory { start, size })
    }
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
    /// Makes it at least that large; false where there is not enough memory. What it held is lost if it moves.
    pub fn grow(&mut self, size: usize) -> bool {
        if size <= self.size {
            return true;
        }
        *self = Memory::empty();
        match Memory::new(size) {
            Some(m) => {
                *self = m;
                true
            }
            None => false,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.size > 0
            && let Ok(layout) = Layout::from_size_align(self.size, ALIGN)
        {
            // SAFETY: it was allocated with this layout, and is given back once.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}

/// Where one run of a routine keeps what it works on.
pub(crate) struct Frame {
    /// Where every place is.
    pub places: Vec<*mut u8>,
    /// The value of every symbol.
    pub symbols: Vec<i64>,
    /// The value of every extent.
    pub extents: Vec<i64>,
    /// The slots.
    pub memory: Memory,
    /// Scratch memory of kernels, for all threads.
    pub scratch: Memory,
    /// Scratch bytes of each thread.
    pub scratch_each: usize,
    /// Extents of arguments, one after the other.
    pub shapes: Vec<i64>,
    /// Was it laid out before, for these symbols?
    pub ready: bool,
}

// SAFETY: the pointers are to the frame's own memory, constants of its plan, and memory that the caller of a run holds while
// it runs; whoever has the frame has all of that alone or for reading.
unsafe impl Send for Frame {}

impl Frame {
    pub fn new() -> Frame {
        Frame {
            places: vec![],
            symbols: vec![],
            extents: vec![],
            memory: Memory::empty(),
            scratch: Memory::empty(),
            scratch_each: 0,
            shapes: vec![],
            ready: false,
        }
    }
}

/// Frames that are kept for the next run; more runs than this at once make frames of their own and drop them.
const KEPT: usize = 16;

/// The frames of a routine that nobody uses. Taking one is an exchange of a pointer: nobody waits.
#[derive(Default)]
pub(crate) struct Frames([AtomicPtr<Frame>; KEPT]);

impl Frames {
    /// A frame of somebody before, or a new one.
    pub fn take(&self) -> Box<Frame> {
        for cell in &self.0 {
            if !cell.load(Ordering::Relaxed).is_null() {
                let p = cell.swap(null_mut(), Ordering::Acquire);
                if !p.is_null() {
                    // SAFETY: it came from `Box::into_raw` in `put`, and the exchange made us its only owner.
                    return unsafe { Box::from_raw(p) };
                }
            }
        }
        Box::new(Frame::new())
    }
    /// Keeps a frame for others.
    pub fn put(&self, frame: Box<Frame>) {
        let p = Box::into_raw(frame);
        for cell in &self.0 {
            if cell.load(Ordering::Relaxed).is_null()
                && cell.compare_exchange(null_mut(), p, Ordering::Release, Ordering::Relaxed).is_ok()
            {
                return;
            }
        }
        // SAFETY: no cell took it, so it is still ours.
        drop(unsafe { Box::from_raw(p) });
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        for cell in &mut self.0 {
            let p = std::mem::replace(cell.get_mut(), null_mut());
            if !p.is_null() {
                // SAFETY: it came from `Box::into_raw`, and nobody else can take it any more.
                drop(unsafe { Box::from_raw(p) });
            }
        }
    }
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Frames")
    }
}
