//! What the machine code of kernels looks like.

#![cfg(target_arch = "x86_64")]

use evoxc::{Native, prelude::*};

/// The code of a chain on so many floats, or nothing where the processor has another kind.
fn code(len: impl evoxc::IntoShape) -> Option<String> {
    let graph = trace(|x: Sym| (x * 2.0 + 1.0) * x, spec(F32, len)).unwrap_or_else(|e| panic!("{e}"));
    let lowered = graph.lower(&Native::default()).unwrap_or_else(|e| panic!("{e}"));
    let artifact = lowered.compile().unwrap_or_else(|e| panic!("{e}"));
    let text = artifact.code().concat();
    let machine = text.contains("vmulps");
    if !machine {
        println!("skipped: this processor is not one that machine code is made for");
    }
    machine.then_some(text)
}

/// Outputs beyond the caches (64 MiB at most) are stored past them, whatever part of them a thread does.
#[test]
fn large_outputs_go_past_the_caches() {
    let Some(text) = code([1 << 25]) else { return };
    assert!(text.contains("vmovntps"), "{text}");
    let Some(text) = code([1 << 16]) else { return };
    assert!(!text.contains("vmovntps"), "{text}");
}

/// Whole vectors leave nothing for scalars.
#[test]
fn scalars_are_for_what_vectors_leave() {
    for len in [64, 1000, 1 << 20, 1 << 25] {
        let Some(text) = code([len]) else { return };
        assert!(!text.contains("vmulss"), "{len}: {text}");
    }
    let Some(text) = code([(1 << 20) + 3]) else { return };
    assert!(text.contains("vmulss"), "{text}");
    let Some(text) = code([dim("N")]) else { return };
    assert!(text.contains("vmulss"), "{text}");
}
