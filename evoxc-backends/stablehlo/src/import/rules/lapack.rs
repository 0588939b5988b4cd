//! The custom calls by which JAX's programs for the CPU reach LAPACK, as factorisations of the IR.

use crate::import::attrs::find;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::{Attr, Op};
use evoxc_core::{Dim, Shape};
use evoxc_ir::{LinTranspose, Prim, Unary};
use evoxc_trace::Sym;

/// What a letter of the call's configuration says: `L`, `U`, `N` …; LAPACK's flags are the codes of letters.
fn letter(op: &Op, name: &str, otherwise: char) -> char {
    match find(&op.attrs, "mhlo.backend_config") {
        Some(Attr::Dict(fields)) => match find(fields, name) {
            Some(Attr::Int(code)) => u8::try_from(*code).map_or(otherwise, char::from),
            _ => otherwise,
        },
        _ => otherwise,
    }
}

/// The first `N` operands; others are the shapes of results, where those are not static.
fn operands<const N: usize>(i: &Importer, op: &Op) -> Done<[Sym; N]> {
    let mut all = i.tensors(op)?;
    let shapes = match find(&op.attrs, "indices_of_shape_operands") {
        Some(Attr::Dense(_)) => all.len().saturating_sub(N),
        _ => 0,
    };
    all.truncate(all.len() - shapes);
    let n = all.len();
    all.try_into().map_err(|_| i.error(op, format!("it takes {N} operands, got {n}")))
}

/// Result `k`, which says nothing here: zeros of the declared type, whose first axes are those of `a`.
fn blank(i: &Importer, op: &Op, k: usize, a: Sym) -> Done<Item> {
    let ((dtype, declared), like) = (i.declared_result(op, k)?, i.shape(op, a)?);
    let known = |(n, d): (usize, &Option<i64>)| d.map(Dim::constant).or(like.get(n).copied());
    let shape: Option<Shape> = declared.iter().enumerate().map(known).collect();
    let Some(shape) = shape else { return Err(i.error(op, "its results have more axes than its operand")) };
    Ok(i.sound(op, evoxc_trace::zeros(dtype, &shape))?.into())
}

/// The results of a LAPACK routine, by its name without the letter of its dtype; `None` for one that has no form here.
pub fn routine<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>, target: &str) -> Option<Done<Vec<Item>>> {
    let name = target.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
    Some(match name.get(1..)? {
        "potrf" => cholesky(i, op),
        "getrf" => lu(i, op),
        "trsm" => solve(i, op),
        "syevd" | "heevd" => eigen(i, op),
        "gesdd" => singular(i, op),
        "geqrf" => reflectors(i, op),
        "orgqr" | "ungqr" => orthogonal(i, op)?,
        _ => return None,
    })
}

/// The factor, and that nothing failed: a failed factor is NaN.
fn cholesky<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [a] = operands(i, op)?;
    let lower = letter(op, "uplo", 'L') == 'L';
    Ok(vec![i.emit(op, Prim::Cholesky { lower }, &[a])?.into(), blank(i, op, 1, a)?])
}

/// The packed factors, the pivots counted from 1, and that nothing failed.
fn lu<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [a] = operands(i, op)?;
    match i.emit_regions(op, Prim::Lu {}, &[a], vec![])?.as_slice() {
        &[packed, pivots, _] => Ok(vec![packed.into(), i.sound(op, pivots + 1)?.into(), blank(i, op, 2, a)?]),
        _ => Err(i.error(op, "it gives three results")),
    }
}

fn solve<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = operands::<2>(i, op)?;
    let transpose = match letter(op, "trans_x", 'N') {
        'T' => LinTranspose::Transpose,
        'C' => LinTranspose::Adjoint,
        _ => LinTranspose::None,
    };
    let prim = Prim::TriangularSolve {
        left: letter(op, "side", 'L') == 'L',
        lower: letter(op, "uplo", 'L') == 'L',
        unit_diagonal: letter(op, "diag", 'N') == 'U',
        transpose,
    };
    Ok(vec![i.emit(op, prim, &xs)?.into()])
}

/// Eigenvectors, eigenvalues, and that nothing failed.
fn eigen<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [a] = operands(i, op)?;
    let a = if letter(op, "uplo", 'L') == 'L' { a } else { adjoint(i, op, a)? };
    match i.emit_regions(op, Prim::Eigh {}, &[a], vec![])?.as_slice() {
        &[values, vectors] => Ok(vec![vectors.into(), values.into(), blank(i, op, 2, a)?]),
        _ => Err(i.error(op, "it gives two results")),
    }
}

/// The conjugate transpose, whose lower triangle is the upper one.
fn adjoint(i: &Importer, op: &Op, a: Sym) -> Done<Sym> {
    let n = i.shape(op, a)?.rank();
    let mut perm: Vec<usize> = (0..n).collect();
    if n >= 2 {
        perm.swap(n - 2, n - 1);
    }
    let t = i.emit(op, Prim::Transpose { perm }, &[a])?;
    if i.dtype(op, a)?.is_complex() { i.emit(op, Prim::Unary(Unary::Conj), &[t]) } else { Ok(t) }
}

/// What is left of the operand, singular values, both sets of vectors, and that nothing failed.
fn singular<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [a] = operands(i, op)?;
    let mode = letter(op, "mode", 'S');
    match i.emit_regions(op, Prim::Svd { full: mode == 'A' }, &[a], vec![])?.as_slice() {
        &[u, s, vh] => {
            // Without vectors these results are declared, but hold nothing.
            let (u, vh) = if mode == 'N' { (blank(i, op, 2, a)?, blank(i, op, 3, a)?) } else { (u.into(), vh.into()) };
            Ok(vec![a.into(), s.into(), u, vh, blank(i, op, 4, a)?])
        }
        _ => Err(i.error(op, "it gives three results")),
    }
}

/// R, and coefficients that stand for Q: LAPACK packs Q as reflectors, which only [`orthogonal`] reads.
fn reflectors<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [a] = operands(i, op)?;
    match i.emit_regions(op, Prim::Qr { full: true }, &[a], vec![])?.as_slice() {
        &[q, r] => {
            let ty = i.static_result(op, 1)?;
            let coefficients = i.sound(op, evoxc_trace::zeros(ty.dtype, &ty.shape))?;
            if let (Some(&v), Some(frame)) = (op.results.get(1), i.frames.last()) {
                i.records.reflectors.push((frame.func.name.to_string(), v, q));
            }
            Ok(vec![r.into(), coefficients.into()])
        }
        _ => Err(i.error(op, "it gives two results")),
    }
}

/// The first columns of the Q that the coefficients stand for; `None` if they come from elsewhere.
fn orthogonal<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Option<Done<Vec<Item>>> {
    let (at, func) = (op.operands.get(1)?, &i.frames.last()?.func.name);
    let q = i.records.reflectors.iter().rev().find(|(f, v, _)| v == at && f == func)?.2;
    Some(columns(i, op, q))
}

fn columns(i: &Importer, op: &Op, q: Sym) -> Done<Vec<Item>> {
    let (want, have) = (i.static_result(op, 0)?.shape, i.shape(op, q)?);
    if want == have {
        return Ok(vec![q.into()]);
    }
    let (start, stride) = (vec![Dim::constant(0); have.rank()], vec![1; have.rank()]);
    Ok(vec![i.emit(op, Prim::Slice { start, limit: want.to_vec(), stride }, &[q])?.into()])
}
