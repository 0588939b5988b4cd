//! Ops that take leading batch axes as they are, and triangular solves.

use super::parts::{move_axis, reshape, shape};
use super::{Rows, Site};
use evoxc_core::OpError;
use evoxc_trace::{Sym, emitter};

/// The rows are one more batch axis.
pub(super) fn leading(site: &Site) -> Result<Rows, OpError> {
    let x: Vec<Sym> = (0..site.x.len()).map(|i| site.rows(i)).collect();
    site.write(site.prim.clone(), &x)
}

/// Where one matrix is solved for right sides of all rows, these are more right sides: columns of b, or rows of it
/// where the unknown stands on the left of the matrix.
pub(super) fn triangular_solve(site: &Site, left: bool) -> Result<Rows, OpError> {
    let (a, b) = (site.x[0], site.x[1]);
    let row = site.row_shape(1);
    let Some(batch) = row.rank().checked_sub(2).filter(|_| !a.batched) else { return leading(site) };
    let (lead, [m, n]) = (&row[..batch], [row[batch], row[batch + 1]]);
    // [rows, lead.., m, n] to [lead.., m, rows, n], or to [lead.., rows, m, n].
    let at = if left { batch + 1 } else { batch };
    let turned = move_axis(b.sym, 0, at);
    let split = shape(turned);
    let merged = if left { [m, n * site.size] } else { [m * site.size, n] };
    let x = emitter::emit(site.prim.clone(), &[a.sym, reshape(turned, [lead, &merged].concat())]);
    Ok(Rows::from_elem(move_axis(reshape(x, split.iter().copied()), at, 0), 1))
}
