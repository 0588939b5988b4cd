//! Ops of the IR become machine ops: polynomials for transcendental functions, wide arithmetic for narrow dtypes, and
//! the edge cases that the IR defines and machines do not.
//!
//! Coefficients of polynomials are minimax: found by Remez' exchange in 60 digits on the reduced interval, for the
//! relative error of the function itself, then rounded one after the other from the lowest degree on, the rest fitted
//! again after each rounding.

mod binary;
mod compare;
mod emit;
mod erf;
mod exp;
mod float;
mod hyperbolic;
mod integer;
mod inverse;
mod library;
mod log;
mod pass;
mod power;
mod precision;
mod reduce;
mod root;
#[cfg(test)]
mod tests;
mod trig;
mod unary;

use crate::kernel::Kernel;
use evoxc_core::OpError;

/// How exactly floats are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Every op rounds to its dtype; products and sums are fused only inside contractions.
    #[default]
    Strict,
    /// Products and sums may be fused, sums reassociated, and `f16`, `bf16` values kept in `f32` within a kernel.
    Fast,
}

/// Rewrites a kernel so that only machine ops on the machine's dtypes are left, with the meaning that the IR gives.
///
/// # Errors
/// [`OpError`] for an op of the IR that has no decomposition, which the scheduler does not put into kernels.
pub fn decompose(kernel: &mut Kernel, precision: Precision) -> Result<(), OpError> {
    pass::run(kernel, precision)
}
