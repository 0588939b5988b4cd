//! Transposes of Fourier transforms and triangular solves: without conjugation, as all transposes here.

use super::{Cotangents, Input, Site};
use crate::matrices::Solve;
use crate::no_rule;
use evoxc_core::{Dim, I32, OpError};
use evoxc_ir::{FftKind, LinTranspose, Prim};
use evoxc_trace::{Sym, emitter, iota, ones, zeros};
use smallvec::smallvec;

/// By the kind. The matrices of `fft` and `ifft` are symmetric.
pub(super) fn fft(site: &Site, kind: FftKind, length: &[Dim]) -> Result<Cotangents, OpError> {
    let Some(ct) = site.ct[0] else { return Ok(smallvec![None]) };
    Ok(smallvec![Some(match kind {
        FftKind::Fft | FftKind::Ifft => emitter::emit(site.op.prim.clone(), &[ct]),
        FftKind::Rfft => rfft(ct, length),
        FftKind::Irfft => irfft(ct, length),
    })])
}

/// `rfft` is the front half of the `fft` of the reals as complex numbers: padded back, transformed, the real part.
fn rfft(ct: Sym, length: &[Dim]) -> Sym {
    let (rank, last) = (ct.rank(), length.last().copied().unwrap_or(Dim::constant(1)));
    let low = vec![Dim::constant(0); rank];
    let mut high = low.clone();
    high[rank - 1] = last - ct.dim(-1);
    let whole = emitter::emit(Prim::Pad { low, high, interior: vec![0; rank] }, &[ct, zeros(ct.dtype(), [])]);
    emitter::emit(Prim::Fft { kind: FftKind::Fft, length: length.to_vec() }, &[whole]).real()
}

/// Every entry of the half spectrum stands for itself and for its mirror image, but for the first, and for the middle of
/// an even length, which are their own.
fn irfft(ct: Sym, length: &[Dim]) -> Sym {
    let spectrum = emitter::emit(Prim::Fft { kind: FftKind::Rfft, length: length.to_vec() }, &[ct]);
    let last = length.last().copied().unwrap_or(Dim::constant(1));
    let k = iota(I32, [spectrum.dim(-1)], 0);
    let own = k.eq(0) | (k * 2).eq(last);
    let weight = own.select(ones(ct.dtype(), []), 2.0);
    let size = length.iter().fold(Dim::constant(1), |n, &d| n * d);
    let weight = (weight / size).cast(spectrum.dtype());
    spectrum.conj() * weight
}

/// A solve with the transposed matrix: linear in b alone.
pub(super) fn triangular_solve(site: &Site, solve: Solve) -> Result<Cotangents, OpError> {
    let ([Input::Known(a), Input::Linear(_)], Some(ct)) = (site.x, site.ct[0]) else {
        return Err(no_rule(&site.op.prim, "it is not linear in its matrix", "report this: a jvp rule wrote it"));
    };
    let (a, transpose) = match solve.transpose {
        LinTranspose::None => (*a, LinTranspose::Transpose),
        LinTranspose::Transpose => (*a, LinTranspose::None),
        // The inverse of aᴴ, transposed, is that of the conjugate.
        LinTranspose::Adjoint if a.dtype().is_complex() => (a.conj(), LinTranspose::None),
        LinTranspose::Adjoint => (*a, LinTranspose::None),
    };
    Ok(smallvec![None, Some(Solve { transpose, ..solve }.apply(a, ct))])
}
