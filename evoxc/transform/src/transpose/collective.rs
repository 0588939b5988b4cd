//! Transposes of collectives, as maps of what all processes hold together: a process sends back what others did with
//! its value. So the cotangent of an operand is that of the sum of the results of all processes, which is what JAX gives
//! for `psum` and its like under `pmap`.

use super::{Cotangents, Site};
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::Prim;
use evoxc_trace::{Sym, emitter};

/// The op `back` on the cotangents that are not zero.
pub(super) fn by(site: &Site, back: Prim) -> Result<Cotangents, OpError> {
    let live: Vec<Sym> = site.ct.iter().copied().flatten().collect();
    let mut given = emitter::emit_regions(back, &live, vec![]).into_iter().flatten();
    Ok(site.ct.iter().map(|c| c.and_then(|_| given.next())).collect())
}

/// From the targets to the sources.
pub(super) fn permute(site: &Site, pairs: &[Vec<usize>], channel: Option<usize>) -> Result<Cotangents, OpError> {
    let pairs = pairs.iter().map(|pair| pair.iter().rev().copied().collect()).collect();
    by(site, Prim::CollectivePermute { pairs, channel })
}

/// The root alone would get a sum over its group, which no collective says of processes outside of all groups.
pub(super) fn broadcast(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(
        &site.op.prim,
        "its transpose adds up on one process of a group only",
        "write it as an `all_reduce` sum of `select(rank_index is the root, x, 0)`",
    ))
}
