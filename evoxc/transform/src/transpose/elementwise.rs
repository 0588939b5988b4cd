//! Transposes of element-wise linear ops.

use super::{Cotangents, Input, Site};
use crate::{no_rule, zeros};
use evoxc_core::OpError;
use evoxc_ir::{Binary, Prim, Unary};
use evoxc_trace::{Sym, emitter};
use smallvec::smallvec;

/// One operand. A linear map of real numbers to complex ones (or back) is transposed under the pairing Re(c·t).
pub(super) fn unary(u: Unary, site: &Site) -> Result<Cotangents, OpError> {
    let (Some(ct), Some(ty)) = (site.ct[0], site.x[0].ty()) else { return Ok(smallvec![None]) };
    let complex = ty.dtype.is_complex();
    Ok(smallvec![Some(match u {
        Unary::Neg => -ct,
        Unary::Real if complex => emitter::emit(Prim::Convert { dtype: ty.dtype }, &[ct]),
        Unary::Imag if complex => ct.zeros_like().complex(-ct),
        Unary::Conj if complex => ct.conj(),
        Unary::Real | Unary::Conj => ct,
        Unary::Imag => return Ok(smallvec![None]),
        _ => return Err(no_rule(&site.op.prim, "it is not linear", "report this: a jvp rule wrote it")),
    })])
}

/// Two operands, linear in one, or (a sum) in both.
pub(super) fn binary(b: Binary, site: &Site) -> Result<Cotangents, OpError> {
    let ct = site.ct[0];
    let to = |i: usize, f: &dyn Fn(Sym) -> Sym| if site.x[i].is_linear() { ct.map(f) } else { None };
    let remedy = "report this: a jvp rule wrote it";
    Ok(match b {
        Binary::Add => smallvec![to(0, &|c| c), to(1, &|c| c)],
        Binary::Sub => smallvec![to(0, &|c| c), to(1, &|c| -c)],
        Binary::Mul => match site.x {
            [Input::Linear(_), Input::Known(k)] => smallvec![ct.map(|c| c * *k), None],
            [Input::Known(k), Input::Linear(_)] => smallvec![None, ct.map(|c| *k * c)],
            _ => return Err(no_rule(&site.op.prim, "it is not linear in both operands", remedy)),
        },
        Binary::Div => match site.x {
            [Input::Linear(_), Input::Known(k)] => smallvec![ct.map(|c| c / *k), None],
            _ => return Err(no_rule(&site.op.prim, "it is not linear in its divisor", remedy)),
        },
        Binary::Complex => smallvec![to(0, &|c| c.real()), to(1, &|c| -c.imag())],
        _ => return Err(no_rule(&site.op.prim, "it is not linear", remedy)),
    })
}

/// The cotangent where it was chosen, zero elsewhere.
pub(super) fn select(site: &Site) -> Result<Cotangents, OpError> {
    let ([Input::Known(pred), a, b], Some(ct)) = (site.x, site.ct[0]) else {
        return Err(no_rule(&site.op.prim, "its predicate is not linear", "report this: a jvp rule wrote it"));
    };
    let chosen = |on_true: Sym, on_false: Sym| Some(emitter::emit(Prim::Select {}, &[*pred, on_true, on_false]));
    let zero = |x: &Input| x.ty().filter(|_| x.is_linear()).map(|ty| zeros(&ty));
    Ok(smallvec![None, zero(a).and_then(|z| chosen(ct, z)), zero(b).and_then(|z| chosen(z, ct))])
}

/// Converted back: also between real and complex numbers, see [`unary`].
pub(super) fn convert(site: &Site) -> Result<Cotangents, OpError> {
    let Some(ty) = site.x[0].ty() else { return Ok(smallvec![None]) };
    Ok(smallvec![site.ct[0].map(|c| emitter::emit(Prim::Convert { dtype: ty.dtype }, &[c]))])
}

/// Rounded alike.
pub(super) fn reduce_precision(site: &Site) -> Result<Cotangents, OpError> {
    Ok(smallvec![site.ct[0].map(|c| emitter::emit(site.op.prim.clone(), &[c]))])
}
