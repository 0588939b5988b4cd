//! Damaged headers: no panic, and no allocation that a number in the file decides.
#![allow(unsafe_code)]

use evoxc::Tensor;
use evoxc_hf::io::gguf::Gguf;
use evoxc_hf::io::{SafeTensors, save};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, which remembers the largest request.
struct Watched;
static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on as it is.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        LARGEST.fetch_max(l.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(l) }
    }
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(p, l) }
    }
    unsafe fn realloc(&self, p: *mut u8, l: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(p, l, size) }
    }
}

#[global_allocator]
static WATCHED: Watched = Watched;

/// No honest header of the small files here needs more.
const MOST: usize = 1 << 20;

/// A name of its own: tests run beside each other.
fn file(name: &str) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let (process, n) = (std::process::id(), NUMBER.fetch_add(1, Relaxed));
    std::env::temp_dir().join(format!("evoxc-hf-mutation-{process}-{n}-{name}"))
}

/// A sound safetensors file.
fn safetensors() -> Vec<u8> {
    let path = file("sound.safetensors");
    let (a, b) = (Tensor::from([[1f32, 2.0], [3.0, 4.0]]), Tensor::from([1i32, 2, 3]));
    save(&path, [("layer.weight", &a), ("layer.ids", &b)], []).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    bytes
}

/// A sound GGUF file: metadata of several types, a tensor of f32 and one of Q8_0.
fn gguf() -> Vec<u8> {
    let text = |s: &str| [&(s.len() as u64).to_le_bytes()[..], s.as_bytes()].concat();
    let mut b = b"GGUF".to_vec();
    b.extend(3u32.to_le_bytes());
    b.extend(2u64.to_le_bytes());
    b.extend(4u64.to_le_bytes());
    b.extend([text("general.architecture"), 8u32.to_le_bytes().to_vec(), text("llama")].concat());
    b.extend([text("general.alignment"), 4u32.to_le_bytes().to_vec(), 32u32.to_le_bytes().to_vec()].concat());
    b.extend([text("scale"), 6u32.to_le_bytes().to_vec(), 1.5f32.to_le_bytes().to_vec()].concat());
    let list =
        [9u32.to_le_bytes().to_vec(), 8u32.to_le_bytes().to_vec(), 2u64.to_le_bytes().to_vec(), text("a"), text("b")];
    b.extend([vec![text("tokens")], list.to_vec()].concat().concat());
    for (name, kind, offset) in [("a", 0u32, 0u64), ("b", 8, 128)] {
        b.extend([text(name), 1u32.to_le_bytes().to_vec(), 32u64.to_le_bytes().to_vec()].concat());
        b.extend([kind.to_le_bytes().to_vec(), offset.to_le_bytes().to_vec()].concat());
    }
    b.resize(b.len().next_multiple_of(32), 0);
    b.extend((0..32).flat_map(|i| (i as f32).to_le_bytes()));
    b.extend([[0x00, 0x3C].as_slice(), &[7; 32]].concat());
    b
}

/// Opens a file of these bytes, and reads every tensor that it lists; whether it was sound.
fn read(name: &str, bytes: &[u8]) -> bool {
    let path = file(name);
    std::fs::write(&path, bytes).unwrap();
    LARGEST.store(0, Relaxed);
    let sound = match name {
        "safetensors" => SafeTensors::open(&path).is_ok_and(|f| f.entries().keys().all(|n| f.tensor(n).is_ok())),
        _ => Gguf::open(&path).is_ok_and(|f| f.tensors().keys().all(|n| f.tensor(n).is_ok())),
    };
    let largest = LARGEST.load(Relaxed);
    std::fs::remove_file(&path).unwrap();
    assert!(largest <= MOST, "{largest} bytes at once, for a file of {}", bytes.len());
    sound
}

/// A change to a file.
#[derive(Clone, Debug)]
enum Change {
    /// Another byte.
    Byte(usize, u8),
    /// Another number of eight bytes: the extremes that lengths and offsets go wrong at.
    Number(usize, u64),
    /// The end is missing.
    Cut(usize),
    /// More bytes in the middle.
    Insert(usize, Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let extreme = prop_oneof![
        Just(u64::MAX),
        Just(1 << 63),
        Just(1 << 62),
        Just(1 << 40),
        Just(1 << 32),
        Just(u64::from(u32::MAX)),
        any::<u64>(),
        0u64..300
    ];
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, b)| Change::Byte(at, b)),
        (any::<usize>(), extreme).prop_map(|(at, n)| Change::Number(at, n)),
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), prop::collection::vec(any::<u8>(), 1..20)).prop_map(|(at, b)| Change::Insert(at, b)),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for c in changes {
        let n = bytes.len().max(1);
        match c {
            Change::Byte(at, b) => bytes.iter_mut().skip(at % n).take(1).for_each(|x| *x = *b),
            Change::Number(at, v) => {
                bytes.iter_mut().skip(at % n).zip(v.to_le_bytes()).for_each(|(x, b)| *x = b);
            }
            Change::Cut(at) => bytes.truncate(at % n),
            Change::Insert(at, more) => {
                let at = (at % n).min(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn the_unchanged_files_are_sound() {
    assert!(read("safetensors", &safetensors()));
    assert!(read("gguf", &gguf()));
}

/// Every number that a header holds, at every byte of it, as an extreme.
#[test]
fn extremes_everywhere() {
    for (name, bytes) in [("safetensors", safetensors()), ("gguf", gguf())] {
        for at in 0..bytes.len().min(400) {
            for n in [u64::MAX, 1 << 61, 1 << 40, 0] {
                read(name, &changed(bytes.clone(), &[Change::Number(at, n)]));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn damaged_safetensors(changes in prop::collection::vec(change(), 1..4)) {
        read("safetensors", &changed(safetensors(), &changes));
    }
    #[test]
    fn damaged_gguf(changes in prop::collection::vec(change(), 1..4)) {
        read("gguf", &changed(gguf(), &changes));
    }
}
