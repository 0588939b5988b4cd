//! LU factors with partial pivoting.

use super::super::walk::tensor;
use super::field::{Field, rows, subtract, transpose};
use super::triangular::{Form, substitute};
use super::update::{Rows, copied};
use super::{Batch, with_field};
use evoxc_core::{OpError, Tensor};

/// The packed factors, the pivots (row i was exchanged with row pivots[i]), and the permutation (a[perm] = L U); both of
/// the latter i32. A zero pivot leaves its column as it is, as in LAPACK.
pub(crate) fn lu(a: &Tensor) -> Result<[Tensor; 3], OpError> {
    let op = "lu";
    let batch = Batch::of(op, a)?;
    let (m, n) = (batch.rows, batch.columns);
    let (mut pivots, mut perms) = (vec![], vec![]);
    let factors = with_field!(op, a, v => {
        let mut out = Vec::with_capacity(v.len());
        for matrix in batch.each(v, m) {
            let mut f = matrix.to_vec();
            let swaps = factor(&mut f, m, n);
            let mut perm: Vec<i32> = (0..m as i32).collect();
            swaps.iter().enumerate().for_each(|(i, &p)| perm.swap(i, p));
            pivots.extend(swaps.iter().map(|&p| p as i32));
            perms.extend(perm);
            out.extend(f);
        }
        tensor(op, out, a.shape())
    })?;
    Ok([factors, tensor(op, pivots, &batch.shape(&[m.min(n)]))?, tensor(op, perms, &batch.shape(&[m]))?])
}

/// Columns that are factored together before the rest of the matrix takes part.
const BLOCK: usize = 64;
/// Columns that are factored one by one.
const PANEL: usize = 16;

/// By blocks of columns (right-looking): the rest of the matrix is one product a block. The columns of a block are copied
/// to lie one after the other, the rows below it to be read in order.
fn factor<T: Field>(a: &mut [T], m: usize, n: usize) -> Vec<usize> {
    let mut pivots = Vec::with_capacity(m.min(n));
    for from in (0..m.min(n)).step_by(BLOCK) {
        let to = (from + BLOCK).min(m.min(n));
        let (width, height) = (to - from, m - from);
        let mut columns = transpose(&copied(&a[from * n..], n, from, to), height, width);
        let mut swaps = Vec::with_capacity(width);
        panel(&mut columns, height, 0, width, &mut swaps);
        for (k, &p) in swaps.iter().enumerate().filter(|(k, p)| k != *p) {
            let (above, below) = a.split_at_mut((from + p) * n);
            above[(from + k) * n..(from + k + 1) * n].swap_with_slice(&mut below[..n]);
        }
        for (row, factored) in
            a[from * n..].chunks_exact_mut(n).zip(transpose(&columns, width, height).chunks_exact(width))
        {
            row[from..to].copy_from_slice(factored);
        }
        eliminate(a, [m, n], from, to);
        pivots.extend(swaps.iter().map(|p| from + p));
    }
    pivots
}

/// Factors the columns `from..to` of a block below its row `from`, by halves; exchanges the elements of all its columns.
fn panel<T: Field>(columns: &mut [T], height: usize, from: usize, to: usize, pivots: &mut Vec<usize>) {
    if to - from > PANEL {
        let middle = from + (to - from) / 2;
        panel(columns, height, from, middle, pivots);
        for (j, k) in (middle..to).flat_map(|j| (from..middle).map(move |k| (j, k))) {
            let (column, done) = rows(columns, height, j, k);
            let f = column[k];
            subtract(&mut column[k + 1..middle], f, &done[k + 1..middle]);
        }
        let (done, rest) = columns.split_at_mut(middle * height);
        let top = copied(rest, height, from, middle);
        let top = Rows { data: &top, stride: middle - from };
        let below = Rows { data: &done[from * height + middle..], stride: height };
        if let Some(rest) = rest.get_mut(middle..) {
            T::subtract_product(rest, height, [to - middle, middle - from, height - middle], top, below, false);
        }
        panel(columns, height, middle, to, pivots);
        return;
    }
    for k in from..to {
        let column = &columns[k * height..(k + 1) * height];
        let p = (k + 1..height).fold(k, |p, i| if column[i].size() > column[p].size() { i } else { p });
        pivots.push(p);
        if p != k {
            columns.chunks_exact_mut(height).for_each(|c| c.swap(k, p));
        }
        let pivot = columns[k * height + k];
        if pivot == T::zero() {
            continue;
        }
        columns[k * height + k + 1..(k + 1) * height].iter_mut().for_each(|x| *x = *x / pivot);
        for j in k + 1..to {
            let (column, done) = rows(columns, height, j, k);
            let f = column[k];
            subtract(&mut column[k + 1..], f, &done[k + 1..]);
        }
    }
}

/// With the columns `from..to` factored, what is right of them: those rows by their unit lower triangle, the rows below
/// by a product.
fn eliminate<T: Field>(a: &mut [T], [m, n]: [usize; 2], from: usize, to: usize) {
    if to >= n {
        return;
    }
    let (done, below) = a.split_at_mut(to * n);
    let mut top = copied(&done[from * n..], n, to, n);
    let at = |i: usize, j: usize| done[(from + i) * n + from + j];
    substitute(at, to - from, Form { lower: true, unit_diagonal: true }, &mut top, n - to);
    for (row, solved) in done[from * n..].chunks_exact_mut(n).zip(top.chunks_exact(n - to)) {
        row[to..].copy_from_slice(solved);
    }
    let left = copied(below, n, from, to);
    let (left, top) = (Rows { data: &left, stride: to - from }, Rows { data: &top, stride: n - to });
    if let Some(rest) = below.get_mut(to..) {
        T::subtract_product(rest, n, [m - to, to - from, n - to], left, top, false);
    }
}
