//! Transposes of Fourier transforms and triangular solves.

use super::{Cotangents, Site};
use crate::no_rule;
use evoxc_core::{Dim, OpError};
use evoxc_ir::FftKind;

/// By the kind.
pub(super) fn fft(site: &Site, kind: FftKind, length: &[Dim]) -> Result<Cotangents, OpError> {
    let _ = (kind, length);
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// A solve with the transposed matrix.
pub(super) fn triangular_solve(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}
