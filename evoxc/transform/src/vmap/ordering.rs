//! Sort and top_k for all rows.

use super::{Rows, Site};
use evoxc_core::OpError;
use evoxc_ir::{Prim, SortKeys};
use evoxc_trace::Sym;

pub(super) fn sort(site: &Site, axis: usize, keys: &SortKeys, stable: bool) -> Result<Rows, OpError> {
    let x: Vec<Sym> = (0..site.x.len()).map(|i| site.rows(i)).collect();
    site.write(Prim::Sort { axis: axis + 1, keys: keys.clone(), stable }, &x)
}
