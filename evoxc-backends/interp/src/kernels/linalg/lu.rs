//! LU factors with partial pivoting.

use super::super::walk::tensor;
use super::field::{Field, rows, subtract};
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

/// By blocks of columns (right-looking): the rest of the matrix is one product a block.
fn factor<T: Field>(a: &mut [T], m: usize, n: usize) -> Vec<usize> {
    let mut pivots = Vec::with_capacity(m.min(n));
    for from in (0..m.min(n)).step_by(BLOCK) {
        let to = (from + BLOCK).min(m.min(n));
        panel(a, [m, n], from, to, &mut pivots);
        eliminate(a, [m, n], from, to, n);
    }
    pivots
}

/// Factors the columns `from..to` below row `from`, by halves; exchanges whole rows.
fn panel<T: Field>(a: &mut [T], [m, n]: [usize; 2], from: usize, to: usize, pivots: &mut Vec<usize>) {
    if to - from > PANEL {
        let middle = from + (to - from) / 2;
        panel(a, [m, n], from, middle, pivots);
        eliminate(a, [m, n], from, middle, to);
        panel(a, [m, n], middle, to, pivots);
        return;
    }
    for k in from..to {
        let size = |a: &[T], i: usize| a[i * n + k].size();
        let p = (k + 1..m).fold(k, |p, i| if size(a, i) > size(a, p) { i } else { p });
        pivots.push(p);
        if p != k {
            let (above, below) = a.split_at_mut(p * n);
            above[k * n..(k + 1) * n].swap_with_slice(&mut below[..n]);
        }
        let pivot = a[k * n + k];
        if pivot == T::zero() {
            continue;
        }
        for i in k + 1..m {
            let (row, top) = rows(a, n, i, k);
            row[k] = row[k] / pivot;
            let f = row[k];
            subtract(&mut row[k + 1..to], f, &top[k + 1..to]);
        }
    }
}

/// With the columns `from..to` factored, the columns `to..end`: those rows by their unit lower triangle, the rows below
/// by a product.
fn eliminate<T: Field>(a: &mut [T], [m, n]: [usize; 2], from: usize, to: usize, end: usize) {
    if to >= end {
        return;
    }
    for i in from + 1..to {
        for j in from..i {
            let (row, above) = rows(a, n, i, j);
            let f = row[j];
            subtract(&mut row[to..end], f, &above[to..end]);
        }
    }
    let (done, below) = a.split_at_mut(to * n);
    let left = copied(below, n, from, to);
    let top = Rows { data: &done[from * n + to..], stride: n };
    let left = Rows { data: &left, stride: to - from };
    if let Some(rest) = below.get_mut(to..) {
        T::subtract_product(rest, n, [m - to, to - from, end - to], left, top, false);
    }
}
