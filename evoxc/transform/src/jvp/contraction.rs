//! Tangents of dot and convolution, which are linear in each operand.

use super::{Site, elementwise::sum};
use evoxc_trace::Sym;

/// f(t, y) + f(x, u).
pub(super) fn bilinear(site: &Site) -> Option<Sym> {
    let (x, y) = (site.x[0], site.x[1]);
    sum(site.t[0].map(|t| site.same(&[t, y])), site.t[1].map(|u| site.same(&[x, u])))
}
