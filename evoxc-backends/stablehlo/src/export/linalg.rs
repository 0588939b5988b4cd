//! Fourier transforms, factorisations, the largest elements.

use super::op::no_form;
use super::writer::{Val, Writer};
use super::{Outcome, text};
use evoxc_core::{Dim, OpError};
use evoxc_ir::{FftKind, LinTranspose, TensorType};

pub(super) fn top_k(w: &mut Writer<'_>, x: &Val, k: Dim, types: &[TensorType]) -> Outcome<Vec<Val>> {
    let Some(k) = k.get().filter(|_| w.options.chlo) else { return Err(no_form()) };
    let rhs = format!("chlo.top_k({x}, k = {k}) : {} -> {}", text::ty(&x.ty), text::results(types));
    Ok(w.op_many(&rhs, types))
}

pub(super) fn fft(w: &mut Writer<'_>, kind: FftKind, length: &[Dim], x: &Val, ty: TensorType) -> Outcome<Val> {
    let word = match kind {
        FftKind::Fft => "FFT",
        FftKind::Ifft => "IFFT",
        FftKind::Rfft => "RFFT",
        FftKind::Irfft => "IRFFT",
    };
    let fixed: Option<Vec<usize>> = length.iter().map(|d| d.get()).collect();
    let Some(fixed) = fixed else {
        return Err(OpError::new("", "its length is an extent that is not constant, which StableHLO cannot say")
            .remedy("make the length constant"));
    };
    if fixed.len() > 3 {
        return Err(OpError::new("", format!("it transforms {} axes, StableHLO at most 3", fixed.len()))
            .remedy("transform the axes by several `fft`s"));
    }
    Ok(w.typed("fft", &[x], &format!(", type = {word}, length = {}", text::brackets(fixed)), ty))
}

pub(super) fn cholesky(w: &mut Writer<'_>, a: &Val, lower: bool) -> Outcome<Val> {
    let attribute = if lower { ", lower = true" } else { "" };
    let rhs = format!("stablehlo.cholesky {a}{attribute} : {}", text::ty(&a.ty));
    Ok(w.op(&rhs, a.ty.clone()))
}

pub(super) fn triangular_solve(
    w: &mut Writer<'_>,
    [a, b]: [&Val; 2],
    [left, lower, unit]: [bool; 3],
    transpose: LinTranspose,
) -> Outcome<Val> {
    let word = match transpose {
        LinTranspose::None => "NO_TRANSPOSE",
        LinTranspose::Transpose => "TRANSPOSE",
        LinTranspose::Adjoint => "ADJOINT",
    };
    let attributes = format!(
        "left_side = {left}, lower = {lower}, transpose_a = #stablehlo<transpose {word}>, unit_diagonal = {unit}"
    );
    Ok(w.generic("triangular_solve", &[a, b], &attributes, b.ty.clone()))
}
