//! Collectives for all rows: one exchange of all of them, not one a row.

use super::{Rows, Site};
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::Prim;
use evoxc_trace::Sym;

/// The op of all rows, whose axes are counted behind that of the rows.
pub(super) fn rows(site: &Site, prim: Prim) -> Result<Rows, OpError> {
    let x: Vec<Sym> = (0..site.x.len()).map(|i| site.rows(i)).collect();
    site.write(prim, &x)
}

/// One root for all rows.
pub(super) fn broadcast(site: &Site, dynamic_root: bool) -> Result<Rows, OpError> {
    let Some((root, data)) = site.x.split_last().filter(|_| dynamic_root) else {
        return rows(site, site.prim.clone());
    };
    if root.batched {
        return Err(no_rule(
            site.prim,
            "rows that have roots of their own come from several processes at once",
            "map the function over its other inputs only, or `all_gather` the values and index them",
        ));
    }
    let x: Vec<Sym> = (0..data.len()).map(|i| site.rows(i)).chain([root.sym]).collect();
    site.write(site.prim.clone(), &x)
}
