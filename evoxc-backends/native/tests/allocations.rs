//! A program that has run before asks for no memory but for its results, and for what the crate `gemm` brings operands of
//! products into its order in.

use evoxc::{Native, prelude::*, scan};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that were asked for, by all threads.
static BYTES: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all is done by the system's allocator, which is one.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: what is asked of us is asked of it.
        unsafe { System.alloc(layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.fetch_add(size, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(p, layout, size) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a run of a program that has run before may ask for beside its results: lists of arguments, shapes, a harness's line.
const SMALL: usize = 8 << 10;

/// Runs a few times; the least that a run asks for beside its results is small. A thread's first product asks for memory that
/// the thread keeps, so that not every run is as good as the best. `packed` bytes more are what `gemm` asks for each time.
#[track_caller]
fn check(what: &str, f: impl Fn(Vec<Sym>) -> Vec<Sym>, shapes: &[&[usize]], packed: usize) {
    let specs: Vec<_> = shapes.iter().map(|&s| spec(F32, s)).collect();
    for threads in [1, 2] {
        let native = Native::default().threads(threads);
        let exe = trace(&f, specs.clone()).and_then(|g| g.lower(&native)?.compile()?.load(Device::cpu()));
        let exe = exe.unwrap_or_else(|e| panic!("{e:?}"));
        let args: Vec<Tensor> = shapes.iter().map(|&s| Tensor::ones(F32, s)).collect();
        // Kept, as memory of results that nobody has any more serves new ones.
        let mut kept = Vec::with_capacity(16);
        let mut least = usize::MAX;
        for _ in 0..16 {
            let mine = args.clone();
            let before = BYTES.load(Ordering::Relaxed);
            let results = exe.run(mine).unwrap_or_else(|e| panic!("{e:?}"));
            let asked = BYTES.load(Ordering::Relaxed) - before;
            let size: usize = results.iter().map(|r| r.buffer().bytes().len()).sum();
            least = least.min(asked.checked_sub(size).unwrap_or_else(|| panic!("{what}: {asked} of {size} bytes")));
            kept.push(results);
        }
        assert!(least < SMALL + packed, "{what}: {least} bytes on {threads} threads");
    }
}

#[test]
fn runs_ask_for_nothing_but_results() {
    check("a chain", |a| vec![(a[0] * 2.0).tanh() + a[0]], &[&[1000]], 0);
    check("a row that is kept", |a| vec![a[0].softmax(1)], &[&[64, 1000]], 0);
    check("a product", |a| vec![a[0].dot(a[1])], &[&[256, 256], &[256, 256]], 2 * 256 * 256 * 4);
    // Of 32 rows, which `gemm` makes up to 64 of, once for every 512 columns.
    let packed = 2 * 512 * 64 * 4;
    check("few rows by a transposed matrix", |a| vec![a[0].dot(a[1].t())], &[&[32, 512], &[1024, 512]], packed);
    check(
        "products and what is between",
        |a| vec![a[0].dot(a[1].t()).tanh().dot(a[1])],
        &[&[32, 512], &[1024, 512]],
        packed,
    );
    let step = |h: Sym, x: Sym, w: Sym| (h.dot(w) + x).tanh();
    let rnn = |a: Vec<Sym>| {
        let (h, hs) = scan(a[0], a[1], |h: Sym, x: Sym| (step(h, x, a[2]), h));
        vec![h, hs]
    };
    check("a loop", rnn, &[&[8, 256], &[20, 8, 256], &[256, 256]], 0);
}
