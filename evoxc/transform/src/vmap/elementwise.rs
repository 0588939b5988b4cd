//! Element-wise ops for all rows: the op itself, on operands that all have the rows.

use super::parts::spread;
use super::{Rows, Site};
use evoxc_core::OpError;
use evoxc_trace::Sym;

/// The same op on all rows. `print` thus prints once: the label, and the values of all rows as one tensor.
pub(super) fn all(site: &Site) -> Result<Rows, OpError> {
    let x: Vec<Sym> = (0..site.x.len()).map(|i| site.rows(i)).collect();
    site.write(site.prim.clone(), &x)
}

/// `pred` first; a scalar one that is batched is repeated along the other axes.
pub(super) fn select(site: &Site) -> Result<Rows, OpError> {
    let pred = site.spread_scalar(0, 1);
    site.write(site.prim.clone(), &[pred, site.rows(1), site.rows(2)])
}

/// `low` and `high` around `x`; scalar bounds that are batched are repeated along the other axes.
pub(super) fn clamp(site: &Site) -> Result<Rows, OpError> {
    let (low, high) = (site.spread_scalar(0, 1), site.spread_scalar(2, 1));
    site.write(site.prim.clone(), &[low, site.rows(1), high])
}

impl Site<'_> {
    /// Operand `i`, which may be a scalar beside operand `like`, for all rows: one scalar for all rows stays one.
    fn spread_scalar(&self, i: usize, like: usize) -> Sym {
        if self.rank(i) > 0 || self.rank(like) == 0 && self.x[i].batched {
            return self.rows(i);
        }
        if !self.x[i].batched {
            return self.x[i].sym;
        }
        spread(self.x[i].sym, self.with_rows(&self.row_shape(like)), vec![0])
    }
}
