//! Raw memory of runs: aligned blocks, and the frames that runs of a routine take from a pool and give back.

use super::fence::{Edge, Fence};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What every block and every slot in it is aligned to: a line of the cache, and the widest vector.
pub(crate) const ALIGN: usize = 64;

/// `n` rounded up to [`ALIGN`]; saturates.
pub(crate) fn aligned(n: usize) -> usize {
    n.checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX - ALIGN + 1)
}

/// From this size on, memory is asked for in large pages.
const LARGE: usize = 1 << 22;

/// Asks the system for large pages for new memory, if it is much: the first write to each page of the usual size costs more than
/// writing what it holds. Nothing depends on the answer.
pub(crate) fn large_pages(start: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    if size >= LARGE {
        const PAGE: usize = 4096;
        let skip = start.align_offset(PAGE);
        if let Some(rest) = size.checked_sub(skip).map(|n| n / PAGE * PAGE) {
            // SAFETY: whole pages within the block; advice changes no contents.
            unsafe { libc::madvise(start.add(skip).cast(), rest, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, size, LARGE);
}

/// A block of bytes without values.
pub(crate) struct Memory {
    start: NonNull<u8>,
    size: usize,
    /// What it is in, if that is not the heap.
    fence: Option<Fence>,
}

// SAFETY: a block is plain memory that only its owner gives out.
unsafe impl Send for Memory {}
// SAFETY: a shared reference gives nothing but the address.
unsafe impl Sync for Memory {}

impl Memory {
    /// No bytes.
    pub const fn empty() -> Memory {
        // SAFETY: ALIGN is not 0.
        Memory { start: unsafe { NonNull::new_unchecked(ALIGN as *mut u8) }, size: 0, fence: None }
    }
    /// A block; `None` where there is not enough memory.
    pub fn new(size: usize) -> Option<Memory> {
        if size == 0 {
            return Some(Memory::empty());
        }
        let layout = Layout::from_size_align(size, ALIGN).ok()?;
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        large_pages(start.as_ptr(), size);
        Some(Memory { start, size, fence: None })
    }
    /// A block of exactly so many bytes beside a page that nobody may touch; `None` where there is not enough memory.
    pub fn fenced(size: usize, edge: Edge) -> Option<Memory> {
        let (fence, start) = Fence::new(size, edge)?;
        Some(Memory { start, size, fence: Some(fence) })
    }
    /// From now on, nobody may write to it, if it is a block beside such a page.
    pub fn read_only(&self) {
        if let Some(f) = &self.fence {
            f.read_only();
        }
    }
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
    pub fn size(&self) -> usize {
        self.size
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
            && self.fence.is_none()
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
    /// Instead of that memory, slots and constants each in a block of its own, where there are fences.
    pub apart: Vec<Memory>,
    /// Extents of arguments, one after the other.
    pub shapes: Vec<i64>,
    /// Do all guards hold?
    pub safe: bool,
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
            apart: vec![],
            shapes: vec![],
            safe: false,
            ready: false,
        }
    }
}

/// A few things that nobody uses now, for whoever needs one next. Taking and putting are exchanges of pointers: nobody
/// waits.
pub(crate) struct Cells<T, const N: usize>([AtomicPtr<T>; N]);

impl<T, const N: usize> Cells<T, N> {
    pub fn new() -> Cells<T, N> {
        Cells(std::array::from_fn(|_| AtomicPtr::new(null_mut())))
    }
    /// One that fits.
    pub fn take(&self, fits: impl Fn(&T) -> bool) -> Option<Box<T>> {
        for cell in &self.0 {
            if cell.load(Ordering::Relaxed).is_null() {
                continue;
            }
            let p = cell.swap(null_mut(), Ordering::Acquire);
            if p.is_null() {
                continue;
            }
            // SAFETY: it came from `Box::into_raw` in `put`, and the exchange made us its only owner.
            let it = unsafe { Box::from_raw(p) };
            if fits(&it) {
                return Some(it);
            }
            self.put(it);
        }
        None
    }
    /// Keeps one for others; drops it where there are as many as are kept.
    pub fn put(&self, it: Box<T>) {
        let p = Box::into_raw(it);
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

impl<T, const N: usize> Drop for Cells<T, N> {
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

/// The frames of a routine that nobody uses; more runs than this at once make frames of their own and drop them.
pub(crate) type Frames = Cells<Frame, 16>;
