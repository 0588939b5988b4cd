//! Tangents of collectives. They are linear in what all processes hold together, so the tangents are exchanged as the
//! values are; every process that runs the same program writes the same ops.

use super::{Site, Tangents};
use crate::{instantiate, no_rule};
use evoxc_core::OpError;
use evoxc_ir::{Prim, Reducer};
use evoxc_trace::{Sym, emitter};

/// The same op on the tangents that are not zero.
pub(super) fn linear(site: &Site) -> Tangents {
    let live: Vec<Sym> = site.t.iter().copied().flatten().collect();
    let mut given = emitter::emit_regions(site.op.prim.clone(), &live, vec![]).into_iter().flatten();
    site.t.iter().map(|t| t.and_then(|_| given.next())).collect()
}

/// A sum is linear; what other combiners choose or multiply is known on other processes only.
pub(super) fn reduced(site: &Site, op: Reducer) -> Result<Tangents, OpError> {
    match op {
        Reducer::Sum => Ok(linear(site)),
        Reducer::Prod | Reducer::Max | Reducer::Min | Reducer::And | Reducer::Or => Err(no_rule(
            &site.op.prim,
            "only the sum over processes has a derivative here",
            "gather the values with `all_gather` along a new axis and reduce that axis",
        )),
    }
}

/// With roots that the last operand says there is a tangent for each of them, zero or not.
pub(super) fn broadcast(site: &Site, dynamic_root: bool) -> Tangents {
    let (true, Some((&root, data))) = (dynamic_root, site.x.split_last()) else { return linear(site) };
    let tangents = data.iter().zip(site.t).map(|(&x, &t)| instantiate(t, x));
    let operands: Vec<Sym> = tangents.chain([root]).collect();
    let given = emitter::emit_regions(site.op.prim.clone(), &operands, vec![]).into_iter().flatten();
    given.zip(site.t).map(|(y, t)| t.map(|_| y)).collect()
}

/// What a collective with a body says.
pub(crate) fn bodied(prim: &Prim) -> OpError {
    no_rule(
        prim,
        "the derivative of a combiner that is a region is not known",
        "use the named sum, or gather the values with `all_gather` and reduce them",
    )
}
