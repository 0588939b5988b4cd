//! LU factors with partial pivoting.

use super::super::walk::tensor;
use super::field::{Field, rows, subtract};
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

fn factor<T: Field>(a: &mut [T], m: usize, n: usize) -> Vec<usize> {
    let mut pivots = Vec::with_capacity(m.min(n));
    for k in 0..m.min(n) {
        let size = |a: &[T], i: usize| a[i * n + k].size();
        let p = (k + 1..m).fold(k, |p, i| if size(a, i) > size(a, p) { i } else { p });
        pivots.push(p);
        if p != k {
            (0..n).for_each(|j| a.swap(k * n + j, p * n + j));
        }
        let pivot = a[k * n + k];
        if pivot == T::zero() {
            continue;
        }
        for i in k + 1..m {
            let (row, top) = rows(a, n, i, k);
            row[k] = row[k] / pivot;
            let f = row[k];
            subtract(&mut row[k + 1..], f, &top[k + 1..]);
        }
    }
    pivots
}
