//! Kernels become loops: order, tiles, lanes, accumulators, and what is hoisted out of what.

use crate::kernel::Kernel;
use crate::lir::Lir;
use crate::render::Target;
use evoxc_core::OpError;

/// How far to go: what a search varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Lanes of vectors: 1 keeps everything scalar. More than the target has counts as what it has.
    pub lanes: u8,
    /// Vectors side by side in the innermost loop.
    pub unroll: u8,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { lanes: 8, unroll: 4 }
    }
}

/// Loops and registers for a kernel that has been through [`decompose`](crate::decompose::decompose).
///
/// # Errors
/// [`OpError`] for a kernel that breaks the form, which is a fault of the compiler.
pub fn linearise(kernel: &Kernel, target: &Target, shape: Shape) -> Result<Lir, OpError> {
    let _ = (kernel, target, shape);
    Err(OpError::new("linearise", "not there yet"))
}
