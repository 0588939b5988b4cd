//! Tangents of gather, scatter and dynamic slices.
//!
//! Scatters apply updates in row-major order, so that the tangents of a `set` scatter alike: of several updates at one
//! place the last wins in both.

use super::{Site, elementwise::sum};
use crate::instantiate;
use crate::places::Places;
use evoxc_core::OpError;
use evoxc_ir::{Prim, ScatterDims, ScatterOp};
use evoxc_trace::{Sym, emitter};

/// Gathered alike.
pub(super) fn gather(site: &Site) -> Option<Sym> {
    site.t[0].map(|t| site.same(&[t, site.x[1]]))
}

/// By the kind of scatter.
pub(super) fn scatter(
    site: &Site,
    op: ScatterOp,
    dims: &ScatterDims,
    sorted: bool,
    unique: bool,
) -> Result<Option<Sym>, OpError> {
    let (x, indices, u) = (site.x[0], site.x[1], site.x[2]);
    let (t, s) = (site.t[0], site.t[2]);
    let add = |x: Sym, u: Sym| {
        emitter::emit(Prim::Scatter { op: ScatterOp::Add, dims: dims.clone(), sorted, unique }, &[x, indices, u])
    };
    Ok(match op {
        ScatterOp::Add => match s {
            Some(s) => Some(add(instantiate(t, x), s)),
            None => t,
        },
        ScatterOp::Set => Some(site.same(&[instantiate(t, x), indices, instantiate(s, u)])),
        ScatterOp::Mul => {
            let scaled = t.map(|t| site.same(&[t, indices, u]));
            let added = s.map(|s| add(instantiate(None, x), s * others(site, dims, unique)));
            sum(scaled, added)
        }
        ScatterOp::Min | ScatterOp::Max => {
            let share = Shares::new(site, dims, &add);
            sum(t.map(|t| t * share.x), s.map(|s| add(instantiate(None, x), s * share.updates)))
        }
    })
}

/// What each update of a product is multiplied by: x and the other updates of its place. The product of those that are
/// not zero, without the update, times that of the zeros, without the update; so it is exact at zeros too, and so is its
/// own derivative, and once more: the other one of two zeros is their sum without the update, the product of the others of
/// three follows from that and the sum of their squares. Among four and more it is 0, wrong for fourth derivatives only.
fn others(site: &Site, dims: &ScatterDims, unique: bool) -> Sym {
    let (x, indices, u) = (site.x[0], site.x[1], site.x[2]);
    let places = Places::new(&x.shape(), indices, &u.shape(), dims);
    if unique {
        return places.read(x, 1);
    }
    let zero = u.eq(0);
    let product = places.read(site.same(&[x, indices, zero.select(1, u)]), 1);
    let add = Prim::Scatter { op: ScatterOp::Add, dims: dims.clone(), sorted: false, unique };
    let at_place = |u: Sym| places.read(emitter::emit(add.clone(), &[x.zeros_like(), indices, u]), 0);
    let number = at_place(zero.cast(x.dtype()));
    let small = zero.select(u, 0);
    let pair = at_place(small) - small;
    let three = (pair * pair - (at_place(small * small) - small * small)) * 0.5;
    let all = places.read(site.same(&[x.ones_like(), indices, zero.select(u, 1)]), 1);
    let some = number.eq(2).select(pair, number.eq(3).select(three, 0));
    let rest = zero.select(number.eq(1).select(1, some), all);
    product / zero.select(1, u) * rest
}

/// The shares of x and of the updates in the results of a minimum or maximum: equal ones among those that are equal to
/// it, as in JAX.
struct Shares {
    x: Sym,
    updates: Sym,
}

impl Shares {
    fn new(site: &Site, dims: &ScatterDims, add: &dyn Fn(Sym, Sym) -> Sym) -> Shares {
        let (x, indices, u, y) = (site.x[0], site.x[1], site.x[2], site.y[0]);
        let d = x.dtype();
        let places = Places::new(&x.shape(), indices, &u.shape(), dims);
        let won = u.eq(places.read(y, 0)).cast(d);
        let winners = add(x.zeros_like(), won);
        // Where no update won x stays, be it NaN.
        let stays = (x.eq(y) | winners.eq(0)).cast(d);
        let total = winners + stays;
        Shares { x: stays / total, updates: won / places.read(total, 1) }
    }
}

/// Sliced alike.
pub(super) fn dynamic_slice(site: &Site) -> Option<Sym> {
    let starts = &site.x[1..];
    site.t[0].map(|t| site.same(&[&[t], starts].concat()))
}

/// Updated alike.
pub(super) fn dynamic_update_slice(site: &Site) -> Option<Sym> {
    let (t, u) = (instantiate(site.t[0], site.x[0]), instantiate(site.t[1], site.x[1]));
    Some(site.same(&[&[t, u], &site.x[2..]].concat()))
}
