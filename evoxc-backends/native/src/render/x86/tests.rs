//! Tests of the x86-64 renderer.

use super::X86;
use crate::render::suite;

fn renderer() -> Option<X86> {
    let x86 = X86::new();
    if x86.is_none() {
        println!("skipped: this processor has no AVX2, FMA, F16C, BMI2");
    }
    x86
}

#[test]
fn every_instruction_is_that_of_the_interpreter() {
    let Some(x86) = renderer() else { return };
    suite::sweep(&x86);
}

#[test]
fn random_kernels_are_those_of_the_interpreter() {
    let Some(x86) = renderer() else { return };
    suite::check(&x86);
}
