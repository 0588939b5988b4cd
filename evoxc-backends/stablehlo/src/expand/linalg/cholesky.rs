//! What StableHLO leaves open of Cholesky factors.

use super::super::parts::iota;
use super::matrix::or_nan;
use evoxc_core::I32;
use evoxc_trace::Sym;

/// The factor with zeros in the triangle that StableHLO leaves open; NaN throughout where any element is, which is how a
/// matrix without a factor shows.
pub(in super::super) fn cleared(l: Sym, lower: bool) -> Sym {
    let shape = l.shape();
    let rank = shape.rank();
    let (rows, columns) = (iota(I32, &shape, rank.saturating_sub(2)), iota(I32, &shape, rank.saturating_sub(1)));
    let inside = if lower { columns.le(rows) } else { rows.le(columns) };
    let l = inside.select(l, 0);
    let failed = l.ne(l).any(evoxc_core::keep([-2, -1]));
    or_nan(failed, l)
}
