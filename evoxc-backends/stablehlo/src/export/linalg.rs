//! Fourier transforms, factorisations, the largest elements.

use super::op::no_form;
use super::writer::{Val, Writer};
use super::{Outcome, shape, text};
use evoxc_core::{Dim, OpError, Shape, spec};
use evoxc_ir::{FftKind, LinTranspose, TensorType};

pub(super) fn top_k(w: &mut Writer<'_>, x: &Val, k: Dim, types: &[TensorType]) -> Outcome<Vec<Val>> {
    let Some(k) = k.get().filter(|_| w.options.chlo) else { return Err(no_form()) };
    let rhs = format!("chlo.top_k({x}, k = {k}) : {} -> {}", text::ty(&x.ty), text::results(types));
    Ok(w.op_many(&rhs, types))
}

pub(super) fn fft(w: &mut Writer<'_>, kind: FftKind, length: &[Dim], x: &Val, ty: TensorType) -> Outcome<Val> {
    let fixed: Option<Vec<usize>> = length.iter().map(|d| d.get()).collect();
    let Some(fixed) = fixed else {
        return Err(OpError::new("", "its length is an extent that is not constant, which StableHLO cannot say")
            .remedy("make the length constant"));
    };
    // StableHLO transforms three axes at most. A real transform is of the last ones, where they are real.
    let (outer, inner) = fixed.split_at(fixed.len().saturating_sub(3));
    if outer.is_empty() {
        return Ok(transform(w, kind, inner, x, ty));
    }
    let first = match kind {
        FftKind::Fft | FftKind::Rfft => FftKind::Fft,
        FftKind::Ifft | FftKind::Irfft => FftKind::Ifft,
    };
    let rest: Vec<Dim> = length.iter().take(outer.len()).copied().collect();
    match kind {
        FftKind::Fft | FftKind::Ifft | FftKind::Rfft => {
            let y = transform(w, kind, inner, x, ty.clone());
            leading(w, first, &rest, inner.len(), &y)
        }
        FftKind::Irfft => {
            let y = leading(w, first, &rest, inner.len(), x)?;
            Ok(transform(w, kind, inner, &y, ty))
        }
    }
}

fn transform(w: &mut Writer<'_>, kind: FftKind, length: &[usize], x: &Val, ty: TensorType) -> Val {
    let word = match kind {
        FftKind::Fft => "FFT",
        FftKind::Ifft => "IFFT",
        FftKind::Rfft => "RFFT",
        FftKind::Irfft => "IRFFT",
    };
    w.typed("fft", &[x], &format!(", type = {word}, length = {}", text::brackets(length)), ty)
}

/// A complex transform of the axes before the last `after` ones: these go to the end and back.
fn leading(w: &mut Writer<'_>, kind: FftKind, length: &[Dim], after: usize, x: &Val) -> Outcome<Val> {
    let rank = x.rank();
    let batch = rank.saturating_sub(length.len() + after);
    let there: Vec<usize> = (0..batch).chain(rank - after..rank).chain(batch..rank - after).collect();
    let mut back = vec![0; rank];
    there.iter().enumerate().for_each(|(to, &from)| back[from] = to);
    let shape: Shape = there.iter().map(|&a| x.shape()[a]).collect();
    let moved = shape::transpose(w, x, &there, spec(x.dtype(), shape))?;
    let y = fft(w, kind, length, &moved, moved.ty.clone())?;
    shape::transpose(w, &y, &back, x.ty.clone())
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
