//! Fourier transforms and matrix factorisations.

use crate::import::attrs::dims;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::Op;
use evoxc_core::DType;
use evoxc_ir::{FftKind, LinTranspose, Prim};
use evoxc_trace::Sym;

pub fn fft<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let word = i.word(op, "fft_type")?;
    let Some(kind) = FftKind::from_word(&word.to_ascii_lowercase()) else {
        return Err(i.error(op, format!("`{word}` is no kind of transform")));
    };
    let length = dims(&i.needed_ints(op, "fft_length")?);
    Ok(vec![i.emit(op, Prim::Fft { kind, length }, &[x])?.into()])
}

pub fn cholesky<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [a] = i.operands(op)?;
    let lower = i.flag(op, "lower")?;
    Ok(vec![wide(i, op, [a], |xs| i.emit(op, Prim::Cholesky { lower }, xs))?.into()])
}

pub fn triangular_solve<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.operands::<2>(op)?;
    let transpose = match i.word(op, "transpose_a")? {
        "NO_TRANSPOSE" => LinTranspose::None,
        "TRANSPOSE" => LinTranspose::Transpose,
        "ADJOINT" => LinTranspose::Adjoint,
        other => return Err(i.error(op, format!("`{other}` is none of NO_TRANSPOSE, TRANSPOSE, ADJOINT"))),
    };
    let (left, lower, unit_diagonal) = (i.flag(op, "left_side")?, i.flag(op, "lower")?, i.flag(op, "unit_diagonal")?);
    let prim = Prim::TriangularSolve { left, lower, unit_diagonal, transpose };
    Ok(vec![wide(i, op, xs, |xs| i.emit(op, prim, xs))?.into()])
}

/// Factorisations are computed in f32 at least.
fn wide<const N: usize>(i: &Importer, op: &Op, xs: [Sym; N], f: impl FnOnce(&[Sym]) -> Done<Sym>) -> Done<Sym> {
    let Some(&first) = xs.first() else { return f(&xs) };
    let dtype = i.dtype(op, first)?;
    if !matches!(dtype, DType::F16 | DType::BF16) {
        return f(&xs);
    }
    let mut wider = xs;
    for x in &mut wider {
        *x = i.cast(op, *x, DType::F32)?;
    }
    i.cast(op, f(&wider)?, dtype)
}
