//! Transposes of element-wise linear ops.

use super::{Cotangents, Input, Site};
use crate::no_rule;
use evoxc_core::OpError;
use evoxc_ir::{Binary, Unary};
use evoxc_trace::Sym;
use smallvec::smallvec;

/// One operand.
pub(super) fn unary(u: Unary, site: &Site) -> Result<Cotangents, OpError> {
    let ct = site.ct[0];
    match u {
        Unary::Neg => Ok(smallvec![ct.map(|c| -c)]),
        _ => Err(no_rule(&site.op.prim, "it is not written yet", "use another op")),
    }
}

/// Two operands, linear in one, or (a sum) in both.
pub(super) fn binary(b: Binary, site: &Site) -> Result<Cotangents, OpError> {
    let ct = site.ct[0];
    let to = |i: usize, f: &dyn Fn(Sym) -> Sym| if site.x[i].is_linear() { ct.map(f) } else { None };
    Ok(match b {
        Binary::Add => smallvec![to(0, &|c| c), to(1, &|c| c)],
        Binary::Sub => smallvec![to(0, &|c| c), to(1, &|c| -c)],
        Binary::Mul => match site.x {
            [Input::Linear(_), Input::Known(k)] => smallvec![ct.map(|c| c * *k), None],
            [Input::Known(k), Input::Linear(_)] => smallvec![None, ct.map(|c| *k * c)],
            _ => return Err(no_rule(&site.op.prim, "it is not linear in both operands", "report this")),
        },
        Binary::Div => match site.x {
            [Input::Linear(_), Input::Known(k)] => smallvec![ct.map(|c| c / *k), None],
            _ => return Err(no_rule(&site.op.prim, "it is not linear in its divisor", "report this")),
        },
        _ => return Err(no_rule(&site.op.prim, "it is not written yet", "use another op")),
    })
}

/// The cotangent where it was chosen.
pub(super) fn select(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Converted back.
pub(super) fn convert(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}

/// Rounded alike.
pub(super) fn reduce_precision(site: &Site) -> Result<Cotangents, OpError> {
    Err(no_rule(&site.op.prim, "it is not written yet", "use another op"))
}
