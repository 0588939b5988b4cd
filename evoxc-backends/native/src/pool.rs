//! A small pool of threads that split loops: they spin briefly between two jobs, then sleep.
//!
//! A loop is cut into chunks of iterations, and threads take one after the other. Which thread runs which chunk does not
//! show in results, because iterations are independent of each other. A pool that is busy is not waited for: the caller
//! then does its loop alone.

use std::cell::UnsafeCell;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

/// Looks for a new job so often before a thread sleeps: some 20 µs.
const SPINS: u32 = 1 << 10;
/// Chunks for each thread, so that one that is slower holds up the others for a part of its share only.
const CHUNKS: i64 = 4;
/// More threads than this are not started.
const MOST: usize = 1024;
/// Set in [`Shared::inside`] while there is no job to take part in.
const CLOSED: usize = 1 << 32;

/// What a job does: iterations from, below, and the number of the thread, which is below the number of threads.
type Work<'w> = &'w (dyn Fn(i64, i64, usize) + Sync);

struct Job {
    work: *const (dyn Fn(i64, i64, usize) + Sync),
    extent: i64,
    chunk: i64,
}

struct Shared {
    /// Counts jobs; a thread that sees a new number looks for work.
    epoch: AtomicU64,
    /// Threads in the job, and [`CLOSED`].
    inside: AtomicUsize,
    /// The first iteration that nobody has taken.
    next: AtomicI64,
    /// What to do: written while nobody is inside and the job is closed.
    job: UnsafeCell<Job>,
    /// Is a caller using the pool?
    busy: AtomicBool,
    stop: AtomicBool,
    /// Has a thread panicked in the current job?
    failed: AtomicBool,
    asleep: Vec<AtomicBool>,
}

// SAFETY: `job` is written by the one caller that holds `busy`, while the job is closed and nobody is inside; it is read by
// threads that entered after it was opened. `inside` orders the two.
unsafe impl Sync for Shared {}
// SAFETY: the pointer inside `job` is used only while the caller that it borrows from waits.
unsafe impl Send for Shared {}

impl Shared {
    /// Takes chunks until there are none.
    ///
    /// # Safety
    /// The job is open, or the caller is inside.
    unsafe fn work(&self, thread: usize) {
        // SAFETY: see `Sync`.
        let job = unsafe { &*self.job.get() };
        loop {
            let from = self.next.fetch_add(job.chunk, Ordering::Relaxed);
            if from >= job.extent {
                return;
            }
            // SAFETY: whoever opened the job waits until all that are inside have left.
            unsafe { (*job.work)(from, (from + job.chunk).min(job.extent), thread) };
        }
    }

    fn serve(&self, number: usize) {
        let mut seen = 0;
        loop {
            let mut spins = 0;
            while self.epoch.load(Ordering::Acquire) == seen {
                spins += 1;
                if spins < SPINS {
                    std::hint::spin_loop();
                    continue;
                }
                // Either the caller sees that we sleep, or we see its job.
                self.asleep[number].store(true, Ordering::SeqCst);
                if self.epoch.load(Ordering::SeqCst) == seen {
                    thread::park();
                }
                self.asleep[number].store(false, Ordering::SeqCst);
                spins = 0;
            }
            seen = self.epoch.load(Ordering::Acquire);
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            let open = self.inside.fetch_add(1, Ordering::AcqRel) & CLOSED == 0;
            if open {
                // SAFETY: we are inside a job that was open when we entered.
                let done = catch_unwind(AssertUnwindSafe(|| unsafe { self.work(number + 1) }));
                if done.is_err() {
                    self.failed.store(true, Ordering::Relaxed);
                }
            }
            self.inside.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Ends a job when it is dropped, also by a panic: closes it and waits until all have left.
struct End<'s>(&'s Shared);
impl End<'_> {
    fn wait(&self) {
        self.0.inside.fetch_or(CLOSED, Ordering::AcqRel);
        let mut spins = 0u32;
        while self.0.inside.load(Ordering::Acquire) != CLOSED {
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { thread::yield_now() }
        }
    }
}
impl Drop for End<'_> {
    fn drop(&mut self) {
        self.wait();
        // If the caller itself panics, that is what is told.
        if thread::panicking() {
            self.0.failed.store(false, Ordering::Relaxed);
        }
        self.0.busy.store(false, Ordering::Release);
    }
}

/// Threads that help the one that calls. They start with the first loop that needs them.
pub struct Pool {
    shared: Arc<Shared>,
    helpers: OnceLock<Vec<JoinHandle<()>>>,
    count: usize,
}

/// The shared pool of a number of threads, by default of as many as the host runs at once: found when it is first needed, as
/// programs of little work need none, and how many the host runs takes files of the system to read.
pub struct SharedPool {
    threads: Option<usize>,
    pool: OnceLock<Arc<Pool>>,
}

impl SharedPool {
    /// Not found yet.
    pub fn new(threads: Option<usize>) -> SharedPool {
        SharedPool { threads, pool: OnceLock::new() }
    }
}
impl Deref for SharedPool {
    type Target = Pool;
    fn deref(&self) -> &Pool {
        self.pool.get_or_init(|| {
            static ALL: OnceLock<usize> = OnceLock::new();
            let all = || *ALL.get_or_init(|| thread::available_parallelism().map_or(1, usize::from));
            Pool::shared(self.threads.unwrap_or_else(all))
        })
    }
}

impl Pool {
    /// A pool of `threads` in all, at most 1024, the caller among them. Fewer where the system gives no more.
    pub fn new(threads: usize) -> Pool {
        let count = threads.clamp(1, MOST);
        let nothing: Work<'static> = &|_, _, _| {};
        let shared = Arc::new(Shared {
            epoch: AtomicU64::new(0),
            inside: AtomicUsize::new(CLOSED),
            next: AtomicI64::new(0),
            job: UnsafeCell::new(Job { work: nothing, extent: 0, chunk: 1 }),
            busy: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            asleep: (1..count).map(|_| AtomicBool::new(false)).collect(),
        });
        Pool { shared, helpers: OnceLock::new(), count }
    }

    fn helpers(&self) -> &[JoinHandle<()>] {
        let spawn = |n: usize| {
            let shared = self.shared.clone();
            thread::Builder::new().name(format!("evoxc-{}", n + 1)).spawn(move || shared.serve(n)).ok()
        };
        self.helpers.get_or_init(|| (0..self.count - 1).map_while(spawn).collect())
    }

    /// The pool of so many threads that all programs of this process share, from the first on: its threads sleep while
    /// nobody needs them.
    pub fn shared(threads: usize) -> Arc<Pool> {
        static POOLS: Mutex<Vec<Arc<Pool>>> = Mutex::new(Vec::new());
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(p) = pools.iter().find(|p| p.count == threads.clamp(1, MOST)) {
            return p.clone();
        }
        let pool = Arc::new(Pool::new(threads));
        pools.push(pool.clone());
        pool
    }

    /// The number of threads, the caller among them.
    pub fn threads(&self) -> usize {
        self.count
    }

    /// Does iterations 0 to below `extent`, on several threads if there are at least `grain` for each.
    pub fn split(&self, extent: i64, grain: i64, work: Work) {
        let most = extent / grain.max(1);
        let threads = (self.threads() as i64).min(most);
        if threads < 2 || self.shared.busy.swap(true, Ordering::Acquire) {
            if extent > 0 {
                work(0, extent, 0);
            }
            return;
        }
        let (shared, helpers) = (&*self.shared, self.helpers());
        let chunks = most.min(threads * CHUNKS);
        // SAFETY: only the lifetime changes. We are the one caller (`busy`) and do not return before everybody who entered
        // the job has left it; nobody is inside and it is closed, so nobody reads `job`.
        unsafe {
            let work = std::mem::transmute::<Work<'_>, Work<'static>>(work);
            *shared.job.get() = Job { work, extent, chunk: (extent + chunks - 1) / chunks };
        }
        shared.next.store(0, Ordering::Relaxed);
        shared.inside.fetch_and(!CLOSED, Ordering::AcqRel);
        shared.epoch.fetch_add(1, Ordering::SeqCst);
        for (asleep, helper) in shared.asleep.iter().zip(helpers).take(threads as usize - 1) {
            if asleep.load(Ordering::SeqCst) {
                helper.thread().unpark();
            }
        }
        let end = End(shared);
        // SAFETY: we opened the job.
        unsafe { shared.work(0) };
        // Whoever has left has said so before; the next caller's job is another.
        end.wait();
        let failed = shared.failed.swap(false, Ordering::Relaxed);
        drop(end);
        assert!(!failed, "a thread of the pool panicked");
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        for h in self.helpers.take().unwrap_or_default() {
            h.thread().unpark();
            // A thread that panicked has ended all the same.
            let _ = h.join();
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool of {}", self.threads())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_iteration_is_done_once() {
        for threads in [1, 2, 3, 8] {
            let pool = Pool::new(threads);
            for extent in [0i64, 1, 2, 7, 64, 1000] {
                for grain in [1i64, 3, 100] {
                    let done: Vec<AtomicUsize> = (0..extent).map(|_| AtomicUsize::new(0)).collect();
                    pool.split(extent, grain, &|from, to, thread| {
                        assert!(thread < threads);
                        done[from as usize..to as usize].iter().for_each(|d| {
                            d.fetch_add(1, Ordering::Relaxed);
                        });
                    });
                    assert!(done.iter().all(|d| d.load(Ordering::Relaxed) == 1), "{threads} {extent} {grain}");
                }
            }
        }
    }

    #[test]
    fn a_panic_is_told_once_and_the_pool_goes_on() {
        assert_eq!(Pool::new(usize::MAX).threads(), MOST);
        let pool = Pool::new(3);
        for _ in 0..20 {
            for bad in [0, 50, 99] {
                let run = || pool.split(100, 1, &|from, to, _| assert!(!(from..to).contains(&bad), "on purpose"));
                assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            }
            let sum = AtomicI64::new(0);
            pool.split(100, 1, &|from, to, _| {
                sum.fetch_add((from..to).sum(), Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 4950);
        }
    }

    #[test]
    fn several_callers_share_a_pool() {
        let pool = Pool::shared(3);
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..500 {
                        let sum = AtomicI64::new(0);
                        pool.split(100, 1, &|from, to, _| {
                            sum.fetch_add((from..to).sum(), Ordering::Relaxed);
                        });
                        assert_eq!(sum.into_inner(), 4950);
                    }
                });
            }
        });
    }
}
