//! Memory that can run: pages that many kernels share.
//!
//! A chunk of memory is mapped twice, once to write and once to run, so that no page is ever both under one address, and
//! code can be added while other code of the same page runs. Where that cannot be had, every kernel has pages of its own,
//! which change from the one to the other. A chunk is unmapped when the last kernel in it goes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const CHUNK: usize = 256 << 10;
const ALIGN: usize = 64;

/// Bytes of all chunks of the process.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// Bytes of memory that is mapped for code now.
pub fn mapped() -> usize {
    MAPPED.load(Ordering::Relaxed)
}

/// Mapped memory.
pub struct Chunk {
    write: *mut u8,
    run: *const u8,
    size: usize,
}

// SAFETY: the memory is written through `Heap::place` alone, under its lock, to parts that no code was given yet; what was
// given is only read and run.
unsafe impl Send for Chunk {}
// SAFETY: as above.
unsafe impl Sync for Chunk {}

impl Drop for Chunk {
    fn drop(&mut self) {
        MAPPED.fetch_sub(self.size, Ordering::Relaxed);
        // SAFETY: both were mapped with that size by `Chunk::new` or `Chunk::single`, and no code in them is left.
        unsafe {
            libc::munmap(self.run as *mut _, self.size);
            if !std::ptr::eq(self.write, self.run) {
                libc::munmap(self.write.cast(), self.size);
            }
        }
    }
}

fn map(size: usize, protection: i32, flags: i32, file: i32) -> Option<*mut u8> {
    // SAFETY: a new mapping at an address of the system's choice.
    let p = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, file, 0) };
    if p == libc::MAP_FAILED { None } else { Some(p.cast()) }
}

impl Chunk {
    /// Counted.
    fn over(write: *mut u8, run: *const u8, size: usize) -> Chunk {
        MAPPED.fetch_add(size, Ordering::Relaxed);
        Chunk { write, run, size }
    }
    /// Mapped twice.
    #[cfg(target_os = "linux")]
    fn new(size: usize) -> Option<Chunk> {
        // SAFETY: the name is a string that ends with 0; the file is closed below.
        let file = unsafe { libc::memfd_create(c"evoxc".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return None;
        }
        // SAFETY: the file is open.
        let sized = unsafe { libc::ftruncate(file, size as libc::off_t) } == 0;
        let both = if sized {
            let write = map(size, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file);
            write.and_then(|write| match map(size, libc::PROT_READ | libc::PROT_EXEC, libc::MAP_SHARED, file) {
                Some(run) => Some(Chunk::over(write, run, size)),
                None => {
                    // SAFETY: it was just mapped with that size.
                    unsafe { libc::munmap(write.cast(), size) };
                    None
                }
            })
        } else {
            None
        };
        // SAFETY: the file is open; mappings keep its memory.
        unsafe { libc::close(file) };
        both
    }
    #[cfg(not(target_os = "linux"))]
    fn new(_: usize) -> Option<Chunk> {
        None
    }

    /// Pages for one kernel.
    fn single(bytes: &[u8]) -> Option<Chunk> {
        let size = bytes.len().next_multiple_of(4096);
        let p = map(size, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON, -1)?;
        let chunk = Chunk::over(p, p, size);
        // SAFETY: the mapping has that size, and is no one else's.
        let ready = unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), p, bytes.len());
            libc::mprotect(p.cast(), size, libc::PROT_READ | libc::PROT_EXEC) == 0
        };
        ready.then_some(chunk)
    }
}

/// Code in place, which stays as long as this does.
pub struct Placed {
    chunk: Arc<Chunk>,
    offset: usize,
    len: usize,
}

impl Placed {
    /// Where it starts.
    pub fn address(&self) -> *const u8 {
        // SAFETY: `offset` is within the mapping.
        unsafe { self.chunk.run.add(self.offset) }
    }
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `offset` and `len` are within the mapping, which can be read, and no one writes there any more.
        unsafe { std::slice::from_raw_parts(self.address(), self.len) }
    }
}

/// Where code goes.
#[derive(Default)]
pub struct Heap {
    current: Mutex<Option<(Arc<Chunk>, usize)>>,
}

impl Heap {
    /// Copies code to memory that can run.
    pub fn place(&self, bytes: &[u8]) -> Option<Placed> {
        let len = bytes.len();
        let mut current = self.current.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((chunk, used)) = current.as_mut()
            && chunk.size - *used < len
        {
            // Full. If nothing in it lives any more it is used again: what ran there last is long done.
            if Arc::strong_count(chunk) == 1 && chunk.size >= len {
                *used = 0;
            } else {
                *current = None;
            }
        }
        if current.is_none() {
            let size = len.next_multiple_of(CHUNK);
            match Chunk::new(size) {
                Some(chunk) => *current = Some((Arc::new(chunk), 0)),
                None => {
                    let chunk = Arc::new(Chunk::single(bytes)?);
                    return Some(Placed { chunk, offset: 0, len });
                }
            }
        }
        let (chunk, used) = current.as_mut()?;
        let offset = *used;
        *used = (offset + len).next_multiple_of(ALIGN).min(chunk.size);
        // SAFETY: the part from `offset` on was given to no one, and `len` bytes of it are within the mapping. The two
        // mappings are the same memory, so the copy is what runs; x86 keeps instructions and data coherent, and this
        // memory has not run since it was mapped, or not since all of its code went.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), chunk.write.add(offset), len) };
        Some(Placed { chunk: chunk.clone(), offset, len })
    }
}
