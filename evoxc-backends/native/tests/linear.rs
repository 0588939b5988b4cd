//! Compiling takes work in proportion to the program: memory asked for and code made, which, unlike time, are the same in every
//! run. A pass that copies what it has so far, or code that repeats, shows in these.

use evoxc::{Native, prelude::*};
use evoxc_ir::Module;
use evoxc_stage::Backend;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that were asked for, and how often, by all threads.
static BYTES: AtomicUsize = AtomicUsize::new(0);
static TIMES: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all is done by the system's allocator, which is one.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        TIMES.fetch_add(1, Ordering::Relaxed);
        // SAFETY: what is asked of us is asked of it.
        unsafe { System.alloc(layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.fetch_add(size, Ordering::Relaxed);
        TIMES.fetch_add(1, Ordering::Relaxed);
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

/// A chain of element-wise ops, two thirds of them cheap.
fn chain(x: Sym, n: usize) -> Sym {
    (0..n).fold(x, |y, i| match i % 3 {
        0 => y + x,
        1 => y * x,
        _ => y.tanh(),
    })
}

/// Results that share their input only.
fn wide(x: Sym, n: usize) -> Vec<Sym> {
    (0..n / 2).map(|i| (x + i as f32).exp()).collect()
}

/// Layers of products, reductions and element-wise ops: ten ops each.
fn layers(x: Sym, w: Sym, n: usize) -> Sym {
    (0..n / 10).fold(x, |h, _| (h.dot(w) + 0.5).tanh().softmax(1) + h)
}

/// Bytes, allocations, and lines of code of a program compiled.
fn work(module: &Module) -> [usize; 3] {
    // Interpreted code is a line for each instruction on every host.
    let native = Native::interp().threads(1);
    let (bytes, times) = (BYTES.load(Ordering::Relaxed), TIMES.load(Ordering::Relaxed));
    let artifact = native.lower(module).and_then(|l| native.compile(&l)).unwrap_or_else(|e| panic!("{e}"));
    let program = native.load(&artifact, Device::cpu()).unwrap_or_else(|e| panic!("{e}"));
    let counts = [BYTES.load(Ordering::Relaxed) - bytes, TIMES.load(Ordering::Relaxed) - times];
    drop(program);
    let lines = artifact.code().iter().map(|text| text.lines().count()).sum();
    [counts[0], counts[1], lines]
}

#[test]
fn work_grows_with_the_program() {
    let must = |r: evoxc::Result<[usize; 3]>| r.unwrap_or_else(|e| panic!("{e}"));
    let kinds: [(&str, &dyn Fn(usize) -> evoxc::Result<[usize; 3]>); 3] = [
        ("chain", &|n| Ok(work(trace(|x: Sym| chain(x, n), spec(F32, [64]))?.module()))),
        ("wide", &|n| Ok(work(trace(|x: Sym| wide(x, n), spec(F32, [64]))?.module()))),
        ("layers", &|n| {
            let of = (spec(F32, [16, 16]), spec(F32, [16, 16]));
            Ok(work(trace(|x: Sym, w: Sym| layers(x, w, n), of)?.module()))
        }),
    ];
    for (name, of) in kinds {
        // Once for what is made once in a process.
        must(of(100));
        let (small, large) = (must(of(400)), must(of(3200)));
        println!("{name}: {small:?} and {large:?}");
        for (s, l) in small.into_iter().zip(large) {
            // Eight times the program. Tables double, so that the memory of the larger one may be twice what it needs.
            assert!(l <= s * 14, "{name}: {small:?} grows to {large:?}");
        }
    }
}
