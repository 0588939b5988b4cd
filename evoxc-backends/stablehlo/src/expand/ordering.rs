//! Sorting by keys, with the comparison written out; and the largest elements.

use super::parts::{cut, emit_regions, iota, region};
use super::rules::Syms;
use evoxc_core::{Dim, I32, OpError, spec};
use evoxc_ir::Prim;
use evoxc_trace::Sym;
use smallvec::smallvec;

/// Is `a` before `b` in ascending order? -0 equals +0, all NaN are equal and last, complex numbers go by (real,
/// imaginary).
fn before(a: Sym, b: Sym) -> Sym {
    let d = a.dtype();
    if d.is_complex() {
        let (re, im) = ((a.real(), b.real()), (a.imag(), b.imag()));
        return before(re.0, re.1) | (!before(re.1, re.0) & before(im.0, im.1));
    }
    let less = a.lt(b);
    if d.is_float() { less | (a.eq(a) & b.ne(b)) } else { less }
}

/// Sorts the operands together along `axis` by as many of them as there are `keys`, each descending or not.
pub(super) fn sort(xs: &[Sym], axis: usize, keys: &[bool], stable: bool) -> Result<Syms, OpError> {
    let scalars: Vec<_> = xs.iter().flat_map(|x| [spec(x.dtype(), []), spec(x.dtype(), [])]).collect();
    let body = region(&scalars, |args| {
        let pairs = args.chunks_exact(2).zip(keys).filter_map(|(p, &descending)| match p {
            [a, b] if descending => Some((*b, *a)),
            [a, b] => Some((*a, *b)),
            _ => None,
        });
        // From the last key: a later one decides where the earlier ones are equal.
        let pairs: Vec<(Sym, Sym)> = pairs.collect();
        let y = pairs.iter().rev().fold(None, |later: Option<Sym>, &(a, b)| {
            Some(match later {
                None => before(a, b),
                Some(later) => before(a, b) | (!before(b, a) & later),
            })
        });
        y.map(|y| vec![y]).ok_or_else(|| OpError::new("sort", "it has no key"))
    })?;
    emit_regions(Prim::SortBody { axis, stable }, xs, vec![body])
}

/// The same where no sort is stable: by the position too, which no two elements share.
pub(super) fn sort_by_position(xs: &[Sym], axis: usize, keys: &[bool]) -> Result<Syms, OpError> {
    let Some(x) = xs.first() else { return Err(OpError::new("sort", "it has no operand")) };
    let (by, carried) = xs.split_at(keys.len().min(xs.len()));
    let all: Vec<Sym> = by.iter().copied().chain([iota(I32, x.shape(), axis)]).chain(carried.iter().copied()).collect();
    let keys: Vec<bool> = keys.iter().copied().chain([false]).collect();
    let mut sorted = sort(&all, axis, &keys, false)?;
    sorted.remove(by.len());
    Ok(sorted)
}

/// The k largest elements of the last axis in descending order, NaN first, of equal ones the first; and their indices.
pub(super) fn top_k(x: Sym, k: Dim, stable: bool) -> Result<Syms, OpError> {
    let shape = x.shape();
    let axis = shape.rank().checked_sub(1).ok_or_else(|| OpError::new("top_k", "needs an axis"))?;
    // By the index where values are equal, so that the sort need not be stable.
    let sorted = sort(&[x, iota(I32, &shape, axis)], axis, &[true, false], stable)?;
    match sorted.as_slice() {
        [values, indices] => Ok(smallvec![cut(*values, axis, 0, k), cut(*indices, axis, 0, k)]),
        _ => Err(OpError::new("top_k", "its sort gives two results")),
    }
}
